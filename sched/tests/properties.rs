//! What holds for every profile, process, seed and number of shards.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use openloop_sched::{Arrivals, Bursts, Offset, OpTime, Profile, Rate, Schedule};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        1 => Just(Rate::ZERO),
        4 => (0.0..2_000.0f64).prop_map(|r| Rate::per_second((r * 100.0).round() / 100.0).unwrap()),
    ]
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (100..2_000_000_000u64).prop_map(Duration::from_nanos),
        (1..2_000u64).prop_map(Duration::from_millis),
    ]
}

fn piece() -> impl Strategy<Value = Profile> {
    prop_oneof![
        (rate(), time()).prop_map(|(r, t)| Profile::hold(r, t).unwrap()),
        (rate(), rate(), time()).prop_map(|(a, b, t)| Profile::ramp(a, b, t).unwrap()),
        (rate(), rate(), time(), time()).prop_map(|(a, b, p, t)| Profile::sine(
            a.max(b),
            a.min(b),
            p,
            t
        )
        .unwrap()),
    ]
}

fn profile() -> impl Strategy<Value = Profile> {
    let joined = prop::collection::vec(piece(), 1..6).prop_map(|pieces| {
        pieces
            .into_iter()
            .reduce(|a, b| a.then(b).unwrap())
            .unwrap()
    });
    let bursts = prop_oneof![
        2 => Just(None),
        1 => (1..500u64, 1..500u64, 0.0..=1.0f64, any::<u64>()).prop_map(Some),
    ];
    (joined, 1..3u32, bursts).prop_map(|(profile, times, bursts)| {
        let profile = profile.repeat(times).unwrap();
        let Some((on, off, share, seed)) = bursts else {
            return profile;
        };
        let highest = (on + off) as f64 / on as f64;
        let bursts = Bursts {
            on: Duration::from_millis(on),
            off: Duration::from_millis(off),
            factor: (1.0 + share * (highest - 1.0)).min(highest),
        };
        profile.bursts(bursts, seed).unwrap()
    })
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        (0.05..5.0f64).prop_map(|cv| Arrivals::gamma(cv).unwrap()),
    ]
}

/// The same cases in every run: a failure is a failure of the change at hand.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn instants_never_decrease_and_all_lie_before_the_end(
        profile in profile(), arrivals in arrivals(), seed: u64,
    ) {
        let schedule = Schedule::new(profile, arrivals, seed);
        let end = schedule.end();
        let mut last = Offset::ZERO;
        for (k, ticket) in schedule.enumerate() {
            prop_assert_eq!(ticket.seq, k as u64);
            prop_assert!(last <= ticket.intended && ticket.intended < end);
            last = ticket.intended;
        }
    }

    #[test]
    fn a_constant_process_has_exactly_the_integral(profile in profile()) {
        let units = profile.integral(profile.end()).as_units();
        let exact = units.div_ceil(OpTime::ONE.as_units());
        let schedule = Schedule::new(profile.clone(), Arrivals::Constant, 0);
        prop_assert_eq!(u128::from(schedule.offered()), exact);
    }

    #[test]
    fn the_inverse_is_the_last_nanosecond_that_has_not_passed_the_point(
        profile in profile(), shares in prop::collection::vec(0.0..1.0f64, 50),
    ) {
        let total = profile.integral(profile.end()).as_units();
        for share in shares {
            let point = OpTime::from_units(((total as f64 * share) as u128).min(total));
            let Some(t) = profile.inverse(point) else {
                prop_assert_eq!(point.as_units(), total);
                continue;
            };
            let next = Offset::from_nanos(t.as_nanos() + 1);
            prop_assert!(profile.integral(t) <= point, "{t}");
            prop_assert!(profile.integral(next) > point, "{t}");
        }
    }

    #[test]
    fn the_integral_never_falls(
        profile in profile(), shares in prop::collection::vec(0.0..1.0f64, 50),
    ) {
        let end = profile.end().as_nanos() as f64;
        let mut instants: Vec<u64> = shares.iter().map(|s| (s * end) as u64).collect();
        instants.sort_unstable();
        for pair in instants.windows(2) {
            let (a, b) = (Offset::from_nanos(pair[0]), Offset::from_nanos(pair[1]));
            prop_assert!(profile.integral(a) <= profile.integral(b));
        }
    }

    #[test]
    fn the_rate_is_the_slope_of_the_integral(
        piece in piece(), shares in prop::collection::vec(0.0..1.0f64, 50),
    ) {
        let last = piece.end().as_nanos() - 1;
        for share in shares {
            let t = (share * last as f64) as u64;
            let (a, b) = (Offset::from_nanos(t), Offset::from_nanos(t + 1));
            let units = piece.integral(b).as_units() - piece.integral(a).as_units();
            let (low, high) = (piece.rate_at(a).as_per_second(), piece.rate_at(b).as_per_second());
            if t < last - 1 {
                // A difference of two integrals of a long sine keeps fewer digits than its rate.
                let slack = 1e-6 + 1e-4 * low.max(high);
                let slope = units as f64 / 2e9;
                prop_assert!(slope >= low.min(high) - slack, "{low} {slope} {high}");
                prop_assert!(slope <= low.max(high) + slack, "{low} {slope} {high}");
            }
        }
    }

    #[test]
    fn shards_partition_the_schedule_and_can_be_split_again(
        profile in profile(), arrivals in arrivals(), seed: u64, machines in 1..5u64, threads in 1..4u64,
    ) {
        let whole = Schedule::new(profile, arrivals, seed);
        let expected: Vec<_> = whole.clone().collect();
        let mut parts = Vec::new();
        for machine in 0..machines {
            let shard = whole.clone().shard(machine, machines).unwrap();
            let of_machine: Vec<_> = shard.clone().collect();
            prop_assert!(of_machine.iter().all(|t| t.seq % machines == machine));
            for thread in 0..threads {
                let part: Vec<_> = shard.clone().shard(thread, threads).unwrap().collect();
                let every: Vec<_> = of_machine.iter().copied()
                    .skip(thread as usize).step_by(threads as usize).collect();
                prop_assert_eq!(&part, &every);
                parts.extend(part);
            }
        }
        parts.sort_unstable_by_key(|ticket| ticket.seq);
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn phases_of_a_preview_add_up(profile in profile(), arrivals in arrivals(), seed: u64, cut in 0.0..1.0f64) {
        let schedule = Schedule::new(profile, arrivals, seed);
        let cut = Offset::from_nanos((schedule.end().as_nanos() as f64 * cut) as u64);
        let preview = schedule.preview(&[
            ("before", Offset::ZERO, cut),
            ("after", cut, schedule.end()),
        ]);
        let sum: u64 = preview.phases.iter().map(|(_, n)| n).sum();
        prop_assert_eq!(preview.total, sum);
        prop_assert_eq!(preview.total, schedule.offered());
        prop_assert_eq!(preview.phases[0].1, schedule.count_within(Offset::ZERO, cut));
    }

    #[test]
    fn a_clone_goes_on_where_the_original_stood(profile in profile(), arrivals in arrivals(), seed: u64, taken in 0..50usize) {
        let mut schedule = Schedule::new(profile, arrivals, seed);
        let _ = schedule.by_ref().take(taken).count();
        let clone: Vec<_> = schedule.clone().collect();
        prop_assert_eq!(clone, schedule.collect::<Vec<_>>());
    }
}
