//! Logs, merged by tag.

use super::line::LogUnit;
use super::read::{LogInterval, histogram};
use super::write::AT_LEAST;
use crate::hdr::{Buckets, encode};
use crate::schema::{LowerBounds, Summary};
use openloop_experiment::Series;
use openloop_measurer::{Histogram, Population, Quantile};
use std::collections::BTreeMap;
use std::ops::Range;

/// All intervals of logs, merged by tag: of one log, or of many.
///
/// In which order they are added makes no difference.
#[derive(Clone, Debug, Default)]
pub struct LogSummary {
    window_ns: Option<Range<u64>>,
    /// What the user says of the units of all logs.
    unit: Option<LogUnit>,
    tags: BTreeMap<String, Merged>,
    cut: u64,
}

/// What there is of one tag.
#[derive(Clone, Debug)]
enum Merged {
    /// With exact extremes: as long as all are so.
    Exact {
        histogram: Histogram,
        buckets: Buckets,
    },
    Counted {
        buckets: Buckets,
        unit: LogUnit,
    },
}

/// The tag of an interval: empty where there is none.
pub type Tag = String;

/// Why an interval cannot be merged with those before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeLogError {
    /// Histograms of different precisions have different buckets.
    #[error(
        "tag \"{tag}\": histograms of {before} and of {digits} significant digits, or that tell other values apart from 0, cannot be merged without loss: summarise them apart"
    )]
    Precision {
        /// Of which tag.
        tag: String,
        /// Digits of those before.
        before: u8,
        /// Digits of this one.
        digits: u8,
    },
    /// Values in different units.
    #[error(
        "tag \"{tag}\": some values are in {before}, and others in {other}: say in what all are, or summarise them apart"
    )]
    Units {
        /// Of which tag.
        tag: String,
        /// In what those before are.
        before: LogUnit,
        /// In what this one is.
        other: LogUnit,
    },
    /// More than can be counted.
    #[error("tag \"{0}\": there are more values than can be counted")]
    TooMany(String),
}

impl LogSummary {
    /// Of whole logs.
    #[must_use]
    pub fn new() -> Self {
        LogSummary::default()
    }

    /// Only of the intervals that lie in this window, in nanoseconds since the start of each log. Those that lie in it
    /// only in part are left out, and [counted](LogSummary::cut).
    #[must_use]
    pub fn window(mut self, window_ns: Range<u64>) -> Self {
        self.window_ns = Some(window_ns);
        self
    }

    /// In what values are given, whatever a log says of itself; where neither says anything, in nanoseconds.
    #[must_use]
    pub fn unit(mut self, unit: LogUnit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Adds an interval.
    ///
    /// # Errors
    /// When it cannot be merged with those of the same tag. Nothing is changed then.
    pub fn add(&mut self, interval: &LogInterval) -> Result<(), MergeLogError> {
        if let Some(window) = &self.window_ns {
            let (from, to) = (interval.from_ns, interval.to_ns);
            if from < window.start || to > window.end {
                self.cut += u64::from(from < window.end && to > window.start);
                return Ok(());
            }
        }
        let unit = self.unit.or(interval.unit).unwrap_or_default();
        let tag = interval.tag.clone();
        let new = || Merged::of(interval, unit);
        match self.tags.get_mut(&tag) {
            None => {
                self.tags.insert(tag, new());
            }
            Some(merged) => merged.merge(&new(), &tag)?,
        }
        Ok(())
    }

    /// How many intervals lay only in part in the window, and were left out.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The tags that there are: the empty one is that of lines without a tag.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.keys().map(String::as_str)
    }

    /// All lines of one tag as one latency; `None` where there is no value.
    ///
    /// Of a log of openloop, what had no end ranks last, as a lower bound, and the figures are those of the run's
    /// report. Of another, they are those of the library that wrote it: the highest value of a bucket, the lowest for
    /// the smallest.
    #[must_use]
    pub fn summary(&self, tag: &str) -> Option<Summary> {
        let merged = self.tags.get(tag);
        let at_least = match (tag, self.tags.get(AT_LEAST)) {
            ("", Some(Merged::Exact { histogram, .. })) => histogram.clone(),
            _ => Histogram::new(),
        };
        match merged {
            Some(Merged::Counted { buckets, unit }) => counted(buckets, *unit),
            Some(Merged::Exact { histogram, .. }) => {
                let exact = histogram.clone();
                Summary::of(&Series::of_whole(Population { exact, at_least }))
            }
            // Nothing was measured, but there are lower bounds.
            None => Summary::of(&Series::of_whole(Population {
                exact: Histogram::new(),
                at_least,
            })),
        }
    }

    /// Every tag with its latency.
    #[must_use]
    pub fn summaries(&self) -> BTreeMap<Tag, Summary> {
        let untagged =
            (self.tags.contains_key(AT_LEAST) && !self.tags.contains_key("")).then_some("");
        let tags = untagged.into_iter().chain(self.tags());
        tags.filter_map(|tag| Some((tag.to_owned(), self.summary(tag)?)))
            .collect()
    }
}

impl Merged {
    fn of(interval: &LogInterval, unit: LogUnit) -> Self {
        let buckets = interval.buckets.clone();
        let exact = interval.exact.filter(|_| unit == LogUnit::Nanoseconds);
        match exact.map(|exact| histogram(&buckets, exact)) {
            Some(Ok(histogram)) => Merged::Exact { histogram, buckets },
            _ => Merged::Counted { buckets, unit },
        }
    }

    fn buckets(&self) -> (&Buckets, LogUnit) {
        match self {
            Merged::Exact { buckets, .. } => (buckets, LogUnit::Nanoseconds),
            Merged::Counted { buckets, unit } => (buckets, *unit),
        }
    }

    fn merge(&mut self, other: &Merged, tag: &str) -> Result<(), MergeLogError> {
        let ((ours, unit), (theirs, other_unit)) = (self.buckets(), other.buckets());
        if unit != other_unit {
            return Err(MergeLogError::Units {
                tag: tag.to_owned(),
                before: unit,
                other: other_unit,
            });
        }
        if ours.precision() != theirs.precision() {
            return Err(MergeLogError::Precision {
                tag: tag.to_owned(),
                before: ours.precision().digits(),
                digits: theirs.precision().digits(),
            });
        }
        let too_many = || MergeLogError::TooMany(tag.to_owned());
        if self.count().saturating_add(other.count()) > MOST {
            return Err(too_many());
        }
        match (&mut *self, other) {
            (
                Merged::Exact { histogram, .. },
                Merged::Exact {
                    histogram: other, ..
                },
            ) => {
                histogram.merge(other);
            }
            (Merged::Exact { buckets, .. }, Merged::Counted { .. }) => {
                let buckets = buckets.clone();
                *self = Merged::Counted { buckets, unit };
            }
            (Merged::Counted { .. }, _) => {}
        }
        let (Merged::Exact { buckets, .. } | Merged::Counted { buckets, .. }) = self;
        buckets.merge(theirs).ok_or_else(too_many)
    }

    fn count(&self) -> u64 {
        match self {
            Merged::Exact { histogram, .. } => histogram.count(),
            Merged::Counted { buckets, .. } => buckets.count(),
        }
    }
}

/// More than any logs have; the encoding counts up to 2⁶³.
const MOST: u64 = 1 << 62;

/// Of a log of another tool.
fn counted(buckets: &Buckets, unit: LogUnit) -> Option<Summary> {
    let in_ns = |value: u64| value.saturating_mul(unit.in_ns());
    let (mean, stddev) = buckets.moments()?;
    let at = |q: Quantile| buckets.at_rank(q.rank(buckets.count())).map(in_ns);
    Some(Summary {
        count: buckets.count(),
        min_ns: in_ns(buckets.iter().next()?.0),
        mean_ns: mean * unit.in_ns() as f64,
        max_ns: in_ns(buckets.iter().next_back()?.1),
        stddev_ns: stddev * unit.in_ns() as f64,
        p50_ns: at(Quantile::P50)?,
        p90_ns: at(Quantile::P90)?,
        p95_ns: at(Quantile::P95)?,
        p99_ns: at(Quantile::P99)?,
        p99_9_ns: at(Quantile::P99_9)?,
        p99_99_ns: at(Quantile::P99_99)?,
        at_least: LowerBounds::default(),
        interval: BTreeMap::new(),
        histogram: encode(buckets)?,
        at_least_histogram: None,
        parts: None,
        windows: Vec::new(),
    })
}
