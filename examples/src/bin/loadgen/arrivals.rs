//! `--arrivals`: a process by name, or a trace in a file.

use crate::quality;
use openloop_sched::{Arrivals, Offset, Recorded};
use openloop_workload::traces::{self, Format, TraceRequest};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where the instants of arrivals come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// From a process, at the rate that is asked for.
    Process(Arrivals),
    /// From a trace, which has a rate of its own.
    Trace(Trace),
}

/// Arrivals that were recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) file: PathBuf,
    /// What instants are multiplied by.
    pub(crate) scale: f64,
}

/// A trace as it is replayed.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) arrivals: Recorded,
    /// Row k is the arrival number k; none where the file has instants alone.
    pub(crate) rows: Option<traces::Trace>,
    /// What should be known before the result is believed.
    pub(crate) notes: Vec<String>,
}

impl Trace {
    pub(crate) fn read(&self) -> Result<Replay, String> {
        let named =
            |error: &dyn ToString| format!("{}: {}", self.file.display(), error.to_string());
        let rows = match read(&self.file)? {
            Contents::Rows(rows) => rows,
            Contents::Seconds(seconds) => {
                let scaled = Recorded::new(seconds.offsets().to_vec(), self.scale);
                return Ok(Replay {
                    arrivals: scaled.map_err(|error| named(&error))?,
                    rows: None,
                    notes: Vec::new(),
                });
            }
        };
        let notes = quality::notes(&rows);
        let rows = rows.sorted();
        let offsets = rows.offsets(self.scale).map_err(|error| named(&error))?;
        let offsets = offsets.map(Offset::from).collect();
        Ok(Replay {
            arrivals: Recorded::new(offsets, 1.0).map_err(|error| named(&error))?,
            notes: notes.iter().map(|note| named(note)).collect(),
            rows: Some(rows),
        })
    }
}

/// What a file of recorded arrivals holds.
#[derive(Debug)]
pub(crate) enum Contents {
    /// Rows of a format that its first line tells.
    Rows(traces::Trace),
    /// An instant on each line, in seconds.
    Seconds(Recorded),
}

/// What some tools put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Contents {
    fn is_empty(&self) -> bool {
        match self {
            Contents::Rows(trace) => trace.is_empty(),
            Contents::Seconds(recorded) => recorded.offsets().is_empty(),
        }
    }

    /// As a trace, of whichever form.
    pub(crate) fn into_trace(self) -> traces::Trace {
        match self {
            Contents::Rows(trace) => trace,
            Contents::Seconds(recorded) => {
                let offsets = recorded.offsets().iter();
                traces::Trace::new(offsets.map(|at| TraceRequest::at(at.as_nanos())).collect())
            }
        }
    }
}

/// Reads recorded arrivals in whichever form they are; there is one at least.
pub(crate) fn read(path: &Path) -> Result<Contents, String> {
    let named = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
    let mut reader = BufReader::new(File::open(path).map_err(|error| named(&error))?);
    let (mut head, mut line) = (Vec::new(), Vec::new());
    // The file may be a pipe, which is read once: what was looked at is put in front again.
    let first = loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line);
        let is_end = length.map_err(|error| named(&error))? == 0;
        let text = match head.is_empty() {
            true => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line),
            false => &line,
        };
        head.extend_from_slice(text);
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        if is_end || !(text.is_empty() || text.starts_with('#')) {
            break text.to_owned();
        }
    };
    let whole = Cursor::new(head).chain(reader);
    let is_seconds = first.parse::<f64>().is_ok() || first.eq_ignore_ascii_case("seconds");
    let contents = if is_seconds {
        Contents::Seconds(Recorded::read(whole, 1.0).map_err(|error| named(&error))?)
    } else if first.is_empty() {
        return Err(named(&"there is no arrival in it"));
    } else {
        // Any other header would be taken for one of seconds, and what it names for nothing.
        let format = Format::detect(&first).map_err(|error| {
            named(&format!(
                "{error}; or the file has seconds since the start, one a line, alone or under the header seconds"
            ))
        })?;
        Contents::Rows(traces::Trace::read_as(format, whole).map_err(|error| named(&error))?)
    };
    match contents.is_empty() {
        true => Err(named(&"there is no arrival in it")),
        false => Ok(contents),
    }
}

/// `constant`, `poisson`, `gamma:CV` or `trace:FILE[:SCALE]`.
impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(trace) = text.strip_prefix("trace:").filter(|file| !file.is_empty()) else {
            let process = text.parse::<Arrivals>().map(Source::Process);
            return process
                .map_err(|error| format!("{error}; or trace:FILE for recorded arrivals"));
        };
        // A name may hold colons itself: only a number behind the last one is a scale.
        let scaled = trace
            .rsplit_once(':')
            .and_then(|(file, scale)| Some((file, scale.parse().ok()?)));
        let (file, scale) = scaled.unwrap_or((trace, 1.0));
        Ok(Source::Trace(Trace {
            file: file.into(),
            scale,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(file: &str, scale: f64) -> Source {
        Source::Trace(Trace {
            file: file.into(),
            scale,
        })
    }

    #[test]
    fn a_trace_may_have_a_scale_and_colons_in_its_name() {
        for (text, source) in [
            ("constant", Source::Process(Arrivals::Constant)),
            ("gamma:2", Source::Process(Arrivals::gamma(2.0).unwrap())),
            ("trace:a.csv", trace("a.csv", 1.0)),
            ("trace:a.csv:0.5", trace("a.csv", 0.5)),
            ("trace:c:a.csv", trace("c:a.csv", 1.0)),
            ("trace:c:a.csv:2", trace("c:a.csv", 2.0)),
        ] {
            assert_eq!(text.parse(), Ok(source), "{text}");
        }
        for text in ["", "trace:", "uniform", "gamma:0"] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_trace_that_cannot_be_read_is_named() {
        let missing = Trace {
            file: "/no/such/file".into(),
            scale: 1.0,
        };
        assert!(missing.read().unwrap_err().starts_with("/no/such/file: "));
    }
}
