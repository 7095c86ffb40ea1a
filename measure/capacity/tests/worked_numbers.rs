//! Worked numbers that the literature of capacity planning gives, each with the population it is about.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_capacity::sizing::{ClientTimeout, LatencyBounds, Nodes, TimeoutBasis, pool_size};
use openloop_capacity::{
    Concurrency, MD1, MG1, MM1, MMc, MMcK, Queue, erlang, little, utilisation,
};

#[track_caller]
fn assert_within(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found}, not {expected}"
    );
}

/// The rate at which `ratio` reaches `limit`, of a ratio that grows from 0 to `highest`.
fn rate_where(ratio: impl Fn(f64) -> f64, limit: f64, highest: f64) -> f64 {
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if ratio(middle) < limit {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn a_limit_of_25_times_the_service_lets_96_percent_load_pass() {
    assert_eq!(utilisation::from_response(0.050, 0.002).unwrap(), 0.96);
    assert_within(utilisation::stretch(0.96).unwrap(), 25.0, 1e-12);
    assert_within(
        MM1::new(480.0, 0.002).unwrap().mean_response(),
        0.050,
        1e-12,
    );
}

#[test]
fn a_service_of_30_ms_takes_60_ms_at_half_load() {
    let queue = MM1::new(0.5 / 0.030, 0.030).unwrap();
    assert_within(queue.mean_response(), 0.060, 1e-15);
}

#[test]
fn two_thirds_load_stretch_threefold_three_quarters_fourfold_and_nine_tenths_tenfold() {
    for (load, stretch) in [(1.0 / 3.0, 1.5), (2.0 / 3.0, 3.0), (0.75, 4.0), (0.9, 10.0)] {
        assert_within(utilisation::stretch(load).unwrap(), stretch, 1e-12);
        // Every quantile of one exponential server stretches as the mean does.
        let (idle, busy) = (MM1::new(0.0, 1.0).unwrap(), MM1::new(load, 1.0).unwrap());
        for q in [0.5, 0.95, 0.99] {
            let inflation = busy.response_quantile(q).unwrap() / idle.response_quantile(q).unwrap();
            assert_within(inflation, stretch, 1e-12);
        }
    }
}

#[test]
fn a_fast_cache_gets_2_ms_and_not_four_times_its_service() {
    let bounds = LatencyBounds::new(0.0002).unwrap();
    assert_eq!(bounds.p99(), 0.002);
    assert_within(bounds.p50(), 0.0003, 1e-18);
    assert_within(bounds.p95(), 0.0006, 1e-18);
    assert_eq!(LatencyBounds::new(0.0005).unwrap().p99(), 0.002);
    assert_eq!(LatencyBounds::new(0.001).unwrap().p99(), 0.004);
}

#[test]
fn constant_services_halve_the_wait() {
    assert_eq!(utilisation::pollaczek_khinchine_factor(0.0).unwrap(), 0.5);
    assert_eq!(utilisation::pollaczek_khinchine_factor(1.0).unwrap(), 1.0);
    let waits = [0.0, 1.0].map(|cv| MG1::new(0.75, 1.0, cv).unwrap().mean_wait());
    assert_eq!(waits, [1.5, 3.0]);
}

#[test]
fn queries_of_50_ms_at_1000_a_second_need_50_connections() {
    assert_eq!(little::number(1000.0, 0.005).unwrap(), 5.0);
    assert_eq!(little::number(1000.0, 0.050).unwrap(), 50.0);
    assert_eq!(little::rate(32.0, 0.050).unwrap(), 640.0);
    assert_eq!(little::stay(50.0, 1000.0).unwrap(), 0.050);
}

#[test]
fn a_pool_of_32_loses_36_percent_of_them_whatever_its_queue() {
    for places in [10, 32, 1000] {
        let pool = MMcK::new(1000.0, 0.050, 32, places).unwrap();
        assert_within(pool.blocking_probability(), 0.360, 0.002);
        assert_within(pool.throughput(), 640.0, 2.0);
    }
    let pool = MMcK::new(1000.0, 0.050, 32, 32).unwrap();
    // The queue is all but full: K − 1/(r − 1) wait, r = 50/32, and 640 leave in a second.
    assert_within(pool.mean_wait(), (32.0 - 32.0 / 18.0) / 640.0, 1e-6);
    // While queries took 5 ms, nobody waited.
    let before = MMcK::new(1000.0, 0.005, 32, 32).unwrap();
    assert!(before.mean_wait() < 1e-12 && before.blocking_probability() < 1e-30);
}

#[test]
fn a_pool_for_2000_a_second_of_40_ms_has_80_connections() {
    assert_eq!(pool_size(2000.0, 0.040).unwrap(), 80);
    assert_eq!(pool_size(2000.0, 0.0401).unwrap(), 81);
}

#[test]
fn a_cache_for_the_mean_of_200_sequences_is_too_small_half_of_the_time() {
    let sequences = Concurrency::new(50.0, 4.0).unwrap();
    assert_eq!(sequences.mean(), 200.0);
    assert_within(sequences.exceeds(200), 0.48, 0.005);
    assert_eq!(sequences.room_for(0.01).unwrap(), 234);
    assert!(sequences.exceeds(234) <= 0.01 && sequences.exceeds(233) > 0.01);
}

#[test]
fn both_rules_for_nodes_agree_where_the_knee_is_at_three_quarters() {
    let nodes = Nodes::new(6000.0, 1500.0, 2000.0).unwrap();
    assert_eq!(
        (nodes.by_knee(), nodes.by_highest_rate(), nodes.needed()),
        (4, 4, 4)
    );
    let nodes = Nodes::new(6001.0, 1500.0, 2000.0).unwrap();
    assert_eq!(nodes.needed(), 5);
    // 3 · 0.1 is not 0.3 in binary, and three nodes are enough.
    assert_eq!(Nodes::new(3.0 * 0.1, 0.1, 0.2).unwrap().by_knee(), 3);
}

#[test]
fn the_knee_of_32_workers_would_save_a_quarter_of_the_nodes() {
    let p99 = |rate| {
        MMc::new(rate, 1.0, 32)
            .unwrap()
            .response_quantile(0.99)
            .unwrap()
    };
    let knee = rate_where(|rate| p99(rate) / p99(0.0), 3.0, 31.999);
    assert_within(knee / 32.0, 0.989, 0.0005);
    assert_within(1.0 - 0.75 * 32.0 / knee, 0.24, 0.005);
}

#[test]
fn three_times_p90_is_the_p99_9_of_an_exponential_tail() {
    let queue = MM1::new(700.0, 0.001).unwrap();
    let [p90, p99_9] = [0.9, 0.999].map(|q| queue.response_quantile(q).unwrap());
    assert_within(3.0 * p90 / p99_9, 1.0, 1e-12);
    let timeout = |p99_9, retention| ClientTimeout::new(0.1, p99_9, retention).unwrap();
    for (p99_9, retention, basis, seconds) in [
        (None, None, TimeoutBasis::ThreeTimesP90, 0.3),
        (Some(0.2), None, TimeoutBasis::ThreeTimesP90, 0.3),
        (Some(0.5), None, TimeoutBasis::P99_9, 0.5),
        (Some(0.5), Some(0.5), TimeoutBasis::P99_9, 0.5),
        (Some(0.5), Some(0.4), TimeoutBasis::Retention, 0.4),
        (None, Some(0.2), TimeoutBasis::Retention, 0.2),
    ] {
        let chosen = timeout(p99_9, retention);
        assert_eq!(chosen.basis(), basis);
        assert_within(chosen.seconds(), seconds, 1e-15);
        assert!(chosen.wanted_seconds() >= chosen.seconds());
    }
}

#[test]
fn a_server_of_1000_a_second_keeps_its_p99_under_20_ms_up_to_769_7() {
    let p99 = |rate| {
        MM1::new(rate, 0.001)
            .unwrap()
            .response_quantile(0.99)
            .unwrap()
    };
    assert_within(rate_where(p99, 0.020, 999.9), 769.741, 0.001);
}

#[test]
fn the_p99_of_constant_services_is_3_4_and_10_services_where_erlang_says() {
    let p99 = |rate| {
        MD1::new(rate, 1.0)
            .unwrap()
            .response_quantile(0.99)
            .unwrap()
    };
    // A response of 3 services is a wait of 2; Erlang's sum has few terms there, and can be written down.
    let load = rate_where(p99, 3.0, 0.99);
    assert_within(load, 0.320, 0.0006);
    assert_within(
        (1.0 - load) * ((2.0 * load).exp() - load * load.exp()),
        0.99,
        1e-9,
    );
    let load = rate_where(p99, 4.0, 0.99);
    assert_within(load, 0.463, 0.0006);
    let terms =
        (3.0 * load).exp() - 2.0 * load * (2.0 * load).exp() + load.powi(2) / 2.0 * load.exp();
    assert_within((1.0 - load) * terms, 0.99, 1e-9);
    // And at 10, to what a simulation gave: 0.772.
    assert_within(rate_where(p99, 10.0, 0.99), 0.772, 0.006);
}

#[test]
fn pools_reach_ten_services_at_the_p99_where_tables_say() {
    for (servers, load) in [(1, 0.54), (4, 0.88), (8, 0.94), (32, 0.98)] {
        let c = f64::from(servers);
        let p99 = |rate| {
            MMc::new(rate, 1.0, servers)
                .unwrap()
                .response_quantile(0.99)
                .unwrap()
        };
        // M/M/32 lies at 0.985, which a table rounds either way.
        assert_within(rate_where(p99, 10.0, 0.9999 * c) / c, load, 0.0075);
    }
}

#[test]
fn the_stretch_of_a_pool_understates_its_load() {
    for (servers, told) in [(1, 0.90), (4, 0.66), (8, 0.47), (32, 0.13)] {
        let pool = MMc::new(0.9 * f64::from(servers), 1.0, servers).unwrap();
        let found = utilisation::from_response(pool.mean_response(), 1.0).unwrap();
        assert_within(found, told, 0.006);
    }
    let constant = MD1::new(0.9, 1.0).unwrap();
    let found = utilisation::from_response(constant.mean_response(), 1.0).unwrap();
    assert_within(found, 0.82, 0.003);
}

#[test]
fn pooling_shortens_the_wait_at_one_load() {
    let waits = [1, 2, 8, 32].map(|c| MMc::new(0.75 * f64::from(c), 1.0, c).unwrap().mean_wait());
    assert!(waits.is_sorted_by(|more, less| more > less));
    assert_within(erlang::c(1, 0.75).unwrap(), 0.75, 1e-15);
}
