//! Whatever is asked: an answer that makes sense or a refusal, never a panic, NaN or negative number, and soon.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::sizing::{ClientTimeout, KvCache, KvShape, LatencyBounds, Nodes, pool_size};
use openloop_capacity::usl::{self, Usl, UslPoint};
use openloop_capacity::{
    CapacityError, Concurrency, GGc, MD1, MG1, MM1, MMc, MMcK, Queue, erlang, little, utilisation,
};
use proptest::prelude::*;

/// Any number, most of them of a size that occurs, and all that is odd.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..2.0_f64,
        4 => (-40.0..40.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        1 => any::<f64>(),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324,
            1e-30, 1e30, 1.0 - f64::EPSILON / 2.0, 1.0 + f64::EPSILON,
        ]),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![0..40_u32, 0..20_000_u32, any::<u32>(), Just(u32::MAX)]
}

/// What every answer of a model has to keep.
fn assert_sensible(queue: &dyn Queue, q: f64) {
    let what = format!("{queue:?}");
    for probability in [
        queue.utilisation(),
        queue.wait_probability(),
        queue.blocking_probability(),
    ] {
        assert!(
            (0.0..=1.0 + 1e-9).contains(&probability),
            "{probability} of {what}"
        );
    }
    for size in [
        queue.throughput(),
        queue.offered_load(),
        queue.mean_wait(),
        queue.mean_response(),
        queue.mean_queue(),
        queue.mean_in_system(),
    ] {
        assert!(size >= 0.0 && size.is_finite(), "{size} of {what}");
    }
    assert!(queue.mean_response() >= queue.mean_wait(), "{what}");
    let little = queue.throughput() * queue.mean_wait();
    assert!(
        (queue.mean_queue() - little).abs() <= 1e-9 * little,
        "{what}"
    );
    let little = queue.throughput() * queue.mean_response();
    assert!(
        (queue.mean_in_system() - little).abs() <= 1e-9 * little,
        "{what}"
    );
    match queue.response_quantile(q) {
        Ok(quantile) => assert!(
            quantile >= 0.0 && quantile.is_finite(),
            "{quantile} of {what}"
        ),
        Err(error) => assert_refusal(&error),
    }
}

fn assert_refusal(error: &CapacityError) {
    let text = error.to_string();
    assert!(
        text.len() > 20 && text.chars().next().unwrap().is_lowercase(),
        "{text}"
    );
}

fn model<Q: Queue>(queue: Result<Q, CapacityError>, q: f64) {
    match queue {
        Ok(queue) => assert_sensible(&queue, q),
        Err(error) => assert_refusal(&error),
    }
}

fn not_negative(answer: Result<f64, CapacityError>) {
    match answer {
        Ok(value) => assert!(value >= 0.0, "{value}"),
        Err(error) => assert_refusal(&error),
    }
}

#[test]
fn a_queue_below_the_smallest_normal_number_keeps_littles_law() {
    let (rate, service) = (1.909334414992339, 1.3019452375523772e-21);
    model(MMcK::new(rate, service, 14, 1), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn models_answer_sensibly_or_refuse(
        rate in number(), service in number(), servers in count(), places in count(), cv in number(), other in number(),
        q in number(),
    ) {
        model(MM1::new(rate, service), q);
        model(MMc::new(rate, service, servers), q);
        model(MG1::new(rate, service, cv), q);
        model(MG1::from_second_moment(rate, service, cv), q);
        model(MD1::new(rate, service), q);
        model(GGc::new(rate, service, servers, cv, other), q);
        model(MMcK::new(rate, service, servers, places), q);
        not_negative(erlang::b(servers, rate));
        not_negative(erlang::c(servers, rate));
    }

    #[test]
    fn loaded_models_answer_sensibly(
        load in 0.0..1.0_f64, over in 0.0..3.0_f64, service in 1e-6..1e3_f64, servers in 1..20_000_u32,
        places in 0..20_000_u32, q in 0.0..1.0_f64, t in number(),
    ) {
        let rate = load * f64::from(servers) / service;
        model(MMc::new(rate, service, servers), q);
        model(MMcK::new(over / load.max(1e-9) * rate, service, servers, places), q);
        let queue = MM1::new(load / service, service).unwrap();
        not_negative(queue.wait_tail(t));
        not_negative(queue.response_tail(t));
        not_negative(queue.wait_quantile(q));
        let queue = MD1::new(load / service, service).unwrap();
        not_negative(queue.wait_tail(t));
        not_negative(queue.response_tail(t));
        not_negative(queue.wait_quantile(q));
        let queue = MMc::new(rate, service, servers).unwrap();
        not_negative(queue.wait_tail(t));
        not_negative(queue.response_tail(t));
        not_negative(queue.wait_quantile(q));
    }

    #[test]
    fn more_load_never_waits_less(
        servers in 1..300_u32, places in 0..300_u32, low in 0.0..0.999_f64, high in 0.0..0.999_f64, q in 0.0..0.9999_f64,
    ) {
        let c = f64::from(servers);
        let (low, high) = (low.min(high), low.max(high));
        // What rounding may undo of the order.
        let slack = 1.0 + 1e-9;
        let [quiet, busy] = [low, high].map(|load| MMc::new(load * c, 1.0, servers).unwrap());
        prop_assert!(quiet.mean_wait() <= slack * busy.mean_wait());
        prop_assert!(quiet.wait_probability() <= slack * busy.wait_probability());
        prop_assert!(quiet.response_quantile(q).unwrap() <= slack * busy.response_quantile(q).unwrap());
        let [quiet, busy] = [low, high].map(|load| MD1::new(load, 1.0).unwrap());
        prop_assert!(quiet.mean_wait() <= slack * busy.mean_wait());
        prop_assert!(quiet.response_quantile(q).unwrap() <= slack * busy.response_quantile(q).unwrap());
        let [quiet, busy] = [low, high].map(|load| MMcK::new(1.5 * load * c, 1.0, servers, places).unwrap());
        prop_assert!(quiet.blocking_probability() <= slack * busy.blocking_probability());
        prop_assert!(quiet.mean_wait() <= slack * busy.mean_wait());
        prop_assert!(quiet.response_quantile(q).unwrap() <= slack * busy.response_quantile(q).unwrap());
    }

    #[test]
    fn sizes_are_sensible_or_refused(
        a in number(), b in number(), c in number(), n in any::<u64>(), m in any::<u64>(), shape in any::<[u32; 5]>(),
    ) {
        for answer in [
            little::number(a, b), little::rate(a, b), little::stay(a, b), utilisation::from_response(a, b),
            utilisation::stretch(a), utilisation::pollaczek_khinchine_factor(a),
        ] {
            not_negative(answer);
        }
        if let Ok(nodes) = Nodes::new(a, b, c) {
            prop_assert!(nodes.needed() >= 1);
        }
        if let Ok(size) = pool_size(a, b) {
            prop_assert!(size >= 1 && size as f64 >= a * b * (1.0 - 1e-11));
        }
        if let Ok(under_way) = Concurrency::new(a, b) {
            prop_assert!((0.0..=1.0).contains(&under_way.exceeds(n)));
            if let Ok(room) = under_way.room_for(c) {
                prop_assert!(under_way.exceeds(room) <= c);
                prop_assert!(room == 0 || under_way.exceeds(room - 1) > c);
            }
        }
        if let Ok(timeout) = ClientTimeout::new(a, Some(b), Some(c)) {
            prop_assert!(timeout.seconds() <= c && timeout.seconds() > 0.0);
        }
        if let Ok(bounds) = LatencyBounds::new(a) {
            prop_assert!(bounds.p99() >= 0.002 && bounds.p50() <= bounds.p95());
        }
        let [layers, kv_heads, head_dimension, bits, block] = shape;
        if let Ok(cache) = KvCache::new(KvShape { layers, kv_heads, head_dimension, bits }, block) {
            prop_assert!(cache.bytes(n, m).is_err() || cache.blocks(n, m).is_ok());
        }
    }

    #[test]
    fn curves_are_sensible_or_refused(a in number(), b in number(), c in number(), load in number()) {
        match Usl::new(a, b, c) {
            Ok(curve) => {
                not_negative(curve.throughput(load));
                prop_assert!(curve.peak_load().is_none_or(|peak| peak >= 1.0));
                prop_assert!(curve.highest_throughput().is_none_or(|highest| highest > 0.0));
            }
            Err(error) => assert_refusal(&error),
        }
    }
}

proptest! {
    // Each case is a thousand fits.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fits_keep_their_bounds_or_are_refused(points in prop::collection::vec((number(), number(), number()), 0..9)) {
        let points: Vec<_> = points
            .into_iter()
            .filter_map(|(load, throughput, weight)| UslPoint::weighted(1.0 + load.abs(), throughput, weight).ok())
            .collect();
        match usl::fit(&points) {
            Ok(fit) => {
                prop_assert!(fit.curve.single() > 0.0);
                prop_assert!((0.0..=1.0).contains(&fit.curve.contention()));
                prop_assert!(fit.curve.coherence() >= 0.0);
                prop_assert!(fit.coherence.lower <= fit.coherence.upper);
            }
            Err(error) => assert_refusal(&error),
        }
    }
}
