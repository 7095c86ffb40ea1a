//! What is more than one run, of a service whose truth is known.

use crate::fixture::on_any_machine;
use crate::golden::assert_golden;
use crate::html::{body, page};
use crate::simulated::{overloaded, replicated, streamed, swept};
use openloop_report::{Report, TextStyle};

fn markdown(report: &Report) -> String {
    let mut markdown = Vec::new();
    report.write_markdown(&mut markdown).unwrap();
    String::from_utf8(markdown).unwrap()
}

fn text(report: &Report) -> String {
    let style = TextStyle {
        width: 100,
        ..TextStyle::default()
    };
    let mut text = Vec::new();
    report.write_text(&mut text, &style).unwrap();
    String::from_utf8(text).unwrap()
}

/// The part of a page with this name.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = format!("<section id=\"{id}\">");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {id}"));
    rest.split_once("</section>").unwrap().0
}

#[tokio::test]
async fn a_sweep_with_its_floor_and_its_problem_reads_like_this() {
    let report = swept().await;
    assert_golden("sweep.txt", &text(&report));
    assert_golden("sweep.md", &markdown(&report));
    assert_golden("sweep.html", &body(&page(&report)));
}

#[tokio::test]
async fn replicas_read_like_this() {
    let report = replicated().await;
    assert_golden("replicas.txt", &text(&report));
    assert_golden("replicas.md", &markdown(&report));
    assert_golden("replicas.html", &body(&page(&report)));
}

#[tokio::test]
async fn an_overload_reads_like_this() {
    let report = overloaded().await;
    assert_golden("overload.txt", &text(&report));
    assert_golden("overload.md", &markdown(&report));
    assert_golden("overload.html", &body(&page(&report)));
}

#[tokio::test]
async fn all_of_it_is_read_as_it_was_written() {
    for report in [swept().await, replicated().await, overloaded().await] {
        let mut json = Vec::new();
        report.write_json(&mut json).unwrap();
        assert_eq!(Report::read_json(&*json).unwrap(), report);
        let html = page(&report);
        assert_eq!(Report::read_html(html.as_bytes()).unwrap(), report);
        assert!(html.contains("REHEARSAL") && html.contains("nothing was sent"));
    }
}

#[tokio::test]
async fn a_sweep_is_drawn_with_its_floor_its_edges_and_its_law() {
    let mut report = swept().await;
    let page_of = |report: &Report| section(&page(report), "sweep").to_owned();
    let drawn = page_of(&report);
    for part in [
        "mean of M/M/4, a good fit",
        "floor, p99 44.4 ms",
        "floor, mean 9.94 ms",
        "95 % of the p99",
        // Two edges at one rate have one name.
        ">knee, cliff 320/s<",
        ">maximum 400.8/s<",
        // At 600/s a third was turned away: p99 is at least what it says.
        "arrow c2",
        "≥, a lower bound",
    ] {
        assert!(drawn.contains(part), "{part}");
    }
    let knee = report.sweep.as_mut().unwrap().knee.as_mut().unwrap();
    (knee.known, knee.rate) = ("at_least".to_owned(), Some(240.0));
    assert!(page_of(&report).contains(">knee ≥ 240/s<"));
    let fit = report.sweep.as_mut().unwrap().fits.mmc.as_mut().unwrap();
    fit.goodness = "poor".to_owned();
    assert!(page_of(&report).contains("a poor fit") && page_of(&report).contains("another kind"));
    // A run that may not be believed has no figures.
    let step = &mut report.sweep.as_mut().unwrap().points[2];
    (step.valid, step.mean, step.p99) = (false, None, None);
    assert!(page_of(&report).contains("not to be believed"));
}

#[tokio::test]
async fn a_plan_has_every_figure_with_its_formula() {
    let report = swept().await;
    let plan = report.plan.as_ref().unwrap();
    let value = |quantity: &str| {
        let found = plan.items.iter().find(|item| item.quantity == quantity);
        found.map(|item| item.value)
    };
    // 2000 / 320, and 2000 / (0.75 · 400.8).
    assert_eq!(value("nodes_by_knee"), Some(7.0));
    assert_eq!(value("nodes_by_highest_rate"), Some(7.0));
    let html = page(&report);
    let html = section(&html, "plan");
    for item in &plan.items {
        let formula = item.formula.replace('>', "&gt;");
        assert!(html.contains(&formula), "{formula}");
    }
    assert!(html.contains("λ_knee = 320/s"));
}

#[tokio::test(start_paused = true)]
async fn a_language_model_has_a_section_of_tokens() {
    let report = on_any_machine(streamed().await);
    let html = page(&report);
    let tokens = section(&html, "inference");
    for name in [
        "TTFT p99",
        "TPOT p50",
        ">ITL<",
        "gap between chunks",
        "TTFT from sending",
        "Goodput",
        ">30 %<",
    ] {
        assert!(tokens.contains(name), "{name}");
    }
    // 4 answers of 20 tokens per second, in the mean.
    let written = report.counts["output_tokens"] as f64 / 60.0;
    assert!(
        tokens.contains(&format!("{:.2}/s", written).replace(".00", "")),
        "{written}"
    );
    assert!(tokens.contains("20.0 per answer served"));
    // They are no stages; what else there is stays one.
    let stages = section(&html, "stages");
    assert!(stages.contains(">connect<") && !stages.contains("ttft"));
    // A service that streams nothing has no such section.
    let other = page(&swept().await);
    assert!(!other.contains("id=\"inference\""));
}
