//! A trace: requests as they were recorded.

use std::io::BufRead;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::excerpt;
use super::load::load;
use super::{ColumnError, Format, OffsetsError, TraceError, TraceRequest};

/// Requests as they were recorded, in the order of the file.
///
/// Reading changes nothing: requests out of order stay where they are, and gaps stay gaps; both are told by
/// [`quality`](Trace::quality). What a filter leaves out is counted ([`left_out`](Trace::left_out)).
///
/// # Examples
/// From a file to arrivals at twice the recorded speed:
/// ```
/// use openloop_workload::traces::Trace;
/// use std::time::Duration;
///
/// let file = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
///             2023-11-16 18:17:03.9799600,4808,10\r\n\
///             2023-11-16 18:17:04.0319600,3180,8";
/// let trace = Trace::read(file.as_bytes())?;
/// let arrivals: Vec<Duration> = trace.offsets(0.5)?.collect();
/// assert_eq!(arrivals, [Duration::ZERO, Duration::from_millis(26)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    format: Format,
    requests: Vec<TraceRequest>,
    start_ns: i64,
    rounded: u64,
    left_out: LeftOut,
}

/// How many requests the filters of a [`Trace`] have left out, by the filter that came first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// By [`Trace::window`].
    pub outside_window: u64,
    /// By [`Trace::limit`].
    pub over_limit: u64,
    /// By [`Trace::of_kind`].
    pub other_kinds: u64,
    /// By [`Trace::without_empty_output`].
    pub empty_output: u64,
}

impl Trace {
    /// Reads a trace in the format that its first line tells.
    ///
    /// Blank lines are left out, and lines may end with LF or CRLF, the last with neither; a byte order mark is left
    /// out, and fields may be in quotation marks. Timestamps are read digit by digit and rounded to the nearest
    /// nanosecond.
    ///
    /// # Errors
    /// When the first line starts no format, or a line is not of it: the error has the line's number and what was
    /// expected.
    pub fn read(reader: impl BufRead) -> Result<Self, TraceError> {
        load(reader, None)
    }

    /// Reads a trace in this format.
    ///
    /// # Errors
    /// When a line is not of the format: the error has the line's number and what was expected.
    pub fn read_as(format: Format, reader: impl BufRead) -> Result<Self, TraceError> {
        load(reader, Some(format))
    }

    /// A trace of requests from somewhere else, as they are: [`Format::Plain`], and offsets are not moved.
    #[must_use]
    pub const fn new(requests: Vec<TraceRequest>) -> Self {
        Trace {
            format: Format::Plain,
            requests,
            start_ns: 0,
            rounded: 0,
            left_out: LeftOut {
                outside_window: 0,
                over_limit: 0,
                other_kinds: 0,
                empty_output: 0,
            },
        }
    }

    /// Requests that came at these instants, of which `rounded` had more digits than nanoseconds have.
    pub(super) fn from_instants(
        format: Format,
        mut requests: Vec<TraceRequest>,
        instants: &[i64],
        rounded: u64,
    ) -> Self {
        let start_ns = instants.iter().copied().min().unwrap_or_default();
        for (request, instant) in requests.iter_mut().zip(instants) {
            request.offset_ns = instant.abs_diff(start_ns);
        }
        Trace {
            format,
            start_ns,
            rounded,
            ..Trace::new(requests)
        }
    }

    /// The format it was read in.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The requests.
    #[must_use]
    pub fn requests(&self) -> &[TraceRequest] {
        &self.requests
    }

    /// The requests, to keep.
    #[must_use]
    pub fn into_requests(self) -> Vec<TraceRequest> {
        self.requests
    }

    /// How many requests.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there is no request.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// When offset 0 is, in nanoseconds: since 1970 UTC where the file has civil times, else since the file's own zero.
    #[must_use]
    pub const fn start_ns(&self) -> i64 {
        self.start_ns
    }

    /// The latest offset: the time from the first request to the last, since the first is at 0.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let last = self.requests.iter().map(|request| request.offset_ns).max();
        Duration::from_nanos(last.unwrap_or_default())
    }

    /// How many timestamps were rounded to the nanosecond.
    pub(super) const fn rounded(&self) -> u64 {
        self.rounded
    }

    /// How many requests the filters below have left out.
    #[must_use]
    pub const fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Puts the requests in order of time; those of one instant stay as they are.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.requests.sort_by_key(|request| request.offset_ns);
        self
    }

    /// Keeps the requests with an offset in `[from, to)`. The earliest of them is then at 0, and
    /// [`start_ns`](Trace::start_ns) moves with it.
    #[must_use]
    pub fn window(mut self, from: Duration, to: Duration) -> Self {
        let (from, to) = (from.as_nanos(), to.as_nanos());
        self.left_out.outside_window +=
            self.keep(|request| (from..to).contains(&u128::from(request.offset_ns)));
        self
    }

    /// Keeps the first `most` requests, in the order of the file.
    #[must_use]
    pub fn limit(mut self, most: usize) -> Self {
        let mut seen = 0;
        self.left_out.over_limit += self.keep(|_| {
            seen += 1;
            seen <= most
        });
        self
    }

    /// Keeps the requests of one kind.
    #[must_use]
    pub fn of_kind(mut self, kind: &str) -> Self {
        self.left_out.other_kinds += self.keep(|request| request.kind.as_deref() == Some(kind));
        self
    }

    /// Leaves out the requests whose answer has 0 tokens: the failed ones of BurstGPT.
    #[must_use]
    pub fn without_empty_output(mut self) -> Self {
        self.left_out.empty_output += self.keep(|request| request.output_tokens != Some(0));
        self
    }

    /// Keeps what should be kept, moves the earliest to 0, and says how many were left out.
    fn keep(&mut self, kept: impl FnMut(&TraceRequest) -> bool) -> u64 {
        let before = self.requests.len();
        self.requests.retain(kept);
        let first = self.requests.iter().map(|request| request.offset_ns).min();
        let left_out = before - self.requests.len();
        if let Some(first) = first.filter(|_| left_out > 0) {
            for request in &mut self.requests {
                request.offset_ns -= first;
            }
            // An i64 of nanoseconds reaches 292 years; the offset of a request made by hand may be larger.
            self.start_ns = self.start_ns.saturating_add_unsigned(first);
        }
        left_out as u64
    }

    /// The numbers of a column, row by row: `size`, `input_tokens`, `output_tokens`, `turn`, or one of the columns that
    /// the format does not know, by its name in the file.
    ///
    /// ```
    /// use openloop_workload::traces::Trace;
    ///
    /// let trace = Trace::read("offset,size,price\n0,512,0.5\n1,80,2\n".as_bytes())?;
    /// assert_eq!((trace.column("size")?, trace.column("price")?), (vec![512.0, 80.0], vec![0.5, 2.0]));
    /// assert!(trace.column("output_tokens").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a row has nothing there, or no number: the error has its line.
    pub fn column(&self, name: &str) -> Result<Vec<f64>, ColumnError> {
        let number = |request: &TraceRequest| {
            let found = match name {
                "size" => request.size.map(|size| size as f64),
                "input_tokens" => request.input_tokens.map(|tokens| tokens as f64),
                "output_tokens" => request.output_tokens.map(|tokens| tokens as f64),
                "turn" => request.turn.map(|turn| turn as f64),
                other => request.other(other).and_then(|text| text.parse().ok()),
            };
            found
                .filter(|number| (0.0..f64::INFINITY).contains(number))
                .ok_or_else(|| ColumnError {
                    column: name.to_owned(),
                    line: request.line,
                    found: request.other(name).map_or_else(
                        || "nothing".to_owned(),
                        |text| format!("\"{}\"", excerpt(text)),
                    ),
                })
        };
        self.requests.iter().map(number).collect()
    }

    /// When each request arrives, times `scale`: 0.5 replays the trace in half the time, at twice the rate. Scaled
    /// instants are cut to whole nanoseconds; a scale of 1 changes nothing.
    ///
    /// Take this for the arrivals of a recorded schedule: its k-th arrival is the request number k.
    ///
    /// # Errors
    /// When a request lies before the one ahead of it ([`sorted`](Trace::sorted) puts them in order), the scale is
    /// not a finite number above 0, or the last scaled instant is past 584 years.
    pub fn offsets(
        &self,
        scale: f64,
    ) -> Result<impl ExactSizeIterator<Item = Duration> + Clone + '_, OffsetsError> {
        if !scale.is_finite() || scale <= 0.0 {
            return Err(OffsetsError::Scale(scale));
        }
        let before = |pair: &[TraceRequest]| pair[1].offset_ns < pair[0].offset_ns;
        if let Some(index) = self.requests.windows(2).position(before) {
            return Err(OffsetsError::Disorder {
                index: index + 1,
                line: self.requests[index + 1].line,
            });
        }
        let scaled = move |nanos: u64| match scale == 1.0 {
            true => Some(nanos),
            false => {
                let nanos = nanos as f64 * scale;
                // Below 2⁶⁴, so that nothing is cut but the fraction.
                (nanos < u64::MAX as f64).then_some(nanos as u64)
            }
        };
        let last = self.requests.last().map_or(0, |last| last.offset_ns);
        if scaled(last).is_none() {
            return Err(OffsetsError::TooLate(scale));
        }
        Ok((self.requests.iter()).map(move |request| {
            // The last is in range, and so are those before it.
            Duration::from_nanos(scaled(request.offset_ns).unwrap_or(u64::MAX))
        }))
    }
}
