//! Histograms as a report keeps them, and back.

use super::Summary;
use crate::hdr::{self, DecodeError, Precision, encode_ours};
use openloop_experiment::Series;
use openloop_measurer::{Exact, Histogram, HistogramError, Population, WINDOWS};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is exact of the measured values and of the lower bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Parts {
    /// Of the measured values, if there are any.
    pub measured: Option<Part>,
    /// Of the lower bounds, if there are any.
    pub at_least: Option<Part>,
}

/// What is exact of one histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Part {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// How many lie above the histogram's range of an hour: they are in no bucket of it.
    pub over_range: u64,
    /// Their sum, in nanoseconds.
    pub sum: Digits,
    /// The sum of their squares, in square nanoseconds.
    pub sum_of_squares: Digits,
}

/// A whole number that is too large for the numbers of most JSON readers: its decimal digits, as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits(pub u128);

#[cfg(test)]
impl schemars::JsonSchema for Digits {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digits".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9]+$",
            "description": "A whole number that is too large for the numbers of most JSON readers."
        })
    }
}

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(from)?;
        digits.parse().map(Digits).map_err(|_| {
            serde::de::Error::custom(format_args!(
                "\"{digits}\" is no whole number in decimal digits"
            ))
        })
    }
}

/// One tenth of the steady phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Window {
    /// The measured values, encoded as those of the whole.
    pub histogram: String,
    /// The lower bounds, likewise; `None` where there are none.
    pub at_least_histogram: Option<String>,
    /// What is exact of them.
    pub parts: Parts,
}

impl Parts {
    pub(crate) fn of(population: &Population) -> Self {
        Parts {
            measured: population.exact.exact().map(Part::of),
            at_least: population.at_least.exact().map(Part::of),
        }
    }
}

impl Part {
    fn of(exact: Exact) -> Self {
        Part {
            count: exact.count,
            min_ns: exact.min_ns,
            max_ns: exact.max_ns,
            over_range: exact.over_range,
            sum: Digits(exact.sum_ns),
            sum_of_squares: Digits(exact.sum_of_squares),
        }
    }
}

impl From<Part> for Exact {
    fn from(part: Part) -> Exact {
        Exact {
            count: part.count,
            min_ns: part.min_ns,
            max_ns: part.max_ns,
            sum_ns: part.sum.0,
            sum_of_squares: part.sum_of_squares.0,
            over_range: part.over_range,
        }
    }
}

impl Window {
    pub(crate) fn of(population: &Population) -> Option<Self> {
        (population.count() > 0).then(|| Window {
            histogram: encode_ours(&population.exact),
            at_least_histogram: at_least(population),
            parts: Parts::of(population),
        })
    }

    /// What was measured in the window.
    ///
    /// # Errors
    /// When a histogram cannot be decoded, or contradicts the exact figures.
    pub fn population(&self) -> Result<Population, StoredError> {
        population(
            &self.histogram,
            self.at_least_histogram.as_deref(),
            self.parts,
        )
    }
}

/// The lower bounds, encoded, if there are any.
pub(crate) fn at_least(population: &Population) -> Option<String> {
    (population.at_least.count() > 0).then(|| encode_ours(&population.at_least))
}

impl Summary {
    /// What was measured in the whole steady phase: its histograms, from which any quantile can be read.
    ///
    /// # Errors
    /// When a histogram cannot be decoded, contradicts the exact figures, or they are not there.
    pub fn population(&self) -> Result<Population, StoredError> {
        let parts = self.parts.ok_or(StoredError::NoParts)?;
        population(&self.histogram, self.at_least_histogram.as_deref(), parts)
    }

    /// The same whole and by window; without windows where they are not kept.
    ///
    /// # Errors
    /// As [`population`](Summary::population), and when there are more windows than a steady phase has.
    pub fn series(&self) -> Result<Series, StoredError> {
        if self.windows.len() > WINDOWS {
            return Err(StoredError::TooManyWindows(self.windows.len()));
        }
        if self.windows.is_empty() {
            return Ok(Series::of_whole(self.population()?));
        }
        let windows = self.windows.iter().map(|window| match window {
            Some(window) => window.population(),
            None => Ok(Population::new()),
        });
        Ok(Series::of_windows(windows.collect::<Result<_, _>>()?))
    }
}

fn population(
    measured: &str,
    at_least: Option<&str>,
    parts: Parts,
) -> Result<Population, StoredError> {
    Ok(Population {
        exact: histogram(Some(measured), parts.measured)?,
        at_least: histogram(at_least, parts.at_least)?,
    })
}

fn histogram(text: Option<&str>, part: Option<Part>) -> Result<Histogram, StoredError> {
    let buckets = text.map(hdr::decode).transpose()?;
    if buckets
        .as_ref()
        .is_some_and(|buckets| buckets.precision() != Precision::OURS)
    {
        return Err(StoredError::Precision);
    }
    let counts = buckets.iter().flat_map(|buckets| buckets.iter());
    match part {
        Some(part) => {
            let counts = counts.map(|(_, highest, count)| (highest, count));
            Ok(Histogram::from_parts(counts, part.into())?)
        }
        None if counts.count() > 0 => Err(StoredError::NoParts),
        None => Ok(Histogram::new()),
    }
}

/// Why the histograms of a report cannot be taken up again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The text is no histogram.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// It is one of other buckets.
    #[error("the histogram does not have three digits from 1 ns on, as those of reports have")]
    Precision,
    /// There are more windows than a steady phase has: each takes much memory.
    #[error("there are {0} windows, and a steady phase has {WINDOWS}")]
    TooManyWindows(usize),
    /// It contradicts the exact figures beside it.
    #[error("a histogram and the exact figures beside it contradict each other: {0}")]
    Contradiction(#[from] HistogramError),
    /// There are no exact figures.
    #[error(
        "a histogram has no exact figures beside it (\"parts\"): the report is of a release that did not write them"
    )]
    NoParts,
}
