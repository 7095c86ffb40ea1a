//! Zipf keys against Zipf's law, with fixed seeds: a failure is a defect and not bad luck.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod keys_support;

use keys_support::{assert_equal, assert_follows, bins, chi_square, critical};
use openloop_workload::keys::{Uniform, Zipf};

const EXPONENTS: [f64; 6] = [0.0, 0.5, 0.99, 1.0, 1.2, 3.0];

/// The counts of 300 000 keys in bins, and the probabilities of the bins.
fn draw(zipf: &Zipf, seed: u64) -> (Vec<u64>, Vec<f64>) {
    let ends = bins(zipf.count());
    let mut counts = vec![0; ends.len()];
    for seq in 0..300_000 {
        let key = zipf.key(seed, seq);
        assert!((1..=zipf.count()).contains(&key), "{key} of {zipf:?}");
        counts[ends.partition_point(|&end| end < key)] += 1;
    }
    let below: Vec<f64> = ends.iter().map(|&end| zipf.cdf(end)).collect();
    let probabilities = (0..ends.len())
        .map(|bin| below[bin] - if bin == 0 { 0.0 } else { below[bin - 1] })
        .collect();
    (counts, probabilities)
}

#[test]
fn keys_follow_the_law() {
    for s in EXPONENTS {
        for n in [1, 2, 10, 1_000, 1_000_000, 1_000_000_000] {
            let zipf = Zipf::new(n, s).unwrap();
            let (counts, probabilities) = draw(&zipf, n + 1);
            assert_follows(&format!("s = {s}, n = {n}"), &counts, &probabilities);
        }
    }
}

#[test]
fn keys_follow_the_law_at_other_exponents_and_up_to_the_last_key_of_64_bits() {
    for s in [1e-9, 0.1, 0.7, 1.0 - 1e-13, 1.0 + 1e-13, 1.05, 2.0, 8.0] {
        for n in [3, 300, 1 << 32, 1_000_000_000_000, 1 << 53, u64::MAX] {
            let zipf = Zipf::new(n, s).unwrap();
            let (counts, probabilities) = draw(&zipf, 5);
            assert_follows(&format!("s = {s}, n = {n}"), &counts, &probabilities);
        }
    }
}

#[test]
fn each_key_has_its_own_probability() {
    // No bin hides a neighbour: every key of 40 by itself, against terms added up one by one.
    for s in EXPONENTS {
        let zipf = Zipf::new(40, s).unwrap();
        let total: f64 = (1..=40).rev().map(|k| f64::from(k).powf(-s)).sum();
        let law: Vec<f64> = (1..=40).map(|k| f64::from(k).powf(-s) / total).collect();
        let mut counts = vec![0; 40];
        for seq in 0..1_000_000 {
            counts[zipf.key(3, seq) as usize - 1] += 1;
        }
        assert_follows(&format!("s = {s}"), &counts, &law);
    }
}

#[test]
fn the_statistic_tells_an_exponent_from_the_next() {
    // The law of s = 0.99 must not pass for that of s = 1.
    let (counts, _) = draw(&Zipf::new(1_000_000, 0.99).unwrap(), 2);
    let (_, other) = draw(&Zipf::new(1_000_000, 1.0).unwrap(), 2);
    let (found, freedom) = chi_square(&counts, &other);
    assert!(found > 2.0 * critical(freedom), "{found}");
}

#[test]
fn neighbours_among_very_many_keys_come_alike() {
    // Rounding would prefer even keys, or multiples of some power of two.
    for (n, s) in [
        (1 << 33, 0.2),
        (1 << 46, 0.3),
        (1_u64 << 53, 0.5),
        (u64::MAX, 0.5),
    ] {
        let zipf = Zipf::new(n, s).unwrap();
        let mut lowest = vec![0; 64];
        for seq in 0..300_000 {
            lowest[(zipf.key(4, seq) % 64) as usize] += 1;
        }
        // A share of 10⁻⁵ lies in keys so small that they are not alike.
        assert_equal(&format!("s = {s}, n = {n}"), &lowest);
    }
}

#[test]
fn the_key_of_a_request_says_nothing_of_the_next() {
    let zipf = Zipf::new(12, 0.99).unwrap();
    let mut pairs = vec![0_u64; 144];
    for seq in 0..500_000 {
        pairs[((zipf.key(9, seq) - 1) * 12 + zipf.key(9, seq + 1) - 1) as usize] += 1;
    }
    let law: Vec<f64> = (0..144)
        .map(|pair| zipf.pmf(1 + pair / 12) * zipf.pmf(1 + pair % 12))
        .collect();
    assert_follows("pairs in a row", &pairs, &law);
}

#[test]
fn without_an_exponent_keys_are_the_uniform_ones() {
    let (zipf, uniform) = (Zipf::new(1_000, 0.0).unwrap(), Uniform::new(1_000).unwrap());
    assert!((0..1_000).all(|seq| zipf.key(1, seq) == uniform.key(1, seq)));
    assert!(
        (0..100).all(|seq| Zipf::new(10, -0.0).unwrap().key(1, seq)
            == Zipf::new(10, 0.0).unwrap().key(1, seq))
    );
}

#[test]
fn an_extreme_exponent_leaves_the_first_key() {
    for s in [100.0, 1e4, 1e300, f64::MAX] {
        for n in [1, 2, 1_000_000_000_000, u64::MAX] {
            let zipf = Zipf::new(n, s).unwrap();
            assert!(
                (0..10_000).all(|seq| zipf.key(1, seq) == 1),
                "s = {s}, n = {n}"
            );
            assert!((zipf.pmf(1) - 1.0).abs() < 1e-15);
        }
    }
}

#[test]
fn one_key_is_the_only_key() {
    for s in EXPONENTS.into_iter().chain([1.0 + 1e-13, 1e4]) {
        let zipf = Zipf::new(1, s).unwrap();
        assert!((0..100_000).all(|seq| zipf.key(1, seq) == 1), "s = {s}");
        assert_eq!(
            [
                zipf.pmf(0),
                zipf.pmf(1),
                zipf.pmf(2),
                zipf.cdf(0),
                zipf.cdf(1)
            ],
            [0.0, 1.0, 0.0, 0.0, 1.0]
        );
    }
}

#[test]
fn a_fit_finds_the_exponent_that_keys_were_drawn_with() {
    for (s, seed) in [(0.5, 1), (0.99, 2), (1.2, 3)] {
        let zipf = Zipf::new(10_000, s).unwrap();
        let mut counts = vec![0; 10_000];
        for seq in 0..300_000 {
            counts[zipf.key(seed, seq) as usize - 1] += 1;
        }
        let fit = Zipf::fit(&counts).unwrap();
        let away = (fit.zipf().exponent() - s) / fit.standard_error();
        assert!(away.abs() < 3.3, "{away} standard errors from {s}: {fit:?}");
        assert!(fit.standard_error() < 0.005, "{fit:?}");
    }
}
