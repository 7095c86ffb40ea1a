//! The fit of the curve of M/M/c finds what points were made from, and says where it does not.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::mmc_curve::{self, MMcFit, ResponsePoint};
use openloop_capacity::{Goodness, MMc, Queue};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LOADS: [f64; 9] = [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95];

fn points(servers: u32, service: f64, mut error: impl FnMut() -> f64) -> Vec<ResponsePoint> {
    let of = |load: f64| {
        let rate = load * f64::from(servers) / service;
        let exact = MMc::new(rate, service, servers).unwrap().mean_response();
        ResponsePoint {
            rate,
            mean_response: exact * (1.0 + error()),
        }
    };
    LOADS.into_iter().map(of).collect()
}

fn fit(servers: u32, service: f64, error: impl FnMut() -> f64) -> MMcFit {
    mmc_curve::fit(&points(servers, service, error)).unwrap()
}

/// By the sum of twelve: near enough to normal.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let uniform =
        |rng: &mut Xoshiro256PlusPlus| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

#[test]
fn exact_points_give_their_servers_back() {
    for servers in [1, 2, 5, 8, 31, 33, 64, 100, 1000] {
        for service in [1e-4, 0.05, 20.0] {
            let found = fit(servers, service, || 0.0);
            assert_eq!(found.servers, servers);
            assert!(
                (found.mean_service / service - 1.0).abs() < 1e-6,
                "{found:?}"
            );
            assert!(found.relative_error < 1e-6, "{found:?}");
            assert_eq!(found.goodness, Goodness::Good);
            let rate = 0.77 * found.highest_rate;
            let expected = MMc::new(rate, service, servers).unwrap().mean_response();
            assert!((found.mean_response(rate).unwrap() / expected - 1.0).abs() < 1e-5);
            assert!(found.mean_response(1.001 * found.highest_rate).is_err());
        }
    }
}

#[test]
fn nineteen_intervals_in_twenty_hold_the_truth() {
    let (servers, service, runs) = (8, 0.020, 200);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut held = [0; 3];
    for _ in 0..runs {
        let found = fit(servers, service, || 0.03 * normal(&mut rng));
        let holds = [
            found.servers_interval.holds(f64::from(servers)),
            found.service_interval.holds(service),
            found.rate_interval.holds(f64::from(servers) / service),
        ];
        for (held, holds) in held.iter_mut().zip(holds) {
            *held += u32::from(holds);
        }
    }
    // 190 are expected, with a standard deviation of 3.1. Servers are whole, which makes their interval a little wide.
    assert!(
        held.iter().all(|held| (178..=200).contains(held)),
        "{held:?}"
    );
}

#[test]
fn points_far_from_saturation_do_not_bound_the_servers() {
    // At 1 % to 10 % load of 50 servers nobody waits, and the curve is flat but for errors of a percent.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let points: Vec<_> = (1..=10)
        .map(|i| {
            let mean_response = 0.1 * (1.0 + 0.01 * normal(&mut rng));
            ResponsePoint {
                rate: 5.0 * f64::from(i),
                mean_response,
            }
        })
        .collect();
    let found = mmc_curve::fit(&points).unwrap();
    assert_eq!(found.servers_interval.upper, f64::INFINITY);
    assert_eq!(found.rate_interval.upper, f64::INFINITY);
    // What carried 50/s carries 50/s.
    assert!(found.rate_interval.lower >= 50.0, "{found:?}");
    assert!(found.service_interval.holds(0.1));
}

#[test]
fn time_that_occupies_nobody_raises_servers_and_service_and_leaves_their_ratio() {
    // One server of 1 ms behind 9 ms of network.
    let points: Vec<_> = [100.0, 300.0, 500.0, 700.0, 800.0, 900.0, 950.0, 980.0]
        .map(|rate| ResponsePoint {
            rate,
            mean_response: 0.009 + 0.001 / (1.0 - 0.001 * rate),
        })
        .into();
    let found = mmc_curve::fit(&points).unwrap();
    assert!(
        (found.highest_rate / 1000.0 - 1.0).abs() < 0.02,
        "{found:?}"
    );
    assert!(found.servers > 5, "{found:?}");
}

#[test]
fn a_curve_of_another_shape_is_called_poor() {
    // Falls with the load, as a cache that warms up makes it.
    let falling = [
        (100.0, 0.050),
        (200.0, 0.020),
        (300.0, 0.010),
        (400.0, 0.008),
        (500.0, 0.050),
    ];
    // A step: a pool of connections to something that has a mode of its own.
    let step = [
        (100.0, 0.001),
        (200.0, 0.001),
        (300.0, 0.5),
        (400.0, 0.5),
        (500.0, 0.5),
    ];
    for points in [falling, step] {
        let points = points.map(|(rate, mean_response)| ResponsePoint {
            rate,
            mean_response,
        });
        let found = mmc_curve::fit(&points).unwrap();
        assert_eq!(found.goodness, Goodness::Poor, "{found:?}");
        assert_eq!(found.goodness.to_string(), "poor");
    }
}

#[test]
fn nothing_near_the_fit_is_better() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for servers in [1, 4, 40] {
        let points = points(servers, 1.0, || 0.05 * normal(&mut rng));
        let found = mmc_curve::fit(&points).unwrap();
        let cost = |servers: u32, service: f64| -> f64 {
            let errors = points.iter().map(|point| {
                MMc::new(point.rate, service, servers).map_or(f64::INFINITY, |queue| {
                    (point.mean_response / queue.mean_response()).ln().powi(2)
                })
            });
            errors.sum()
        };
        let least = cost(found.servers, found.mean_service);
        for c in found.servers.saturating_sub(3).max(1)..=found.servers + 3 {
            for step in -40..=40 {
                let service = f64::from(c) / found.highest_rate * (1.0 + 0.002 * f64::from(step));
                assert!(
                    cost(c, service) >= least * (1.0 - 1e-9),
                    "{c}, {service}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let point = |rate, mean_response| ResponsePoint {
        rate,
        mean_response,
    };
    for (points, part) in [
        (vec![], "0 points"),
        (vec![point(1.0, 1.0), point(2.0, 1.0)], "2 points"),
        (
            vec![point(1.0, 1.0); 5],
            "5 points at 1 different loads: give 3 to 10000 points",
        ),
        (vec![point(0.0, 1.0)], "the arrival rate is 0"),
        (vec![point(1.0, f64::NAN)], "the mean response is NaN"),
    ] {
        let text = mmc_curve::fit(&points).unwrap_err().to_string();
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    }
}
