//! What a seed gives never changes without a note under *Number-breaking* in the changelog.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::Values;

/// The first values of the seed 1, and the one of the last request of the seed 2.
const GOLDEN: [(&str, [f64; 4]); 13] = [
    ("fixed:200", [200.0, 200.0, 200.0, 200.0]),
    (
        "uniform:lo=100,hi=300",
        [
            204.15601664124938,
            147.0757939640169,
            124.893336929248,
            105.36917724140496,
        ],
    ),
    (
        "exponential:200",
        [
            147.11913409065872,
            53.67499065704228,
            26.584415006950863,
            5.442563801323738,
        ],
    ),
    (
        "lognormal:mean=200,cv=1.5",
        [
            117.39745136091943,
            50.70184996133362,
            31.73074495895974,
            13.65918409821669,
        ],
    ),
    (
        "lognormal:p50=180,p99=900",
        [
            186.60781691137325,
            109.2869247856187,
            81.07018595616964,
            47.37991124789457,
        ],
    ),
    (
        "gamma:mean=200,cv=0.001",
        [
            200.01035581669314,
            199.85571875801526,
            199.76943317845013,
            199.61431850085492,
        ],
    ),
    (
        "gamma:mean=200,cv=0.5",
        [
            188.3680285813773,
            122.58634339440466,
            93.61985340013472,
            161.5370113913109,
        ],
    ),
    (
        "gamma:mean=200,cv=3",
        [
            74.24303370380784,
            1.94987891805856e-8,
            3.5738320362785483e-10,
            3.627445359193462,
        ],
    ),
    (
        "pareto:shape=1.1,lo=1000,hi=1e9",
        [
            1951.7435252759246,
            1276.3151790713855,
            1128.4423354542193,
            1025.047466265829,
        ],
    ),
    (
        "hyperexponential:mean=10,cv=4",
        [
            18.130155308786236,
            5.432795892854948,
            13.713148496118519,
            18.8787065017615,
        ],
    ),
    ("empirical:100x3,250,1000x2", [250.0, 100.0, 100.0, 100.0]),
    // u64::MAX is 1 modulo 7.
    ("sequence:7,9,3,1,1,1,1", [7.0, 9.0, 3.0, 9.0]),
    (
        "exponential:200,min=50,max=250",
        [147.11913409065872, 53.67499065704228, 50.0, 50.0],
    ),
];

#[test]
fn values_stay_what_they_are() {
    for (text, golden) in GOLDEN {
        let values: Values = text.parse().unwrap();
        let drawn = [
            values.value(1, 0),
            values.value(1, 1),
            values.value(1, 2),
            values.value(2, u64::MAX),
        ];
        assert_eq!(drawn, golden, "{text}");
    }
}

#[test]
fn values_are_drawn_in_any_order() {
    let values: Values = "gamma:mean=10,cv=2".parse().unwrap();
    let forwards: Vec<_> = (0..100).map(|seq| values.value(5, seq)).collect();
    let mut backwards: Vec<_> = (0..100).rev().map(|seq| values.value(5, seq)).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
}
