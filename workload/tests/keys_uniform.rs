//! Uniform keys against their distribution, with fixed seeds: a failure is a defect and not bad luck.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod keys_support;

use keys_support::{assert_equal, chi_square, critical};
use openloop_workload::keys::Uniform;
use std::collections::BTreeSet;

#[test]
fn uniform_keys_are_uniform() {
    // 7, 100 and 1000 do not divide 2⁶⁴.
    for (n, seed) in [(2, 1), (7, 2), (100, 3), (1000, 4)] {
        let keys = Uniform::new(n).unwrap();
        let mut counts = vec![0_u64; n as usize];
        for seq in 0..1_000_000 {
            counts[keys.key(seed, seq) as usize - 1] += 1;
        }
        assert_equal(&format!("n = {n}"), &counts);
        assert_eq!(keys.pmf(n), 1.0 / n as f64);
        assert_eq!([keys.pmf(0), keys.pmf(n + 1)], [0.0, 0.0]);
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
    assert_equal("pairs in a row", &pairs);
}

#[test]
fn the_key_of_a_request_says_nothing_of_the_same_request_under_the_next_seed() {
    let keys = Uniform::new(16).unwrap();
    let mut pairs = vec![0_u64; 256];
    for seed in 0..1_000_000 {
        let pair = (keys.key(seed, 5) - 1) * 16 + keys.key(seed + 1, 5) - 1;
        pairs[pair as usize] += 1;
    }
    assert_equal("pairs of seeds", &pairs);
}

#[test]
fn the_statistic_finds_keys_that_are_not_uniform() {
    // One key of a hundred a tenth likelier than the others, and then a fifth.
    let equal = [0.01; 100];
    let mut counts = vec![10_000_u64; 100];
    counts[0] += 1_000;
    assert!(chi_square(&counts, &equal).0 > 98.0);
    counts[0] += 1_000;
    assert!(chi_square(&counts, &equal).0 > critical(99.0));
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
