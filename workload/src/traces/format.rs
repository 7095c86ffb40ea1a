//! The formats of public request traces.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::TraceError;
use super::error::excerpt;
use super::record::{self, Record};

/// The format of a trace: which columns it has and what they mean.
///
/// | format | line | timestamp | `input_tokens` are … | repeats known by |
/// | --- | --- | --- | --- | --- |
/// | [`Azure`](Format::Azure) | CSV | civil time, UTC, 7 or 6 decimals | the whole context of the request | – |
/// | [`BurstGpt`](Format::BurstGpt) | CSV | seconds | the tokens of the request; the source does not say whether earlier turns are among them | session (third release) |
/// | [`Mooncake`](Format::Mooncake) | JSON | milliseconds | cumulative: the whole prompt, earlier turns included | hash ids, 512 tokens each |
/// | [`Bailian`](Format::Bailian) | JSON | seconds | cumulative: the whole prompt, earlier turns included | hash ids, 16 tokens each, and the parent's id |
/// | [`Plain`](Format::Plain) | CSV | seconds or ns | as whoever wrote the file says | session |
///
/// A cumulative row is a complete request. To send it after the rows of its session as one more turn would send the
/// earlier turns twice.
///
/// Names of columns are compared without regard to case; the columns may stand in any order. A column that the format
/// does not know is kept as text in [`TraceRequest::other`](super::TraceRequest::other).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Azure's inference traces of 2023, 2024 and 2025: `TIMESTAMP,ContextTokens,GeneratedTokens`, and `NumImages` in
    /// that of 2025 (kept under [`other`](super::TraceRequest::other)).
    ///
    /// <https://github.com/Azure/AzurePublicDataset>
    Azure,
    /// BurstGPT: `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type`, and in its third file
    /// `Session ID` and `Elapsed time`.
    ///
    /// The model is the kind. A response of 0 tokens is a request that failed:
    /// [`Trace::without_empty_output`](super::Trace::without_empty_output) leaves them out.
    ///
    /// <https://github.com/HPMLL/BurstGPT>
    BurstGpt,
    /// Mooncake: `{"timestamp": ms, "input_length", "output_length", "hash_ids": […]}`.
    ///
    /// Each hash id stands for 512 tokens, the last for what is left. Arrivals of the published traces are rounded to
    /// batches, so that many timestamps are equal: see [`Quality::ties`](super::Quality::ties).
    ///
    /// <https://github.com/kvcache-ai/Mooncake>
    Mooncake,
    /// Alibaba Cloud Bailian (Qwen): `{"chat_id", "parent_chat_id", "timestamp": s, "input_length", "output_length",
    /// "type", "turn", "hash_ids": […]}`.
    ///
    /// Each hash id stands for 16 tokens; `parent_chat_id` −1 is the first turn; the type (text, search, image, file)
    /// is the kind.
    ///
    /// <https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon>
    Bailian,
    /// `offset,kind,size`: a trace of any service, with a header and the instants in decimal seconds.
    ///
    /// Instead of `offset` there may be `offset_ns`, in whole nanoseconds. All other columns may be left out: `kind`,
    /// `size`, `input_tokens`, `output_tokens`, `session`, `turn`. Lines that start with `#` are comments.
    ///
    /// ```
    /// use openloop_workload::traces::Trace;
    ///
    /// let file = "offset,kind,size\n0.25,read,512\n0.75,write,4096\n";
    /// let trace = Trace::read(file.as_bytes())?;
    /// assert_eq!(trace.requests()[1].offset_ns, 500_000_000);
    /// assert_eq!(trace.requests()[1].size, Some(4096));
    /// # Ok::<(), openloop_workload::traces::TraceError>(())
    /// ```
    Plain,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Civil time.
    Civil,
    /// A decimal, of which one is 10 to this power nanoseconds.
    Decimal(i32),
    Kind,
    Size,
    Input,
    Output,
    Session,
    Id,
    Parent,
    Turn,
    Hashes,
}

impl Column {
    /// Whether it tells when the request came.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, Column::Civil | Column::Decimal(_))
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Azure,
        Format::BurstGpt,
        Format::Mooncake,
        Format::Bailian,
        Format::Plain,
    ];

    /// The format of a file by its first line: the header, or the first JSON object.
    ///
    /// # Errors
    /// When the line starts no format.
    ///
    /// ```
    /// use openloop_workload::traces::Format;
    ///
    /// assert_eq!(Format::detect("TIMESTAMP,ContextTokens,GeneratedTokens")?, Format::Azure);
    /// assert!(Format::detect("1,2,3").is_err());
    /// # Ok::<(), openloop_workload::traces::TraceError>(())
    /// ```
    pub fn detect(first_line: &str) -> Result<Self, TraceError> {
        let line = first_line.trim_start_matches('\u{feff}').trim();
        let json = line.starts_with('{');
        let mut names = Vec::new();
        let mut fields = Record::default();
        if json {
            if let Ok(object) = record::object(line) {
                names.extend(object.into_iter().map(|(name, _)| name));
            }
        } else if fields.split(line).is_ok() {
            names.extend(fields.fields().map(|name| name.trim().to_owned()));
        }
        // A Bailian object has all that a Mooncake object needs: the one with more columns is asked first.
        [
            Format::Bailian,
            Format::Mooncake,
            Format::Azure,
            Format::BurstGpt,
            Format::Plain,
        ]
        .into_iter()
        .find(|format| format.is_json() == json && format.missing(&names).is_none())
        .ok_or_else(|| TraceError::UnknownFormat {
            first_line: excerpt(line),
        })
    }

    /// How many tokens one of the [`hash_ids`](super::TraceRequest::hash_ids) stands for, where there are any.
    #[must_use]
    pub const fn block_tokens(self) -> Option<u32> {
        match self {
            Format::Mooncake => Some(512),
            Format::Bailian => Some(16),
            Format::Azure | Format::BurstGpt | Format::Plain => None,
        }
    }

    /// Whether a line is a JSON object rather than comma-separated fields.
    #[must_use]
    pub const fn is_json(self) -> bool {
        matches!(self, Format::Mooncake | Format::Bailian)
    }

    /// The first of the columns that are needed and not among `names`.
    pub(super) fn missing(self, names: &[String]) -> Option<&'static str> {
        let has = |column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
        let needed: &[&str] = match self {
            Format::Azure => &["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
            Format::BurstGpt => &["Timestamp", "Request tokens", "Response tokens"],
            Format::Mooncake => &["timestamp", "input_length", "output_length"],
            Format::Bailian => &[
                "chat_id",
                "parent_chat_id",
                "timestamp",
                "input_length",
                "output_length",
            ],
            Format::Plain if has("offset_ns") => &[],
            Format::Plain => &["offset"],
        };
        needed.iter().find(|column| !has(column)).copied()
    }

    /// What the column called `name` holds; `None` for one that is kept as it is.
    pub(super) fn column(self, name: &str) -> Option<Column> {
        const SECONDS: Column = Column::Decimal(9);
        let columns: &[(&str, Column)] = match self {
            Format::Azure => &[
                ("TIMESTAMP", Column::Civil),
                ("ContextTokens", Column::Input),
                ("GeneratedTokens", Column::Output),
            ],
            Format::BurstGpt => &[
                ("Timestamp", SECONDS),
                ("Session ID", Column::Session),
                ("Model", Column::Kind),
                ("Request tokens", Column::Input),
                ("Response tokens", Column::Output),
            ],
            Format::Mooncake => &[
                ("timestamp", Column::Decimal(6)),
                ("input_length", Column::Input),
                ("output_length", Column::Output),
                ("hash_ids", Column::Hashes),
                ("session_id", Column::Session),
            ],
            Format::Bailian => &[
                ("timestamp", SECONDS),
                ("chat_id", Column::Id),
                ("parent_chat_id", Column::Parent),
                ("input_length", Column::Input),
                ("output_length", Column::Output),
                ("type", Column::Kind),
                ("turn", Column::Turn),
                ("hash_ids", Column::Hashes),
            ],
            Format::Plain => &[
                ("offset", SECONDS),
                ("offset_ns", Column::Decimal(0)),
                ("kind", Column::Kind),
                ("size", Column::Size),
                ("input_tokens", Column::Input),
                ("output_tokens", Column::Output),
                ("session", Column::Session),
                ("turn", Column::Turn),
            ],
        };
        columns
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, column)| *column)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Azure => "azure",
            Format::BurstGpt => "burstgpt",
            Format::Mooncake => "mooncake",
            Format::Bailian => "bailian",
            Format::Plain => "plain",
        })
    }
}

/// The name, as it is displayed.
impl FromStr for Format {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Format::ALL
            .into_iter()
            .find(|format| format.to_string() == text.trim())
            .ok_or_else(|| TraceError::UnknownName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_tell_the_formats_apart() {
        for (line, format) in [
            ("TIMESTAMP,ContextTokens,GeneratedTokens", Format::Azure),
            (
                "\u{feff}\"TIMESTAMP\",NumImages,\"ContextTokens\",GeneratedTokens\r",
                Format::Azure,
            ),
            (
                "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
                Format::BurstGpt,
            ),
            (
                "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type",
                Format::BurstGpt,
            ),
            (
                r#"{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [0]}"#,
                Format::Mooncake,
            ),
            (
                r#"{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 1, "output_length": 1}"#,
                Format::Bailian,
            ),
            ("offset,kind,size", Format::Plain),
            ("seq,offset_ns,phase", Format::Plain),
        ] {
            assert_eq!(Format::detect(line), Ok(format), "{line}");
        }
    }

    #[test]
    fn a_line_that_starts_no_format_is_refused_with_its_beginning() {
        for line in ["", "1,2,3", "{", "{}", "[1]", "\"", "time,size"] {
            let found = Format::detect(line);
            let first_line = line.to_owned();
            assert_eq!(found, Err(TraceError::UnknownFormat { first_line }));
        }
        let Err(error) = Format::detect(&"ä".repeat(1000)) else {
            unreachable!()
        };
        assert!(
            error
                .to_string()
                .contains(&format!("\"{}…\"", "ä".repeat(80)))
        );
    }

    #[test]
    fn names_are_read_and_written_alike() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            let json = serde_json::to_string(&format).unwrap();
            assert_eq!(json, format!("\"{format}\""));
        }
        assert_eq!(
            "azur".parse::<Format>(),
            Err(TraceError::UnknownName("azur".into()))
        );
    }
}
