//! What a seed gives never changes without a note under *Number-breaking* in the changelog.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::Keys;

fn first(text: &str, seed: u64) -> Vec<u64> {
    let keys: Keys = text.parse().unwrap();
    (0..8).map(|seq| keys.key(seed, seq)).collect()
}

#[test]
fn uniform_keys_stay_what_they_are() {
    assert_eq!(
        first("uniform:1000", 1),
        [404, 840, 197, 612, 876, 122, 339, 65]
    );
    assert_eq!(
        first("uniform:1000", 2),
        [850, 602, 111, 40, 18, 10, 339, 663]
    );
    assert_eq!(
        first("uniform:18446744073709551615", 1)[..4],
        [
            7_444_039_502_080_256_045,
            15_483_029_451_959_044_957,
            3_625_604_244_632_252_210,
            11_283_506_703_162_471_553
        ]
    );
}

#[test]
fn sequential_keys_need_no_seed() {
    assert_eq!(first("sequential:3", 1), [1, 2, 3, 1, 2, 3, 1, 2]);
    assert_eq!(first("sequential:3", 1), first("sequential:3", 99));
}

#[test]
fn requests_are_drawn_in_any_order() {
    let keys: Keys = "uniform:1000000".parse().unwrap();
    let forwards: Vec<_> = (0..100).map(|seq| keys.key(5, seq)).collect();
    let mut backwards: Vec<_> = (0..100).rev().map(|seq| keys.key(5, seq)).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
}
