//! Lines on their way to a writer.

use super::style::TextStyle;
use super::table::{Table, columns, wrapped};
use crate::words::{Said, Tone};
use std::io;

/// How wide the names of the sections are.
const LABEL: usize = 11;

/// Sections of text: a label to the left, and what belongs to it beside it.
#[derive(Debug)]
pub(super) struct Page<W> {
    to: W,
    style: TextStyle,
}

impl<W: io::Write> Page<W> {
    pub(super) fn new(to: W, style: TextStyle) -> Self {
        Page { to, style }
    }

    pub(super) fn style(&self) -> &TextStyle {
        &self.style
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.to)
    }

    /// A line that begins with `word` in its tone, and goes on with `text`.
    pub(super) fn headline(&mut self, word: &str, tone: Tone, text: &str) -> io::Result<()> {
        for line in wrapped(&format!("{word}{text}"), self.style.width) {
            // Later lines do not begin with the word, which stands in capitals.
            let rest = line.strip_prefix(word);
            let word = rest.map_or(String::new(), |_| self.style.paint(tone, word));
            let rest = self.style.paint(Tone::Strong, rest.unwrap_or(&line));
            writeln!(self.to, "{word}{rest}")?;
        }
        Ok(())
    }

    /// `text` beside its label, in as many lines as it takes.
    pub(super) fn entry(&mut self, label: &str, tone: Tone, text: &str) -> io::Result<()> {
        let width = self.style.width.saturating_sub(LABEL).max(20);
        for (index, line) in wrapped(text, width).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let line = self.style.paint(tone, line);
            self.line(label, &line)?;
        }
        Ok(())
    }

    /// A sentence in its tone, beside its label.
    pub(super) fn said(&mut self, label: &str, said: &Said) -> io::Result<()> {
        self.entry(label, said.tone, &said.text)
    }

    /// The same, with a word in its tone before a text without.
    pub(super) fn item(&mut self, label: &str, word: (&str, Tone), text: &str) -> io::Result<()> {
        let (word, tone) = word;
        let indent = columns(word) + 2;
        let width = self.style.width.saturating_sub(LABEL + indent).max(20);
        for (index, line) in wrapped(text, width).iter().enumerate() {
            match index {
                0 => self.line(label, &format!("{}  {line}", self.style.paint(tone, word)))?,
                _ => self.line("", &format!("{}{line}", " ".repeat(indent)))?,
            }
        }
        Ok(())
    }

    fn line(&mut self, label: &str, text: &str) -> io::Result<()> {
        let blanks = " ".repeat(LABEL.saturating_sub(columns(label)));
        let label = self.style.paint(Tone::Faint, label);
        writeln!(self.to, "{label}{blanks}{text}")
    }

    pub(super) fn table(&mut self, table: &Table) -> io::Result<()> {
        for line in table.lines(&self.style, 0) {
            writeln!(self.to, "{line}")?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
