//! Two reports side by side.

use super::{escaped, row, rule, sign};
use crate::compare::Comparison;
use std::io;

impl Comparison {
    /// Writes the comparison as Markdown, as for a comment on a pull request.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_markdown(&self, mut to: impl io::Write) -> io::Result<()> {
        let said = self.conclusion();
        writeln!(to, "### {} {}\n", sign(said.tone), said.text)?;
        writeln!(to, "A: {}  \nB: {}\n", escaped(&self.a), escaped(&self.b))?;
        if let Some(others) = self.others() {
            writeln!(to, "- others: {}", escaped(&others))?;
        }
        for doubt in &self.doubts {
            writeln!(
                to,
                "- {} {}",
                sign(crate::words::Tone::Doubtful),
                escaped(doubt)
            )?;
        }
        let head = ["", "A", "B", "change", "98 %", ""].map(str::to_owned);
        writeln!(to, "\n{}\n{}", row(&head), rule(head.len()))?;
        for change in &self.changes {
            let tone = change.tone();
            let cells = [
                escaped(&change.name),
                change.text_a(),
                change.text_b(),
                change.ratio_text(),
                change.interval_text(),
                format!("{} {}", sign(tone), escaped(&change.verdict_text())),
            ];
            writeln!(to, "{}", row(&cells))?;
        }
        writeln!(to, "\n{}", Comparison::NOTE)?;
        to.flush()
    }
}
