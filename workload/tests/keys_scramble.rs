//! That a scramble permutes, and that it scatters.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod keys_support;

use keys_support::assert_equal;
use openloop_workload::Keys;
use openloop_workload::keys::Scramble;

#[test]
fn every_key_is_reached_from_exactly_one_rank_and_leads_back_to_it() {
    for n in 1..=2_000 {
        for seed in [0, 1, 2, 0xdead_beef, u64::MAX] {
            let scramble = Scramble::new(n, seed).unwrap();
            let mut reached = vec![false; n as usize];
            for rank in 1..=n {
                let key = scramble.key(rank);
                let place = &mut reached[key as usize - 1];
                assert!(!*place, "key {key} twice, n = {n}, seed {seed}");
                *place = true;
                assert_eq!(scramble.rank(key), rank, "n = {n}, seed {seed}");
            }
        }
    }
}

#[test]
fn among_very_many_keys_ranks_come_back_too() {
    for n in [
        1 << 20,
        (1 << 20) + 1,
        1_000_000_000,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX,
    ] {
        let scramble = Scramble::new(n, 5).unwrap();
        for rank in (1..=1_000).chain(n - 1_000..=n) {
            let key = scramble.key(rank);
            assert!((1..=n).contains(&key));
            assert_eq!(scramble.rank(key), rank);
        }
    }
}

#[test]
fn what_is_no_rank_is_taken_for_the_nearest() {
    let scramble = Scramble::new(10, 3).unwrap();
    assert_eq!(scramble.key(0), scramble.key(1));
    assert_eq!(scramble.key(u64::MAX), scramble.key(10));
}

#[test]
fn the_hottest_rank_may_be_any_key_and_so_may_the_next() {
    // Over seeds, the keys of ranks 1 and 2 of n are each of the n(n − 1) pairs alike. So many seeds show a pair that is
    // a tenth too frequent; a permutation of so few keys is not better than that.
    for n in [5_u64, 10, 16, 37] {
        let mut pairs = vec![0; (n * (n - 1)) as usize];
        for seed in 0..30_000 {
            let scramble = Scramble::new(n, seed).unwrap();
            let (first, second) = (scramble.key(1) - 1, scramble.key(2) - 1);
            let place = second - u64::from(second > first);
            pairs[(first * (n - 1) + place) as usize] += 1;
        }
        assert_equal(&format!("n = {n}"), &pairs);
    }
}

#[test]
fn neighbouring_ranks_lie_anywhere_towards_each_other() {
    for (n, seed) in [
        (1_000_000_u64, 1),
        (1_000_000_007, 2),
        (1 << 40, 3),
        (u64::MAX, 4),
    ] {
        let scramble = Scramble::new(n, seed).unwrap();
        let (mut keys, mut gaps, mut lowest) = (vec![0; 50], vec![0; 50], vec![0; 8]);
        let part = |place: u64| (u128::from(place) * 50 / u128::from(n)) as usize;
        for rank in 1..=20_000 {
            let (key, next) = (scramble.key(rank) - 1, scramble.key(rank + 1) - 1);
            let gap = if next >= key {
                next - key
            } else {
                next + (n - key)
            };
            keys[part(key)] += 1;
            gaps[part(gap)] += 1;
            lowest[(key % 8) as usize] += 1;
        }
        assert_equal(&format!("keys, n = {n}"), &keys);
        assert_equal(&format!("gaps, n = {n}"), &gaps);
        assert_equal(&format!("remainders, n = {n}"), &lowest);
    }
}

#[test]
fn scrambled_keys_are_asked_for_as_often_as_their_ranks() {
    for law in [
        "zipf:1000:0.99",
        "hotspot:1000:0.2:0.8",
        "uniform:1000",
        "sequential:1000",
    ] {
        let ranks: Keys = law.parse().unwrap();
        let keys: Keys = format!("{law}:scrambled=9").parse().unwrap();
        let (mut by_rank, mut by_key) = (vec![0_u32; 1_000], vec![0_u32; 1_000]);
        for seq in 0..50_000 {
            by_rank[ranks.key(1, seq) as usize - 1] += 1;
            by_key[keys.key(1, seq) as usize - 1] += 1;
        }
        assert_ne!(
            by_rank.iter().position(|&count: &u32| count == 50),
            Some(1_000)
        );
        by_rank.sort_unstable();
        by_key.sort_unstable();
        assert_eq!(by_rank, by_key, "{law}");
    }
}

#[test]
fn the_same_keys_are_hot_whatever_the_seed_of_the_run() {
    let keys: Keys = "zipf:1000:1.5:scrambled=4".parse().unwrap();
    let hottest = Scramble::new(1_000, 4).unwrap().key(1);
    for seed in 0..20 {
        let hits = (0..1_000)
            .filter(|&seq| keys.key(seed, seq) == hottest)
            .count();
        // P(1) is 0.39.
        assert!((320..460).contains(&hits), "{hits} with seed {seed}");
    }
}

#[test]
fn a_scrambled_hot_set_that_drifts_moves_on_to_keys_anywhere() {
    let keys: Keys = "hotspot:1000:0.01:1:drift=10/100:scrambled"
        .parse()
        .unwrap();
    let scramble = Scramble::new(1_000, 0).unwrap();
    for seq in 0..5_000 {
        let rank = scramble.rank(keys.key(1, seq)) - 1;
        assert_eq!(rank / 10, seq / 100, "request {seq}");
    }
}
