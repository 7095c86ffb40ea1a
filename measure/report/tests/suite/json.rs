use crate::fixture::{
    calm, mixed, on_any_machine, overloaded, polymorphic, stopped, stopped_early,
};
use crate::golden::assert_golden;
use openloop_experiment::Slo;
use openloop_report::{ReadError, Report, TextStyle};
use serde_json::{Value, json};

fn json_of(report: &Report) -> String {
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    String::from_utf8(json).unwrap()
}

fn value_of(report: &Report) -> Value {
    serde_json::from_str(&json_of(report)).unwrap()
}

fn read(value: &Value) -> Result<Report, ReadError> {
    Report::read_json(value.to_string().as_bytes())
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_run_on_the_paused_clock_is_this_file() {
    let run = mixed().await;
    let slo: Slo = "p50<=1s, p99<=300ms, errors<=5%".parse().unwrap();
    let report = Report::new(&run)
        .with_target("http://service.test/")
        .with_title("mixed outcomes")
        .with_command("loadgen http http://service.test/ --rate 20")
        .with_judgement(&slo.judge(&run));
    let mut report = on_any_machine(report);
    // They are long, and have tests of their own.
    let latency = &mut report.latency;
    for summary in [&mut latency.response, &mut latency.response_slo] {
        summary.as_mut().unwrap().windows.clear();
    }
    for summary in report.metrics.values_mut() {
        summary.as_mut().unwrap().windows.clear();
    }
    assert_golden("mixed.json", &json_of(&report));
}

#[tokio::test(start_paused = true)]
async fn windows_are_kept_of_what_is_judged_and_compared() {
    let mut report = on_any_machine(Report::new(&polymorphic().await));
    let latency = &report.latency;
    for (name, summary) in latency.by_name() {
        let kept = summary.map_or(0, |summary| summary.windows.len());
        let expected = if matches!(name, "response" | "response_slo") {
            10
        } else {
            0
        };
        assert_eq!(kept, expected, "{name}");
    }
    assert_eq!(
        report.metrics["connect"].as_ref().unwrap().windows.len(),
        10
    );
    assert_eq!(
        report.kinds["read"]
            .latency
            .response_slo
            .as_ref()
            .unwrap()
            .windows
            .len(),
        10
    );
    report.timeline.truncate(3);
    report.kinds.retain(|name, _| name == "read");
    assert_golden("windows.json", &serde_json::to_string(&report).unwrap());
}

#[tokio::test(start_paused = true)]
async fn what_is_read_and_written_again_is_the_same_to_the_last_byte() {
    let slo: Slo = "p99<=300ms, connect.p99<=1s, mean<=1s".parse().unwrap();
    for run in [
        mixed().await,
        overloaded().await,
        stopped().await,
        stopped_early().await,
        polymorphic().await,
    ] {
        let report = Report::new(&run).with_judgement(&slo.judge(&run));
        let json = json_of(&report);
        let again = Report::read_json(json.as_bytes()).unwrap();
        assert_eq!(again, report);
        assert_eq!(json_of(&again), json);
    }
}

#[tokio::test(start_paused = true)]
async fn the_fields_of_the_schema_are_all_there() {
    let value = value_of(&Report::new(&mixed().await));
    assert_eq!(value["schema"], "openloop.report/1.0");
    assert_eq!(value["loop"], "open");
    for field in [
        "asked_rate",
        "offered_rate",
        "achieved_rate",
        "steady_ns",
        "arrivals",
        "latency",
        "kinds",
        "metrics",
        "validity",
        "floor",
        "slo",
        "timeline",
        "environment",
        "problem",
        "seed",
    ] {
        assert!(value.get(field).is_some(), "{field}");
    }
    for field in [
        "count",
        "min_ns",
        "mean_ns",
        "max_ns",
        "stddev_ns",
        "p50_ns",
        "p90_ns",
        "p95_ns",
        "p99_ns",
        "p99_9_ns",
        "p99_99_ns",
        "at_least",
        "interval",
        "histogram",
    ] {
        assert!(value["latency"]["response"].get(field).is_some(), "{field}");
    }
    for field in ["name", "pass", "value", "limit", "why"] {
        assert!(
            value["validity"]["checks"][0].get(field).is_some(),
            "{field}"
        );
    }
    assert_eq!(value["kinds"], json!({}));
    assert_eq!(value["floor"], Value::Null);
    assert_eq!(value["problem"], Value::Null);
    assert_eq!(value["slo"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn every_arrival_has_one_outcome_in_total_by_phase_and_by_interval() {
    for run in [
        mixed().await,
        overloaded().await,
        stopped().await,
        stopped_early().await,
    ] {
        let report = Report::new(&run);
        assert!(report.arrivals.balances());
        assert!(report.arrivals.scheduled > 0);
        let by_phase: u64 = report
            .phases
            .iter()
            .map(|phase| phase.arrivals.scheduled)
            .sum();
        assert_eq!(by_phase, report.arrivals.scheduled);
        let by_interval: u64 = report
            .timeline
            .iter()
            .map(|interval| interval.ended.ok)
            .sum();
        assert_eq!(by_interval, report.arrivals.ok);
        assert!(
            report
                .timeline
                .iter()
                .all(|interval| interval.ended.balances())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn every_kind_has_its_own_books_and_they_add_up_to_those_of_the_run() {
    let report = Report::new(&polymorphic().await);
    let names: Vec<_> = report.kinds.keys().map(String::as_str).collect();
    let path = "GET /orders/{id}/items?expand=all";
    assert_eq!(names, ["", path, "never", "read", "write, \"slow\""]);
    let mut sums = [0; 9];
    for kind in report.kinds.values() {
        assert!(kind.arrivals.balances());
        for (sum, (_, n)) in sums.iter_mut().zip(kind.arrivals.by_outcome()) {
            *sum += n;
        }
    }
    assert_eq!(sums, report.arrivals.by_outcome().map(|(_, n)| n));
    let shares: f64 = report.kinds.values().filter_map(|kind| kind.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    // 480 arrivals are 30 rounds of 16.
    assert_eq!(report.kinds["read"].arrivals.scheduled, 330);
    assert_eq!(report.kinds["read"].share, Some(0.6875));
    assert_eq!(report.kinds[""].arrivals.scheduled, 30);

    let count = |of: &Option<openloop_report::schema::Summary>| of.as_ref().map_or(0, |s| s.count);
    let all = |of: fn(&openloop_report::schema::Kind) -> u64| report.kinds.values().map(of).sum();
    let response: u64 = all(|kind| kind.latency.response.as_ref().map_or(0, |s| s.count));
    assert_eq!(response, count(&report.latency.response));
    let bytes: u64 = all(|kind| kind.counts.get("bytes").copied().unwrap_or(0));
    assert_eq!(bytes, report.counts["bytes"]);
    let refused: u64 = all(|kind| {
        kind.outcomes
            .get("failed")
            .map_or(0, |of| of["connect_refused"])
    });
    assert_eq!(refused, report.outcomes["failed"]["connect_refused"]);
    assert!(count(&report.kinds["read"].metrics["connect"]) > 0);

    let value = value_of(&report);
    let read = &value["kinds"]["read"];
    for field in [
        "share", "arrivals", "outcomes", "latency", "metrics", "counts",
    ] {
        assert!(read.get(field).is_some(), "{field}");
    }
    for name in [
        "response",
        "response_ok",
        "response_slo",
        "service",
        "exchange",
    ] {
        assert!(read["latency"][name]["p99_ns"].is_u64(), "{name}");
        assert_eq!(
            value["kinds"]["never"]["latency"][name],
            Value::Null,
            "{name}"
        );
    }
    assert_eq!(value["kinds"]["never"]["share"], json!(0.0));
}

#[tokio::test(start_paused = true)]
async fn a_run_at_its_rate_gives_what_was_planned() {
    let report = Report::new(&calm().await);
    // 20/s: 20 in the ramp of 2 s, 40 in the warm-up, 400, and 20 in the cooldown.
    let planned: Vec<_> = report.phases.iter().map(|phase| phase.planned).collect();
    assert_eq!(planned, [Some(20), Some(40), Some(400), Some(20)]);
    assert_eq!(report.planned, Some(480));
    assert_eq!(report.arrivals.ok, 480);
    assert_eq!(report.offered_rate, Some(20.0));
    assert_eq!(report.asked_rate, Some(20.0));
    let response = report.latency.response.unwrap();
    assert_eq!(response.count, 400);
    assert!(response.at_least.is_empty());
    assert_eq!(response.parts.unwrap().at_least, None);
    assert_eq!(response.at_least_histogram, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_empty_is_null_and_never_zero() {
    let report = Report::new(&stopped_early().await);
    let value = value_of(&report);
    assert_eq!(report.steady_ns, 0);
    for field in [
        "offered_rate",
        "achieved_rate",
        "worst_window",
        "slo",
        "closed",
    ] {
        assert_eq!(value[field], Value::Null, "{field}");
    }
    for name in [
        "response",
        "response_ok",
        "response_slo",
        "service",
        "exchange",
        "schedule_delay",
        "lag",
        "pickup",
    ] {
        assert_eq!(value["latency"].get(name), Some(&Value::Null), "{name}");
    }
    assert_eq!(value["interrupted"], true);
    let mixed = value_of(&Report::new(&mixed().await));
    // No adapter with receive stamps took part.
    assert_eq!(mixed["latency"]["pickup"], Value::Null);
    let idle = mixed["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .find(|interval| interval["arrivals"] == 0);
    let idle = idle.expect("the drain has intervals without arrivals");
    assert_eq!(
        [&idle["p50_ns"], &idle["max_ns"], &idle["max_lag_ns"]],
        [&Value::Null; 3]
    );
}

#[tokio::test(start_paused = true)]
async fn a_quantile_on_arrivals_that_were_not_served_is_named_as_a_lower_bound() {
    let value = value_of(&Report::new(&mixed().await));
    let latency = &value["latency"];
    // One of 400 never ended: the 399th value is exact, the 400th is not.
    assert_eq!(
        latency["response"]["at_least"],
        json!(["mean_ns", "max_ns", "p99_9_ns", "p99_99_ns"])
    );
    assert_eq!(latency["response_ok"]["at_least"], json!([]));
    let slo = latency["response_slo"]["at_least"].as_array().unwrap();
    assert!(
        slo.contains(&json!("p99_ns")) && !slo.contains(&json!("p95_ns")),
        "{slo:?}"
    );
    assert!(latency["response_slo"]["interval"].get("p99_ns").is_none());
    assert!(latency["response_slo"]["interval"].get("p50_ns").is_some());
    // What is not a lower bound is in the one histogram, what is in the other.
    let parts = &latency["response_slo"]["parts"];
    let (measured, at_least) = (&parts["measured"]["count"], &parts["at_least"]["count"]);
    assert_eq!(
        measured.as_u64().unwrap() + at_least.as_u64().unwrap(),
        latency["response_slo"]["count"].as_u64().unwrap()
    );
    assert!(latency["response_slo"]["at_least_histogram"].is_string());
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_counted_by_class() {
    let report = Report::new(&mixed().await);
    assert_eq!(
        report.outcomes["failed"]["connect_refused"],
        report.arrivals.failed
    );
    assert_eq!(
        report.outcomes["rejected"]["http_503"],
        report.arrivals.rejected
    );
    assert_eq!(
        report.counts["connections_opened"],
        report.metrics["connect"].as_ref().unwrap().count
    );
}

#[tokio::test(start_paused = true)]
async fn a_newer_minor_version_is_read_and_its_new_fields_are_passed_over() {
    let report = Report::new(&calm().await);
    let mut value = value_of(&report);
    value["schema"] = json!("openloop.report/1.17");
    value["carbon"] = json!({"grams": 3});
    value["latency"]["response"]["p99_999_ns"] = json!(1);
    assert_eq!(read(&value).unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn additions_may_be_absent_and_fields_of_the_schema_may_not() {
    let report = Report::new(&calm().await);
    let mut value = value_of(&report);
    let fields = value.as_object_mut().unwrap();
    for addition in [
        "tool",
        "phases",
        "outcomes",
        "counts",
        "generator",
        "health",
        "backlog",
        "worst_window",
        "limits",
        "planned",
    ] {
        fields.remove(addition).unwrap();
    }
    assert_eq!(read(&value).unwrap().latency, report.latency);
    value.as_object_mut().unwrap().remove("arrivals");
    let error = read(&value).unwrap_err();
    assert!(matches!(error, ReadError::NotAReport(_)));
    assert!(error.to_string().contains("arrivals"), "{error}");
}

#[test]
fn what_is_no_report_of_this_major_version_is_refused_by_name() {
    let refused = |text: &str| Report::read_json(text.as_bytes()).unwrap_err();
    let error = refused(r#"{"schema": "openloop.report/2.0"}"#);
    assert!(matches!(error, ReadError::UnknownMajor(_)));
    assert!(error.to_string().contains("openloop.report/2.0"), "{error}");
    for schema in [
        "other/1.0",
        "openloop.report/1",
        "openloop.report/x.0",
        "openloop.report/1.x",
    ] {
        let error = refused(&json!({ "schema": schema }).to_string());
        assert!(matches!(error, ReadError::UnknownSchema(_)), "{schema}");
        assert!(error.to_string().contains(schema), "{error}");
    }
    assert!(matches!(refused("{}"), ReadError::NotAReport(_)));
    assert!(matches!(refused("p99: 3 ms"), ReadError::NotAReport(_)));
}

#[tokio::test(start_paused = true)]
async fn what_the_target_said_and_what_metrics_are_travel_with_the_report() {
    let report = Report::new(&mixed().await)
        .with_observation("prefix_hit_rate", 0.25)
        .with_course(
            "running",
            [(0, 1.0), (1_000_000_000, f64::NAN), (2_000_000_000, 3.0)],
        )
        .with_course("nothing", [(0, f64::INFINITY)])
        .with_event(3_000_000_000, "preemption")
        .with_event(2_000_000_000, "kv_cache_exhausted")
        .with_event(4_000_000_000, "preemption")
        .with_formula("acquire", "dispatch - hand-over");
    let value = value_of(&report);
    assert_eq!(
        value["courses"],
        json!({"running": [[0, 1.0], [2_000_000_000, 3.0]]})
    );
    assert_eq!(
        value["events"][0],
        json!({"at_ns": 2_000_000_000, "what": "kv_cache_exhausted"})
    );
    assert_eq!(read(&value).unwrap(), report);
    let mut text = Vec::new();
    report.write_text(&mut text, &TextStyle::default()).unwrap();
    let text = String::from_utf8(text).unwrap();
    for line in [
        "preemption 2 times, first at 3.0 s",
        "kv cache exhausted at 2.0 s",
        "acquire = dispatch - hand-over",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
