//! Latencies as figures and sentences.

use super::units::{Ns, length};
use super::{Said, Tone};
use crate::Report;
use crate::schema::{LowerBounds, Summary};
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

/// The worst tenth of the steady phase.
pub(crate) fn worst(report: &Report) -> Option<String> {
    let worst = report.worst_window.as_ref()?;
    let p99 = bounded(worst.p99_ns, &worst.at_least, "p99_ns");
    let (from, to) = (length(worst.from_ns), length(worst.to_ns));
    Some(format!(
        "p99 {p99} in the worst tenth, {from} to {to} of the run"
    ))
}
