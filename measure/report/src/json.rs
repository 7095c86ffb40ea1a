//! A report as JSON.

use crate::Report;
use crate::html;
use crate::schema::{self, NAME};
use serde::Deserialize;
use serde_json::error::Category;
use std::io;

impl Report {
    /// Writes the report as JSON, on many lines, with a line feed at the end.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn write_json(&self, mut to: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut to, self)?;
        to.write_all(b"\n")?;
        to.flush()
    }

    /// Reads a report that this or another version wrote.
    ///
    /// A newer minor version is read as far as it is known: fields that are not are left out, and the report then
    /// is one of this version.
    ///
    /// # Errors
    /// When the reader fails, the text is no report, or its major version is another.
    pub fn read_json(mut from: impl io::Read) -> Result<Report, ReadError> {
        let mut text = Vec::new();
        from.read_to_end(&mut text)?;
        Report::from_json(&text)
    }

    /// Reads the report inside a page that [`write_html`](Report::write_html) wrote.
    ///
    /// # Errors
    /// When the reader fails, the page has no report inside, or it is one that cannot be read.
    pub fn read_html(mut from: impl io::Read) -> Result<Report, ReadError> {
        let mut page = Vec::new();
        from.read_to_end(&mut page)?;
        let page = String::from_utf8_lossy(&page);
        Report::from_json(&html::extract(&page)?)
    }

    /// The schema that a report, or the one inside a page, says it is of: `openloop.report/1.0`. One of a newer minor
    /// version than [`schema::VERSION`] is read only as far as this release knows it.
    ///
    /// # Errors
    /// As [`read_json`](Report::read_json) and [`read_html`](Report::read_html).
    pub fn schema_of(text: &[u8]) -> Result<String, ReadError> {
        let Head { schema } = match text.trim_ascii_start().first() {
            Some(b'<') => {
                let page = String::from_utf8_lossy(text);
                serde_json::from_slice(&html::extract(&page)?).map_err(ReadError::of)?
            }
            _ => serde_json::from_slice(text).map_err(ReadError::of)?,
        };
        Ok(schema)
    }

    fn from_json(text: &[u8]) -> Result<Report, ReadError> {
        let Head { schema } = serde_json::from_slice(text).map_err(ReadError::of)?;
        let major = schema
            .strip_prefix(NAME)
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|version| version.split_once('.'))
            .filter(|(_, minor)| minor.parse::<u32>().is_ok())
            .map(|(major, _)| major.to_owned());
        match major.as_deref() {
            Some("1") => {}
            Some(major) if major.parse::<u32>().is_ok() => {
                return Err(ReadError::UnknownMajor(schema));
            }
            _ => return Err(ReadError::UnknownSchema(schema)),
        }
        let mut report: Report = serde_json::from_slice(text).map_err(ReadError::of)?;
        report.schema = schema::tag();
        Ok(report)
    }
}

/// What every version has.
#[derive(Deserialize)]
#[serde(expecting = "an object that begins with its schema")]
struct Head {
    schema: String,
}

/// Why a report cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    #[error("the report cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Not JSON, or a field of the schema is absent or of another type.
    #[error("this is not a report: {0}")]
    NotAReport(#[source] serde_json::Error),
    /// It ends too early.
    #[error("the report is cut short: {0}; write or copy it anew")]
    CutShort(#[source] serde_json::Error),
    /// A page without a report.
    #[error("there is no report inside this page: only pages that openloop wrote have one")]
    NoReportInside,
    /// A page whose report cannot be unpacked.
    #[error("the report inside this page is damaged: {0}")]
    Damaged(String),
    /// The schema of something else.
    #[error(
        "the schema is \"{0}\", which is no report: expected \"{NAME}/{version}\"",
        version = schema::VERSION
    )]
    UnknownSchema(String),
    /// A major version that this release does not know.
    #[error(
        "the schema is \"{0}\", and this release reads \"{NAME}/1.x\" alone: read it with the release that wrote it"
    )]
    UnknownMajor(String),
}

impl ReadError {
    fn of(error: serde_json::Error) -> Self {
        match error.classify() {
            Category::Eof => ReadError::CutShort(error),
            _ => ReadError::NotAReport(error),
        }
    }
}
