//! Latencies by name, without a run around them.

use super::latency::table;
use super::page::Page;
use super::style::TextStyle;
use crate::schema::Summary;
use crate::words::Tone;
use crate::words::latency::{BOUNDS, has_bounds};
use crate::words::units::count;
use std::collections::BTreeMap;
use std::io;

/// Writes latencies by name as a table: the tags of a log, or the latencies of part of a run. The one without a name is
/// called by `unnamed`.
///
/// # Errors
/// When the writer fails.
pub fn write_summaries(
    summaries: &BTreeMap<String, Summary>,
    unnamed: &str,
    to: impl io::Write,
    style: &TextStyle,
) -> io::Result<()> {
    let mut page = Page::new(to, *style);
    let name = |name: &str| -> String {
        let name = if name.is_empty() { unnamed } else { name };
        name.chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect()
    };
    let named: Vec<(String, &Summary)> = summaries
        .iter()
        .map(|(tag, summary)| (format!("{} ({})", name(tag), count(summary.count)), summary))
        .collect();
    let rows: Vec<_> = named
        .iter()
        .map(|(name, summary)| (name.as_str(), Some(*summary), Tone::Plain))
        .collect();
    table(&mut page, "latency (values)", &rows)?;
    if summaries.values().any(has_bounds) {
        page.entry("", Tone::Faint, BOUNDS)?;
    }
    page.flush()
}
