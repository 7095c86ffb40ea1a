//! One latency, summed up.

use super::LowerBounds;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use openloop_experiment::Series;
use openloop_measurer::{Histogram, Population, Quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One latency over the steady phase: `S` of the schema.
///
/// There is none where nothing was measured: the whole is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// How many values there are, lower bounds among them.
    pub count: u64,
    /// The smallest, exact.
    pub min_ns: u64,
    /// The mean, from the exact sum; a lower bound if there are lower bounds in it.
    pub mean_ns: f64,
    /// The largest, exact.
    pub max_ns: u64,
    /// The standard deviation of the values, lower bounds taken as they are.
    pub stddev_ns: f64,
    /// The median. A quantile q of n values is that of rank max(1, ⌈q·n⌉), lower bounds ranked last.
    pub p50_ns: u64,
    /// Nine in ten.
    pub p90_ns: u64,
    /// 19 in 20.
    pub p95_ns: u64,
    /// 99 in 100.
    pub p99_ns: u64,
    /// 999 in 1000.
    pub p99_9_ns: u64,
    /// 9999 in 10 000.
    pub p99_99_ns: u64,
    /// Which of the figures are lower bounds.
    pub at_least: LowerBounds,
    /// The 95 % confidence interval of each quantile that has one, by sectioning over the ten windows of the steady
    /// phase, and of the mean; rounded outwards to whole nanoseconds.
    pub interval: BTreeMap<String, [u64; 2]>,
    /// The measured values in the compressed HdrHistogram V2 encoding, in base64: what `decode` of the Java and
    /// Python libraries reads (`HISTFAAAA…`). In nanoseconds.
    pub histogram: String,
    /// The lower bounds, likewise; `None` where there are none.
    #[serde(default)]
    pub at_least_histogram: Option<String>,
    /// The exact figures of measured values and of lower bounds apart, where they cannot be had from the others: a
    /// merge of reports loses nothing.
    #[serde(default)]
    pub parts: Option<Parts>,
}

/// What is exact of the measured values and of the lower bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parts {
    /// Of the measured values, if there are any.
    pub measured: Option<Part>,
    /// Of the lower bounds, if there are any.
    pub at_least: Option<Part>,
}

/// What is exact of one histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Summary {
    /// The names of the quantile fields and the quantiles, in order.
    pub(crate) const QUANTILES: [(&'static str, Quantile); 6] = [
        ("p50_ns", Quantile::P50),
        ("p90_ns", Quantile::P90),
        ("p95_ns", Quantile::P95),
        ("p99_ns", Quantile::P99),
        ("p99_9_ns", Quantile::P99_9),
        ("p99_99_ns", Quantile::P99_99),
    ];

    /// Of a series; `None` if it is empty.
    #[must_use]
    pub fn of(series: &Series) -> Option<Self> {
        let whole = series.whole();
        let mut at_least = LowerBounds::default();
        let min_ns = at_least.note("min_ns", whole.min()?);
        let mean_ns = whole.mean_ns()?;
        if whole.at_least.count() > 0 {
            at_least.add("mean_ns");
        }
        let max_ns = at_least.note("max_ns", whole.max()?);
        let mut quantiles = [0; 6];
        let mut interval = BTreeMap::new();
        for ((name, q), into) in Summary::QUANTILES.into_iter().zip(&mut quantiles) {
            *into = at_least.note(name, whole.quantile(q)?);
            if let Some(bounds) = series.interval(q).and_then(outwards) {
                interval.insert(name.to_owned(), bounds);
            }
        }
        if let Some(bounds) = series.mean_interval().and_then(outwards) {
            interval.insert("mean_ns".to_owned(), bounds);
        }
        let [p50_ns, p90_ns, p95_ns, p99_ns, p99_9_ns, p99_99_ns] = quantiles;
        Some(Summary {
            count: whole.count(),
            min_ns,
            mean_ns,
            max_ns,
            stddev_ns: stddev_ns(whole)?,
            p50_ns,
            p90_ns,
            p95_ns,
            p99_ns,
            p99_9_ns,
            p99_99_ns,
            at_least,
            interval,
            histogram: encoded(&whole.exact),
            at_least_histogram: (whole.at_least.count() > 0).then(|| encoded(&whole.at_least)),
            parts: Parts::of(whole),
        })
    }

    /// The field `name` of those that are durations, `p99_ns` say; `None` if there is no such field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        Some(match name {
            "min_ns" => self.min_ns,
            "max_ns" => self.max_ns,
            "p50_ns" => self.p50_ns,
            "p90_ns" => self.p90_ns,
            "p95_ns" => self.p95_ns,
            "p99_ns" => self.p99_ns,
            "p99_9_ns" => self.p99_9_ns,
            "p99_99_ns" => self.p99_99_ns,
            _ => return None,
        })
    }
}

impl Parts {
    fn of(whole: &Population) -> Option<Self> {
        let over_range = whole.exact.over_range() + whole.at_least.over_range();
        (whole.at_least.count() > 0 || over_range > 0).then(|| Parts {
            measured: Part::of(&whole.exact),
            at_least: Part::of(&whole.at_least),
        })
    }
}

impl Part {
    fn of(histogram: &Histogram) -> Option<Self> {
        Some(Part {
            count: histogram.count(),
            min_ns: histogram.min_ns()?,
            max_ns: histogram.max_ns()?,
            over_range: histogram.over_range(),
        })
    }
}

fn stddev_ns(whole: &Population) -> Option<f64> {
    if whole.at_least.count() == 0 {
        return whole.exact.stddev_ns();
    }
    let mut all = whole.exact.clone();
    all.merge(&whole.at_least);
    all.stddev_ns()
}

/// An interval in whole nanoseconds, no narrower than it was.
fn outwards((low, high): (f64, f64)) -> Option<[u64; 2]> {
    let whole = low.is_finite() && high.is_finite() && low >= 0.0 && low <= high;
    // Both are at least zero; above the range of u64, the conversion saturates.
    whole.then(|| [low.floor() as u64, high.ceil() as u64])
}

/// The buckets as other HdrHistogram libraries decode them.
fn encoded(histogram: &Histogram) -> String {
    let plain = histogram.to_v2_bytes();
    let mut compressed = Vec::new();
    // The bytes are the measurer's own, and writing into a Vec cannot fail.
    let done = Deserializer::new()
        .deserialize::<u64, _>(&mut plain.as_slice())
        .is_ok_and(|buckets| {
            V2DeflateSerializer::new()
                .serialize(&buckets, &mut compressed)
                .is_ok()
        });
    debug_assert!(done);
    STANDARD.encode(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_is_read_by_the_decoder_of_compressed_histograms() {
        let mut histogram = Histogram::new();
        for ns in 1..=10_000_u64 {
            histogram.record(ns * 1000);
        }
        let text = encoded(&histogram);
        // The cookie of the compressed encoding, as every HdrHistogram library writes it.
        assert!(text.starts_with("HISTFAAA"), "{text}");
        let bytes = STANDARD.decode(text).unwrap();
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(read.len(), 10_000);
        assert!(read.equivalent(read.value_at_quantile(0.5), 5_000_000));
    }

    #[test]
    fn an_interval_is_rounded_outwards_and_never_negative_or_infinite() {
        assert_eq!(outwards((1.2, 3.4)), Some([1, 4]));
        assert_eq!(outwards((f64::NAN, 3.4)), None);
        assert_eq!(outwards((0.0, f64::INFINITY)), None);
        assert_eq!(outwards((-1.0, 2.0)), None);
    }
}
