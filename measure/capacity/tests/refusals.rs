//! What cannot be is refused, by name, with its value and with what to do.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::sizing::{ClientTimeout, KvCache, KvShape, LatencyBounds, Nodes, pool_size};
use openloop_capacity::usl::{self, Usl, UslPoint};
use openloop_capacity::{
    CapacityError, Concurrency, GGc, MD1, MG1, MM1, MMc, MMcK, Queue, erlang, little, utilisation,
};

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, CapacityError>, parts: &[&str]) {
    let text = answer.unwrap_err().to_string();
    for part in parts {
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    }
}

#[test]
fn a_load_of_one_or_more_is_refused_with_the_servers_that_would_do() {
    for load in [1.0, 1.5, 1e9] {
        for answer in [
            MM1::new(load, 1.0).map(|_| ()),
            MG1::new(load, 1.0, 0.5).map(|_| ()),
            MD1::new(load, 1.0).map(|_| ()),
            MMc::new(4.0 * load, 1.0, 4).map(|_| ()),
            GGc::new(4.0 * load, 1.0, 4, 1.0, 1.0).map(|_| ()),
            erlang::c(4, 4.0 * load).map(|_| ()),
        ] {
            assert!(matches!(answer, Err(CapacityError::Saturated { .. })));
        }
        assert!(MMcK::new(4.0 * load, 1.0, 4, 0).is_ok());
    }
    assert_refused(
        MMc::new(1000.0, 0.050, 32),
        &["50", "32 servers", "at least 51 servers", "M/M/c/K"],
    );
}

#[test]
fn odd_numbers_are_refused_by_name() {
    for odd in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        1e31,
        1e-31,
    ] {
        let value = odd.to_string();
        for (answer, name) in [
            (MM1::new(odd, 1.0).map(|_| ()), "arrival rate"),
            (MM1::new(1.0, odd).map(|_| ()), "mean service"),
            (
                MG1::new(0.1, 1.0, odd).map(|_| ()),
                "coefficient of variation",
            ),
            (MMcK::new(odd, 1.0, 1, 1).map(|_| ()), "arrival rate"),
            (GGc::new(0.1, 1.0, 1, odd, 1.0).map(|_| ()), "gaps"),
            (GGc::new(0.1, 1.0, 1, 1.0, odd).map(|_| ()), "services"),
            (little::number(odd, 1.0).map(|_| ()), "arrival rate"),
            (
                utilisation::from_response(odd, 1.0).map(|_| ()),
                "mean response",
            ),
            (Nodes::new(odd, 1.0, 1.0).map(|_| ()), "peak rate"),
            (pool_size(1.0, odd).map(|_| ()), "P99 of the service"),
            (Concurrency::new(1.0, odd).map(|_| ()), "mean stay"),
            (LatencyBounds::new(odd).map(|_| ()), "service floor"),
            (ClientTimeout::new(odd, None, None).map(|_| ()), "P90"),
            (UslPoint::new(1.0, odd).map(|_| ()), "throughput"),
        ] {
            assert_refused(answer, &[name, &value, "give "]);
        }
    }
    assert_refused(
        MMc::new(1.0, 0.1, 0),
        &["number of servers is 0", "at least 1"],
    );
    assert_refused(Usl::new(1.0, 1.5, 0.0), &["contention is 1.5"]);
    assert_refused(UslPoint::new(0.5, 1.0), &["load is 0.5", "below 1"]);
}

#[test]
fn a_percentile_is_no_share() {
    let queue = MM1::new(0.5, 1.0).unwrap();
    for q in [99.0, 1.0, -0.1, f64::NAN] {
        assert_refused(
            queue.response_quantile(q),
            &["the quantile is", "such as 0.99"],
        );
        let general = MG1::new(0.5, 1.0, 2.0).unwrap();
        assert_refused(general.response_quantile(q), &["the quantile is"]);
    }
    assert_refused(queue.wait_tail(-1.0), &["the time is -1", "0 or more"]);
}

#[test]
fn quantiles_without_a_formula_say_what_to_take_in_their_place() {
    let general = MG1::new(0.5, 1.0, 2.0).unwrap();
    assert_refused(general.response_quantile(0.99), &["M/G/1", "MD1"]);
    let pool = GGc::new(0.5, 1.0, 2, 1.0, 2.0).unwrap();
    assert_refused(pool.response_quantile(0.99), &["G/G/c", "MMc"]);
}

#[test]
fn contradictions_name_both_sides() {
    let response = utilisation::from_response(0.010, 0.030);
    assert_refused(
        response,
        &["mean response is 0.01", "mean service, 0.03", "impossible"],
    );
    let moment = MG1::from_second_moment(1.0, 0.1, 0.001);
    assert_refused(moment, &["second moment", "0.001", "0.01"]);
    assert_refused(
        MG1::from_second_moment(1.0, 0.1, f64::NAN),
        &["second moment"],
    );
    assert_refused(MG1::from_second_moment(1.0, 0.1, f64::INFINITY), &["inf"]);
    assert_refused(Nodes::new(10.0, 3.0, 2.0), &["knee, 3", "one sweep"]);
    assert_refused(
        ClientTimeout::new(0.2, Some(0.1), None),
        &["P99.9 is 0.1", "P90, 0.2"],
    );
}

#[test]
fn what_cannot_be_counted_is_refused() {
    assert_refused(pool_size(1e20, 1.0), &["100000000000000000000", "units"]);
    assert_refused(Concurrency::new(1e10, 1.0), &["10000000000", "1e9"]);
    let under_way = Concurrency::new(1.0, 1.0).unwrap();
    assert_refused(under_way.room_for(0.0), &["probability of more is 0"]);
    let shape = KvShape {
        layers: 32,
        kv_heads: 8,
        head_dimension: 128,
        bits: 16,
    };
    assert_refused(KvCache::new(shape, 0), &["tokens in a block is 0"]);
    let none = KvShape { layers: 0, ..shape };
    assert_refused(KvCache::new(none, 16), &["layers is 0"]);
    let cache = KvCache::new(shape, 16).unwrap();
    assert_refused(cache.blocks(u64::MAX, 17), &["number of blocks"]);
    assert_refused(cache.bytes(u64::MAX, 1), &["number of bytes"]);
    let huge = KvShape {
        layers: u32::MAX,
        kv_heads: u32::MAX,
        head_dimension: u32::MAX,
        bits: u32::MAX,
    };
    assert_refused(KvCache::new(huge, u32::MAX), &["size of a block"]);
}

#[test]
fn a_fit_of_too_few_points_says_how_many_it_needs() {
    let points = |loads: &[f64]| -> Vec<UslPoint> {
        loads
            .iter()
            .map(|load| UslPoint::new(*load, 1.0).unwrap())
            .collect()
    };
    assert_refused(usl::fit(&[]), &["0 points", "4 to 10000"]);
    assert_refused(usl::fit(&points(&[1.0, 2.0, 3.0])), &["3 points"]);
    assert_refused(
        usl::fit(&points(&[1.0, 1.0, 2.0, 2.0])),
        &["2 different loads"],
    );
    assert_refused(usl::fit(&points(&[1.0; 10_001])), &["10001 points"]);
}
