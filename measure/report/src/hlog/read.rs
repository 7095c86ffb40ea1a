//! A log, interval by interval.

use super::line::{Line, LineError, LogUnit, Wrong, parse};
use crate::hdr::{Buckets, Precision};
use openloop_measurer::{Exact, Histogram};
use std::io::{self, BufRead};

/// An interval of a log, with its histogram.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogInterval {
    /// The tag, empty where there is none.
    pub tag: String,
    /// When it begins, in nanoseconds since the start of the log.
    pub from_ns: u64,
    /// When it ends.
    pub to_ns: u64,
    /// In what its values are, as far as the log says.
    pub unit: Option<LogUnit>,
    pub(super) buckets: Buckets,
    /// What is exact of it: in logs of openloop.
    pub(super) exact: Option<Exact>,
}

impl LogInterval {
    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.exact.map_or(self.buckets.count(), |exact| exact.count)
    }

    /// The values as a histogram of openloop, where the log is one of openloop: with the exact extremes.
    #[must_use]
    pub fn histogram(&self) -> Option<Histogram> {
        histogram(&self.buckets, self.exact?).ok()
    }
}

/// Of buckets in nanoseconds and to three digits.
pub(super) fn histogram(
    buckets: &Buckets,
    exact: Exact,
) -> Result<Histogram, openloop_measurer::HistogramError> {
    let counts = buckets.iter().map(|(_, highest, count)| (highest, count));
    Histogram::from_parts(counts, exact)
}

/// Reads a log: an iterator over its intervals, and over the lines that cannot be read.
///
/// ```
/// use openloop_report::hlog::LogReader;
///
/// let log = "\
/// ##[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
/// \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"
/// 0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=
/// 1.134,0.999,0.442,HISTdamaged
/// ";
/// let mut intervals = LogReader::new(log.as_bytes());
/// let first = intervals.next().transpose()?.ok_or("it is empty")?;
/// assert_eq!((first.count(), first.from_ns), (741, 127_000_000));
/// let error = intervals.next().and_then(Result::err).ok_or("it can be read")?;
/// assert_eq!(error.number, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where the reader fails, that is the last item: [`io_error`](LogReader::io_error) has it.
#[derive(Debug)]
pub struct LogReader<R> {
    from: R,
    line: Vec<u8>,
    number: u64,
    start_ns: Option<u64>,
    base_ns: Option<u64>,
    /// The start of the first interval.
    first_ns: Option<u64>,
    unit: Option<LogUnit>,
    has_ends: bool,
    /// Of the next line.
    exact: Option<Exact>,
    io_error: Option<io::Error>,
}

/// Stamps that lie more than a year before the start of the log are counted from it, and not from 1970.
const YEAR_NS: u64 = 365 * 24 * 3600 * super::line::SECOND;

impl<R: BufRead> LogReader<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Self {
        LogReader {
            from,
            line: Vec::new(),
            number: 0,
            start_ns: None,
            base_ns: None,
            first_ns: None,
            unit: None,
            has_ends: false,
            exact: None,
            io_error: None,
        }
    }

    /// Why reading ended early, if it did.
    pub fn io_error(&mut self) -> Option<io::Error> {
        self.io_error.take()
    }

    /// When the log began, in nanoseconds since 1970, as far as it says.
    pub fn start_ns(&self) -> Option<u64> {
        self.start_ns.or(self.base_ns)
    }

    /// The next line, without its end; `None` at the end of the log.
    fn line(&mut self) -> Option<()> {
        self.line.clear();
        self.number += 1;
        match self.from.read_until(b'\n', &mut self.line) {
            Ok(0) => None,
            Ok(_) => Some(()),
            Err(error) => {
                self.io_error = Some(error);
                None
            }
        }
    }

    /// A stamp of a line in nanoseconds since the start of the log.
    fn since_start(&mut self, at_ns: u64) -> u64 {
        let absolute = match (self.base_ns, self.start_ns) {
            // The Python library writes a base, and then stamps that are absolute.
            (Some(base), _) if base > YEAR_NS && at_ns >= base => at_ns,
            (Some(base), _) => at_ns.saturating_add(base),
            (None, Some(start)) if at_ns < start.saturating_sub(YEAR_NS) => {
                at_ns.saturating_add(start)
            }
            (None, _) => at_ns,
        };
        let first = *self.first_ns.get_or_insert(absolute);
        absolute.saturating_sub(self.start_ns.or(self.base_ns).unwrap_or(first))
    }

    fn read(&mut self) -> Result<Option<LogInterval>, Wrong> {
        let line = std::str::from_utf8(&self.line);
        // Comments may be in any encoding.
        let line = match line {
            Err(_) if self.line.starts_with(b"#") => String::from_utf8_lossy(&self.line),
            line => line.map_err(|_| Wrong::NotText)?.into(),
        };
        // Whatever stands between the exact figures and their line, they are not those of a later one.
        let exact = self.exact.take();
        let (tag, at_ns, length_ns, buckets) = match parse(&line)? {
            Line::StartTime(ns) => {
                self.start_ns = Some(ns);
                return Ok(None);
            }
            Line::BaseTime(ns) => {
                self.base_ns = Some(ns);
                return Ok(None);
            }
            Line::Unit(unit) => {
                self.unit = Some(unit);
                return Ok(None);
            }
            Line::Exact(exact) => {
                self.exact = Some(exact);
                return Ok(None);
            }
            Line::Legend { has_ends } => {
                self.has_ends = has_ends;
                return Ok(None);
            }
            Line::Other => return Ok(None),
            Line::Interval {
                tag,
                at_ns,
                length_ns,
                buckets,
            } => (tag.to_owned(), at_ns, length_ns, buckets),
        };
        if let Some(exact) = exact
            && buckets.precision() == Precision::OURS
        {
            histogram(&buckets, exact)?;
        }
        let from_ns = self.since_start(at_ns);
        let to_ns = match self.has_ends {
            true => self.since_start(length_ns).max(from_ns),
            false => from_ns.saturating_add(length_ns),
        };
        Ok(Some(LogInterval {
            tag,
            from_ns,
            to_ns,
            unit: self.unit,
            exact: exact.filter(|_| buckets.precision() == Precision::OURS),
            buckets,
        }))
    }
}

impl<R: BufRead> Iterator for LogReader<R> {
    type Item = Result<LogInterval, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line()?;
            match self.read() {
                Ok(None) => {}
                Ok(Some(interval)) => return Some(Ok(interval)),
                Err(why) => {
                    let number = self.number;
                    return Some(Err(LineError { number, why }));
                }
            }
        }
    }
}
