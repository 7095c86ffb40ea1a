//! A report as text for people at a terminal.

mod style;
pub(crate) mod units;

pub use style::TextStyle;

use crate::Report;
use std::io;

impl Report {
    /// Writes what people read after a run: what it is worth first, then what it found.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_text(&self, mut to: impl io::Write, style: &TextStyle) -> io::Result<()> {
        let _ = style.paint(style::Tone::Plain, "");
        let valid = if self.validity.valid {
            "VALID"
        } else {
            "INVALID"
        };
        writeln!(to, "{valid}")?;
        to.flush()
    }
}
