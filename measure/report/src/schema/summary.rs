//! One latency, summed up.

use super::{LowerBounds, Parts, Window};
use crate::hdr::encode_ours;
use openloop_experiment::Series;
use openloop_measurer::{Population, Quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One latency over the steady phase: `S` of the schema.
///
/// There is none where nothing was measured: the whole is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The exact figures of measured values and of lower bounds apart: a merge of reports loses nothing.
    #[serde(default)]
    pub parts: Option<Parts>,
    /// The ten windows of the steady phase apart, where they are kept: intervals, comparisons and parts of the phase
    /// come from them. `None` for a window in which nothing was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Option<Window>>,
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

    /// Of a series, with its windows; `None` if it is empty.
    #[must_use]
    pub fn of(series: &Series) -> Option<Self> {
        let mut summary = Summary::without_windows(series)?;
        summary.windows = series.windows().iter().map(Window::of).collect();
        Some(summary)
    }

    /// Of a series, without its windows: intervals are there.
    pub(crate) fn without_windows(series: &Series) -> Option<Self> {
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
            histogram: encode_ours(&whole.exact),
            at_least_histogram: (whole.at_least.count() > 0).then(|| encode_ours(&whole.at_least)),
            parts: Some(Parts::of(whole)),
            windows: Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_rounded_outwards_and_never_negative_or_infinite() {
        assert_eq!(outwards((1.2, 3.4)), Some([1, 4]));
        assert_eq!(outwards((f64::NAN, 3.4)), None);
        assert_eq!(outwards((0.0, f64::INFINITY)), None);
        assert_eq!(outwards((-1.0, 2.0)), None);
    }
}
