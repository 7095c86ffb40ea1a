//! What is sent, and what is written.

use crate::*;
use openloop_testbed::Certificate;
use openloop_workload::Keys;
use std::time::Duration;

fn constant(flags: &str) -> String {
    format!("--rate 100 --arrivals constant {SECOND} {BUSY} {flags}")
}

#[test]
fn exactly_what_was_planned_is_sent() {
    let server = server().start().unwrap();
    let output = loadgen(&server.url("/"), &constant("--json -"));
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["schema"], "openloop.report/1.0");
    assert_eq!(report["loop"], "open");
    assert_eq!(report["asked_rate"], 100.0);
    assert_eq!(report["arrivals"]["scheduled"], 100);
    assert_eq!(report["arrivals"]["ok"], 100);
    assert_eq!(server.served(), 100);
}

#[test]
fn with_few_arrivals_and_many_connections_no_arrival_comes_too_early() {
    let server = server().start().unwrap();
    let flags = format!("--rate 1 --arrivals constant {SECOND} {BUSY} --json -");
    let report = report(&loadgen(&server.url("/"), &flags));
    assert_eq!(
        (&report["arrivals"]["scheduled"], server.served()),
        (&1.into(), 1)
    );
}

#[test]
fn every_law_of_keys_asks_for_what_the_library_draws() {
    for law in [
        "zipf:1000:0.99",
        "zipf:1e6:80/20",
        "hotspot:1000:0.2:0.8",
        "latest:1000:0.99:0.5",
        "uniform:1000:drift=1/3",
        "zipf:1000:1.2:drift=10/50:scrambled=3",
    ] {
        let server = server().record_requests().start().unwrap();
        let flags = SECOND.replace("1s", "100ms");
        let flags =
            format!("--rate 1000 --arrivals constant {flags} {BUSY} --seed 7 --quiet --keys {law}");
        assert_status(&loadgen(&server.url("/items/{key}"), &flags), 0);
        let keys: Keys = law.parse().unwrap();
        let mut expected: Vec<_> = (0..100)
            .map(|seq| format!("/items/{}", keys.key(7, seq)))
            .collect();
        let requests = server.requests().into_iter();
        let mut asked: Vec<_> = requests.map(|request| request.path).collect();
        expected.sort();
        asked.sort();
        assert_eq!(asked, expected, "{law}");
    }
}

#[test]
fn the_same_seed_asks_for_the_same_keys_whatever_the_number_of_threads() {
    let asked = |threads: usize, seed: u64| {
        let server = server().record_requests().start().unwrap();
        let flags = constant(&format!(
            "--keys uniform:1000 --threads {threads} --seed {seed} --quiet"
        ));
        assert_status(&loadgen(&server.url("/items/{key}"), &flags), 0);
        let mut paths: Vec<_> = server
            .requests()
            .into_iter()
            .map(|request| request.path)
            .collect();
        paths.sort();
        paths
    };
    let one = asked(1, 3);
    assert_eq!(one.len(), 100);
    assert!(one.iter().all(|path| path.starts_with("/items/")));
    assert_eq!(one, asked(2, 3));
    assert_ne!(one, asked(1, 4));
}

#[test]
fn method_headers_and_body_are_those_of_the_flags() {
    let server = server().record_requests().start().unwrap();
    let mut command = command(
        &server.url("/echo"),
        &constant("--keys sequential:500 --quiet"),
    );
    command.args([
        "--method",
        "PUT",
        "--header",
        "X-Key: k{key}",
        "--body",
        r#"{"id": {key}}"#,
    ]);
    assert_status(&command.output().unwrap(), 0);
    let request = server.last_request().unwrap();
    assert_eq!(request.method, "PUT");
    let body = String::from_utf8(request.body.to_vec()).unwrap();
    let key = body.trim_start_matches(r#"{"id": "#).trim_end_matches('}');
    assert!((1..=100).contains(&key.parse::<u32>().unwrap()), "{body}");
    let header = request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("x-key"));
    assert_eq!(header.unwrap().1, format!("k{key}"));
}

#[test]
fn a_pool_is_opened_before_the_run_and_kept() {
    let server = server().start().unwrap();
    assert_status(
        &loadgen(
            &server.url("/"),
            &constant("--connections 7 --threads 2 --quiet"),
        ),
        0,
    );
    // The eighth is the health check after the run.
    assert_eq!(server.accepted(), 8);
}

#[test]
fn a_connection_for_each_request_is_one_for_each() {
    let server = server().start().unwrap();
    let output = loadgen(
        &server.url("/"),
        &constant("--connect-per-request --json -"),
    );
    assert_status(&output, 0);
    let report = report(&output);
    assert_eq!(report["counts"]["connections_opened"], 100);
    assert_eq!(report["metrics"]["connect"]["count"], 100);
}

#[test]
fn connections_per_request_in_flight_are_used_again() {
    let server = server().start().unwrap();
    let output = loadgen(
        &server.url("/delay/50ms"),
        &constant("--connections per-in-flight --json -"),
    );
    assert_status(&output, 0);
    let opened = report(&output)["counts"]["connections_opened"]
        .as_u64()
        .unwrap();
    assert!((1..=99).contains(&opened), "{opened}");
}

#[test]
fn a_closed_loop_says_so() {
    let server = server().start().unwrap();
    let flags = format!("--closed 4 --think 10ms {SECOND} {BUSY} --json -");
    let output = loadgen(&server.url("/"), &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(
        (&report["loop"], &report["asked_rate"]),
        (&"closed".into(), &Value::Null)
    );
    assert_eq!(report["arrivals"]["scheduled"], server.served());
    assert!(
        loadgen(
            &server.url("/"),
            &format!("--closed 1 --think 50ms {SECOND} {BUSY}")
        )
        .stdout
        .windows(6)
        .any(|word| word == b"closed")
    );
}

#[test]
fn tls_and_http2_are_spoken() {
    for http2 in [false, true] {
        let mut server = server().tls(Certificate::Trusted);
        if http2 {
            server = server.http2();
        }
        let server = server.start().unwrap();
        let ca = Scratch::new();
        std::fs::write(ca.path(), server.ca_pem().unwrap()).unwrap();
        let version = if http2 { "--http2" } else { "" };
        for trust in [format!("--ca {}", ca.path()), "--insecure".to_owned()] {
            let flags = constant(&format!("{trust} {version} --connections 2 --quiet"));
            assert_status(&loadgen(&server.url("/"), &flags), 0);
        }
        assert_eq!(server.served(), 200);
    }
}

#[test]
fn http2_without_tls_is_known_beforehand() {
    let server = server().http2().start().unwrap();
    assert_status(
        &loadgen(
            &server.url("/"),
            &constant("--http2 --connections 1 --quiet"),
        ),
        0,
    );
    assert_eq!(server.served(), 100);
}

#[test]
fn the_text_goes_to_the_standard_output_and_progress_beside_it() {
    let server = server().start().unwrap();
    let file = Scratch::new();
    let output = loadgen(
        &server.url("/"),
        &constant(&format!("--json {}", file.path())),
    );
    assert_status(&output, 0);
    assert!(stdout(&output).contains("response"), "{}", stdout(&output));
    assert!(
        !stdout(&output).contains('\u{1b}'),
        "no colour without a terminal"
    );
    assert!(
        stderr(&output).contains(&server.url("/")),
        "{}",
        stderr(&output)
    );
    assert_balances(&serde_json::from_str(&file.read()).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_may_have_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStringExt;
    let server = server().start().unwrap();
    let mut name = Scratch::new().path().as_bytes().to_vec();
    name.push(0xff);
    let file = Scratch(std::ffi::OsString::from_vec(name).into());
    let mut command = command(&server.url("/"), &constant("--quiet --json"));
    assert_status(&command.arg(&file.0).output().unwrap(), 0);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    let shown = report["command"].as_str().unwrap();
    assert!(shown.ends_with("\u{fffd}'"), "{shown}");
}

/// 4 s at 500/s, of which the server answers nothing between 1.8 s and 2.2 s: 200 requests arrive in the stall and
/// wait for its end, the first for 0.4 s and each for 2 ms less than the one before it.
fn stalled(flags: &str) -> (Output, Value) {
    let (at, length) = (Duration::from_millis(1800), Duration::from_millis(400));
    let server = server().stall(at, length).start().unwrap();
    let flags = format!(
        "--rate 500 --arrivals constant --ramp-up 0s --warm-up 0s --steady 4s --cooldown 0s {BUSY} --json - {flags}"
    );
    let output = loadgen(&server.url("/"), &flags);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["scheduled"], 2000);
    (output, report)
}

#[test]
fn a_stall_shows_in_the_response_and_hides_from_the_exchange() {
    let (output, report) = stalled("--connections 50");
    assert_status(&output, 0);
    assert_eq!(report["arrivals"]["ok"], 2000);
    let ms = |latency: &str, statistic: &str| {
        report["latency"][latency][statistic].as_f64().unwrap() / 1e6
    };
    // 400 ms in truth, and 200 ms more for a busy machine.
    let max = ms("response", "max_ns");
    assert!((350.0..=600.0).contains(&max), "{max}");
    // The 21st of the 200 that wait: 360 ms in truth.
    let p99 = ms("response", "p99_ns");
    assert!(p99 >= 300.0, "{p99}");
    let typical = ms("exchange", "p50_ns");
    assert!(typical < p99 / 10.0, "{typical} of {p99}");
    // The 101st of them, 200 ms in truth; on the wire are no more than the 50 that have a connection.
    let (response, exchange) = (ms("response", "p95_ns"), ms("exchange", "p95_ns"));
    assert!(response > exchange, "{response} and {exchange}");
}

#[test]
fn what_a_stall_sheds_counts_against_the_objective() {
    let (output, report) =
        stalled("--connections 50 --max-in-flight 20 --on-limit shed --slo p99<=50ms");
    assert_status(&output, 1);
    assert!(report["arrivals"]["shed"].as_u64() > Some(0));
    let lower_bounds = &report["latency"]["response_slo"]["at_least"];
    let lower_bounds = lower_bounds.as_array().unwrap();
    assert!(lower_bounds.contains(&"p99_ns".into()), "{lower_bounds:?}");
}

#[test]
fn quiet_is_quiet() {
    let server = server().start().unwrap();
    let output = loadgen(&server.url("/"), &constant("--quiet"));
    assert_status(&output, 0);
    assert_eq!(
        (stdout(&output), stderr(&output)),
        (String::new(), String::new())
    );
}
