//! The table of latencies.

use super::page::Page;
use super::table::Table;
use crate::Report;
use crate::schema::{Slow, Summary};
use crate::words::Tone;
use crate::words::latency::{self, BOUNDS, FIGURES, cell, has_bounds};
use crate::words::units::{Ns, length};
use std::io;

pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let rows = report.latency.by_name().map(|(name, summary)| {
        let tone = match name {
            "response" => Tone::Strong,
            _ => Tone::Plain,
        };
        (latency::label(name), summary, tone)
    });
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
        .filter_map(|(_, summary, _)| *summary)
        .any(has_bounds)
    {
        page.entry("", Tone::Faint, BOUNDS)?;
    }
    page.blank()?;
    if let Some(naive) = latency::naive(report) {
        page.said("naive", &naive)?;
    }
    match latency::worst(report) {
        Some(worst) => page.entry("worst", Tone::Plain, &worst),
        None => Ok(()),
    }
}

/// The slowest arrivals, each with its stages where there is room for them.
pub(super) fn slowest<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let (shown, more) = latency::slowest(report);
    if shown.is_empty() {
        return Ok(());
    }
    page.blank()?;
    let fits = |table: &Table| table.width() <= page.style().width;
    let tables = [COLUMNS, COLUMNS - 1, COLUMNS - 2].map(|columns| arrivals(shown, columns));
    let narrowest = arrivals(shown, 3);
    let table = tables.into_iter().find(fits).unwrap_or(narrowest);
    page.table(&table)?;
    let text = match more {
        0 => "their stages are in the HTML and the JSON report".to_owned(),
        more => format!("{more} more, and all stages, are in the HTML and the JSON report"),
    };
    page.entry("", Tone::Faint, &text)
}

/// Columns of a table of arrivals.
const COLUMNS: usize = 7;

/// The first columns of a table of arrivals: those that say most come first.
fn arrivals(shown: &[Slow], columns: usize) -> Table {
    let head = [
        "slowest", "request", "at", "delay", "ended", "kind", "stages",
    ];
    let mut table = Table::new(head.into_iter().take(columns));
    for slow in shown {
        let tone = match slow.outcome.as_str() {
            "ok" => Tone::Plain,
            _ => Tone::Bad,
        };
        let delay = slow.schedule_delay_ns.filter(|delay| *delay > 0);
        let cells = [
            Ns(slow.response_ns as f64).to_string(),
            slow.seq.to_string(),
            length(slow.intended_ns),
            delay.map_or_else(String::new, |ns| Ns(ns as f64).to_string()),
            slow.ended(),
            slow.kind.clone().unwrap_or_default(),
            latency::stages(slow),
        ];
        let cells = cells.into_iter().take(columns);
        table.row(cells.map(|cell| (cell, tone)));
    }
    table.without_empty_columns()
}

/// Stages and named durations.
pub(super) fn stages<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let rows: Vec<_> = report
        .metrics
        .iter()
        .map(|(name, summary)| (name.as_str(), summary.as_ref(), Tone::Plain))
        .collect();
    if rows.iter().all(|(_, summary, _)| summary.is_none()) {
        return Ok(());
    }
    page.blank()?;
    table(page, "stages", &rows)?;
    for (name, formula) in &report.formulas {
        if report.metrics.contains_key(name) || report.counts.contains_key(name) {
            page.entry("", Tone::Faint, &format!("{name} = {formula}"))?;
        }
    }
    Ok(())
}

/// Rows of quantiles, with the interval of p99 where the width allows; where not, without p95.
pub(super) fn table<W: io::Write>(
    page: &mut Page<W>,
    name: &str,
    rows: &[(&str, Option<&Summary>, Tone)],
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
    rows: &[(&str, Option<&Summary>, Tone)],
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
        let interval = latency::interval(summary, "p99_ns");
        table.row(
            std::iter::once(((*label).to_owned(), *tone))
                .chain(figures)
                .chain([(interval, Tone::Faint)]),
        );
    }
    table.without_empty_columns()
}
