use crate::fixture::{calm, mixed, on_any_machine, open, polymorphic};
use crate::golden::assert_golden;
use openloop_experiment::{Lifecycle, Slo, drive};
use openloop_report::{Report, write_prometheus};
use std::time::Duration;

async fn report() -> Report {
    let run = mixed().await;
    let slo: Slo = "p50<=1s, p99<=300ms, errors<=5%".parse().unwrap();
    on_any_machine(
        Report::new(&run)
            .with_target("http://service.test/a|b")
            .with_judgement(&slo.judge(&run)),
    )
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_comment_on_a_pull_request_reads_like_this() {
    let report = report().await;
    assert_golden("mixed.md", &written(|to| report.write_markdown(to)));
    let kinds = on_any_machine(Report::new(&polymorphic().await));
    let text = written(|to| kinds.write_markdown(to));
    assert!(
        text.contains(r"| GET /orders/{id}/items?expand=all |"),
        "{text}"
    );
    assert!(text.contains("| (no kind) |"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_timeline_as_csv_has_a_cell_for_each_name_in_every_line() {
    let report = report().await;
    let csv = written(|to| report.write_csv(to));
    let mut lines = csv.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), report.timeline.len());
    assert!(rows.iter().all(|row| row.len() == names.len()));
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let sum = |name: &str| {
        rows.iter()
            .map(|row| row[column(name)].parse::<u64>().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("ok"), report.arrivals.ok);
    assert_eq!(sum("arrivals"), report.arrivals.scheduled);
    assert_eq!(sum("rejected"), report.arrivals.rejected);
    // The steady rate, and half of it in the middle of the ramp of 2 s.
    assert_eq!(
        (
            rows[10][column("asked_rate")],
            rows[0][column("asked_rate")]
        ),
        ("20", "5")
    );
    // The arrival that never ended: 15.0 s to 15.05 s of the schedule of the steady phase.
    assert_eq!(
        rows.iter()
            .filter(|row| row[column("at_least")].contains("max_ns"))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn the_result_is_text_that_prometheus_reads() {
    let report = report().await;
    let text = written(|to| report.write_prometheus(to));
    assert_prometheus(&text);
    let value = |start: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("{start}\n{text}"));
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    assert_eq!(
        value("openloop_arrivals_total{outcome=\"ok\"}"),
        report.arrivals.ok as f64
    );
    let p50 = report.latency.response.unwrap().p50_ns as f64 / 1e9;
    assert_eq!(
        value("openloop_latency_seconds{latency=\"response\",quantile=\"0.5\"}"),
        p50
    );
    // p99 of what objectives see falls on arrivals that were not served.
    assert!(
        value(
            "openloop_latency_seconds{latency=\"response_slo\",quantile=\"0.99\",bound=\"at_least\"}"
        ) > 0.0
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_in_progress_can_be_scraped() {
    let lifecycle = Lifecycle::steady_only(Duration::from_secs(10));
    let plan = open(20.0).lifecycle(lifecycle).build().unwrap();
    let drive = drive::shared(&plan, |_: openloop_sched::Ticket| {
        tokio::time::sleep(Duration::from_millis(100))
    });
    let monitor = drive.monitor();
    let before = written(|to| write_prometheus(&monitor, to));
    assert!(
        before.contains("openloop_planned_seconds 10") && !before.contains("openloop_in_flight"),
        "{before}"
    );
    let scrape = async {
        tokio::time::sleep(Duration::from_millis(5020)).await;
        written(|to| write_prometheus(&monitor, to))
    };
    let (run, during) = tokio::join!(drive, scrape);
    assert_prometheus(&during);
    assert!(
        during.contains("openloop_phase{phase=\"steady\"} 1"),
        "{during}"
    );
    assert!(during.contains("openloop_asked_rate 20"), "{during}");
    assert!(during.contains("openloop_in_flight 2"), "{during}");
    assert!(
        during.contains("openloop_response_seconds{quantile=\"0.99\"} 0.1"),
        "{during}"
    );
    assert_eq!(run.unwrap().snapshot().counts().ok, 200);
}

/// The text format: every sample has a type before it, each type stands once, and values are numbers.
#[track_caller]
fn assert_prometheus(text: &str) {
    let mut types = std::collections::BTreeSet::new();
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            let name = typed.split(' ').next().unwrap();
            assert!(types.insert(name.to_owned()), "{name} has two types");
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert!(types.contains(name), "{line}");
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_published_schema_allows_every_field_that_is_written() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/report-1.json");
    let schema: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let known = schema["properties"].as_object().unwrap();
    for report in [report().await, Report::new(&calm().await)] {
        let written = serde_json::to_value(&report).unwrap();
        for (name, _) in written.as_object().unwrap() {
            assert!(known.contains_key(name), "{name}");
        }
    }
    for name in schema["required"].as_array().unwrap() {
        assert!(known.contains_key(name.as_str().unwrap()));
    }
}
