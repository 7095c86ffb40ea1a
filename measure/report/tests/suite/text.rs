use crate::fixture::{
    calm, mixed, on_any_machine, overloaded, partly_open, polymorphic, stopped, stopped_early,
};
use crate::golden::assert_golden;
use openloop_experiment::{Lifecycle, Plan, Run, Slo, drive};
use openloop_report::{Report, TextStyle};
use openloop_sched::{Arrivals, Rate, Ticket};
use std::time::Duration;

fn text(report: &Report, style: TextStyle) -> String {
    let mut text = Vec::new();
    report.write_text(&mut text, &style).unwrap();
    String::from_utf8(text).unwrap()
}

fn plain(report: &Report) -> String {
    text(report, TextStyle::default())
}

fn judged(run: Run, slo: &str) -> Report {
    let slo: Slo = slo.parse().unwrap();
    on_any_machine(
        Report::new(&run)
            .with_target("http://service.test/")
            .with_judgement(&slo.judge(&run)),
    )
}

const WIDE: TextStyle = TextStyle {
    colour: false,
    width: 120,
};

#[tokio::test(start_paused = true)]
async fn a_run_that_breaks_its_objective_reads_like_this() {
    let report = judged(mixed().await, "p50<=1s, p99<=300ms, errors<=5%");
    assert_golden("mixed.txt", &plain(&report));
    assert_golden("mixed-wide.txt", &text(&report, WIDE));
    let colour = TextStyle {
        colour: true,
        ..WIDE
    };
    assert_golden("mixed-colour.txt", &text(&report, colour));
}

#[tokio::test(start_paused = true)]
async fn kinds_of_request_stand_side_by_side_where_there_are_several() {
    let slo = r#"p95[read]<=200ms, p50["write, \"slow\""]<=150ms, errors[never]<=1%"#;
    let report = judged(polymorphic().await, slo);
    assert_golden("kinds.txt", &plain(&report));
    assert_golden("kinds-wide.txt", &text(&report, WIDE));
}

#[tokio::test(start_paused = true)]
async fn a_growing_backlog_reads_like_this() {
    assert_golden(
        "overloaded.txt",
        &plain(&judged(overloaded().await, "p99<=1s")),
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_keeps_its_objective_reads_like_this() {
    assert_golden(
        "calm.txt",
        &plain(&judged(calm().await, "mean<=1s, errors<=1%")),
    );
}

#[tokio::test(start_paused = true)]
async fn a_stopped_closed_loop_reads_like_this() {
    let report = on_any_machine(Report::new(&stopped().await));
    assert_golden("stopped.txt", &plain(&report));
    let first = plain(&report).lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(
        first.contains("INTERRUPTED") && first.contains("CLOSED LOOP"),
        "{first}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_partly_open_loop_reads_like_this() {
    let report = judged(partly_open().await, "p99<=1s, errors<=5%");
    assert_golden("sessions.txt", &plain(&report));
    let sessions = report.sessions.unwrap();
    let ended = sessions.finished + sessions.ended_early + sessions.unfinished;
    assert_eq!(ended, sessions.started);
    assert_eq!((report.planned, report.asked_rate), (None, None));
    assert_eq!(report.loop_kind, "partly_open");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_never_steady_says_that_nothing_was_measured() {
    let report = on_any_machine(Report::new(&stopped_early().await));
    let text = plain(&report);
    assert!(
        text.contains("nothing was measured in the steady phase"),
        "{text}"
    );
    assert!(text.contains("offered none, achieved none"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("p99"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_run_says_so_in_its_first_line_whatever_its_figures() {
    let mut report = judged(calm().await, "mean<=1s");
    let check = report
        .validity
        .checks
        .iter_mut()
        .find(|check| check.name == "all_sent");
    let check = check.unwrap();
    check.pass = false;
    check.why = "9 arrivals were due and never sent".to_owned();
    report.validity.valid = false;
    let text = plain(&report);
    assert!(text.starts_with("INVALID"), "{text}");
    assert!(
        text.contains("all_sent: 9 arrivals were due and never sent"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lower_bound_is_never_printed_as_a_measurement() {
    let report = judged(mixed().await, "p99<=300ms");
    let text = plain(&report);
    let row = text
        .lines()
        .find(|line| line.starts_with("response_slo"))
        .unwrap();
    // p50 and p90 are measured; p99, p99.9 and the maximum fall on arrivals that were not served.
    assert_eq!(row.matches('≥').count(), 3, "{row}");
}

#[tokio::test(start_paused = true)]
async fn no_line_is_wider_than_the_terminal_or_ends_in_blanks() {
    for report in [
        judged(mixed().await, "p50<=1s, p99<=300ms, errors<=5%"),
        judged(overloaded().await, "p99<=1s"),
        judged(polymorphic().await, "p99[read]<=1s"),
        on_any_machine(Report::new(&stopped().await)),
    ] {
        for width in [80, 100, 120, 200] {
            let style = TextStyle {
                colour: false,
                width,
            };
            for line in text(&report, style).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pacer_that_fell_back_is_named_in_the_report() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let plan = Plan::open(Rate::per_second(100.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_millis(200)))
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap();
    let run = runtime
        .block_on(async { drive::shared(&plan, |_: Ticket| async {}).await })
        .unwrap();
    let report = Report::new(&run);
    assert!(report.arrivals.balances());
    assert_eq!(report.arrivals.ok, 20);
    let generator = report.generator.as_ref().unwrap();
    assert_eq!(generator.precision.as_deref(), Some("coarse"));
    let fallback = generator.fallback.as_deref().unwrap();
    assert!(fallback.contains("no I/O driver"), "{fallback}");
    let said = text(&report, WIDE);
    assert!(said.contains("precision coarse"), "{said}");
    assert!(said.contains("no I/O driver"), "{said}");
}
