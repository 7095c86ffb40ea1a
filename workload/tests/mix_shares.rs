//! The kinds of a mix, and the work that they bring.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::mix::{Kind, MixError};
use openloop_workload::{Mix, Values};
use proptest::prelude::*;

fn demand(text: &str) -> Values {
    text.parse().unwrap()
}

#[test]
fn kinds_come_as_often_as_they_weigh() {
    const N: u64 = 1_000_000;
    let weights = [70.0, 0.0, 20.0, 9.0, 1.0];
    let mix = Mix::new((0..5).map(|i| Kind::new(format!("kind {i}"), weights[i], i))).unwrap();
    let mut counts = [0_u64; 5];
    for seq in 0..N {
        let picked = mix.pick(11, seq);
        assert_eq!(
            (picked.index, picked.name),
            (*picked.payload, mix.kinds()[picked.index].name())
        );
        counts[picked.index] += 1;
    }
    let chi_square: f64 = (0..5)
        .filter(|&i| weights[i] > 0.0)
        .map(|i| {
            let expected = weights[i] / 100.0 * N as f64;
            (counts[i] as f64 - expected).powi(2) / expected
        })
        .sum();
    // The 99.9 % quantile of χ² with 3 degrees of freedom.
    assert!(chi_square < 16.27, "{counts:?}: χ² {chi_square:.2}");
    assert_eq!(counts[1], 0);
}

#[test]
fn the_kind_of_a_request_says_nothing_of_the_next() {
    const N: u64 = 1_000_000;
    let mix = Mix::read_write(0.5, 0, 1).unwrap();
    let mut pairs = [0.0; 4];
    for seq in 0..N {
        pairs[2 * mix.pick(3, seq).index + mix.pick(3, seq + 1).index] += 1.0;
    }
    let expected = N as f64 / 4.0;
    let chi_square: f64 = pairs
        .iter()
        .map(|count| (count - expected).powi(2) / expected)
        .sum();
    assert!(chi_square < 16.27, "{pairs:?}: χ² {chi_square:.2}");
}

#[test]
fn the_kind_of_a_request_never_changes() {
    let mix = Mix::new([
        Kind::new("a", 1.0, ()),
        Kind::new("b", 1.0, ()),
        Kind::new("c", 2.0, ()),
    ])
    .unwrap();
    let first = |seed| {
        (0..16)
            .map(|seq| mix.pick(seed, seq).name)
            .collect::<String>()
    };
    assert_eq!(first(1), GOLDEN[0]);
    assert_eq!(first(2), GOLDEN[1]);
}

const GOLDEN: [&str; 2] = ["accbccacbbccaabc", "bacccabccbcbacac"];

#[test]
fn work_and_waiting_by_hand() {
    // 60 % reads of 2 ± 1 (C_v = 0.5), 30 % exponential writes of mean 10, 10 % reports of 50, always.
    let mix = Mix::new([
        Kind::new("read", 60.0, ()).with_demand(demand("gamma:mean=2,cv=0.5")),
        Kind::new("write", 30.0, ()).with_demand(demand("exponential:10")),
        Kind::new("report", 10.0, ()).with_demand(demand("fixed:50")),
        Kind::new("never", 0.0, ()),
    ])
    .unwrap();
    let work = mix.demand().unwrap();
    // m = 0.6·2 + 0.3·10 + 0.1·50 = 9.2; E[X²] = 0.6·4·1.25 + 0.3·2·100 + 0.1·2500 = 313; Var = 313 − 84.64 = 228.36.
    assert!((work.mean - 9.2).abs() < 1e-12);
    assert!((work.cv - 228.36_f64.sqrt() / 9.2).abs() < 1e-12);
    // E[X²]/(2 m²).
    assert!((work.pollaczek_khinchine() - 313.0 / (2.0 * 84.64)).abs() < 1e-12);
    let shares = mix.shares();
    for (share, of_work) in shares.iter().zip([1.2 / 9.2, 3.0 / 9.2, 5.0 / 9.2, 0.0]) {
        assert!(
            (share.of_work.unwrap() - of_work).abs() < 1e-12,
            "{share:?}"
        );
    }
    assert_eq!((shares[1].name, shares[1].of_requests), ("write", 0.3));

    // And what is drawn has these moments.
    const N: u64 = 400_000;
    let drawn: Vec<_> = (0..N).map(|seq| mix.work(5, seq).unwrap()).collect();
    let mean = drawn.iter().sum::<f64>() / N as f64;
    assert!(
        (mean - 9.2).abs() < 3.29 * (228.36 / N as f64).sqrt(),
        "{mean}"
    );
    let squares: Vec<_> = drawn.iter().map(|x| (x - 9.2).powi(2)).collect();
    let variance = squares.iter().sum::<f64>() / N as f64;
    let spread = squares
        .iter()
        .map(|square| (square - variance).powi(2))
        .sum::<f64>()
        / N as f64;
    assert!(
        (variance - 228.36).abs() < 3.29 * (spread / N as f64).sqrt(),
        "{variance}"
    );
}

#[test]
fn one_kind_has_the_variance_of_its_own_demand() {
    for (text, factor) in [
        ("fixed:10", 0.5),
        ("exponential:10", 1.0),
        ("hyperexponential:mean=10,cv=3", 5.0),
    ] {
        let mix = Mix::new([Kind::new("all", 1.0, ()).with_demand(demand(text))]).unwrap();
        let work = mix.demand().unwrap();
        assert!(
            (work.pollaczek_khinchine() - factor).abs() < 1e-12,
            "{text}"
        );
        assert_eq!(mix.shares()[0].of_work, Some(1.0));
    }
}

#[test]
fn work_that_is_unknown_is_not_guessed() {
    let mix = Mix::new([
        Kind::new("known", 1.0, ()).with_demand(demand("fixed:1")),
        Kind::new("unknown", 1.0, ()),
    ])
    .unwrap();
    assert_eq!(mix.demand(), None);
    assert!(
        mix.shares()
            .iter()
            .all(|share| share.of_work.is_none() && share.of_requests == 0.5)
    );
    let work: Vec<_> = (0..100).map(|seq| mix.work(1, seq)).collect();
    assert!(work.contains(&None) && work.contains(&Some(1.0)));
    // No work at all has no shares either.
    let idle = Mix::new([Kind::new("idle", 1.0, ()).with_demand(demand("fixed:0"))]).unwrap();
    let work = idle.demand().unwrap();
    assert_eq!(
        (work.mean, work.cv, idle.shares()[0].of_work),
        (0.0, 0.0, None)
    );
}

#[test]
fn what_is_no_mix_is_refused() {
    let of = |kinds: &[(&str, f64)]| {
        Mix::new(
            kinds
                .iter()
                .map(|&(name, weight)| Kind::new(name, weight, ())),
        )
    };
    assert_eq!(of(&[]), Err(MixError::Empty));
    for name in ["", "  ", "a\nb"] {
        assert_eq!(
            of(&[("a", 1.0), (name, 1.0)]),
            Err(MixError::Name(name.to_owned()))
        );
    }
    assert_eq!(
        of(&[("a", 1.0), ("b", 2.0), ("a", 1.0)]),
        Err(MixError::Duplicate("a".to_owned()))
    );
    assert_eq!(of(&[("a", 0.0), ("b", 0.0)]), Err(MixError::Weightless));
    for weight in [-1.0, f64::INFINITY, f64::NAN] {
        let error = of(&[("a", 1.0), ("b", weight)]).unwrap_err();
        let message = format!(
            "the kind \"b\" has the weight {weight}: give a number of at least 0, such as 3 or 0.25"
        );
        assert_eq!(error.to_string(), message);
    }
    for share in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            Mix::read_write(share, 0, 1),
            Err(MixError::Share(_))
        ));
    }
    let all = Mix::read_write(1.0, 'r', 'w').unwrap();
    assert!((0..1000).all(|seq| *all.pick(1, seq).payload == 'r'));
}

#[test]
fn payloads_are_made_of_others() {
    let mix = Mix::read_write(0.5, "1", "2").unwrap();
    let parsed = mix.clone().try_map(|_, text| text.parse::<u32>()).unwrap();
    assert!(
        (0..100).all(|seq| mix.pick(1, seq).payload == &parsed.pick(1, seq).payload.to_string())
    );
    let failed = mix.try_map(|name, _| if name == "write" { Err("no") } else { Ok(()) });
    assert_eq!(failed, Err("no"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_weights_are_shares_or_refused(weights in prop::collection::vec(any::<f64>(), 1..6)) {
        let kinds = weights.iter().enumerate().map(|(i, &weight)| Kind::new(i.to_string(), weight, weight));
        if let Ok(mix) = Mix::new(kinds) {
            let shares = mix.shares();
            let total: f64 = shares.iter().map(|share| share.of_requests).sum();
            prop_assert!((total - 1.0).abs() < 1e-12, "{shares:?}");
            for seq in 0..50 {
                prop_assert!(*mix.pick(1, seq).payload > 0.0);
            }
        } else {
            prop_assert!(weights.iter().any(|weight| weight.is_sign_negative() || !weight.is_finite())
                || weights.iter().all(|&weight| weight == 0.0));
        }
    }

    #[test]
    fn the_variance_of_a_mix_is_that_of_its_second_moment(
        parts in prop::collection::vec((0.01_f64..100.0, 0.1_f64..1000.0, 1.01_f64..20.0), 1..6),
    ) {
        let kinds = parts.iter().enumerate().map(|(i, (weight, mean, cv))| {
            Kind::new(i.to_string(), *weight, ()).with_demand(demand(&format!("lognormal:mean={mean},cv={cv}")))
        });
        let work = Mix::new(kinds).unwrap().demand().unwrap();
        let total: f64 = parts.iter().map(|(weight, ..)| weight).sum();
        let mean: f64 = parts.iter().map(|(weight, mean, _)| weight / total * mean).sum();
        let square: f64 = parts.iter().map(|(weight, mean, cv)| weight / total * mean * mean * (1.0 + cv * cv)).sum();
        prop_assert!((work.mean / mean - 1.0).abs() < 1e-12);
        prop_assert!((work.pollaczek_khinchine() / (square / (2.0 * mean * mean)) - 1.0).abs() < 1e-9);
    }
}
