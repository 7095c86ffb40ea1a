//! A run as a log.

use super::line::exact_comment;
use crate::hdr::encode_ours;
use openloop_experiment::Run;
use openloop_measurer::{ClassStats, Histogram, Outcome};
use openloop_sched::Offset;
use std::io;
use std::time::{Duration, SystemTime};

/// One latency of the arrivals that ended in one way.
type Latency = fn(&ClassStats) -> &Histogram;

/// The latencies that are kept by outcome, and their tags.
const BY_OUTCOME: [(&str, Latency); 5] = [
    ("response", |class| &class.response),
    ("service", |class| &class.service),
    ("exchange", |class| &class.exchange),
    ("schedule_delay", |class| &class.schedule_delay),
    ("lag", |class| &class.lag),
];

/// The tag of the responses that are lower bounds.
pub(super) const AT_LEAST: &str = "at_least";

/// Writes the steady phase of `run` as an interval log in version 2, which began at `started_at` by the wall clock:
/// the [module](crate::hlog) says which lines it has.
///
/// # Errors
/// When the writer fails.
pub fn write_log(
    run: &Run,
    started_at: Option<SystemTime>,
    mut to: impl io::Write,
) -> io::Result<()> {
    writeln!(to, "#[Logged by openloop {}]", env!("CARGO_PKG_VERSION"))?;
    writeln!(to, "#[Histogram log format version 1.3]")?;
    writeln!(to, "#[Unit: ns]")?;
    writeln!(
        to,
        "#[MaxValueDivisor: 1000000.000 (the maxima below are in milliseconds)]"
    )?;
    let since_1970 = started_at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    if let Some(began) = since_1970 {
        // Both: some readers count from the one and some from the other.
        let seconds = stamp(began);
        writeln!(to, "#[StartTime: {seconds} (seconds since epoch)]")?;
        writeln!(to, "#[BaseTime: {seconds} (seconds since epoch)]")?;
    }
    writeln!(
        to,
        r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#
    )?;
    let mut lines = Lines::of(run);
    // Readers expect them in order of time.
    lines.0.sort_by_key(|line| (line.from, line.to));
    for line in &lines.0 {
        line.write(&mut to)?;
    }
    to.flush()
}

struct Lines(Vec<Line>);

/// A line, ready to be written: histograms would take too much room.
struct Line {
    from: Offset,
    to: Offset,
    comment: String,
    text: String,
}

impl Lines {
    fn of(run: &Run) -> Self {
        let snapshot = run.snapshot();
        let steady = snapshot.layout().steady();
        let mut lines = Lines(Vec::new());
        for (from, to, response) in snapshot.responses() {
            if steady.contains(from) {
                lines.add("", from, to, &response.exact);
                lines.add(AT_LEAST, from, to, &response.at_least);
            }
        }
        let windows = snapshot.windows();
        let length = steady.length().as_nanos();
        let edge = |index: usize| {
            // The first instant that belongs to the window.
            let into = (index as u128 * length).div_ceil(windows.len().max(1) as u128);
            let into = Duration::from_nanos(u64::try_from(into).unwrap_or(u64::MAX));
            steady.from.saturating_add(into)
        };
        for (index, window) in windows.iter().enumerate() {
            let (from, to) = (edge(index), edge(index + 1));
            for (name, of) in BY_OUTCOME {
                for (outcome, histogram) in by_outcome(window.classes(), of) {
                    lines.add(&tag(name, outcome), from, to, &histogram);
                }
            }
            for (name, histogram) in window.metrics() {
                lines.add(&harmless(name), from, to, &histogram);
            }
        }
        lines
    }

    fn add(&mut self, tag: &str, from: Offset, to: Offset, histogram: &Histogram) {
        let Some(exact) = histogram.exact() else {
            return;
        };
        let tag = match tag {
            "" => String::new(),
            tag => format!("Tag={tag},"),
        };
        let (start, length) = (stamp(from.as_duration()), stamp(to.saturating_since(from)));
        let max_ms = exact.max_ns as f64 / 1e6;
        let histogram = encode_ours(histogram);
        self.0.push(Line {
            from,
            to,
            comment: exact_comment(&exact),
            text: format!("{tag}{start},{length},{max_ms:.3},{histogram}"),
        });
    }
}

impl Line {
    fn write(&self, to: &mut impl io::Write) -> io::Result<()> {
        writeln!(to, "{}\n{}", self.comment, self.text)
    }
}

/// The histograms of each outcome, kinds of request merged.
fn by_outcome<'a>(
    classes: impl Iterator<Item = (Outcome, &'a ClassStats)>,
    of: Latency,
) -> Vec<(Outcome, Histogram)> {
    let mut all: Vec<(Outcome, Histogram)> = Vec::new();
    for (outcome, class) in classes {
        match all.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, histogram)) => histogram.merge(of(class)),
            None => all.push((outcome, of(class).clone())),
        }
    }
    all
}

fn tag(metric: &str, outcome: Outcome) -> String {
    match outcome.class() {
        Some(class) => format!("{metric}/{}/{}", outcome.name(), harmless(class)),
        None => format!("{metric}/{}", outcome.name()),
    }
}

/// What stands in a tag would otherwise end it.
fn harmless(name: &str) -> String {
    let is_harmful = |c: char| c == ',' || c.is_whitespace() || c.is_control();
    name.chars()
        .map(|c| if is_harmful(c) { '_' } else { c })
        .collect()
}

/// Seconds with three digits, as the format has them, and more where three do not say it all.
fn stamp(time: Duration) -> String {
    let text = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    let end = text.trim_end_matches('0').len().max(text.len() - 6);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hlog::LogReader;
    use proptest::prelude::*;

    #[test]
    fn stamps_have_three_digits_and_more_where_they_are_needed() {
        for (ns, text) in [
            (0, "0.000"),
            (1_500_000_000, "1.500"),
            (1_000_000_001, "1.000000001"),
            (12_345_678_900, "12.3456789"),
        ] {
            assert_eq!(stamp(Duration::from_nanos(ns)), text);
        }
    }

    #[test]
    fn a_tag_ends_where_it_should() {
        assert_eq!(tag("service", Outcome::Ok), "service/ok");
        assert_eq!(
            tag("response", Outcome::Failed("too, bad\n")),
            "response/failed/too__bad_"
        );
    }

    proptest! {
        #[test]
        fn a_line_that_is_written_and_read_has_lost_nothing(
            values in prop::collection::vec((any::<u64>(), 0_u32..64), 1..60),
            from in 0_u64..1 << 60,
            length in 1_u64..1 << 60,
        ) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|(ns, shift)| histogram.record(ns >> shift));
            let (from, to) = (Offset::from_nanos(from), Offset::from_nanos(from + length));
            let mut lines = Lines(Vec::new());
            lines.add("a/b", from, to, &histogram);
            let mut log = b"#[Unit: ns]\n#[BaseTime: 0.000]\n#[StartTime: 0.000]\n".to_vec();
            lines.0[0].write(&mut log).unwrap();
            let read: Vec<_> = LogReader::new(log.as_slice()).collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!((read[0].tag.as_str(), read[0].from_ns, read[0].to_ns), ("a/b", from.as_nanos(), to.as_nanos()));
            let again = read[0].histogram().unwrap();
            prop_assert_eq!(again.exact(), histogram.exact());
            prop_assert_eq!(again.to_v2_bytes(), histogram.to_v2_bytes());
        }
    }
}
