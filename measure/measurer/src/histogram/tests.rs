use super::*;

#[test]
fn empty_is_none_and_never_zero() {
    let h = Histogram::new();
    assert_eq!(h.count(), 0);
    assert_eq!(
        (h.min_ns(), h.max_ns(), h.quantile(Quantile::P50)),
        (None, None, None)
    );
    assert_eq!((h.mean_ns(), h.stddev_ns()), (None, None));
}

#[test]
fn extremes_mean_and_deviation_are_exact_where_buckets_are_not() {
    let mut h = Histogram::new();
    for ns in [114_022_251, 5, 7] {
        h.record(ns);
    }
    assert_eq!((h.min_ns(), h.max_ns()), (Some(5), Some(114_022_251)));
    assert_eq!(h.quantile(Quantile::new(1, 1).unwrap()), Some(114_022_251));
    assert_eq!(h.mean_ns(), Some(114_022_263.0 / 3.0));
    assert_eq!(h.sum_ns(), 114_022_263);
}

#[test]
fn the_quantile_of_a_thousand_values_is_the_value_of_its_rank() {
    let mut h = Histogram::new();
    for ns in 1..=1000 {
        h.record(ns);
    }
    assert_eq!(h.quantile("p99.9".parse().unwrap()), Some(999));
    assert_eq!(h.quantile(Quantile::P50), Some(500));
    assert_eq!(h.count_above(990), 10);
    assert_eq!(h.count_above(0), 1000);
}

#[test]
fn merging_is_the_same_as_recording_in_one() {
    let (mut one, mut a, mut b) = (Histogram::new(), Histogram::new(), Histogram::new());
    for i in 0_u64..10_000 {
        let ns = i * i * 37 + 11;
        one.record(ns);
        if i % 3 == 0 { &mut a } else { &mut b }.record(ns);
    }
    a.merge(&b);
    for q in Quantile::REPORTED {
        assert_eq!(a.quantile(q), one.quantile(q));
    }
    assert_eq!((a.sum_ns(), a.stddev_ns()), (one.sum_ns(), one.stddev_ns()));
    assert_eq!(a.to_v2_bytes(), one.to_v2_bytes());
}

#[test]
fn values_past_the_limit_are_counted_and_kept_in_the_maximum() {
    let mut h = Histogram::new();
    h.record(10);
    for _ in 0..3 {
        h.record(2 * LIMIT_NS);
    }
    assert_eq!((h.count(), h.over_range()), (4, 3));
    assert_eq!(h.max_ns(), Some(2 * LIMIT_NS));
    assert_eq!(h.quantile(Quantile::P50), Some(LIMIT_NS));
}

#[test]
fn zero_is_a_value() {
    let mut h = Histogram::new();
    h.record(0);
    assert_eq!((h.min_ns(), h.quantile(Quantile::P99)), (Some(0), Some(0)));
}

#[test]
fn what_is_written_down_is_read_again_without_loss() {
    let mut h = Histogram::new();
    for ns in [
        0,
        1,
        2047,
        2048,
        123_456_789,
        LIMIT_NS,
        LIMIT_NS + 1,
        u64::MAX,
    ] {
        h.record(ns);
        let again = Histogram::from_parts(h.buckets(), h.exact().unwrap()).unwrap();
        assert_eq!(again.exact(), h.exact());
        assert_eq!(again.to_v2_bytes(), h.to_v2_bytes());
    }
    let mut far = Histogram::new();
    far.record(u64::MAX);
    let again = Histogram::from_parts([], far.exact().unwrap()).unwrap();
    assert_eq!(again.exact(), far.exact());
}

#[test]
fn what_contradicts_itself_is_no_histogram() {
    let mut h = Histogram::new();
    h.record(10);
    h.record(20);
    let exact = h.exact().unwrap();
    let refused = |buckets: &[(u64, u64)], exact| {
        Histogram::from_parts(buckets.iter().copied(), exact).unwrap_err()
    };
    let both = [(10, 1), (20, 1)];
    assert!(matches!(
        refused(&[(10, 1), (21, 1)], exact),
        HistogramError::Outside { .. }
    ));
    assert!(matches!(
        refused(&[(10, 1)], exact),
        HistogramError::Count { .. }
    ));
    assert!(matches!(
        refused(&[(10, u64::MAX), (20, 9)], exact),
        HistogramError::Count { .. }
    ));
    let many = Exact {
        count: u64::MAX,
        ..exact
    };
    assert!(matches!(
        refused(&[(10, u64::MAX)], many),
        HistogramError::TooMany(_)
    ));
    for wrong in [
        Exact {
            sum_ns: 29,
            ..exact
        },
        Exact {
            sum_ns: 41,
            ..exact
        },
        Exact {
            max_ns: LIMIT_NS + 1,
            ..exact
        },
    ] {
        assert_eq!(refused(&both, wrong), HistogramError::Extremes);
    }
    let none = Exact { count: 0, ..exact };
    assert!(matches!(refused(&[], none), HistogramError::Count { .. }));
}
