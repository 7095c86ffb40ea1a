//! One line of a log.

use crate::hdr::{self, Buckets, DecodeError};
use openloop_measurer::Exact;
use std::fmt;
use std::str::FromStr;

/// Nanoseconds in a second.
pub(super) const SECOND: u64 = 1_000_000_000;

/// In what the values of a log are given: most logs do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogUnit {
    /// Nanoseconds: what openloop writes, and most tools.
    #[default]
    Nanoseconds,
    /// Microseconds: YCSB, wrk2, cyclictest.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl LogUnit {
    /// How many nanoseconds one is.
    #[must_use]
    pub fn in_ns(self) -> u64 {
        match self {
            LogUnit::Nanoseconds => 1,
            LogUnit::Microseconds => 1000,
            LogUnit::Milliseconds => 1_000_000,
            LogUnit::Seconds => SECOND,
        }
    }

    /// `ns`, `us`, `ms` or `s`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LogUnit::Nanoseconds => "ns",
            LogUnit::Microseconds => "us",
            LogUnit::Milliseconds => "ms",
            LogUnit::Seconds => "s",
        }
    }
}

impl fmt::Display for LogUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LogUnit {
    type Err = UnknownUnit;

    /// Reads `ns`, `us`, `µs`, `ms` and `s`.
    fn from_str(text: &str) -> Result<Self, UnknownUnit> {
        Ok(match text {
            "ns" => LogUnit::Nanoseconds,
            "us" | "µs" => LogUnit::Microseconds,
            "ms" => LogUnit::Milliseconds,
            "s" => LogUnit::Seconds,
            _ => return Err(UnknownUnit(text.to_owned())),
        })
    }
}

/// A text that names no unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no unit of a log: write ns, us, ms or s")]
pub struct UnknownUnit(String);

/// What a line says.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// Seconds since 1970, in nanoseconds.
    StartTime(u64),
    BaseTime(u64),
    Unit(LogUnit),
    Exact(Exact),
    /// The names of the fields: whether the second is the end of an interval instead of its length.
    Legend {
        has_ends: bool,
    },
    /// A comment, or nothing.
    Other,
    Interval {
        tag: &'a str,
        /// As the line says, in nanoseconds.
        at_ns: u64,
        /// Or, where the legend says so, the end.
        length_ns: u64,
        buckets: Buckets,
    },
}

/// Why a line of a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {number}: {why}")]
pub struct LineError {
    /// Which line, from 1.
    pub number: u64,
    /// What is wrong with it.
    #[source]
    pub why: Wrong,
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// Bytes that are no text.
    #[error("it is not UTF-8")]
    NotText,
    /// Not the fields of an interval.
    #[error("it is no interval: \"[Tag=NAME,]start,length,max,histogram\" is expected")]
    NotAnInterval,
    /// A time that is no number of seconds.
    #[error("\"{0}\" is no time in seconds")]
    NotATime(String),
    /// The histogram cannot be decoded.
    #[error(transparent)]
    Histogram(#[from] DecodeError),
    /// A comment of openloop that is damaged.
    #[error("the exact figures cannot be read: \"{0}\"")]
    NotExact(String),
    /// The exact figures contradict the histogram.
    #[error("the exact figures contradict the histogram: {0}")]
    Contradiction(#[from] openloop_measurer::HistogramError),
}

/// Reads a line without its end.
pub(super) fn parse(line: &str) -> Result<Line<'_>, Wrong> {
    let line = line.trim();
    if let Some(comment) = line.strip_prefix('#') {
        return comment_of(comment);
    }
    if line.is_empty() {
        return Ok(Line::Other);
    }
    // The legend is in quotation marks.
    if line.starts_with('"') {
        let has_ends = line.contains("\"EndTimestamp\"");
        return Ok(Line::Legend { has_ends });
    }
    let (tag, fields) = match line.strip_prefix("Tag=") {
        Some(rest) => rest.split_once(',').ok_or(Wrong::NotAnInterval)?,
        None => ("", line),
    };
    let mut fields = fields.splitn(4, ',');
    let mut next = || fields.next().ok_or(Wrong::NotAnInterval);
    let (at, length, max, histogram) = (next()?, next()?, next()?, next()?);
    // It is for people, and often in another unit.
    max.trim()
        .parse::<f64>()
        .map_err(|_| Wrong::NotAnInterval)?;
    Ok(Line::Interval {
        tag,
        at_ns: seconds(at)?,
        length_ns: seconds(length)?,
        buckets: hdr::decode(histogram.trim())?,
    })
}

fn comment_of(comment: &str) -> Result<Line<'_>, Wrong> {
    let after = |name: &str| comment.strip_prefix(name).map(str::trim);
    // What follows the number is for people, and some writers put odd things there.
    let number = |text: &str| {
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.'));
        seconds(&text[..end.unwrap_or(text.len())])
    };
    if let Some(text) = after("[StartTime:") {
        return number(text).map(Line::StartTime);
    }
    if let Some(text) = after("[BaseTime:") {
        return number(text).map(Line::BaseTime);
    }
    if let Some(text) = after("[Unit:") {
        // A unit that is not known is one of another tool: the user says which it is.
        let unit = text.trim_end_matches(']').parse();
        return Ok(unit.map_or(Line::Other, Line::Unit));
    }
    match after("[Exact:") {
        Some(text) => exact(text.trim_end_matches(']'))
            .map(Line::Exact)
            .ok_or_else(|| Wrong::NotExact(text.to_owned())),
        None => Ok(Line::Other),
    }
}

/// The comment that [`write_log`](super::write_log) puts before a line.
pub(super) fn exact_comment(exact: &Exact) -> String {
    format!(
        "#[Exact: count={} min={} max={} sum={} sum_of_squares={} over_range={}]",
        exact.count,
        exact.min_ns,
        exact.max_ns,
        exact.sum_ns,
        exact.sum_of_squares,
        exact.over_range
    )
}

fn exact(text: &str) -> Option<Exact> {
    let field = |name: &str| {
        let mut pairs = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    };
    Some(Exact {
        count: field("count")?.parse().ok()?,
        min_ns: field("min")?.parse().ok()?,
        max_ns: field("max")?.parse().ok()?,
        sum_ns: field("sum")?.parse().ok()?,
        sum_of_squares: field("sum_of_squares")?.parse().ok()?,
        over_range: field("over_range")?.parse().ok()?,
    })
}

/// A number of seconds in nanoseconds: exact where it is written in decimal digits.
fn seconds(text: &str) -> Result<u64, Wrong> {
    let text = text.trim();
    let wrong = || Wrong::NotATime(text.to_owned());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !whole.is_empty() && is_decimal(whole) && is_decimal(fraction) {
        let digits = &fraction[..fraction.len().min(9)];
        let nanos = format!("{digits:0<9}")
            .parse::<u64>()
            .map_err(|_| wrong())?;
        let whole = whole
            .parse::<u64>()
            .ok()
            .and_then(|whole| whole.checked_mul(SECOND));
        return whole
            .and_then(|whole| whole.checked_add(nanos))
            .ok_or_else(wrong);
    }
    let number: f64 = text.parse().map_err(|_| wrong())?;
    match (0.0..1e10).contains(&number) {
        true => Ok((number * SECOND as f64).round() as u64),
        false => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_in_decimal_digits() {
        for (text, ns) in [
            ("0.127", 127_000_000),
            ("1441812279.474", 1_441_812_279_474_000_000),
            ("12", 12 * SECOND),
            (" 5. ", 5 * SECOND),
            ("0.1234567899", 123_456_789),
            ("1e1", 10 * SECOND),
        ] {
            assert_eq!(seconds(text).unwrap(), ns, "{text}");
        }
        for text in [
            "",
            "-1.0",
            "nan",
            "inf",
            "x",
            "99999999999.9",
            "1.2.3",
            "1e99",
        ] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn comments_say_when_the_log_began_whatever_follows() {
        let start = |text| match parse(text) {
            Ok(Line::StartTime(ns)) => ns,
            other => panic!("{other:?}"),
        };
        let java =
            "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]";
        assert_eq!(start(java), 1_441_812_279_474_000_000);
        assert_eq!(
            start("#[StartTime: 4199232.004 (seconds since epoch), \u{1}\u{2}???]"),
            4_199_232_004_000_000
        );
        assert!(matches!(
            parse("#[BaseTime: 7.5 (seconds since epoch)]"),
            Ok(Line::BaseTime(7_500_000_000))
        ));
        assert!(matches!(parse("#[Logged with jHiccup]"), Ok(Line::Other)));
        assert!(matches!(
            parse("\"StartTimestamp\",\"Interval_Length\""),
            Ok(Line::Legend { has_ends: false })
        ));
        assert!(matches!(
            parse("#[Unit: us]"),
            Ok(Line::Unit(LogUnit::Microseconds))
        ));
    }

    #[test]
    fn what_is_no_interval_says_what_is_expected() {
        for line in ["hello", "1,2,3", "Tag=a", "1.0,1.0,x,HISTF"] {
            assert!(matches!(parse(line), Err(Wrong::NotAnInterval)), "{line}");
        }
        assert!(matches!(parse("x,1.0,2.0,HISTF"), Err(Wrong::NotATime(_))));
        assert!(matches!(
            parse("1.0,1.0,2.0,HIST"),
            Err(Wrong::Histogram(_))
        ));
        assert!(matches!(
            parse("#[Exact: count=1]"),
            Err(Wrong::NotExact(_))
        ));
    }
}
