//! Formulas against a simulated queue, within the simulation's own error.
//!
//! Each figure is the mean over independent runs; it has to lie within 3.5 standard errors of the formula, with fixed
//! seeds. That is one in two thousand for each, were seeds drawn anew: a failure is a defect and not bad luck.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::{MD1, MG1, MM1, MMc, MMcK, Queue};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const RUNS: u64 = 24;
const ARRIVALS: usize = 40_000;
const WARM_UP: usize = 5_000;

/// A time that can be ordered; all are positive, where bits order as numbers do.
fn key(time: f64) -> u64 {
    time.to_bits()
}

fn exponential(rng: &mut Xoshiro256PlusPlus) -> f64 {
    -(((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64).ln()
}

/// What one run saw of the arrivals after its warm-up.
#[derive(Default)]
struct Seen {
    turned_away: f64,
    waited: f64,
    wait: f64,
    response: f64,
    within: f64,
}

/// First come first served: `servers` servers, and at most `places` waiting.
///
/// `limit` is a response, of which the share that is not longer is counted.
fn run(
    seed: u64,
    rate: f64,
    servers: usize,
    places: usize,
    limit: f64,
    service: impl Fn(&mut Xoshiro256PlusPlus) -> f64,
) -> Seen {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut free_at: BinaryHeap<Reverse<u64>> = (0..servers).map(|_| Reverse(key(0.0))).collect();
    // When those that wait will start, in order: they leave the queue then.
    let mut starts = std::collections::VecDeque::new();
    let mut now = 0.0;
    let mut seen = Seen::default();
    let mut accepted = 0.0;
    for arrival in 0..ARRIVALS {
        now += exponential(&mut rng) / rate;
        while starts.front().is_some_and(|start| *start <= now) {
            starts.pop_front();
        }
        let counted = if arrival < WARM_UP { 0.0 } else { 1.0 };
        let earliest = f64::from_bits(free_at.peek().unwrap().0);
        if earliest > now && starts.len() >= places {
            seen.turned_away += counted;
            continue;
        }
        let start = earliest.max(now);
        let took = service(&mut rng);
        free_at.pop();
        free_at.push(Reverse(key(start + took)));
        if start > now {
            starts.push_back(start);
            seen.waited += counted;
        }
        accepted += counted;
        seen.wait += counted * (start - now);
        seen.response += counted * (start - now + took);
        seen.within += counted * f64::from(u8::from(start - now + took <= limit));
    }
    let counted = (ARRIVALS - WARM_UP) as f64;
    seen.turned_away /= counted;
    for share in [
        &mut seen.waited,
        &mut seen.wait,
        &mut seen.response,
        &mut seen.within,
    ] {
        *share /= accepted;
    }
    seen
}

#[track_caller]
fn assert_explained(what: &str, values: &[f64], expected: f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(
        (mean - expected).abs() <= 3.5 * error.max(1e-12),
        "{what}: {mean} ± {error}, and the formula says {expected}"
    );
}

/// Compares a model with its simulation; `q` is the quantile of the response to compare, where it has one.
fn compare(
    queue: &dyn Queue,
    places: usize,
    q: Option<f64>,
    service: impl Fn(&mut Xoshiro256PlusPlus) -> f64,
) {
    let limit = q.map_or(f64::INFINITY, |q| queue.response_quantile(q).unwrap());
    let servers = queue.servers() as usize;
    let seen: Vec<Seen> = (0..RUNS)
        .map(|seed| run(seed, queue.arrival_rate(), servers, places, limit, &service))
        .collect();
    let values = |of: fn(&Seen) -> f64| -> Vec<f64> { seen.iter().map(of).collect() };
    let what = |figure: &str| format!("{figure} of {queue:?}");
    assert_explained(
        &what("turned away"),
        &values(|s| s.turned_away),
        queue.blocking_probability(),
    );
    assert_explained(
        &what("waited"),
        &values(|s| s.waited),
        queue.wait_probability(),
    );
    assert_explained(&what("wait"), &values(|s| s.wait), queue.mean_wait());
    assert_explained(
        &what("response"),
        &values(|s| s.response),
        queue.mean_response(),
    );
    assert_explained(&what("within"), &values(|s| s.within), q.unwrap_or(1.0));
}

#[test]
fn exponential_services() {
    for load in [0.3, 0.75] {
        compare(
            &MM1::new(load, 1.0).unwrap(),
            usize::MAX,
            Some(0.99),
            exponential,
        );
        for servers in [2, 8] {
            let queue = MMc::new(load * f64::from(servers), 1.0, servers).unwrap();
            compare(&queue, usize::MAX, Some(0.99), exponential);
        }
    }
}

#[test]
fn bounded_queues() {
    for (servers, places, load) in [
        (1, 4, 0.9),
        (4, 0, 0.8),
        (4, 6, 1.3),
        (32, 32, 1.05),
        (32, 8, 0.95),
    ] {
        let queue = MMcK::new(load * f64::from(servers), 1.0, servers, places).unwrap();
        compare(&queue, places as usize, Some(0.9), exponential);
    }
}

#[test]
fn constant_services() {
    for load in [0.3, 0.75] {
        for q in [0.9, 0.99] {
            compare(&MD1::new(load, 1.0).unwrap(), usize::MAX, Some(q), |_| 1.0);
        }
    }
}

#[test]
fn short_and_long_services() {
    // 90 % of 1 ms and 10 % of 20 ms.
    let short_or_long = |rng: &mut Xoshiro256PlusPlus| {
        if exponential(rng) < std::f64::consts::LN_10 {
            0.001
        } else {
            0.020
        }
    };
    for rate in [100.0, 200.0] {
        let queue = MG1::from_second_moment(rate, 0.0029, 0.9 * 1e-6 + 0.1 * 4e-4).unwrap();
        compare(&queue, usize::MAX, None, short_or_long);
    }
}
