//! Rates, arrivals, and what the run cost.

use super::page::Page;
use crate::Report;
use crate::words::{Tone, books};
use std::io;

pub(super) fn rates<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    page.entry("rate", Tone::Plain, &books::rates(report))
}

/// The identity of all arrivals, and the classes of what was not served.
pub(super) fn arrivals<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    page.said("arrivals", &books::arrivals(report))?;
    if let Some(planned) = books::planned(report) {
        page.entry("", Tone::Doubtful, &planned)?;
    }
    for classes in books::classes(report) {
        page.entry("", Tone::Doubtful, &classes)?;
    }
    match books::sessions(report) {
        Some(sessions) => page.said("sessions", &sessions),
        None => Ok(()),
    }
}

/// The backlog, what was left over, what the generator cost, and what the reader should know.
pub(super) fn aftermath<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    page.blank()?;
    page.said("backlog", &books::backlog(report))?;
    if let Some(health) = books::health(report) {
        page.said("health", &health)?;
    }
    if let Some(lengths) = books::lengths(report) {
        page.said("answers", &lengths)?;
    }
    for (label, text) in [
        ("counts", books::counts(report)),
        ("target's", books::observations(report)),
        ("events", books::events(report)),
        ("generator", books::generator(report)),
        ("machine", books::machine(report)),
    ] {
        if let Some(text) = text {
            page.entry(label, Tone::Plain, &text)?;
        }
    }
    for (index, warning) in report.validity.warnings().enumerate() {
        let label = if index == 0 { "warnings" } else { "" };
        page.entry(label, Tone::Doubtful, &books::warning(warning))?;
    }
    Ok(())
}
