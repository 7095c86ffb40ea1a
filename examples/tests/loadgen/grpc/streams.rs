//! The line for a stream behind the server's limit.

use super::*;
use openloop_testbed::Service;

/// 200 calls a second of 100 ms each are 20 at once, and the server takes 10 on a connection. Call n of 600, one every
/// 5 ms, gets its stream 50 ms later for each ten before it: 0 for the first, 2.95 s for the last, 1.475 s in the mean;
/// later where the machine is busy and a turn takes more than 100 ms, which the server's log tells.
#[test]
fn the_wait_for_a_stream_stands_in_acquire_and_more_channels_end_it() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(10)
        .service(Service::fixed(HUNDRED_MS))
        .start()
        .unwrap();
    let run = |channels: u32, warm_up: &str| {
        let flags = format!(
            "--rate 200 --arrivals constant --ramp-up 0s --warm-up {warm_up} --steady 3s --cooldown 0s {BUSY} \
             --channels {channels} --slo p50<=1s --json -"
        );
        load(&server, UNARY, "{}", &flags)
    };
    let of = |report: &Value, metric: &str, value: &str| {
        let metric = report["metrics"]
            .get(metric)
            .unwrap_or(&report["latency"][metric]);
        metric[value].as_f64().unwrap() / 1e6
    };
    let one = run(1, "0s");
    assert_status(&one, 1);
    let report = report(&one);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 600);
    let mut arrived: Vec<_> = server.log().iter().map(|call| call.arrival).collect();
    arrived.sort();
    // First come, first served: the n-th to arrive at the server is call n.
    let mut waits: Vec<f64> = (0_u32..)
        .zip(&arrived)
        .map(|(number, at)| {
            let intended = arrived[0] + Duration::from_millis(5) * number;
            at.saturating_duration_since(intended).as_secs_f64() * 1e3
        })
        .collect();
    waits.sort_by(f64::total_cmp);
    let mean = waits.iter().sum::<f64>() / 600.0;
    for (value, logged, theory) in [
        ("mean_ns", mean, 1475.0),
        ("p50_ns", waits[299], 1450.0),
        ("max_ns", waits[599], 2950.0),
    ] {
        assert!(logged > 0.99 * theory, "{value}: {logged}");
        let waited = of(&report, "acquire", value);
        assert!(
            (waited / logged - 1.0).abs() < 0.03,
            "{value}: {waited} and {logged}"
        );
        // Nobody was answered sooner than 100 ms later.
        let response = of(&report, "response", value);
        assert!(response > waited + 99.0, "{value}: {response} and {waited}");
    }
    // A tool that looks at the exchange alone sees a server that keeps its 100 ms.
    let naive = of(&report, "exchange", "p50_ns");
    assert!(
        naive >= 100.0 && naive < 0.2 * of(&report, "response", "p50_ns"),
        "{naive}"
    );
    assert_eq!(report["slo"]["verdict"], "fail");
    assert!(stderr(&one).contains("backlog"), "{}", stderr(&one));
    assert_eq!(server.in_flight_peak(), 10);

    // The first 20 calls in flight are no backlog that grows.
    let three = run(3, "1s");
    assert_status(&three, 0);
    let report = crate::report(&three);
    assert_eq!(report["arrivals"]["ok"], 800);
    let waited = of(&report, "acquire", "mean_ns");
    assert!(waited < 0.05 * mean, "{waited}");
    assert!(server.in_flight_peak() > 10);
}
