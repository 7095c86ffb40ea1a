//! The table of latencies.

use super::page::Page;
use super::style::Tone;
use super::table::Table;
use super::units::{Ns, length};
use crate::Report;
use crate::schema::Summary;
use std::io;

const FIGURES: [(&str, &str); 6] = [
    ("p50", "p50_ns"),
    ("p90", "p90_ns"),
    ("p95", "p95_ns"),
    ("p99", "p99_ns"),
    ("p99.9", "p99_9_ns"),
    ("max", "max_ns"),
];

pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let latency = &report.latency;
    let rows = [
        ("response", &latency.response, Tone::Strong),
        ("response_ok", &latency.response_ok, Tone::Plain),
        ("response_slo", &latency.response_slo, Tone::Plain),
        ("service", &latency.service, Tone::Plain),
        ("exchange", &latency.exchange, Tone::Plain),
        ("schedule delay", &latency.schedule_delay, Tone::Plain),
        ("lag", &latency.lag, Tone::Plain),
        ("pickup", &latency.pickup, Tone::Plain),
    ];
    if rows.iter().all(|(_, summary, _)| summary.is_none()) {
        return page.entry(
            "latency",
            Tone::Doubtful,
            "nothing was measured in the steady phase",
        );
    }
    table(page, "latency", &rows)?;
    if rows
        .iter()
        .flat_map(|(_, summary, _)| summary.iter())
        .any(has_bounds)
    {
        page.entry(
            "",
            Tone::Faint,
            "≥ x: at least x. It falls on arrivals without an end or, in response_slo, on any that was not served.",
        )?;
    }
    page.blank()?;
    naive(report, page)?;
    worst(report, page)
}

/// Stages and named durations.
pub(super) fn stages<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let rows: Vec<_> = report
        .metrics
        .iter()
        .map(|(name, summary)| (name.as_str(), summary, Tone::Plain))
        .collect();
    if rows.iter().all(|(_, summary, _)| summary.is_none()) {
        return Ok(());
    }
    page.blank()?;
    table(page, "stages", &rows)
}

fn has_bounds(summary: &Summary) -> bool {
    FIGURES
        .iter()
        .any(|(_, field)| summary.at_least.contains(field))
}

pub(super) fn cell(summary: &Summary, field: &str) -> String {
    let Some(ns) = summary.get(field) else {
        return String::new();
    };
    let bound = if summary.at_least.contains(field) {
        "≥ "
    } else {
        ""
    };
    format!("{bound}{}", Ns(ns as f64))
}

/// Rows of quantiles, with the interval of p99 where the width allows; where not, without p95.
fn table<W: io::Write>(
    page: &mut Page<W>,
    name: &str,
    rows: &[(&str, &Option<Summary>, Tone)],
) -> io::Result<()> {
    let full = build(name, rows, |_| true);
    let fits = |table: &Table| table.width() <= page.style().width;
    let table = match fits(&full) {
        true => full,
        false => build(name, rows, |column| column != "p95"),
    };
    page.table(&table)
}

fn build(
    name: &str,
    rows: &[(&str, &Option<Summary>, Tone)],
    is_shown: impl Fn(&str) -> bool,
) -> Table {
    let shown: Vec<_> = FIGURES.iter().filter(|(name, _)| is_shown(name)).collect();
    let head = std::iter::once(name)
        .chain(shown.iter().map(|(name, _)| *name))
        .chain(["p99 (95 %)"]);
    let mut table = Table::new(head);
    for (label, summary, tone) in rows {
        let Some(summary) = summary else { continue };
        let figures = shown.iter().map(|(_, field)| (cell(summary, field), *tone));
        let interval = summary.interval.get("p99_ns");
        let interval = interval.map_or(String::new(), |&[low, high]| Ns::interval(low, high));
        table.row(
            std::iter::once(((*label).to_owned(), *tone))
                .chain(figures)
                .chain([(interval, Tone::Faint)]),
        );
    }
    table.without_empty_columns()
}

/// The exchange against the response.
fn naive<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let (Some(response), Some(exchange)) = (&report.latency.response, &report.latency.exchange)
    else {
        return Ok(());
    };
    let (said, waited) = (cell(exchange, "p99_ns"), cell(response, "p99_ns"));
    let hidden = response.p99_ns as f64 > 1.1 * exchange.p99_ns as f64;
    let (tone, text) = match said == waited {
        true => (
            Tone::Plain,
            format!("a tool that times only the exchange would have said the same p99, {said}"),
        ),
        false if hidden => (
            Tone::Doubtful,
            format!(
                "a tool that times only the exchange would have said p99 {said}; users waited {waited}"
            ),
        ),
        false => (
            Tone::Plain,
            format!("a tool that times only the exchange would have said p99 {said}, not {waited}"),
        ),
    };
    page.entry("naive", tone, &text)
}

fn worst<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(worst) = &report.worst_window else {
        return Ok(());
    };
    let bound = if worst.at_least.is_empty() {
        ""
    } else {
        "≥ "
    };
    let text = format!(
        "p99 {bound}{} in the worst tenth, {} to {} of the run",
        Ns(worst.p99_ns as f64),
        length(worst.from_ns),
        length(worst.to_ns)
    );
    page.entry("worst", Tone::Plain, &text)
}
