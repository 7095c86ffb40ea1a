//! What is measured, and what is judged by it.

use super::*;
use openloop_testbed::{On, StreamFault};

#[test]
fn what_was_planned_is_sent_and_every_metric_is_reported() {
    let server = scripted();
    let flags = format!(
        "--rate 50 {SHORT} {SECOND} {BUSY} --json - --goodput ttft<=10s,tpot<=10s --metric-names vllm"
    );
    let output = load(&server, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 50);
    assert_eq!(server.log().len(), 50);
    for (metric, count) in [
        ("ttft", 50),
        ("ttft_sent", 50),
        ("tpot", 50),
        ("itl", 200),
        ("itl_chunk", 200),
        ("e2e", 50),
    ] {
        assert_eq!(report["metrics"][metric]["count"], count, "{metric}");
    }
    assert_eq!(
        report["metrics"]["vllm:ttft"],
        report["metrics"]["ttft_sent"]
    );
    let counts = &report["counts"];
    for (name, count) in [
        ("output_tokens", 250),
        ("asked_output_tokens", 250),
        ("input_tokens", 1000),
        ("finish_length", 50),
        ("tokens_from_usage", 50),
        ("good", 50),
    ] {
        assert_eq!(counts[name], count, "{name}: {counts}");
    }
    let said = &report["observations"];
    assert_eq!(said["goodput_rate"], 1.0);
    assert_eq!(said["goodput_per_second"], 50.0);
    assert!(
        said["output_tokens_per_second"].as_f64().unwrap() > 0.0,
        "{said}"
    );
    assert!(report["courses"]["running"].as_array().unwrap().len() >= 2);
    assert_eq!(report["formulas"]["good"], "ttft<=10s, tpot<=10s");
}

#[test]
fn bounds_on_the_stream_decide_the_verdict() {
    let server = scripted();
    let flags = |slo: &str| format!("--rate 200 {SHORT} {SECOND} {BUSY} --quiet --slo {slo}");
    assert_status(&load(&server, &flags("ttft.p50<=2s,tpot.p50<=1s")), 0);
    assert_status(&load(&server, &flags("tpot.p50<=100us")), 1);
}

#[test]
fn failed_streams_are_told_by_their_class() {
    let server = script(5)
        .fault(On::Every(2), StreamFault::CutOff(2))
        .start()
        .unwrap();
    let flags = format!("--rate 50 {SHORT} {SECOND} {BUSY} --json -");
    let output = load(&server, &flags);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["outcomes"]["failed"]["cut_off"], 25);
    assert_eq!(report["counts"]["cut_off_tokens"], 50);
}

/// 200 blocks are memory for 30 answers of three quarters of a second: 40 a second, of 80. An answer that gives way frees 9
/// blocks at most, so that the memory is nearly full whenever one looks.
#[test]
fn memory_that_runs_out_is_marked() {
    let server = simulated(200, 1e-2);
    let flags = format!(
        "--rate 80 --arrivals constant --input-tokens fixed:60 --output-tokens fixed:75 --ramp-up 0s --warm-up 0s \
         --steady 3s --cooldown 0s {BUSY} --json - --drain 30s"
    );
    let report = report(&load(&server, &flags));
    assert!(report["observations"]["preemptions"].as_f64().unwrap() > 0.0);
    assert!(
        report["observations"]["kv_cache_usage_most"]
            .as_f64()
            .unwrap()
            > 0.9
    );
    let events = report["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["what"] == "preemption"),
        "{events:?}"
    );
}

/// vllm#54101: the wait for a place in flight is left out of what users wait.
#[test]
fn a_wait_for_a_place_in_flight_is_in_ttft() {
    let server = script(50).start().unwrap();
    let flags = format!("--rate 40 {SHORT} {SECOND} {BUSY} --max-in-flight 1 --json -");
    let report = report(&load(&server, &flags));
    let of = |metric: &str, field: &str| report["metrics"][metric][field].as_u64().unwrap();
    // The last of 40 waits for 39 that take 54 ms at least, and was due after 975 ms.
    assert!(of("ttft", "max_ns") >= 39 * 54_000_000 + 50_000_000 - 975_000_000);
    assert!(2 * of("ttft_sent", "p50_ns") < of("ttft", "p50_ns"));
}

#[test]
fn goodput_decides_the_verdict() {
    let server = scripted();
    let flags = |slo: &str| format!("--rate 100 {SHORT} {SECOND} {BUSY} --slo {slo}");
    let kept = load(&server, &flags("goodput(ttft<=10s,tpot<=10s)>=95%"));
    assert_status(&kept, 0);
    let text = stdout(&kept);
    assert!(
        text.contains("goodput(ttft<=10s,tpot<=10s) >= 95 %"),
        "{text}"
    );
    assert!(text.contains("good = ttft<=10s, tpot<=10s"), "{text}");
    // No first token comes within 1 ms.
    let flags_of = |slo: &str| flags(slo) + " --goodput ttft<=1ms";
    for slo in ["goodput>=50%", "goodput>=10/s"] {
        let missed = load(&server, &flags_of(slo));
        assert_status(&missed, 1);
        assert!(stdout(&missed).contains("0 %") || stdout(&missed).contains("0/s"));
    }
    let page = Scratch::new();
    let output = load(
        &server,
        &format!("{} --html {}", flags_of("goodput>=50%"), page.path()),
    );
    assert_status(&output, 1);
    let html = std::fs::read_to_string(page.path()).unwrap();
    assert!(
        html.contains("of the arrivals kept ttft&lt;=1ms"),
        "no tile"
    );
    for (flags, named) in [
        ("--slo goodput>=99%", "--goodput"),
        ("--slo goodput(itl<=1ms)>=99%", "itl"),
        ("--slo goodput(ttft<=1ms)>=99% --goodput ttft<=2ms", "two"),
        ("--slo goodput(ttft<=1ms)>=99% --no-stream", "first token"),
    ] {
        let refused = load(&server, &format!("--rate 1 {flags}"));
        assert_status(&refused, 2);
        assert!(
            stderr(&refused).contains(named),
            "{flags}: {}",
            stderr(&refused)
        );
    }
}

/// vllm#28227: the model stopped when it liked, and nobody said so.
#[test]
fn answers_that_end_early_are_told() {
    let server = script(5).stops_after(2).start().unwrap();
    let flags = format!("--rate 50 {SHORT} {SECOND} {BUSY}");
    let text = stdout(&load(&server, &flags));
    assert!(
        text.contains("100 tokens of 250 that were asked for, 40 %; ended by: stop 50"),
        "{text}"
    );
    let text = stdout(&load(&server, &format!("{flags} --ignore-eos")));
    assert!(
        text.contains("250 tokens of 250 that were asked for, 100 %; ended by: length 50"),
        "{text}"
    );
}

#[test]
fn the_prefix_hits_that_are_promised_are_those_that_metrics_show() {
    let server = simulated(8192, 1e-3);
    let flags = format!(
        "--rate 100 --arrivals constant --prefixes 4:160:1 --input-tokens fixed:40 --output-tokens fixed:2 \
         --ramp-up 0s --warm-up 1s --steady 3s --cooldown 0s {BUSY} --json -"
    );
    let output = load(&server, &flags);
    let said = stderr(&output);
    let promised = said.split("would know ").nth(1).unwrap();
    let promised: f64 = promised.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(promised, 80.0);
    let shown = report(&output)["observations"]["prefix_hit_rate"]
        .as_f64()
        .unwrap();
    assert!(
        (100.0 * shown - promised).abs() < 1.0,
        "{shown} for {promised} %"
    );
}
