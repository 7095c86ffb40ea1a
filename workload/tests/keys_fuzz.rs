//! Whatever the parameters: an error or right keys, never a panic and never a hang.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::keys::{Drift, HotSpot, Keys, Latest, Scramble, Zipf};
use proptest::prelude::*;

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..20_u64,
        any::<u64>(),
        (0..64_u32).prop_map(|bits| 1 << bits),
        (0..64_u32).prop_map(|bits| u64::MAX >> bits),
    ]
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        proptest::num::f64::ANY,
        0.0..4.0,
        -1.0..1.0,
        (0..60).prop_map(|bits| 1.0 + (-f64::from(bits)).exp2()),
        (0..60).prop_map(|bits| 1.0 - (-f64::from(bits)).exp2()),
        prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE),
            Just(-0.0),
            Just(1e4)
        ],
    ]
}

/// Holds keys to what every sampler promises, for requests anywhere in a run.
fn hold(keys: &Keys, seed: u64, seq: u64) {
    let n = keys.count();
    let newest = match keys.law() {
        openloop_workload::keys::Law::Latest(latest) => latest.newest(u64::MAX),
        _ => n,
    };
    for seq in (seq..=u64::MAX).take(20) {
        assert!((1..=newest).contains(&keys.key(seed, seq)), "{keys}");
        assert_eq!(keys.key(seed, seq), keys.key(seed, seq));
    }
    let mut before = 0.0;
    for capacity in [0, 1, n / 2, n - 1, n, u64::MAX] {
        let rate = keys.hit_rate(capacity);
        assert!((0.0..=1.0 + 1e-12).contains(&rate), "{rate} {keys}");
        assert!(
            rate >= before - 1e-12 || capacity < 1,
            "{rate} {before} {keys}"
        );
        before = if capacity == 1 { 0.0 } else { rate };
    }
    assert_eq!(keys.to_string().parse::<Keys>().unwrap(), *keys);
    let json = serde_json::to_string(keys).unwrap();
    assert_eq!(
        serde_json::from_str::<Keys>(&json).unwrap(),
        *keys,
        "{json}"
    );
}

proptest! {
    #[test]
    fn zipf(n in counts(), s in numbers(), seed in any::<u64>(), seq in any::<u64>()) {
        let found = Zipf::new(n, s);
        prop_assert_eq!(found.is_ok(), n > 0 && s >= 0.0 && s.is_finite());
        if let Ok(zipf) = found {
            hold(&Keys::new(zipf), seed, seq);
            for key in [0, 1, n / 2, n, n.wrapping_add(1), u64::MAX] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&zipf.pmf(key)));
                prop_assert!((0.0..=1.0 + 1e-12).contains(&zipf.cdf(key)));
            }
        }
    }

    #[test]
    fn shares(n in counts(), top in numbers(), share in numbers()) {
        if let Ok(zipf) = Zipf::from_share(n, top, share) {
            let hot = (top * n as f64).round() as u64;
            prop_assert!((zipf.hit_rate(hot) - share).abs() < 1e-9, "{:?}", zipf);
        }
    }

    #[test]
    fn hot_spots(n in counts(), hot in numbers(), share in numbers(), seed in any::<u64>(), seq in any::<u64>()) {
        if let Ok(keys) = HotSpot::new(n, hot, share) {
            prop_assert!(keys.hot() >= 1 && keys.hot() < n);
            hold(&Keys::new(keys), seed, seq);
            let rate = keys.lru_hit_rate(n / 3);
            prop_assert!((0.0..=1.0).contains(&rate));
        }
    }

    #[test]
    fn latest(n in counts(), s in numbers(), inserts in numbers(), seed in any::<u64>(), seq in any::<u64>()) {
        let found = Latest::new(n, s, inserts);
        let is_right = n > 0 && s >= 0.0 && s.is_finite() && (0.0..=1e6).contains(&inserts);
        prop_assert_eq!(found.is_ok(), is_right);
        if let Ok(keys) = found {
            hold(&Keys::new(keys), seed, seq);
        }
    }

    #[test]
    fn drifting_and_scrambled(
        n in counts(), s in 0.0..3.0, step in counts(), every in counts(),
        number in any::<u64>(), seed in any::<u64>(), seq in any::<u64>(),
    ) {
        let (Ok(zipf), Ok(drift)) = (Zipf::new(n, s), Drift::new(step, every)) else {
            prop_assert!(n == 0 || step == 0 || every == 0);
            return Ok(());
        };
        let keys = Keys::new(zipf).drifting(drift).unwrap().scrambled(number).unwrap();
        hold(&keys, seed, seq);
        let scramble = Scramble::new(n, number).unwrap();
        let rank = 1 + seed % n;
        prop_assert_eq!(scramble.rank(scramble.key(rank)), rank);
    }

    #[test]
    fn texts(text in "(uniform|sequential|zipf|hotspot|latest)(:[-0-9.e/a]{0,6}){0,4}(:drift=[0-9/]{0,5})?(:scrambled(=[0-9]{0,3})?)?") {
        if let Ok(keys) = text.parse::<Keys>() {
            hold(&keys, 1, 1);
        }
    }

    #[test]
    fn any_text(text in ".{0,30}") {
        let _ = text.parse::<Keys>();
        let _ = serde_json::from_str::<Keys>(&text);
    }
}

proptest! {
    // Milliseconds each.
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn caches(n in counts(), s in numbers(), capacity in counts()) {
        if let Ok(zipf) = Zipf::new(n, s) {
            let rate = zipf.lru_hit_rate(capacity);
            prop_assert!((0.0..=1.0).contains(&rate), "{} {:?}", rate, zipf);
        }
    }

    #[test]
    fn fits(counts in proptest::collection::vec(prop_oneof![0..5_u64, any::<u64>()], 0..50)) {
        if let Ok(fit) = Zipf::fit(&counts) {
            prop_assert!(fit.zipf().exponent() >= 0.0 && fit.standard_error() > 0.0, "{:?}", fit);
            prop_assert!((0.0..=1.0).contains(&fit.distance()), "{:?}", fit);
        }
    }
}
