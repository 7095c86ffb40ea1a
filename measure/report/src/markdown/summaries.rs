//! Latencies by name, without a run around them.

use super::{escaped, row, rule};
use crate::schema::Summary;
use crate::words::latency::{FIGURES, cell};
use crate::words::units::count;
use std::collections::BTreeMap;
use std::io;

/// The same as [`write_summaries`](crate::write_summaries) in Markdown.
///
/// # Errors
/// When the writer fails.
pub fn write_summaries_markdown(
    summaries: &BTreeMap<String, Summary>,
    unnamed: &str,
    mut to: impl io::Write,
) -> io::Result<()> {
    let mut head = vec!["latency".to_owned(), "values".to_owned()];
    head.extend(FIGURES.map(|(figure, _)| figure.to_owned()));
    writeln!(to, "{}\n{}", row(&head), rule(head.len()))?;
    for (name, summary) in summaries {
        let name = if name.is_empty() { unnamed } else { name };
        let mut cells = vec![escaped(name), count(summary.count)];
        cells.extend(FIGURES.map(|(_, field)| cell(summary, field)));
        writeln!(to, "{}", row(&cells))?;
    }
    to.flush()
}
