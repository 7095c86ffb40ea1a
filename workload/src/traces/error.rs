//! Why a trace cannot be read or replayed.

use super::Format;
use crate::number::Real;

/// Why a trace cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Nothing but empty lines.
    #[error("the trace has no line: give a file with a header, or one JSON object per line")]
    Empty,
    /// The first line is that of no format.
    #[error(
        "no trace format starts with \"{first_line}\": azure has the columns TIMESTAMP, ContextTokens and GeneratedTokens, \
         burstgpt Timestamp, Request tokens and Response tokens, plain offset or offset_ns; mooncake has JSON objects \
         with timestamp, input_length and output_length, and bailian chat_id and parent_chat_id as well"
    )]
    UnknownFormat {
        /// The line, cut after 80 characters.
        first_line: String,
    },
    /// Not the name of a format.
    #[error("\"{0}\" names no trace format: write azure, burstgpt, mooncake, bailian or plain")]
    UnknownName(String),
    /// A column that the format needs is not there.
    #[error("line {line} has no {column}, which every {format} trace has: \"{found}\"")]
    Missing {
        /// Which line, from 1: the header, or the JSON object.
        line: u64,
        /// The name of the column or key.
        column: &'static str,
        /// What was to be read.
        format: Format,
        /// The line, cut after 80 characters.
        found: String,
    },
    /// A line with more or fewer fields than the header.
    #[error("line {line} has {found} fields where the header has {expected}")]
    Fields {
        /// Which line, from 1.
        line: u64,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A field that is not what its column holds.
    #[error("line {line}, {column}: \"{found}\" is not {expected}")]
    Field {
        /// Which line, from 1.
        line: u64,
        /// The name of the column or key, as the file writes it.
        column: String,
        /// The field, cut after 80 characters.
        found: String,
        /// What it should be, with an example.
        expected: &'static str,
    },
    /// A line that is not of the form of the file.
    #[error("line {line} is not {expected}: {reason}")]
    Line {
        /// Which line, from 1.
        line: u64,
        /// What it should be.
        expected: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The reader failed.
    #[error("line {line} cannot be read: {reason}")]
    Read {
        /// Which line, from 1.
        line: u64,
        /// What the reader said.
        reason: String,
    },
}

/// Why a column of a trace is not one of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of the trace has {found} for {column}: give each row a number of at least 0 there, or take another column"
)]
pub struct ColumnError {
    /// The name of the column.
    pub column: String,
    /// On which line of the file, from 1; 0 for a request that comes from no file.
    pub line: u64,
    /// What the row has.
    pub found: String,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetsError {
    /// A scale that is no factor of time.
    #[error(
        "a time scale of {0} is not a finite number above 0: 1 replays as recorded, 0.5 twice as fast"
    )]
    Scale(f64),
    /// A request before the one ahead of it.
    #[error(
        "request {index} (from 0, line {line}) lies before the one ahead of it: look at the quality, then sort"
    )]
    Disorder {
        /// Which one, from 0.
        index: usize,
        /// On which line of the file, from 1; 0 for a request that comes from no file.
        line: u64,
    },
    /// Past the last instant.
    #[error("the last request lies past 584 years when scaled by {}: lower the scale", Real(*.0))]
    TooLate(f64),
}

/// The beginning of what was found, for a message of bounded length.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
