use crate::fixture::{
    calm, mixed, on_any_machine, overloaded, partly_open, polymorphic, stopped, stopped_early,
};
use crate::golden::assert_golden;
use crate::simulated::swept;
use openloop_experiment::problem::{Observed, ProblemStatement};
use openloop_experiment::{Run, Slo};
use openloop_report::{Comparison, Report};

pub(crate) fn page(report: &Report) -> String {
    let mut page = Vec::new();
    report.write_html(&mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn judged(run: &Run, slo: &str) -> Report {
    let slo: Slo = slo.parse().unwrap();
    on_any_machine(
        Report::new(run)
            .with_target("http://service.test/")
            .with_judgement(&slo.judge(run)),
    )
}

/// What people see, an element a line: without the style, the script and the report inside.
pub(crate) fn body(page: &str) -> String {
    let (_, body) = page.split_once("<main>").unwrap();
    let (body, _) = body.split_once("<script type=").unwrap();
    body.replace("><", ">\n<") + "\n"
}

#[tokio::test(start_paused = true)]
async fn the_page_of_a_run_on_the_paused_clock_is_this_file() {
    let report = judged(&mixed().await, "p50<=1s, p99<=300ms, errors<=5%");
    assert_golden("mixed.html", &body(&page(&report)));
}

#[tokio::test(start_paused = true)]
async fn the_page_holds_the_whole_report() {
    for run in [
        mixed().await,
        overloaded().await,
        polymorphic().await,
        partly_open().await,
        stopped().await,
        stopped_early().await,
    ] {
        let report = judged(&run, "p99<=300ms");
        assert_eq!(Report::read_html(page(&report).as_bytes()).unwrap(), report);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_of_an_hour_is_under_a_megabyte_and_can_be_read_again() {
    let mut report = judged(&mixed().await, "p99<=300ms");
    let second = report.timeline[8].clone();
    for at in report.timeline.len() as u64..3600 {
        let mut interval = second.clone();
        interval.from_ns = at * 1_000_000_000;
        interval.to_ns = interval.from_ns + 1_000_000_000;
        interval.max_ns = Some(100_000_000 + at * 7919);
        report.timeline.push(interval);
    }
    let page = page(&report);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("application/zlib;base64"));
    assert_eq!(Report::read_html(page.as_bytes()).unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_fetched_from_anywhere() {
    let page = page(&judged(&polymorphic().await, "p99<=300ms"));
    for outside in [
        "<link",
        "<img",
        "<iframe",
        " src=",
        "@import",
        "url(",
        "http-equiv=\"refresh\"",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_wrote_is_text_and_nothing_else() {
    let mut report = judged(&polymorphic().await, "p99[read]<=300ms");
    let evil = "</script><script>alert('x')</script><b onmouseover=\"alert(1)\">&amp;";
    report.title = Some(evil.to_owned());
    report.target = Some(evil.to_owned());
    report.command = Some(evil.to_owned());
    report
        .kinds
        .insert(evil.to_owned(), report.kinds["read"].clone());
    report
        .metrics
        .insert(evil.to_owned(), report.metrics["connect"].clone());
    report.counts.insert(evil.to_owned(), 3);
    report
        .outcomes
        .entry("failed".to_owned())
        .or_default()
        .insert(evil.to_owned(), 3);
    let problem = serde_json::json!({ "title": evil, "environment": { "service": evil } });
    let problem = ProblemStatement::from_json(&problem.to_string()).unwrap();
    let mut report = report.with_problem(&problem, &Observed::default());
    let experiment = swept().await;
    (report.sweep, report.plan, report.floor) =
        (experiment.sweep, experiment.plan, experiment.floor);
    let sweep = report.sweep.as_mut().unwrap();
    sweep.sought = Some(evil.to_owned());
    sweep.max.text = evil.to_owned();
    sweep.diagnosis.evidence = vec![evil.to_owned()];
    sweep.warnings = vec![evil.to_owned()];
    sweep.points[0].zone = Some(evil.to_owned());
    let item = &mut report.plan.as_mut().unwrap().items[0];
    (item.name, item.formula, item.why) = (evil.to_owned(), evil.to_owned(), evil.to_owned());
    report.floor.as_mut().unwrap().levels[0].kind = Some(evil.to_owned());
    for check in &mut report.validity.checks {
        (check.name, check.why) = (evil.to_owned(), evil.to_owned());
    }
    for phase in &mut report.phases {
        phase.name = evil.to_owned();
    }
    let finding = &mut report.slo.as_mut().unwrap().findings[0];
    (finding.bound, finding.why) = (evil.to_owned(), evil.to_owned());
    let written = page(&report);
    assert!(!written.contains("<script>alert") && !written.contains("<b onmouseover"));
    assert_eq!(Report::read_html(written.as_bytes()).unwrap(), report);
    let mut compared = Vec::new();
    Comparison::new(&report, &report)
        .unwrap()
        .write_html(&mut compared)
        .unwrap();
    let compared = String::from_utf8(compared).unwrap();
    assert!(!compared.contains("<script>alert") && !compared.contains("<b onmouseover"));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_run_looks_invalid_at_first_glance() {
    let mut report = judged(&calm().await, "mean<=1s");
    let valid = page(&report);
    assert!(valid.contains("<body class=\"\">") && !valid.contains(">INVALID<"));
    report.validity.valid = false;
    report.validity.checks[0].pass = false;
    let invalid = page(&report);
    assert!(invalid.contains("<body class=\"invalid\">") && invalid.contains(">INVALID<"));
    let mut markdown = Vec::new();
    report.write_markdown(&mut markdown).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(markdown.starts_with("### ❌ INVALID") && !markdown.contains("✅"));
    // Its objective is kept, and that is no good news.
    assert!(!invalid.contains(
        "<li class=\"good\"><span class=\"sign\" aria-hidden=\"true\">✓</span><b>pass</b>"
    ));
}

#[tokio::test(start_paused = true)]
async fn a_lower_bound_is_drawn_as_one() {
    // One of 400 arrivals never ended: past p99.75 the response is at least what it says.
    let bounded = page(&judged(&mixed().await, "p99<=300ms"));
    assert!(bounded.contains("<path class=\"line bound c1\""));
    assert!(bounded.contains("<path class=\"arrow c1\"") && bounded.contains("<td>≥ "));
    let exact = page(&judged(&calm().await, "p99<=300ms"));
    assert!(!exact.contains("bound c1") && !exact.contains("≥, a lower bound"));
}

#[tokio::test(start_paused = true)]
async fn a_page_of_next_to_nothing_is_a_page() {
    let page = page(&on_any_machine(Report::new(&stopped_early().await)));
    assert!(page.contains("Nothing was measured in the steady phase."));
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[tokio::test(start_paused = true)]
async fn a_report_whose_histograms_cannot_be_read_still_has_a_page() {
    let mut report = judged(&calm().await, "p99<=300ms");
    report.latency.response.as_mut().unwrap().histogram = "HISTbroken".to_owned();
    assert!(page(&report).contains("cannot be drawn"));
}
