//! Interval logs of HdrHistogram: what other tools plot, and what other tools wrote.
//!
//! A log is text: comments, and a line for each interval with its histogram. Lines may have a tag.
//!
//! # What is written
//! [`write_log`] writes a run, in nanoseconds:
//!
//! | tag | one line for each | histogram |
//! | --- | --- | --- |
//! | none | interval of the steady phase (1 s, more in runs of hours) | response of the arrivals that were intended in it |
//! | `at_least` | the same | the same of those without an end, which took at least that long |
//! | `METRIC/OUTCOME`, `METRIC/OUTCOME/CLASS` | tenth of the steady phase | `response`, `service`, `exchange`, `schedule_delay` or `lag` of the arrivals that ended so |
//! | `NAME` | the same | a stage or a named duration of an adapter |
//!
//! What a tool without tags reads is the response. The largest and smallest values, the sum and what lies above an hour
//! are exact in a comment before each line, which other tools pass over.
//!
//! # What is read
//! [`LogReader`] reads logs of the C, Java, JavaScript, Python, Go and Rust implementations, in version 2 or 1, with or
//! without tags, with `StartTime`, `BaseTime`, both or neither. A line that cannot be read is an error with its number,
//! and the lines after it still count. [`LogSummary`] merges lines by tag, across files.
//!
//! # When intervals are
//! At [`LogInterval::from_ns`] after the start of the log: its `StartTime` or, without one, its `BaseTime` or, without
//! either, the start of its first interval.

mod line;
mod read;
mod summary;
mod write;

pub use line::{LineError, LogUnit, UnknownUnit, Wrong};
pub use read::{LogInterval, LogReader};
pub use summary::{LogSummary, MergeLogError, Tag};
pub use write::write_log;
