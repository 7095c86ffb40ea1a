//! Two reports side by side.

use super::TextStyle;
use super::page::Page;
use super::table::Table;
use crate::compare::Comparison;
use crate::words::Tone;
use std::io;

impl Comparison {
    /// Writes what people read at a terminal: what came out, what to doubt, and figure by figure.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_text(&self, to: impl io::Write, style: &TextStyle) -> io::Result<()> {
        let mut page = Page::new(to, *style);
        let said = self.conclusion();
        let word = said
            .text
            .split([':', ' '])
            .next()
            .unwrap_or_default()
            .to_owned();
        let rest = said.text.strip_prefix(&word).unwrap_or_default();
        page.headline(&word, said.tone, rest)?;
        page.entry("A", Tone::Plain, &self.a)?;
        page.entry("B", Tone::Plain, &self.b)?;
        if let Some(others) = self.others() {
            page.entry("others", Tone::Plain, &others)?;
        }
        for (index, doubt) in self.doubts.iter().enumerate() {
            let label = if index == 0 { "doubts" } else { "" };
            page.entry(label, Tone::Doubtful, doubt)?;
        }
        page.blank()?;
        let mut table = Table::new(["", "A", "B", "change", "98 %", ""]);
        for change in &self.changes {
            let plain = |text: String| (text, Tone::Plain);
            let verdict = match &change.verdict {
                // The reason stands below, where there is room.
                crate::compare::ChangeVerdict::Unknown(_) => "unknown".to_owned(),
                crate::compare::ChangeVerdict::NoDifference => "no difference".to_owned(),
                _ => change.verdict_text(),
            };
            table.row([
                (printable(&change.name), Tone::Plain),
                plain(change.text_a()),
                plain(change.text_b()),
                plain(change.ratio_text()),
                (change.interval_text(), Tone::Faint),
                (verdict, change.tone()),
            ]);
        }
        page.table(&table)?;
        let mut told: Vec<&str> = Vec::new();
        for change in &self.changes {
            if let crate::compare::ChangeVerdict::Unknown(why) = &change.verdict
                && !told.contains(&why.as_str())
            {
                told.push(why);
                page.entry(
                    "unknown",
                    Tone::Doubtful,
                    &format!("{}: {why}", printable(&change.name)),
                )?;
            }
        }
        page.blank()?;
        let is_none = |change: &crate::compare::Change| {
            change.verdict == crate::compare::ChangeVerdict::NoDifference
        };
        if self.changes.iter().any(is_none) {
            page.entry(
                "",
                Tone::Faint,
                "Where it says \"no difference\": none that these data can show. There may be one.",
            )?;
        }
        page.entry("", Tone::Faint, Comparison::NOTE)?;
        page.flush()
    }
}

/// A report may come from elsewhere, and a name in it move the cursor.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}
