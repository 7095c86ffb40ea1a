//! The table of kinds of request.

use super::page::Page;
use super::table::{Table, columns};
use crate::Report;
use crate::schema::{Kind, UNLABELLED};
use crate::words::Tone;
use crate::words::latency::{FIGURES, cell};
use crate::words::units::{count, percent};
use std::io;

/// What the table calls the arrivals without a label.
const NO_LABEL: &str = "(no kind)";

/// A name is shortened no further than this.
const SHORTEST: usize = 12;

/// The kinds side by side, where there are several.
pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    if report.kinds.len() < 2 {
        return Ok(());
    }
    page.blank()?;
    let width = page.style().width;
    let full = build(report, usize::MAX, |_| true);
    let table = match full.width() <= width {
        true => full,
        false => {
            let few = |figure: &str| !["p90", "p95", "p99.9"].contains(&figure);
            let narrow = build(report, usize::MAX, few);
            match narrow.width().saturating_sub(width) {
                0 => narrow,
                over => build(report, longest(report).saturating_sub(over), few),
            }
        }
    };
    page.table(&table)?;
    page.entry(
        "",
        Tone::Faint,
        "response of the steady phase; shares and arrivals are of the whole run",
    )
}

fn build(report: &Report, room: usize, is_shown: impl Fn(&str) -> bool) -> Table {
    let shown: Vec<_> = FIGURES
        .iter()
        .filter(|(figure, _)| is_shown(figure))
        .collect();
    let head = ["kinds", "share", "arrivals", "ok"].into_iter();
    let mut table = Table::new(head.chain(shown.iter().map(|(figure, _)| *figure)));
    for (name, kind) in &report.kinds {
        let figure = |field: &str| {
            let response = kind.latency.response.as_ref();
            response.map_or(String::new(), |response| cell(response, field))
        };
        let arrivals = &kind.arrivals;
        let ok = match arrivals.ok == arrivals.scheduled {
            true => Tone::Plain,
            false => Tone::Doubtful,
        };
        let lead = [
            (label(name, room), Tone::Plain),
            (share(kind), Tone::Plain),
            (count(arrivals.scheduled), Tone::Plain),
            (count(arrivals.ok), ok),
        ];
        let figures = shown.iter().map(|(_, field)| (figure(field), Tone::Plain));
        table.row(lead.into_iter().chain(figures));
    }
    table
}

fn share(kind: &Kind) -> String {
    kind.share.map_or(String::new(), percent)
}

fn longest(report: &Report) -> usize {
    let labels = report
        .kinds
        .keys()
        .map(|name| columns(&label(name, usize::MAX)));
    labels.max().unwrap_or(0)
}

/// A name in at most `room` columns, or as few as it may be shortened to.
fn label(name: &str, room: usize) -> String {
    if name == UNLABELLED {
        return NO_LABEL.to_owned();
    }
    // A report may come from elsewhere, and a name in it move the cursor.
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let room = room.max(SHORTEST);
    match columns(&name) <= room {
        true => name,
        false => name
            .chars()
            .take(room - 1)
            .chain(std::iter::once('…'))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shortened_to_its_room_and_cannot_move_the_cursor() {
        assert_eq!(label("read", 2), "read");
        assert_eq!(label("GET /orders/{id}", 15), "GET /orders/{i…");
        assert_eq!(label("GET /orders/{id}", 16), "GET /orders/{id}");
        assert_eq!(label("GET /orders/{id}", 0), "GET /orders…");
        assert_eq!(label("a\u{1b}[2Jb\n", 80), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(label(UNLABELLED, 80), "(no kind)");
    }
}
