//! The fit of the universal scalability law finds what points were made from.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::Goodness;
use openloop_capacity::usl::{self, Usl, UslFit, UslPoint};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LOADS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

fn measured(curve: Usl, error: impl FnMut() -> f64) -> UslFit {
    let mut error = error;
    let points = LOADS.map(|load| {
        let exact = curve.throughput(load).unwrap();
        UslPoint::new(load, exact * (1.0 + error())).unwrap()
    });
    usl::fit(&points).unwrap()
}

fn assert_same(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= 1e-9 * expected.max(1e-3),
        "{what}: {found}, not {expected}"
    );
}

#[test]
fn exact_points_give_their_parameters_back() {
    for single in [1e-3, 1.0, 1e6] {
        for contention in [0.0, 0.03, 0.5, 1.0] {
            for coherence in [0.0, 1e-4, 0.02] {
                let truth = Usl::new(single, contention, coherence).unwrap();
                let fit = measured(truth, || 0.0);
                let what = format!("{truth:?}");
                assert_same(fit.curve.single() / single, 1.0, &what);
                assert_same(fit.curve.contention(), contention, &what);
                assert_same(fit.curve.coherence(), coherence, &what);
                assert!(fit.relative_error < 1e-9, "{what}");
            }
        }
    }
}

#[test]
fn parameters_stay_in_their_bounds_where_points_would_have_them_out() {
    // More than proportional: σ would be negative.
    let points = [(1.0, 100.0), (2.0, 210.0), (4.0, 440.0), (8.0, 900.0)];
    let points = points.map(|(load, throughput)| UslPoint::new(load, throughput).unwrap());
    let fit = usl::fit(&points).unwrap();
    assert_eq!((fit.curve.contention(), fit.curve.coherence()), (0.0, 0.0));
    assert_eq!(fit.curve.peak_load(), None);
    assert_eq!(fit.peak_load.upper, f64::INFINITY);
    // Worse with every user from the second on, as if σ were above 1.
    let points = [(1.0, 100.0), (2.0, 60.0), (4.0, 55.0), (8.0, 50.0)];
    let points = points.map(|(load, throughput)| UslPoint::new(load, throughput).unwrap());
    let curve = usl::fit(&points).unwrap().curve;
    assert_eq!(curve.contention(), 1.0);
}

#[test]
fn nothing_near_the_fit_is_better() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for truth in [
        (0.05, 1e-3),
        (0.0, 1e-3),
        (0.2, 0.0),
        (1.0, 0.01),
        (0.0, 0.0),
    ] {
        let truth = Usl::new(50.0, truth.0, truth.1).unwrap();
        let points = LOADS.map(|load| {
            let noise = 1.0 + 0.05 * normal(&mut rng);
            (load, truth.throughput(load).unwrap() * noise)
        });
        let cost = |single: f64, contention: f64, coherence: f64| -> Option<f64> {
            let curve = Usl::new(single, contention, coherence).ok()?;
            let squares = points.iter().map(|(load, throughput)| {
                (1.0 - throughput / curve.throughput(*load).unwrap()).powi(2)
            });
            Some(squares.sum())
        };
        let given = points.map(|(load, throughput)| UslPoint::new(load, throughput).unwrap());
        let best = usl::fit(&given).unwrap().curve;
        let least = cost(best.single(), best.contention(), best.coherence()).unwrap();
        for step in [1e-2, 1e-4] {
            for (a, b, c) in [
                (1, 0, 0),
                (0, 1, 0),
                (0, 0, 1),
                (1, 1, 0),
                (1, 0, 1),
                (0, 1, 1),
                (1, 1, 1),
                (1, -1, 1),
            ] {
                for sign in [-step, step] {
                    let near = cost(
                        best.single() * (1.0 + sign * f64::from(a)),
                        best.contention() + sign * f64::from(b),
                        best.coherence() + 0.1 * sign * f64::from(c),
                    );
                    assert!(
                        near.is_none_or(|near| near >= least * (1.0 - 1e-12)),
                        "{truth:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_curve_of_another_shape_is_called_poor() {
    let good = measured(Usl::new(1000.0, 0.05, 0.001).unwrap(), || 0.0);
    assert_eq!(good.goodness, Goodness::Good);
    // Two modes: of eight users every second one is refused at once.
    let points = [
        (1.0, 100.0),
        (2.0, 900.0),
        (4.0, 150.0),
        (8.0, 1500.0),
        (16.0, 200.0),
    ];
    let points = points.map(|(load, throughput)| UslPoint::new(load, throughput).unwrap());
    let poor = usl::fit(&points).unwrap();
    assert_eq!(poor.goodness, Goodness::Poor, "{poor:?}");
}

#[test]
fn weight_is_the_number_of_runs() {
    let points = [
        (1.0, 100.0),
        (2.0, 190.0),
        (8.0, 600.0),
        (8.0, 600.0),
        (32.0, 1300.0),
        (64.0, 1400.0),
    ];
    let twice = points.map(|(load, throughput)| UslPoint::new(load, throughput).unwrap());
    let mut weighted = twice.to_vec();
    weighted.remove(3);
    weighted[2] = UslPoint::weighted(8.0, 600.0, 2.0).unwrap();
    let [a, b] = [
        usl::fit(&twice).unwrap().curve,
        usl::fit(&weighted).unwrap().curve,
    ];
    assert_same(a.contention(), b.contention(), "contention");
    assert_same(a.coherence(), b.coherence(), "coherence");
}

#[test]
fn the_same_points_give_the_same_intervals() {
    let truth = Usl::new(1000.0, 0.05, 0.001).unwrap();
    let fit = || {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        measured(truth, || 0.02 * normal(&mut rng))
    };
    assert_eq!(fit(), fit());
}

#[test]
fn nineteen_intervals_in_twenty_hold_the_truth() {
    let truth = Usl::new(1000.0, 0.05, 0.001).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let runs = 200;
    let mut held = [0; 4];
    for _ in 0..runs {
        let fit = measured(truth, || 0.03 * normal(&mut rng));
        let holds = [
            fit.single.holds(truth.single()),
            fit.contention.holds(truth.contention()),
            fit.coherence.holds(truth.coherence()),
            fit.peak_load.holds(truth.peak_load().unwrap()),
        ];
        for (held, holds) in held.iter_mut().zip(holds) {
            *held += u32::from(holds);
        }
    }
    // 190 are expected, with a standard deviation of 3.1: four of them either way.
    assert!(
        held.iter().all(|held| (178..=200).contains(held)),
        "{held:?}"
    );
}

/// By the sum of twelve: near enough to normal, and sharing nothing with the crate.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12)
        .map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)
        .sum::<f64>()
        - 6.0
}
