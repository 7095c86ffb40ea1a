//! Pure traces of five million arrivals through the recorder, against closed forms.
//!
//! No clock is involved: completions follow from the recursion of each queue, in nanoseconds, so what is tested is
//! the schedule, the histograms and the ranks. At ρ = 0.75 the 99th percentile of five million responses of an
//! M/M/1 queue has a standard error of 0.67 % by chance alone, and 2 % is three of those; the other models vary
//! less.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_measurer::{Layout, Outcome, Quantile, Recorder, Sample};
use openloop_sched::{Arrivals, Offset, Profile, Rate, Schedule};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use tokio::time::Instant;

const ARRIVALS: u64 = 5_000_000;
const SERVICE_NS: f64 = 1e6;
const RHO: f64 = 0.75;
const TOLERANCE: f64 = 0.02;

/// Exponential with mean 1, as a pure function of a number: SplitMix64, then the inverse of the distribution.
fn exponential(seed: u64, seq: u64) -> f64 {
    let mut x = seed ^ seq.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let uniform = ((x >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -uniform.ln()
}

/// Responses, in milliseconds, of `servers` servers behind one queue, first come first served.
fn measured(arrivals: Arrivals, service: impl Fn(u64) -> f64, servers: usize) -> [f64; 3] {
    let rate = Rate::per_second(RHO * servers as f64 * 1e9 / SERVICE_NS).unwrap();
    let length = Duration::from_secs_f64(ARRIVALS as f64 / rate.as_per_second());
    let schedule = Schedule::new(Profile::hold(rate, length).unwrap(), arrivals, 20_261_130);
    let recorder = Recorder::new(Instant::now(), Layout::steady_only(length).unwrap());
    let mut free: BinaryHeap<Reverse<u64>> = (0..servers).map(|_| Reverse(0)).collect();
    for ticket in schedule {
        let arrival = ticket.intended.as_nanos();
        let Reverse(free_at) = free.pop().unwrap();
        let departure = arrival.max(free_at) + (service(ticket.seq) * SERVICE_NS) as u64;
        free.push(Reverse(departure));
        let ended = Offset::from_nanos(departure);
        recorder.write(Sample::new(
            ticket,
            ticket.intended,
            ticket.intended,
            ended,
            Outcome::Ok,
        ));
    }
    let snapshot = recorder.snapshot();
    assert!(snapshot.counts().balances());
    assert!(
        snapshot.counts().ok.abs_diff(ARRIVALS) < 4 * 2237,
        "within four standard deviations"
    );
    let response = snapshot.steady().response();
    [Quantile::P50, Quantile::P90, Quantile::P99]
        .map(|q| response.quantile(q).unwrap().ns() as f64 / 1e6)
}

fn assert_close(measured: [f64; 3], theory: [f64; 3]) {
    println!("measured {measured:.3?} ms, theory {theory:.3?} ms");
    for (measured, theory) in measured.into_iter().zip(theory) {
        let error = measured / theory - 1.0;
        assert!(
            error.abs() <= TOLERANCE,
            "{measured} against {theory}: {error}"
        );
    }
}

/// The quantiles of a distribution function over milliseconds, by bisection. Erlang's series loses its digits to
/// cancellation further out than this.
fn invert(cdf: impl Fn(f64) -> f64) -> [f64; 3] {
    [0.5, 0.9, 0.99].map(|q| {
        let (mut low, mut high) = (0.0, 25.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if cdf(middle) < q {
                low = middle
            } else {
                high = middle
            }
        }
        low
    })
}

#[test]
fn a_single_server_with_random_arrivals_and_service() {
    // The response of an M/M/1 queue is exponential with mean S / (1 − ρ).
    let theory = [0.5_f64, 0.1, 0.01].map(|tail| -tail.ln() / (1.0 - RHO));
    assert_close(
        measured(Arrivals::Poisson, |seq| exponential(1, seq), 1),
        theory,
    );
}

#[test]
fn a_single_server_with_random_arrivals_and_equal_service() {
    // Erlang's series for the wait of an M/D/1 queue; the response is one service more.
    let theory = invert(|response| {
        let wait = response - 1.0;
        if wait < 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        let mut k = 0.0;
        while k <= wait {
            // (λ (kD − t))ᵏ / k! · e^(−λ (kD − t)), built up factor by factor so that nothing overflows.
            let x = RHO * (k - wait);
            let mut term = (-x).exp();
            let mut factor = 1.0;
            while factor <= k {
                term *= x / factor;
                factor += 1.0;
            }
            sum += term;
            k += 1.0;
        }
        (1.0 - RHO) * sum
    });
    assert_close(measured(Arrivals::Poisson, |_| 1.0, 1), theory);
}

#[test]
fn a_single_server_with_even_arrivals_and_random_service() {
    // D/M/1: σ = e^(−(1 − σ) / ρ), and the response is exponential with mean S / (1 − σ).
    let mut sigma: f64 = 0.5;
    for _ in 0..1000 {
        sigma = (-(1.0 - sigma) / RHO).exp();
    }
    let theory = [0.5_f64, 0.1, 0.01].map(|tail| -tail.ln() / (1.0 - sigma));
    assert_close(
        measured(Arrivals::Constant, |seq| exponential(2, seq), 1),
        theory,
    );
}

#[test]
fn four_servers_behind_one_queue() {
    // Erlang C, then the response as a wait that is zero or exponential, plus an exponential service.
    let (c, load) = (4.0, 4.0 * RHO);
    let mut blocking = 1.0;
    for servers in 1..=4 {
        blocking = load * blocking / (f64::from(servers) + load * blocking);
    }
    let waits = blocking / (1.0 - RHO * (1.0 - blocking));
    let drain = c * (1.0 - RHO);
    let theory = invert(|t| {
        let served = 1.0 - (-t).exp();
        let after_wait = 1.0 - (drain * (-t).exp() - (-drain * t).exp()) / (drain - 1.0);
        // At ρ = 0.75 and c = 4 the queue drains exactly as fast as one server serves: a limit.
        let after_wait = if (drain - 1.0).abs() < 1e-9 {
            1.0 - (1.0 + t) * (-t).exp()
        } else {
            after_wait
        };
        (1.0 - waits) * served + waits * after_wait
    });
    assert_close(
        measured(Arrivals::Poisson, |seq| exponential(3, seq), 4),
        theory,
    );
}
