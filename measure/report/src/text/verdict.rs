//! What the run is worth.

use super::page::Page;
use super::table::columns;
use crate::Report;
use crate::words::{Tone, verdict};
use std::io;

/// The verdict, whether the run may be believed, and what kind of run it was.
pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let (word, tone, meaning) = verdict::verdict(report);
    let mut kind = String::new();
    for reservation in verdict::reservations(report) {
        kind.push_str(&format!(", {reservation}"));
    }
    page.headline(word, tone, &format!("{kind}: {meaning}"))?;
    for (label, text) in [
        ("title", report.title.clone()),
        ("target", report.target.clone()),
        ("rehearsal", verdict::rehearsal(report)),
        ("load", Some(verdict::load(report))),
        ("limits", verdict::limits(report)),
    ] {
        if let Some(text) = text {
            page.entry(label, Tone::Plain, &text)?;
        }
    }
    for fault in report.validity.faults() {
        let text = format!("{}: {}", fault.name, fault.why);
        page.entry("fault", Tone::Bad, &text)?;
    }
    Ok(())
}

/// The objective, bound by bound.
pub(super) fn objective<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(slo) = &report.slo else {
        return Ok(());
    };
    let verdicts = slo.findings.iter().map(|finding| columns(&finding.verdict));
    let widest = verdicts.max().unwrap_or(0);
    for (index, finding) in slo.findings.iter().enumerate() {
        let label = if index == 0 { "objective" } else { "" };
        let word = format!("{:<widest$}", finding.verdict);
        let text = format!("{}: {}", finding.bound, finding.why);
        page.item(
            label,
            (&word, verdict::tone_of(report, &finding.verdict)),
            &text,
        )?;
        if let Some(basis) = &finding.basis {
            page.entry("", Tone::Faint, &format!("limit: {basis}"))?;
        }
    }
    for lint in &slo.lints {
        let text = format!("{}: {}", lint.bound, lint.why);
        page.entry("bound", Tone::Doubtful, &text)?;
    }
    for why in verdict::other_reasons(report) {
        page.entry("", Tone::Doubtful, why)?;
    }
    Ok(())
}
