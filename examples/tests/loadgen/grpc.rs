//! `loadgen grpc` against a server by tonic.

mod streams;

use crate::*;
use openloop_testbed::grpc::{Reflection, descriptor_set};
use openloop_testbed::{Certificate, GrpcServer};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Longer than anything here takes: only a defect meets it.
const LIMIT: Duration = Duration::from_secs(60);
const UNARY: &str = "openloop.testbed.Echo/Unary";
const STREAM: &str = "openloop.testbed.Echo/ServerStream";
const HUNDRED_MS: Duration = Duration::from_millis(100);

/// `loadgen grpc URL --method METHOD --data DATA` with these flags, which are parted by spaces.
fn loading(url: &str, method: &str, data: &str, flags: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    program.args(["grpc", url, "--method", method, "--data", data]);
    program.args(flags.split_whitespace());
    program
}

fn load(server: &GrpcServer, method: &str, data: &str, flags: &str) -> Output {
    loading(&server.url(), method, data, flags)
        .output()
        .unwrap()
}

fn constant(flags: &str) -> String {
    format!("--rate 200 --arrivals constant {SECOND} {BUSY} {flags}")
}

fn plain() -> GrpcServer {
    GrpcServer::builder().start().unwrap()
}

/// The folder of the testbed's protos.
fn protos() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols/testbed/proto");
    folder.display().to_string()
}

#[test]
fn exactly_what_was_planned_is_sent_and_every_stage_is_reported() {
    let server = plain();
    let flags = constant("--channels 2 --metadata tenant:7 --json -");
    let output = load(&server, UNARY, r#"{"text": "hello"}"#, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 200);
    assert_eq!(server.calls(), 200);
    for stage in ["acquire", "first_message", "reply"] {
        assert_eq!(report["metrics"][stage]["count"], 200, "{stage}");
    }
    assert_eq!(report["counts"]["messages_received"], 200);
    assert_eq!(report["counts"]["connections_reused"], 200);
    assert_eq!(report["target"], server.url());
    let told = server.last_told().unwrap();
    assert_eq!(told.metadata.get("tenant").unwrap(), "7");
}

#[test]
fn files_say_what_the_messages_are_where_the_server_does_not() {
    let server = GrpcServer::builder()
        .reflection(Reflection::Absent)
        .start()
        .unwrap();
    let by_reflection = load(&server, UNARY, "{}", &constant("--quiet"));
    assert_status(&by_reflection, 2);
    let said = stderr(&by_reflection);
    assert!(
        said.contains("no reflection") && said.contains("--proto"),
        "{said}"
    );
    let file = format!("{}/openloop/testbed/echo.proto", protos());
    let by_file = constant(&format!("--proto {file} --import {} --json -", protos()));
    let set = Scratch::new();
    std::fs::write(set.path(), descriptor_set().unwrap()).unwrap();
    let by_set = constant(&format!("--descriptor-set {} --json -", set.path()));
    for flags in [by_file, by_set] {
        let before = server.calls();
        let output = load(&server, UNARY, r#"{"key": 5}"#, &flags);
        assert_status(&output, 0);
        assert_eq!(report(&output)["arrivals"]["ok"], 200);
        assert_eq!(server.calls() - before, 200);
    }
}

#[test]
fn streams_are_loaded_and_their_messages_and_gaps_told() {
    let server = plain();
    let flags = "--rate 50 --arrivals constant --json -";
    let flags = format!("{flags} {SECOND} {BUSY}");
    let output = load(&server, STREAM, r#"{"count": 4, "gapUs": 5000}"#, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["counts"]["messages_received"], 200);
    assert_eq!(report["metrics"]["first_message"]["count"], 50);
    let gap = &report["metrics"]["message_gap"];
    assert_eq!(gap["count"], 150);
    // 5 ms apart by the server's clock, and no machine makes three of them shorter.
    let reply = &report["metrics"]["reply"];
    assert!(reply["min_ns"].as_f64().unwrap() >= 15e6, "{reply}");
    assert!(gap["mean_ns"].as_f64().unwrap() * 3.0 <= reply["mean_ns"].as_f64().unwrap());

    let flags = format!("{flags} --messages 3 --keys sequential:1000 --pace in-turn");
    let both = "openloop.testbed.Echo/Both";
    let report = crate::report(&load(&server, both, r#"{"key": {key}}"#, &flags));
    assert_eq!(report["counts"]["messages_sent"], 150);
    assert_eq!(report["counts"]["messages_received"], 150);
}

#[test]
fn a_deadline_is_kept_and_told_to_the_server() {
    let server = plain();
    let data = r#"{"delayUs": 60000000}"#;
    let flags = format!("--rate 50 {SECOND} {BUSY} --deadline 100ms --slo errors<=1% --json -");
    let output = load(&server, UNARY, data, &flags);
    assert_status(&output, 1);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(
        report["arrivals"]["timed_out"],
        report["arrivals"]["scheduled"]
    );
    assert!(server.last_told().unwrap().timeout.unwrap() <= HUNDRED_MS);
    let begun = Instant::now();
    while server.in_flight() > 0 {
        assert!(begun.elapsed() < LIMIT, "the server was not told");
    }
}

/// The server goes in the middle of a run and comes back half a second later.
#[test]
fn a_restart_loses_no_arrival() {
    let mut server = plain();
    let port = server.addr().port();
    let file = Scratch::new();
    let flags = format!(
        "--rate 200 --arrivals constant --ramp-up 0s --warm-up 0s --steady 3s --cooldown 0s {BUSY} --quiet --json {}",
        file.path()
    );
    let mut command = loading(&server.url(), UNARY, "{}", &flags);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while server.calls() < 100 {
        assert!(begun.elapsed() < LIMIT, "nothing is sent");
    }
    server.shutdown();
    let down = Instant::now();
    while down.elapsed() < Duration::from_millis(500) {
        std::thread::yield_now();
    }
    let before = server.calls();
    let server = GrpcServer::builder().port(port).start().unwrap();
    assert_status(&child.wait_with_output().unwrap(), 0);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    assert_balances(&report);
    let arrivals = &report["arrivals"];
    assert_eq!(arrivals["scheduled"], 600);
    let of = |outcome: &str| arrivals[outcome].as_u64().unwrap();
    // It was down for half a second at least, and tried again within another one.
    assert!(of("failed") >= 95 && of("ok") >= 200, "{arrivals}");
    assert_eq!(of("ok") + of("failed"), 600, "{arrivals}");
    // Every call that the servers ended well is one that was served.
    let ended = before + server.calls();
    assert!(
        of("ok") <= ended && ended <= of("ok") + 10,
        "{ended}: {arrivals}"
    );
}

#[test]
fn statuses_fail_by_their_class_and_a_gate_sees_them() {
    let server = plain();
    let flags = constant("--slo errors<=0.1% --json -");
    for (status, outcome, class) in [
        (14, "failed", "grpc_unavailable"),
        (8, "rejected", "grpc_resource_exhausted"),
    ] {
        let output = load(&server, UNARY, &format!("{{\"status\": {status}}}"), &flags);
        assert_status(&output, 1);
        let report = report(&output);
        assert_eq!(report["arrivals"][outcome], 200);
        assert!(report["outcomes"][outcome].get(class).is_some());
    }
}

#[test]
fn the_same_seed_asks_the_same_whatever_the_number_of_threads() {
    let asked = |flags: &str| {
        let server = plain();
        let flags = constant(&format!("--quiet --keys uniform:1e6 --json - {flags}"));
        let output = load(&server, UNARY, r#"{"text": "{key}"}"#, &flags);
        assert_status(&output, 0);
        // The answers have the keys in them.
        report(&output)["counts"]["bytes"].clone()
    };
    let one = asked("--seed 5");
    assert_eq!(one, asked("--seed 5 --threads 2 --channels 2"));
    assert_ne!(one, asked("--seed 6"));
}

#[test]
fn kinds_come_from_a_file_and_a_sweep_is_rehearsed() {
    let server = plain();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("mixes/echo.toml");
    let flags = format!("--rate 200 --arrivals constant {SECOND} {BUSY} --json - --mix");
    let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["grpc", &server.url()])
        .args(flags.split_whitespace())
        .arg(&file)
        .output()
        .unwrap();
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    let of = |kind: &str| report["kinds"][kind]["arrivals"]["ok"].as_u64().unwrap();
    assert_eq!(of("short") + of("long") + of("stream"), 200);
    assert_eq!(
        report["counts"]["messages_received"],
        200 + 7 * of("stream")
    );
    let sample = crate::run(&format!("sample mix {} --count 3", file.display()));
    assert_status(&sample, 0);
    assert!(stdout(&sample).contains("openloop.testbed.Echo/"));

    let flags = "--sweep 200,500,800,1200 --rehearse --quiet --json -";
    let report = crate::report(&load(&server, UNARY, "{}", flags));
    assert_eq!(report["sweep"]["points"].as_array().unwrap().len(), 4);
}

#[test]
fn what_makes_no_call_is_refused_before_anything_is_sent() {
    let server = plain();
    for (method, data, flags, named) in [
        (UNARY, r#"{"key": "x"}"#, "", "field key"),
        (UNARY, r#"{"kye": 1}"#, "", "kye"),
        (UNARY, "{", "", "EOF"),
        ("openloop.testbed.Echo/Unry", "{}", "", "there is Unary"),
        (
            "openloop.testbed.Ecko/Unary",
            "{}",
            "",
            "there is openloop.testbed.Echo",
        ),
        ("Unary", "{}", "", "package.Service/Method"),
        (UNARY, "{}", "--messages 2", "--messages"),
        (UNARY, r#"{"key": {key}}"#, "", "--keys"),
        (UNARY, "{}", "--keys uniform:5", "{key}"),
        (UNARY, "{}", "--channels 0", "channel"),
        (UNARY, "{}", "--threads 2", "2 threads"),
        (UNARY, "{}", "--metadata grpc-timeout:1S", "deadline"),
        (UNARY, "{}", "--metadata nothing", "name: value"),
        (UNARY, "{}", "--proto /no/such.proto", "/no/such.proto"),
        (UNARY, "{}", "--descriptor-set /no/such", "/no/such"),
        (UNARY, "{}", "--pace often", "in-turn"),
        (UNARY, "{}", "--insecure", "https"),
        (UNARY, "{}", "--pace 10ms", "leave out --pace"),
        (
            "openloop.testbed.Echo/ClientStream",
            "{}",
            "--messages 2 --pace in-turn",
            "take another pace",
        ),
    ] {
        let output = load(&server, method, data, &constant(flags));
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{method} {data} {flags}: {}",
            stderr(&output)
        );
    }
    assert_eq!(server.calls(), 0);
    let output = loading("localhost:1", UNARY, "{}", &constant(""))
        .output()
        .unwrap();
    assert_status(&output, 2);
    assert!(stderr(&output).contains("http://host:port"));
}

#[test]
fn a_target_that_is_not_there_is_unreachable() {
    let output = loading("http://127.0.0.1:1", UNARY, "{}", &constant("--quiet"));
    let output = { output }.output().unwrap();
    assert_status(&output, 4);
    assert!(stderr(&output).contains("refused"));
    let server = GrpcServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    assert_status(&load(&server, UNARY, "{}", &constant("--quiet")), 4);
    let ca = Scratch::new();
    std::fs::write(ca.path(), server.ca_pem().unwrap()).unwrap();
    for trust in ["--insecure".to_owned(), format!("--ca {}", ca.path())] {
        let flags = constant(&format!("--quiet {trust}"));
        assert_status(&load(&server, UNARY, "{}", &flags), 0);
    }
    assert_eq!(server.calls(), 400);
}

/// What the server says of itself after the drain is in the report.
#[test]
fn a_server_that_says_that_it_does_not_serve_is_not_healthy() {
    let health = |server: &GrpcServer| {
        let report = report(&load(server, UNARY, "{}", &constant("--json -")));
        assert_eq!(report["arrivals"]["ok"], 200);
        report["health"].clone()
    };
    let server = plain();
    assert_eq!(health(&server)["check"], true);
    server.set_serving(false);
    let ill = health(&server);
    assert_eq!(
        (&ill["check"], &ill["healthy"]),
        (&false.into(), &false.into())
    );
    let said = ill["check_error"].as_str().unwrap();
    assert!(said.contains("does not serve"), "{said}");
    // Without a health service it is healthy that answers.
    let without = GrpcServer::builder().without_health().start().unwrap();
    assert_eq!(health(&without)["check"], true);
}
