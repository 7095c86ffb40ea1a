//! The stream of a language model: how long until its first token, how long between the others, and how many there are.

use super::Section;
use super::chart::{DataTable, Line, Marks, Panel, Point, Row, Scale, YAxis, axis_time, figure};
use super::latencies::table;
use super::spectrum::{Shown, spectrum};
use crate::Report;
use crate::schema::Summary;
use crate::words::books;
use crate::words::latency::{bounded_value, cell, interval};
use crate::words::units::{count, length, percent, rate};
use maud::{Markup, html};
use openloop_measurer::{Population, Quantile, WINDOWS};

/// Named durations of an inference adapter: their names, what people call them and what they are, and how they look where
/// they are drawn.
const METRICS: [(&str, &str, &str, Option<&str>); 10] = [
    (
        "ttft",
        "TTFT",
        "time to first token: from the intended instant to the first chunk with one",
        Some("c1"),
    ),
    (
        "ttft_sent",
        "TTFT from sending",
        "the same from the hand-over to a connection: what other tools call TTFT",
        None,
    ),
    (
        "ttft_visible",
        "TTFT, visible",
        "until the first token that a user sees, where reasoning came first",
        None,
    ),
    (
        "first_event",
        "first event",
        "until an event without a token, where one came before",
        None,
    ),
    (
        "tpot",
        "TPOT",
        "time per output token: (last − first token) / (tokens − those of the first chunk), one value per answer",
        Some("c2"),
    ),
    (
        "itl",
        "ITL",
        "inter-token latency: the gap before a chunk over its tokens, one value per token",
        Some("c3"),
    ),
    (
        "itl_chunk",
        "gap between chunks",
        "as they came, whatever number of tokens each had",
        Some("c4"),
    ),
    (
        "ntpot",
        "normalised TPOT",
        "the whole answer from sending, over its tokens: what guidellm calls TPOT",
        None,
    ),
    (
        "e2e",
        "until the last token",
        "from the intended instant",
        None,
    ),
    (
        "e2e_sent",
        "the same from sending",
        "from the hand-over to a connection",
        None,
    ),
];

const TOKENS: [(&str, &str); 2] = [("output_tokens", "Output"), ("input_tokens", "Input")];

/// Whether a named duration is shown here, and not among the stages.
pub(super) fn is_of_it(report: &Report, name: &str) -> bool {
    !metrics(report).is_empty() && METRICS.iter().any(|(known, ..)| *known == name)
}

type Metric<'a> = (
    &'a Summary,
    &'static str,
    &'static str,
    Option<&'static str>,
);

/// The two by which a model is judged.
fn is_main(metric: &&Metric<'_>) -> bool {
    matches!(metric.1, "TTFT" | "TPOT")
}

/// Those that the report has; none of a service that is no language model's.
fn metrics(report: &Report) -> Vec<Metric<'_>> {
    let has_first_token = report.metrics.get("ttft").is_some_and(Option::is_some);
    let there = METRICS.into_iter().filter(|_| has_first_token);
    let there = there.filter_map(|(name, called, means, style)| {
        let summary = report.metrics.get(name)?.as_ref()?;
        Some((summary, called, means, style))
    });
    there.collect()
}

pub(super) fn section(report: &Report) -> Option<Section> {
    let metrics = metrics(report);
    if metrics.is_empty() {
        return None;
    }
    let shown: Vec<Shown<'_>> = metrics
        .iter()
        .filter_map(|(summary, called, _, style)| Some((*summary, *called, (*style)?)))
        .collect();
    let rows: Vec<_> = metrics
        .iter()
        .map(|(summary, called, means, _)| (*called, *means, *summary))
        .collect();
    let body = html! {
        (tiles(report, &metrics))
        (spectrum("First token and the others, by percentile", &shown))
        (table(&rows))
        (course(report, &metrics))
        @if let Some(lengths) = books::lengths(report) { p.note { "Answers had " (lengths.text) "." } }
        @if let Some(answers) = report.counts.get("itl_not_observable").filter(|n| **n > 0) {
            p.note { "Of " (count(*answers)) " answers nobody knows how many tokens each chunk had: they have no ITL." }
        }
        p.note { "Tools call different things TPOT and ITL: compare by the formulas. The response of the other sections is that of the whole answer, from the intended instant." }
    };
    Some(Section {
        id: "inference",
        title: "Tokens",
        body,
    })
}

/// What counts of a model, at first glance.
fn tiles(report: &Report, metrics: &[Metric<'_>]) -> Markup {
    let seconds = report.steady_ns as f64 / 1e9;
    let answers = report.latency.response_ok.as_ref().map(|ok| ok.count);
    let tokens = TOKENS.into_iter().filter_map(|(name, called)| {
        let tokens = *report.counts.get(name)?;
        let each = answers.filter(|n| *n > 0);
        let below = match each {
            Some(answers) => format!(
                "{} in all, {:.1} per answer served",
                count(tokens),
                tokens as f64 / answers as f64
            ),
            None => format!("{} in all", count(tokens)),
        };
        (seconds > 0.0).then(|| {
            (
                format!("{called} tokens"),
                rate(tokens as f64 / seconds),
                below,
            )
        })
    });
    // Of all arrivals: one that failed is not good.
    let all = report.latency.response_slo.as_ref().map(|all| all.count);
    let good = report
        .counts
        .get("good")
        .filter(|_| seconds > 0.0)
        .map(|good| {
            let share = all.filter(|n| *n > 0).map(|n| *good as f64 / n as f64);
            let kept = match report.formulas.get("good") {
                Some(bounds) => format!("kept {bounds}"),
                None => "kept every bound".to_owned(),
            };
            let below = match share {
                Some(share) => format!("{} of the arrivals {kept}", percent(share)),
                None => format!("arrivals that {kept}"),
            };
            ("Goodput".to_owned(), rate(*good as f64 / seconds), below)
        });
    let cached = report
        .counts
        .get("cached_tokens")
        .zip(report.counts.get("input_tokens"));
    let cached = cached
        .filter(|(cached, all)| **cached > 0 && **all > 0)
        .map(|(cached, all)| {
            let share = percent(*cached as f64 / *all as f64);
            (
                "From the prefix cache".to_owned(),
                share,
                "of the input tokens".to_owned(),
            )
        });
    let latencies = metrics
        .iter()
        .filter(is_main)
        .flat_map(|(summary, called, ..)| {
            [("p50", "p50_ns"), ("p99", "p99_ns")].map(|(quantile, field)| {
                let interval = interval(summary, field);
                let below = match interval.is_empty() {
                    false => format!("95 %: {interval}"),
                    true => "no interval".to_owned(),
                };
                (format!("{called} {quantile}"), cell(summary, field), below)
            })
        });
    let all: Vec<(String, String, String)> =
        latencies.chain(good).chain(tokens).chain(cached).collect();
    let tpot = metrics.iter().find(|(_, called, ..)| *called == "TPOT");
    html! {
        div.tiles {
            @for (label, value, below) in &all {
                div.tile { span.label { (label) } span.value { (value) } span.below { (below) } }
            }
        }
        @if let Some((tpot, ..)) = tpot.filter(|(tpot, ..)| tpot.p50_ns > 0) {
            p.note { "A user reads at " (format!("{:.1}", 1e9 / tpot.p50_ns as f64)) " tokens per second in the median stream: 1 / TPOT." }
        }
    }
}

/// The tenths of the steady phase one after another.
fn course(report: &Report, metrics: &[Metric<'_>]) -> Markup {
    let steady = report.phases.iter().find(|phase| phase.name == "steady");
    let windows = metrics
        .iter()
        .filter(is_main)
        .map(|(summary, called, _, style)| {
            let windows = summary.windows.iter().take(WINDOWS);
            let windows = windows.map(|window| window.as_ref().map(|window| window.population()));
            let windows: Result<Vec<Option<Population>>, _> =
                windows.map(Option::transpose).collect();
            Some((*called, style.unwrap_or_default(), windows.ok()?))
        });
    let (Some(steady), Some(windows)) = (steady, windows.collect::<Option<Vec<_>>>()) else {
        return html! {};
    };
    let n = windows.iter().map(|(.., all)| all.len()).max().unwrap_or(0);
    if n == 0 {
        return html! {};
    }
    let (from, to) = (steady.from_ns as f64, steady.to_ns as f64);
    let edge = |index: usize| from + (to - from) * index as f64 / n as f64;
    let x = axis_time(to);
    let panels: Vec<Panel<'_>> = windows
        .iter()
        .map(|(called, style, all)| panel(called, style, all, edge))
        .collect();
    let mut head = vec![("time".to_owned(), None)];
    for (called, style, _) in &windows {
        head.push((format!("{called} p50"), Some(*style)));
        head.push((format!("{called} p99"), Some("c4")));
    }
    let row = |index: usize| {
        let mut cells = vec![format!(
            "{}–{}",
            length(edge(index) as u64).trim_end_matches(" s"),
            length(edge(index + 1) as u64)
        )];
        for (.., all) in &windows {
            for q in [Quantile::P50, Quantile::P99] {
                let value = all.get(index).and_then(Option::as_ref);
                let value = value.and_then(|all| all.quantile(q));
                cells.push(value.map_or(String::new(), bounded_value));
            }
        }
        Row {
            place: x.scale.place((edge(index) + edge(index + 1)) / 2.0),
            cells,
        }
    };
    let data = DataTable {
        head,
        rows: (0..n).map(row).collect(),
        note: Some(
            "Tenths of the steady phase, by the instant at which the request should have started."
                .to_owned(),
        ),
    };
    html! {
        h3 { "In the course of the run" }
        (figure("Tokens in the course of the run", &x, &panels, &data))
    }
}

fn panel<'a>(
    called: &'a str,
    style: &'static str,
    windows: &[Option<Population>],
    edge: impl Fn(usize) -> f64,
) -> Panel<'a> {
    let line = |name: &str, style, q: Quantile| {
        let point = |(index, window): (usize, &Option<Population>)| {
            let value = window.as_ref().and_then(|window| window.quantile(q));
            Point {
                x: (edge(index) + edge(index + 1)) / 2.0,
                y: value.map(|value| value.ns() as f64),
                at_least: value.is_some_and(|value| value.is_lower_bound()),
            }
        };
        Line {
            name: name.to_owned(),
            style,
            points: windows.iter().enumerate().map(point).collect(),
            marks: Marks::Points,
        }
    };
    let lines = vec![
        line("p99", "c4", Quantile::P99),
        line("p50", style, Quantile::P50),
    ];
    let values = lines.iter().flat_map(|line| &line.points);
    let values: Vec<f64> = values.filter_map(|point| point.y).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(most, f64::min);
    Panel {
        height: 0.7,
        ..Panel::new(
            called,
            YAxis::Nanoseconds(Scale::of_durations(least, most)),
            lines,
        )
    }
}
