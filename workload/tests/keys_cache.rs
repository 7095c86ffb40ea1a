//! What a cache answers, against caches simulated.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::Keys;
use std::collections::{BTreeMap, HashMap};

/// The share of `count` requests that a cache answers that evicts the least recently used, after `count` to warm it.
fn simulate(keys: &Keys, capacity: usize, count: u64) -> f64 {
    let (mut last_use, mut by_use) = (HashMap::new(), BTreeMap::new());
    let mut hits = 0;
    for seq in 0..2 * count {
        let key = keys.key(1, seq);
        if let Some(before) = last_use.insert(key, seq) {
            by_use.remove(&before);
            hits += u64::from(seq >= count);
        }
        by_use.insert(seq, key);
        if by_use.len() > capacity {
            let (_, evicted) = by_use.pop_first().unwrap();
            last_use.remove(&evicted);
        }
    }
    hits as f64 / count as f64
}

#[test]
fn a_cache_that_evicts_the_least_recently_used_answers_what_is_foretold() {
    for (text, capacity) in [
        ("zipf:1000:0.99", 10),
        ("zipf:1000:0.99", 300),
        ("zipf:1000:0.99:scrambled", 300),
        ("zipf:20000:0.6", 2_000),
        ("zipf:100000:0.99", 1_000),
        ("zipf:20000:1.2", 500),
        ("zipf:300:3", 5),
        ("hotspot:1000:0.2:0.8", 150),
        ("hotspot:1000:0.2:0.8", 600),
        ("uniform:1000", 250),
        ("sequential:1000", 999),
        ("sequential:1000", 1_000),
    ] {
        let keys: Keys = text.parse().unwrap();
        let found = simulate(&keys, capacity, 150_000);
        let foretold = keys.lru_hit_rate(capacity as u64).unwrap();
        // Of 150 000 requests the standard error is at most 0.0013; Che's approximation itself is within 0.002 here.
        assert!(
            (found - foretold).abs() < 0.006,
            "{found} {foretold}: {text}, {capacity} entries"
        );
        assert!(foretold <= keys.hit_rate(capacity as u64) + 1e-12);
    }
}

#[test]
fn a_cache_that_holds_the_hottest_answers_what_is_foretold() {
    for text in [
        "zipf:1000:0.99",
        "zipf:1000:0",
        "hotspot:1000:0.2:0.8",
        "uniform:1000",
        "sequential:1000",
    ] {
        let keys: Keys = text.parse().unwrap();
        for capacity in [0, 1, 100, 500, 1_000] {
            let hits = (0..200_000)
                .filter(|&seq| keys.key(1, seq) <= capacity)
                .count();
            let (found, foretold) = (hits as f64 / 200_000.0, keys.hit_rate(capacity));
            assert!(
                (found - foretold).abs() < 0.006,
                "{found} {foretold}: {text}, {capacity}"
            );
        }
    }
    let latest: Keys = "latest:1000:0.99:0.5".parse().unwrap();
    let hits = (0..200_000)
        .filter(|&seq| latest.key(1, seq) > 1_000 + seq / 2 - 100)
        .count();
    assert!((hits as f64 / 200_000.0 - latest.hit_rate(100)).abs() < 0.006);
}

#[test]
fn equally_likely_keys_are_answered_by_the_part_that_fits() {
    let zipf: Keys = "zipf:1000000:0".parse().unwrap();
    assert!((zipf.lru_hit_rate(250_000).unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(zipf.hit_rate(250_000), 0.25);
    let hotspot: Keys = "hotspot:1000:0.5:0.5".parse().unwrap();
    assert!((hotspot.lru_hit_rate(300).unwrap() - 0.3).abs() < 1e-9);
}

#[test]
fn nothing_is_foretold_where_keys_move() {
    for text in ["latest:1000:0.99:0.05", "zipf:1000:0.99:drift=1/1"] {
        assert_eq!(text.parse::<Keys>().unwrap().lru_hit_rate(10), None);
    }
}

#[test]
fn a_cache_of_everything_answers_everything_and_one_of_nothing_nothing() {
    for text in [
        "zipf:1000:0.99",
        "zipf:18446744073709551615:1e300",
        "zipf:1:1",
        "hotspot:10:0.2:0.8",
        "uniform:10",
    ] {
        let keys: Keys = text.parse().unwrap();
        assert_eq!(
            (keys.hit_rate(0), keys.lru_hit_rate(0)),
            (0.0, Some(0.0)),
            "{text}"
        );
        assert_eq!(
            (keys.hit_rate(keys.count()), keys.lru_hit_rate(u64::MAX)),
            (1.0, Some(1.0)),
            "{text}"
        );
    }
}
