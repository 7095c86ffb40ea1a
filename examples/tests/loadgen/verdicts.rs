//! What the exit status says of a run.

use crate::*;
use openloop_testbed::Service;
use std::time::Duration;

fn five_ms() -> HttpServer {
    let service = Service::fixed(Duration::from_millis(5));
    server().service(service).start().unwrap()
}

fn judged(server: &HttpServer, path: &str, slo: &str) -> Output {
    let flags = format!("--rate 400 {SECOND} {BUSY} --quiet --slo {slo}");
    loadgen(&server.url(path), &flags)
}

#[test]
fn an_objective_that_is_kept_has_status_0() {
    assert_status(&judged(&five_ms(), "/", "p50<=10s,errors<=1%"), 0);
}

#[test]
fn an_objective_that_is_not_kept_has_status_1_and_says_by_how_much() {
    // So long that what a busy machine adds does not blur it.
    let output = judged(&five_ms(), "/delay/500ms", "p50<=1ms");
    assert_status(&output, 1);
    assert!(
        stderr(&output).contains("p50 <= 1 ms"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn too_few_data_have_status_5_and_say_what_would_do() {
    let output = judged(&five_ms(), "/", "p99.9<=10s");
    assert_status(&output, 5);
    assert!(stderr(&output).contains("would do"), "{}", stderr(&output));
}

#[test]
fn a_generator_that_is_too_coarse_has_status_3_with_and_without_an_objective() {
    // An instant answer, and a timer that is late by half a millisecond at the median: 2 % of the bound is less.
    let server = server().start().unwrap();
    for slo in ["", "--slo p50<=2ms"] {
        let flags = format!("--rate 500 {SECOND} --precision coarse --quiet {slo}");
        let output = loadgen(&server.url("/"), &flags);
        assert_status(&output, 3);
        assert!(
            stderr(&output).contains("outbound_error"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_fault_that_is_waived_is_none() {
    let server = server().start().unwrap();
    let flags = format!("--rate 500 {SECOND} --precision coarse --quiet {BUSY}");
    assert_status(&loadgen(&server.url("/"), &flags), 0);
}

#[test]
fn what_is_never_sent_breaks_an_objective_that_all_that_was_sent_keeps() {
    let server = server().start().unwrap();
    let flags = format!(
        "--rate 100 {SECOND} {BUSY} --max-in-flight 1 --on-limit shed --slo p99<=2s --json - --connections 4"
    );
    let output = loadgen(&server.url("/delay/200ms"), &flags);
    assert_status(&output, 1);
    let report = report(&output);
    assert_balances(&report);
    assert!(report["arrivals"]["shed"].as_u64() > Some(50));
    let lower_bounds = report["latency"]["response_slo"]["at_least"]
        .as_array()
        .unwrap();
    assert!(lower_bounds.contains(&"p99_ns".into()), "{lower_bounds:?}");
}

#[test]
fn failures_are_told_apart_and_break_a_bound_on_errors() {
    let server = server().start().unwrap();
    let flags = format!("--rate 100 {SECOND} {BUSY} --slo errors<=1% --json -");
    for (path, outcome, class) in [
        ("/status/500", "failed", "http_500"),
        ("/status/503", "rejected", "http_503"),
        ("/reset", "failed", "reset"),
    ] {
        let output = loadgen(&server.url(path), &flags);
        assert_status(&output, 1);
        let report = report(&output);
        assert_balances(&report);
        assert_eq!(
            report["arrivals"][outcome], report["arrivals"]["scheduled"],
            "{path}"
        );
        assert!(
            report["outcomes"][outcome].get(class).is_some(),
            "{path}: {}",
            report["outcomes"]
        );
    }
}

#[test]
fn a_timeout_runs_from_the_intended_instant() {
    let server = server().start().unwrap();
    let flags = format!("--rate 20 {SECOND} {BUSY} --timeout 100ms --json -");
    let report = report(&loadgen(&server.url("/never"), &flags));
    assert_balances(&report);
    assert_eq!(
        report["arrivals"]["timed_out"],
        report["arrivals"]["scheduled"]
    );
    let least = report["latency"]["response_slo"]["min_ns"]
        .as_u64()
        .unwrap();
    assert!(least >= 99_000_000, "{least}");
}

#[test]
fn a_report_that_is_shown_again_has_the_status_of_its_run() {
    let server = five_ms();
    for (path, flags, status) in [
        ("/", "p50<=10s,errors<=1%", 0),
        ("/delay/500ms", "p50<=1ms", 1),
        ("/", "p99.9<=10s", 5),
    ] {
        let file = Scratch::new();
        let made = judged(&server, path, &format!("{flags} --json {}", file.path()));
        assert_status(&made, status);
        let shown = run(&format!("report {}", file.path()));
        assert_status(&shown, status);
    }
    // Without an objective, what counts is whether it may be believed.
    let file = Scratch::new();
    let flags = format!(
        "--rate 500 {SECOND} --precision coarse --quiet --json {}",
        file.path()
    );
    let instant = crate::server().start().unwrap();
    assert_status(&loadgen(&instant.url("/"), &flags), 3);
    assert_status(&run(&format!("report {}", file.path())), 3);
}

/// A build that takes 3 ms more is found, and one that does not is not.
#[test]
fn two_builds_by_turns() {
    let (old, new) = (server().start().unwrap(), server().start().unwrap());
    let turns = |path: &str| {
        let flags = format!(
            "--rate 100 --steady 3s --ramp-up 0s --warm-up 1s --cooldown 0s {BUSY} --abba {} --json -",
            new.url(path)
        );
        loadgen(&old.url("/delay/2ms"), &flags)
    };
    let output = turns("/delay/5ms");
    assert_status(&output, 1);
    let slower = &report(&output)["by_turns"];
    assert_eq!(slower["change"], "slower", "{slower}");
    assert!(slower["base"].as_str().unwrap().ends_with("/delay/2ms"));
    assert!(slower["ratio"].as_f64() > Some(1.2), "{slower}");
    assert!(
        report(&output)["target"]
            .as_str()
            .unwrap()
            .ends_with("/delay/5ms")
    );
    // Both had the same requests, twice each.
    assert_eq!(old.served(), new.served());

    let refused = loadgen(
        &old.url("/"),
        "--rate 10 --abba http://127.0.0.1:9/ --replicas 3",
    );
    assert_status(&refused, 2);
    let away = loadgen(
        &old.url("/"),
        &format!("--rate 10 {SECOND} --abba http://127.0.0.1:9/"),
    );
    assert_status(&away, 4);
}

/// Of builds that fail every request nothing can be compared, and neither passes.
#[test]
fn two_builds_that_serve_nobody_are_not_alike() {
    let (old, new) = (server().start().unwrap(), server().start().unwrap());
    let flags = format!(
        "--rate 100 {SECOND} {BUSY} --abba {} --json -",
        new.url("/status/500")
    );
    let output = loadgen(&old.url("/status/500"), &flags);
    assert_status(&output, 5);
    let turns = &report(&output)["by_turns"];
    assert_eq!(turns["interval"], Value::Null, "{turns}");
    assert!(
        turns["text"].as_str().unwrap().contains("UNKNOWN"),
        "{turns}"
    );
}
