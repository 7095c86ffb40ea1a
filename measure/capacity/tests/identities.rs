//! What holds between models, whatever their parameters.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::{GGc, MD1, MG1, MM1, MMc, MMcK, Queue, erlang};

const LOADS: [f64; 9] = [0.0, 1e-6, 0.1, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0 - 1e-9];
const QUANTILES: [f64; 6] = [0.0, 1e-3, 0.5, 0.9, 0.99, 0.999_999];

#[track_caller]
fn assert_same(one: f64, other: f64, relative: f64, what: &str) {
    let error = (one - other).abs();
    assert!(error <= relative * other.abs(), "{what}: {one} and {other}");
}

fn assert_same_means(one: &dyn Queue, other: &dyn Queue, relative: f64) {
    let what = format!("{one:?} and {other:?}");
    assert_same(one.utilisation(), other.utilisation(), relative, &what);
    assert_same(
        one.wait_probability(),
        other.wait_probability(),
        relative,
        &what,
    );
    assert_same(one.mean_wait(), other.mean_wait(), relative, &what);
    assert_same(one.mean_response(), other.mean_response(), relative, &what);
    assert_same(one.mean_queue(), other.mean_queue(), relative, &what);
    assert_same(
        one.mean_in_system(),
        other.mean_in_system(),
        relative,
        &what,
    );
}

fn assert_same_quantiles(one: &dyn Queue, other: &dyn Queue, relative: f64) {
    for q in QUANTILES {
        let [a, b] = [one, other].map(|queue| queue.response_quantile(q).unwrap());
        assert_same(a, b, relative, &format!("{one:?} and {other:?} at {q}"));
    }
}

#[test]
fn one_server_of_many_is_one_server() {
    for load in LOADS {
        let (single, one) = (
            MM1::new(load, 1.0).unwrap(),
            MMc::new(load, 1.0, 1).unwrap(),
        );
        // 1 − ρ is all that is left near saturation.
        assert_same_means(&one, &single, 1e-13);
        assert_same_quantiles(&one, &single, 1e-11);
        for t in [0.0, 0.3, 7.0, f64::INFINITY] {
            let [a, b] = [one.wait_tail(t).unwrap(), single.wait_tail(t).unwrap()];
            assert_same(a, b, 1e-12, "wait");
            let [a, b] = [
                one.response_tail(t).unwrap(),
                single.response_tail(t).unwrap(),
            ];
            assert_same(a, b, 1e-12, "response");
        }
        for q in QUANTILES {
            let [a, b] = [
                one.wait_quantile(q).unwrap(),
                single.wait_quantile(q).unwrap(),
            ];
            assert_same(a, b, 1e-12, "quantile of the wait");
        }
    }
}

#[test]
fn a_queue_with_room_for_all_is_a_queue_without_a_bound() {
    for servers in [1, 2, 32, 1000] {
        for load in [0.0, 0.1, 0.5, 0.75, 0.9, 0.99] {
            let rate = load * f64::from(servers);
            let open = MMc::new(rate, 1.0, servers).unwrap();
            let bounded = MMcK::new(rate, 1.0, servers, 5000).unwrap();
            assert!(bounded.blocking_probability() < 1e-15);
            assert_same_means(&bounded, &open, 1e-11);
            assert_same_quantiles(&bounded, &open, 1e-9);
        }
    }
}

#[test]
fn a_queue_without_places_is_erlangs_loss() {
    for servers in [1, 7, 100, 10_000] {
        for load in [0.0, 0.3, 1.0, 5.0] {
            let rate = load * f64::from(servers);
            let loss = MMcK::new(rate, 1.0, servers, 0).unwrap();
            let lost = erlang::b(servers, rate).unwrap();
            assert_same(loss.blocking_probability(), lost, 1e-14, "lost");
            assert_eq!((loss.mean_wait(), loss.wait_probability()), (0.0, 0.0));
            // Who is accepted is served at once.
            let median = loss.response_quantile(0.5).unwrap();
            assert_same(median, std::f64::consts::LN_2, 1e-12, "median");
        }
    }
}

#[test]
fn the_approximation_is_exact_where_it_should_be() {
    for load in LOADS {
        let exponential = MG1::new(load, 1.0, 1.0).unwrap();
        assert_same_means(&exponential, &MM1::new(load, 1.0).unwrap(), 1e-15);
        let constant = MG1::new(load, 1.0, 0.0).unwrap();
        assert_same_means(&constant, &MD1::new(load, 1.0).unwrap(), 1e-15);
        for cv in [0.0, 0.5, 1.0, 3.0] {
            let general = MG1::new(load, 1.0, cv).unwrap();
            assert_same_means(&GGc::new(load, 1.0, 1, 1.0, cv).unwrap(), &general, 1e-13);
        }
        let pool = MMc::new(8.0 * load, 1.0, 8).unwrap();
        assert_same_means(
            &GGc::new(8.0 * load, 1.0, 8, 1.0, 1.0).unwrap(),
            &pool,
            1e-15,
        );
    }
}

#[test]
fn the_mean_wait_for_constant_services_is_what_lies_under_their_tail() {
    for load in [0.1, 0.5, 0.75, 0.9] {
        let queue = MD1::new(load, 1.0).unwrap();
        // Simpson's rule between the kinks at whole services.
        let step = 1.0 / 64.0;
        let mut integral = 0.0;
        for i in 0..64 * 400 {
            let from = f64::from(i) * step;
            // The law jumps in slope, and at 0 in value, at its kinks: take each interval from within.
            let ends = [from, from + 0.5 * step, (from + step) * (1.0 - 1e-15)];
            let [a, b, c] = ends.map(|t| queue.wait_tail(t).unwrap());
            integral += step * (a + 4.0 * b + c) / 6.0;
        }
        assert_same(integral, queue.mean_wait(), 1e-8, &format!("load {load}"));
    }
}

#[test]
fn tails_and_quantiles_are_inverse() {
    for load in [0.1, 0.5, 0.9, 0.999] {
        for q in [0.5, 0.9, 0.99, 0.9999] {
            let constant = MD1::new(load, 1.0).unwrap();
            let wait = constant.wait_quantile(q).unwrap();
            let above = constant.wait_tail(wait).unwrap();
            // Many do not wait at all, and then more than asked for are within the quantile.
            if wait == 0.0 {
                assert!(above <= 1.0 - q);
            } else {
                assert_same(above, 1.0 - q, 1e-8, &format!("M/D/1, {load}, {q}"));
            }
            let pool = MMc::new(4.0 * load, 1.0, 4).unwrap();
            let above = pool
                .response_tail(pool.response_quantile(q).unwrap())
                .unwrap();
            assert_same(above, 1.0 - q, 1e-10, &format!("M/M/4, {load}, {q}"));
        }
    }
}

#[test]
fn only_units_change_with_the_unit() {
    for servers in [1, 4, 300] {
        let c = f64::from(servers);
        let seconds = MMc::new(0.8 * c, 1.0, servers).unwrap();
        let milliseconds = MMc::new(800.0 * c, 0.001, servers).unwrap();
        for q in [0.5, 0.99] {
            let [a, b] = [&seconds, &milliseconds].map(|queue| queue.response_quantile(q).unwrap());
            assert_same(0.001 * a, b, 1e-11, "quantile");
        }
        assert_same(
            seconds.mean_queue(),
            milliseconds.mean_queue(),
            1e-11,
            "queue",
        );
    }
}

#[test]
fn a_million_servers_and_more_take_no_time() {
    for servers in [1_000_000, u32::MAX] {
        let c = f64::from(servers);
        // At Halfin and Whitt's load, c − √c, about a fifth waits, whatever c is.
        let waits = erlang::c(servers, c - c.sqrt()).unwrap();
        assert!((waits - 0.2234).abs() < 0.001, "{waits}");
        let queue = MMc::new(c - c.sqrt(), 1.0, servers).unwrap();
        assert!(queue.response_quantile(0.99).unwrap() > 4.6);
        let bounded = MMcK::new(c, 1.0, servers, u32::MAX).unwrap();
        assert!(bounded.mean_queue() > 0.0 && bounded.blocking_probability() > 0.0);
    }
}
