//! Draws against their distribution, with fixed seeds: a failure is a defect and not bad luck.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::keys::Uniform;
use std::collections::BTreeSet;

/// χ² of counts that should all be equal.
fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum()
}

/// The 99.9 % quantile of χ² with `freedom` degrees of freedom (Wilson and Hilferty, 1931).
fn critical(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 3.0902 * part.sqrt()).powi(3)
}

#[test]
fn uniform_keys_are_uniform() {
    // 100 and 1000 do not divide 2⁶⁴.
    for (n, seed) in [(2, 1), (7, 2), (100, 3), (1000, 4)] {
        let keys = Uniform::new(n).unwrap();
        let mut counts = vec![0_u64; n as usize];
        for seq in 0..1_000_000 {
            counts[keys.key(seed, seq) as usize - 1] += 1;
        }
        let (found, limit) = (chi_square(&counts), critical(n as f64 - 1.0));
        assert!(found < limit, "n = {n}: χ² {found:.1} above {limit:.1}");
    }
}

#[test]
fn the_key_of_a_request_says_nothing_of_the_next() {
    let keys = Uniform::new(16).unwrap();
    let mut pairs = vec![0_u64; 256];
    for seq in 0..1_000_000 {
        let pair = (keys.key(9, seq) - 1) * 16 + keys.key(9, seq + 1) - 1;
        pairs[pair as usize] += 1;
    }
    let (found, limit) = (chi_square(&pairs), critical(255.0));
    assert!(found < limit, "χ² {found:.1} above {limit:.1}");
}

#[test]
fn the_key_of_a_request_says_nothing_of_the_same_request_under_the_next_seed() {
    let keys = Uniform::new(16).unwrap();
    let mut pairs = vec![0_u64; 256];
    for seed in 0..1_000_000 {
        let pair = (keys.key(seed, 5) - 1) * 16 + keys.key(seed + 1, 5) - 1;
        pairs[pair as usize] += 1;
    }
    let (found, limit) = (chi_square(&pairs), critical(255.0));
    assert!(found < limit, "χ² {found:.1} above {limit:.1}");
}

#[test]
fn the_statistic_finds_keys_that_are_not_uniform() {
    // One key of a hundred a tenth likelier than the others.
    let mut counts = vec![10_000_u64; 100];
    counts[0] += 1_000;
    assert!(chi_square(&counts) > 98.0);
    counts[0] += 1_000;
    assert!(chi_square(&counts) > critical(99.0));
}

#[test]
fn every_key_is_reached_and_none_beside() {
    let keys = Uniform::new(50).unwrap();
    let drawn: BTreeSet<_> = (0..5_000).map(|seq| keys.key(1, seq)).collect();
    assert_eq!(drawn, (1..=50).collect());
    let widest = Uniform::new(u64::MAX).unwrap();
    assert!((0..1_000).all(|seq| widest.key(1, seq) >= 1));
    let one = Uniform::new(1).unwrap();
    assert!((0..1_000).all(|seq| one.key(1, seq) == 1));
}
