//! Latencies as figures and sentences.

use super::units::{Ns, length};
use super::{Said, Tone};
use crate::Report;
use crate::schema::{LowerBounds, Slow, Summary};
use openloop_measurer::Value;

/// The figures that tables of latencies show: what they are called, and their fields.
pub(crate) const FIGURES: [(&str, &str); 6] = [
    ("p50", "p50_ns"),
    ("p90", "p90_ns"),
    ("p95", "p95_ns"),
    ("p99", "p99_ns"),
    ("p99.9", "p99_9_ns"),
    ("max", "max_ns"),
];

/// What people call a latency of the schema.
pub(crate) fn label(name: &str) -> &str {
    match name {
        "schedule_delay" => "schedule delay",
        name => name,
    }
}

/// A figure of a summary; a lower bound as "≥ x".
pub(crate) fn cell(summary: &Summary, field: &str) -> String {
    let ns = summary.get(field);
    ns.map_or(String::new(), |ns| bounded(ns, &summary.at_least, field))
}

/// The figure in the field `field`, "≥ x" where it is among the lower bounds.
pub(crate) fn bounded(ns: u64, at_least: &LowerBounds, field: &str) -> String {
    let bound = if at_least.contains(field) { "≥ " } else { "" };
    format!("{bound}{}", Ns(ns as f64))
}

/// A quantile; a lower bound as "≥ x".
pub(crate) fn bounded_value(value: Value) -> String {
    let bound = if value.is_lower_bound() { "≥ " } else { "" };
    format!("{bound}{}", Ns(value.ns() as f64))
}

/// The 95 % confidence interval of a figure; empty where there is none.
pub(crate) fn interval(summary: &Summary, field: &str) -> String {
    let interval = summary.interval.get(field);
    interval.map_or(String::new(), |&[low, high]| Ns::interval(low, high))
}

pub(crate) fn has_bounds(summary: &Summary) -> bool {
    FIGURES
        .iter()
        .any(|(_, field)| summary.at_least.contains(field))
}

/// What "≥" means.
pub(crate) const BOUNDS: &str = "≥ x: at least x. It falls on arrivals without an end or, in response_slo, on any that was not served.";

/// The exchange against the response.
pub(crate) fn naive(report: &Report) -> Option<Said> {
    let (response, exchange) = (
        report.latency.response.as_ref()?,
        report.latency.exchange.as_ref()?,
    );
    let (said, waited) = (cell(exchange, "p99_ns"), cell(response, "p99_ns"));
    let hidden = response.p99_ns as f64 > 1.1 * exchange.p99_ns as f64;
    Some(match said == waited {
        true => Said::plain(format!(
            "a tool that times only the exchange would have said the same p99, {said}"
        )),
        false if hidden => Said::new(
            Tone::Doubtful,
            format!(
                "a tool that times only the exchange would have said p99 {said}; users waited {waited}"
            ),
        ),
        false => Said::plain(format!(
            "a tool that times only the exchange would have said p99 {said}, not {waited}"
        )),
    })
}

/// The worst ten seconds of the steady phase and its worst tenth, beside the whole.
pub(crate) fn worst(report: &Report) -> Option<String> {
    let shown = |what: &str, p99_ns, at_least, from_ns, to_ns| {
        let p99 = bounded(p99_ns, at_least, "p99_ns");
        let (from, to) = (length(from_ns), length(to_ns));
        format!("{p99} in the worst {what} ({from} to {to} of the run)")
    };
    let stretch = report.worst_stretch.as_ref().map(|worst| {
        let what = length(worst.to_ns.saturating_sub(worst.from_ns));
        shown(
            &what,
            worst.p99_ns,
            &worst.at_least,
            worst.from_ns,
            worst.to_ns,
        )
    });
    let tenth = report.worst_window.as_ref().map(|worst| {
        let what = "tenth";
        shown(
            what,
            worst.p99_ns,
            &worst.at_least,
            worst.from_ns,
            worst.to_ns,
        )
    });
    let told: Vec<String> = stretch.into_iter().chain(tenth).collect();
    let whole = cell(report.latency.response.as_ref()?, "p99_ns");
    (!told.is_empty()).then(|| format!("p99 {whole} of the whole; {}", told.join(", ")))
}

/// How many of the slowest arrivals text shows.
const SHOWN: usize = 5;

/// The slowest arrivals of a text, and how many more there are elsewhere.
pub(crate) fn slowest(report: &Report) -> (&[Slow], usize) {
    let shown = report.slowest.len().min(SHOWN);
    (&report.slowest[..shown], report.slowest.len() - shown)
}

/// The stages of an arrival in a line: `acquire 1.20 ms, first_byte 310 ms`.
pub(crate) fn stages(slow: &Slow) -> String {
    let stages = slow.stages.iter().filter(|(_, ns)| *ns > 0);
    let stages: Vec<String> = stages
        .map(|(name, ns)| format!("{name} {}", Ns(*ns as f64)))
        .collect();
    stages.join(", ")
}
