//! `--arrivals`: a process by name, or a trace in a file.

use openloop_sched::{Arrivals, ArrivalsError, Recorded};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
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

impl Trace {
    pub(crate) fn read(&self) -> Result<Recorded, String> {
        let named =
            |error: &dyn ToString| format!("{}: {}", self.file.display(), error.to_string());
        let file = File::open(&self.file).map_err(|error| named(&error))?;
        Recorded::read(BufReader::new(file), self.scale).map_err(|error| named(&error))
    }
}

/// `constant`, `poisson`, `gamma:CV` or `trace:FILE[:SCALE]`.
impl FromStr for Source {
    type Err = ArrivalsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(trace) = text.strip_prefix("trace:").filter(|file| !file.is_empty()) else {
            return text.parse().map(Source::Process);
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
