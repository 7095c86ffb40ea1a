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
fn zipf_keys_stay_what_they_are() {
    assert_eq!(first("zipf:1:0.99", 1), [1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(
        first("zipf:1000:0", 1),
        [404, 840, 197, 612, 876, 122, 339, 65]
    );
    assert_eq!(
        first("zipf:1000:0.5", 1),
        [174, 711, 46, 385, 772, 20, 125, 7]
    );
    assert_eq!(first("zipf:1000:0.99", 1), [12, 311, 3, 58, 406, 1, 7, 1]);
    assert_eq!(first("zipf:1000:1", 1), [11, 300, 2, 54, 394, 1, 7, 1]);
    assert_eq!(
        first("zipf:1000:1.0000000000001", 1),
        [11, 300, 2, 54, 394, 1, 7, 1]
    );
    assert_eq!(first("zipf:1000:1.2", 1), [4, 109, 1, 14, 167, 1, 3, 1]);
    assert_eq!(first("zipf:1000:3", 1), [1, 2, 1, 1, 2, 1, 1, 1]);
    assert_eq!(first("zipf:1000:1e4", 1), [1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(
        first("zipf:1000000000:0.99", 1),
        [5_224, 43_576_477, 53, 431_551, 89_272_688, 10, 1_264, 3]
    );
    assert_eq!(
        first("zipf:1000000000000:0.9", 1),
        [
            265_673_739,
            194_294_781_345,
            756_229,
            10_616_811_511,
            288_316_767_613,
            25_029,
            59_327_393,
            639
        ]
    );
    assert_eq!(
        first("zipf:18446744073709551615:0.5", 1),
        [
            3_003_984_038_108_162_553,
            12_995_475_196_206_443_995,
            712_592_188_510_956_015,
            6_901_896_991_537_852_280,
            14_144_877_870_440_639_073,
            272_495_342_822_975_640,
            2_114_521_440_812_119_834,
            77_517_529_411_326_829
        ]
    );
}

#[test]
fn keys_of_the_other_laws_stay_what_they_are() {
    assert_eq!(
        first("hotspot:1000:0.2:0.8", 1),
        [107, 741, 48, 197, 969, 7, 152, 54]
    );
    assert_eq!(
        first("latest:1000:0.99:0.25", 1),
        [989, 690, 998, 943, 596, 1_001, 995, 1_001]
    );
    assert_eq!(
        first("zipf:1000:0.99:drift=10/4", 1),
        [12, 311, 3, 58, 416, 11, 17, 11]
    );
    assert_eq!(
        first("zipf:1000:0.99:scrambled", 1),
        [852, 575, 569, 848, 742, 95, 639, 95]
    );
    assert_eq!(
        first("zipf:1000:0.99:scrambled=1", 1),
        [812, 939, 862, 909, 217, 447, 76, 447]
    );
    assert_eq!(
        first("sequential:1000:scrambled", 1),
        [95, 800, 569, 582, 123, 930, 639, 693]
    );
    assert_eq!(
        first("sequential:18446744073709551615:scrambled", 1),
        [
            1_979_717_327_706_904_581,
            9_506_330_127_751_341_179,
            16_734_987_143_031_965_725,
            3_315_558_361_381_526_891,
            10_084_889_927_268_995_747,
            4_874_581_899_741_862_688,
            15_011_778_179_149_163_507,
            18_398_203_940_925_393_073
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
