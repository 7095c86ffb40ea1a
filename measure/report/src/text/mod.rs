//! A report as text for people at a terminal.

mod books;
mod compare;
mod experiment;
mod kinds;
mod latency;
mod page;
mod style;
mod summaries;
mod table;
mod verdict;

pub use style::TextStyle;
pub use summaries::write_summaries;

use crate::Report;
use page::Page;
use std::io;

impl Report {
    /// Writes what people read after a run: what it is worth first, then what it found.
    ///
    /// A lower bound is written as "≥ x". Durations have three significant digits; what is exact is in the JSON.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_text(&self, to: impl io::Write, style: &TextStyle) -> io::Result<()> {
        let mut page = Page::new(to, *style);
        verdict::write(self, &mut page)?;
        verdict::objective(self, &mut page)?;
        experiment::write(self, &mut page)?;
        page.blank()?;
        books::rates(self, &mut page)?;
        books::arrivals(self, &mut page)?;
        page.blank()?;
        latency::write(self, &mut page)?;
        kinds::write(self, &mut page)?;
        latency::stages(self, &mut page)?;
        latency::slowest(self, &mut page)?;
        books::aftermath(self, &mut page)?;
        page.flush()
    }
}
