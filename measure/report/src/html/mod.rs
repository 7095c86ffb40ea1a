//! A report as one HTML file, which needs nothing else and holds the whole report.

mod archive;
mod chart;
mod compare;
mod curve;
mod floor;
mod inference;
mod kinds;
mod latencies;
mod outcomes;
mod page;
mod plan;
mod problem;
mod rails;
mod replicas;
mod resilience;
mod service;
mod setup;
mod slowest;
mod spectrum;
mod stages;
mod sweep;
mod timeline;
mod validity;
mod verdict;

pub(crate) use archive::extract;

use crate::Report;
use maud::Markup;
use std::io;

/// A part of the page, with a heading of its own.
#[derive(Debug)]
struct Section {
    /// Its name in addresses: `page.html#timeline`.
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The parts of the page in order, as far as the report has something for them.
type Part = fn(&Report) -> Option<Section>;
const PARTS: &[Part] = &[
    sweep::section,
    resilience::section,
    replicas::section,
    spectrum::section,
    latencies::section,
    inference::section,
    timeline::section,
    outcomes::section,
    stages::section,
    slowest::section,
    kinds::section,
    floor::section,
    plan::section,
    problem::section,
    validity::section,
    setup::section,
];

impl Report {
    /// Writes one HTML file that needs no other: the verdict in words, charts with their data, and the whole report as
    /// JSON inside, so that [`read_html`](Report::read_html) reads it again.
    ///
    /// It is light or dark as the reader's system is, fits a phone, and prints. Of a run of an hour it has well under a
    /// megabyte.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_html(&self, mut to: impl io::Write) -> io::Result<()> {
        let sections: Vec<Section> = PARTS.iter().filter_map(|part| part(self)).collect();
        let page = page::page(self, &sections)?;
        to.write_all(page.into_string().as_bytes())?;
        to.flush()
    }
}
