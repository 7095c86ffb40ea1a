//! Hot spots, latest and drifting keys against their laws, with fixed seeds.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod keys_support;

use keys_support::{assert_follows, chi_square, critical};
use openloop_workload::Keys;
use openloop_workload::keys::{Drift, HotSpot, Latest, Zipf};

const DRAWS: u64 = 300_000;

#[test]
fn hot_keys_take_their_share_and_the_others_the_rest() {
    for (n, hot, share) in [
        (2, 0.5, 0.9),
        (10, 0.2, 0.2),
        (100, 0.2, 0.8),
        (1_000, 0.001, 0.5),
    ] {
        let keys = HotSpot::new(n, hot, share).unwrap();
        let mut counts = vec![0; n as usize];
        for seq in 0..DRAWS {
            counts[keys.key(n, seq) as usize - 1] += 1;
        }
        let law: Vec<f64> = (1..=n).map(|key| keys.pmf(key)).collect();
        assert_follows(&format!("{keys:?}"), &counts, &law);
    }
    // A billion keys, in 50 ranges of each kind.
    let keys = HotSpot::new(1_000_000_000, 0.2, 0.8).unwrap();
    let mut counts = vec![0; 100];
    for seq in 0..DRAWS {
        let place = keys.key(1, seq) - 1;
        let bin = if place < 200_000_000 {
            place / 4_000_000
        } else {
            50 + (place - 200_000_000) / 16_000_000
        };
        counts[bin as usize] += 1;
    }
    let law: Vec<f64> = (0..100)
        .map(|bin| if bin < 50 { 0.016 } else { 0.004 })
        .collect();
    assert_follows("a billion keys", &counts, &law);
}

#[test]
fn ages_follow_zipf_s_law_wherever_the_end_is() {
    for (s, inserts) in [
        (0.0, 0.05),
        (0.5, 0.0),
        (0.99, 0.05),
        (1.0, 3.7),
        (1.2, 1.0),
        (3.0, 0.5),
    ] {
        for n in [1, 2, 10, 1_000] {
            let (keys, ages) = (
                Latest::new(n, s, inserts).unwrap(),
                Zipf::new(n, s).unwrap(),
            );
            let mut counts = vec![0; n as usize];
            for seq in 0..100_000 {
                let age = keys.newest(seq) - keys.key(3, seq);
                counts[age as usize] += 1;
            }
            let law: Vec<f64> = (1..=n).map(|rank| ages.pmf(rank)).collect();
            assert_follows(&format!("{keys:?}"), &counts, &law);
        }
    }
}

#[test]
fn the_newest_of_many_keys_is_the_hottest() {
    let keys: Keys = "latest:1e9:0.99:0.05".parse().unwrap();
    let newest = |seq: u64| 1_000_000_000 + seq / 20;
    let hits = (0..DRAWS)
        .filter(|&seq| keys.key(1, seq) == newest(seq))
        .count();
    let expected = Zipf::new(1_000_000_000, 0.99).unwrap().pmf(1) * DRAWS as f64;
    // 12 710; five standard deviations are 552.
    assert!((hits as f64 - expected).abs() < 552.0, "{hits} {expected}");
    assert_eq!(keys.count(), 1_000_000_000);
}

#[test]
fn keys_that_follow_the_numbers_of_requests_say_so() {
    for (text, is_ordered) in [
        ("zipf:100:0.99:scrambled", false),
        ("uniform:100", false),
        ("hotspot:100:0.2:0.8", false),
        ("sequential:100", true),
        ("latest:100:0.99:0.05", true),
        ("uniform:100:drift=1/5", true),
    ] {
        assert_eq!(
            text.parse::<Keys>().unwrap().is_ordered(),
            is_ordered,
            "{text}"
        );
    }
}

#[test]
fn a_drifting_law_is_the_law_about_a_key_that_moves() {
    for text in ["zipf:100:0.99", "hotspot:100:0.2:0.8", "uniform:100"] {
        let still: Keys = text.parse().unwrap();
        let drift = Drift::new(7, 1_000).unwrap();
        let moving = still.drifting(drift).unwrap();
        for seq in 0..20_000 {
            let moved = 7 * (seq / 1_000);
            let expected = 1 + (still.key(1, seq) - 1 + moved) % 100;
            assert_eq!(moving.key(1, seq), expected);
        }
    }
}

#[test]
fn over_a_whole_round_drifting_keys_are_all_alike_and_within_a_step_they_are_not() {
    let keys: Keys = "hotspot:50:0.2:0.8:drift=10/2000".parse().unwrap();
    let mut counts = vec![0; 50];
    for seq in 0..100_000 {
        counts[keys.key(1, seq) as usize - 1] += 1;
        if seq == 1_999 {
            let (found, freedom) = chi_square(&counts, &[0.02; 50]);
            assert!(found > 10.0 * critical(freedom));
        }
    }
    assert_follows("ten rounds", &counts, &[0.02; 50]);
}
