//! Bounds of closed loops against mean value analysis, which is exact, and against worked numbers.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::closed::{Bounds, Closed, ClosedBounds};

/// Throughput and mean response of `users` at stations with these demands, by mean value analysis (Reiser, Lavenberg 1980).
fn exact(demands: &[f64], think: f64, users: u64) -> (f64, f64) {
    let mut queues = vec![0.0; demands.len()];
    let (mut throughput, mut response) = (0.0, 0.0);
    for n in 1..=users {
        let stays: Vec<f64> = demands
            .iter()
            .zip(&queues)
            .map(|(demand, queue)| demand * (1.0 + queue))
            .collect();
        response = stays.iter().sum();
        throughput = n as f64 / (response + think);
        queues = stays.iter().map(|stay| throughput * stay).collect();
    }
    (throughput, response)
}

#[track_caller]
fn holds(bounds: Bounds, value: f64) {
    let slack = 1e-9 * value;
    assert!(
        bounds.lower <= value + slack && value <= bounds.upper + slack,
        "{bounds:?} do not hold {value}"
    );
}

fn is_within(inner: Bounds, outer: Bounds) -> bool {
    let slack = 1e-9 * outer.upper;
    inner.lower >= outer.lower - slack && inner.upper <= outer.upper + slack
}

#[test]
fn both_bounds_hold_what_is_exact_and_the_balanced_ones_are_narrower() {
    for demands in [
        &[0.010][..],
        &[0.005, 0.020],
        &[0.010, 0.010, 0.010],
        &[0.001, 0.002, 0.004, 0.050],
    ] {
        for think in [0.0, 0.010, 1.0, 60.0] {
            let closed = Closed::new(demands, think).unwrap();
            for users in [1, 2, 3, 10, 51, 52, 200, 2000] {
                let (throughput, response) = exact(demands, think, users);
                let ClosedBounds {
                    throughput: wide,
                    mean_response: wide_response,
                } = closed.asymptotic(users).unwrap();
                let narrow = closed.balanced(users).unwrap();
                for bounds in [wide, narrow.throughput] {
                    holds(bounds, throughput);
                }
                for bounds in [wide_response, narrow.mean_response] {
                    holds(bounds, response);
                }
                assert!(
                    is_within(narrow.throughput, wide),
                    "{demands:?} {think} {users}"
                );
                assert!(is_within(narrow.mean_response, wide_response));
            }
        }
    }
}

#[test]
fn balanced_bounds_of_equal_stations_without_thinking_are_exact() {
    let closed = Closed::new(&[0.010; 3], 0.0).unwrap();
    for users in [1, 2, 7, 100] {
        let (throughput, response) = exact(&[0.010; 3], 0.0, users);
        let bounds = closed.balanced(users).unwrap();
        for (bounds, value) in [
            (bounds.throughput, throughput),
            (bounds.mean_response, response),
        ] {
            for end in [bounds.lower, bounds.upper] {
                assert!((end / value - 1.0).abs() < 1e-12, "{bounds:?} {value}");
            }
        }
        // N / (D (1 + (N − 1)/3)).
        let n = users as f64;
        let by_hand = n / (0.030 * (1.0 + (n - 1.0) / 3.0));
        assert!((throughput / by_hand - 1.0).abs() < 1e-12);
    }
}

/// Demands of 5, 4 and 3 s, and 15 s to think.
#[test]
fn worked_numbers() {
    let closed = Closed::new(&[5.0, 4.0, 3.0], 15.0).unwrap();
    assert_eq!(closed.demand(), 12.0);
    assert_eq!(closed.highest_throughput(), 0.2);
    assert!((closed.saturation() - 5.4).abs() < 1e-12);
    let light = closed.asymptotic(2).unwrap();
    assert!((light.throughput.upper - 2.0 / 27.0).abs() < 1e-15);
    assert!((light.throughput.lower - 2.0 / 39.0).abs() < 1e-15);
    let heavy = closed.asymptotic(20).unwrap();
    assert_eq!(heavy.throughput.upper, 0.2);
    // 20 · 5 − 15, and 20 · 12.
    assert_eq!(
        heavy.mean_response,
        Bounds {
            lower: 85.0,
            upper: 240.0
        }
    );
}

#[test]
fn what_is_no_loop_is_refused() {
    for (demands, think, users, part) in [
        (&[][..], 0.0, 1, "the number of stations is 0"),
        (&[0.0], 0.0, 1, "a demand is 0"),
        (&[1.0, f64::NAN], 0.0, 1, "a demand is NaN"),
        (&[1.0], -1.0, 1, "the think time is -1"),
        (&[1.0], f64::INFINITY, 1, "the think time is inf"),
        (&[1.0], 0.0, 0, "the number of users is 0"),
    ] {
        let closed = Closed::new(demands, think).and_then(|closed| {
            closed.balanced(users)?;
            closed.asymptotic(users)
        });
        let told = closed.unwrap_err().to_string();
        assert!(told.contains(part), "{told:?} lacks {part:?}");
    }
}
