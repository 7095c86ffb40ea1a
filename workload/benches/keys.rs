//! Nanoseconds a key, and a billion keys held against their bounds.
//!
//! ```text
//! cargo bench -p openloop-workload --bench keys             each sampler, and Zipf beside rand_distr's
//! cargo bench -p openloop-workload --bench keys -- range    a billion Zipf keys over several (n, s), all in 1..=n
//! ```
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and fails by a panic"
)]

use openloop_workload::Keys;
use openloop_workload::keys::Zipf;
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::hint::black_box;
use std::thread;
use std::time::Instant;

/// Pairs of measurements; odd, so that there is one in the middle.
const PAIRS: usize = 9;
const DRAWS: u64 = 500_000;

fn main() {
    // cargo itself passes --bench, and --test where benchmarks are only to be run through.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "range") {
        range(1_000_000_000);
    } else if words.iter().any(|word| word == "--test") {
        range(1_000_000);
    } else {
        beside_the_peer();
        every_sampler();
    }
}

/// Both in alternation, so that what disturbs the machine disturbs both; the median of the ratios of the pairs.
fn beside_the_peer() {
    println!(
        "Zipf: ns a key, ours and rand_distr's, medians of {PAIRS} pairs of {DRAWS} draws each"
    );
    println!(
        "{:>14} {:>16} {:>8} {:>12} {:>8}",
        "n", "s", "ours", "rand_distr", "ratio"
    );
    for (n, s) in [
        (1_000_000_000, 0.99),
        (1_000_000_000, 0.5),
        (1_000_000_000, 1.0),
        (1_000_000_000, 1.2),
        (1_000_000_000, 3.0),
        (1_000_000, 0.99),
        (1_000, 0.99),
        (1_000_000_000_000, 0.99),
        (1_000_000_000_000, 1.0 + 1e-13),
        (1_000_000_000_000, 1e4),
    ] {
        let ours = Zipf::new(n, s).unwrap();
        let theirs = rand_distr::Zipf::new(n as f64, s).unwrap();
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut us, mut them, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let our_time = time(|seq| ours.key(1, seq));
            let their_time = time(|_| theirs.sample(&mut generator) as u64);
            us.push(our_time);
            them.push(their_time);
            ratios.push(their_time / our_time);
        }
        let [us, them, ratio] = [us, them, ratios].map(median);
        println!("{n:>14} {s:>16} {us:>8.1} {them:>12.1} {ratio:>8.2}");
    }
}

fn every_sampler() {
    println!("\nns a key, medians of {PAIRS} times {DRAWS} draws");
    for text in [
        "uniform:1e9",
        "sequential:1e9",
        "zipf:1e9:0.99",
        "zipf:1e9:0.99:scrambled",
        "zipf:1e9:0.99:drift=10/5000",
        "zipf:18446744073709551615:0.5",
        "hotspot:1e9:0.2:0.8",
        "latest:1e9:0.99:0.05",
    ] {
        let keys: Keys = text.parse().unwrap();
        let times = (0..PAIRS).map(|_| time(|seq| keys.key(1, seq))).collect();
        println!("{text:>32} {:>8.1}", median(times));
    }
}

/// Nanoseconds a draw.
fn time(mut draw: impl FnMut(u64) -> u64) -> f64 {
    let begin = Instant::now();
    let mut sum = 0_u64;
    for seq in 0..DRAWS {
        sum = sum.wrapping_add(draw(seq));
    }
    black_box(sum);
    begin.elapsed().as_secs_f64() * 1e9 / DRAWS as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// `draws` keys in all, over as many threads as there are cores; a panic where one is outside.
fn range(draws: u64) {
    let mut laws = Vec::new();
    for n in [
        1,
        2,
        3,
        1_000,
        1_000_000_000,
        1_000_000_000_000,
        1 << 53,
        u64::MAX,
    ] {
        for s in [0.5, 0.99, 1.0, 1.0 + 1e-13, 3.0] {
            laws.push(Zipf::new(n, s).unwrap());
        }
    }
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let each = draws / laws.len() as u64;
    for (seed, zipf) in (0..).zip(&laws) {
        thread::scope(|scope| {
            for part in 0..threads {
                scope.spawn(move || {
                    for seq in (part..each).step_by(threads as usize) {
                        let key = zipf.key(seed, seq);
                        assert!(
                            (1..=zipf.count()).contains(&key),
                            "{key} of {zipf:?} at {seq}"
                        );
                    }
                });
            }
        });
    }
    println!(
        "{} keys of {} laws, all within 1..=n",
        each * laws.len() as u64,
        laws.len()
    );
}
