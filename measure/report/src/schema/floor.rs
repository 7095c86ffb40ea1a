//! How long the service takes when nobody waits.

use super::{finite, nanos};
use openloop_experiment::{Floor as Measured, Level as Of, Metric, RttSource};
use serde::{Deserialize, Serialize};

/// The service at one request at a time: `floor` of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Floor {
    /// How many trials it rests on; 0 if it was stated, and not measured.
    pub trials: u64,
    /// The share of time in which a request was being served during the trials.
    pub utilisation: Option<f64>,
    /// The round trip, which is in the figures of all levels.
    pub rtt_ns: u64,
    /// Where it comes from: `probed`, `stated`, `same_host` or `unknown`.
    pub rtt_source: String,
    /// The response of the very first request, which is in no figure.
    pub cold_ns: Option<u64>,
    /// S, the mean response without the round trip.
    pub s_ns: Option<f64>,
    /// Which ratio a multiple of S is of: `literal` or `inflation`.
    pub ratio: Option<String>,
    /// By metric and kind of request.
    pub levels: Vec<Level>,
    /// What the reader should know of the figures.
    pub warnings: Vec<String>,
    /// Why it may not be believed.
    pub faults: Vec<String>,
}

/// The floor of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Level {
    /// Which metric.
    pub metric: String,
    /// Of which kind of request; `None` for all together.
    pub kind: Option<String>,
    /// How many requests it rests on.
    pub count: u64,
    /// The least.
    pub min_ns: f64,
    /// The mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: f64,
    /// The 95th percentile.
    pub p95_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The coefficient of variation of the means of the trials.
    pub spread: Option<f64>,
}

impl Floor {
    pub(crate) fn of(floor: &Measured) -> Self {
        let response = Metric::Response;
        Floor {
            trials: floor.trials() as u64,
            utilisation: floor.utilisation().and_then(finite),
            rtt_ns: nanos(floor.rtt().estimate()),
            rtt_source: match floor.rtt().source() {
                RttSource::Probed(_) => "probed",
                RttSource::Stated => "stated",
                RttSource::SameHost => "same_host",
                _ => "unknown",
            }
            .to_owned(),
            cold_ns: floor.cold().map(nanos),
            s_ns: floor.s_ns(None, &response).and_then(finite),
            ratio: floor
                .ratio(None, &response)
                .map(|ratio| ratio.name().to_owned()),
            levels: floor
                .levels()
                .map(|(kind, metric, level)| Level::of(kind, metric, level))
                .collect(),
            warnings: floor.warnings().to_vec(),
            faults: floor.faults().to_vec(),
        }
    }
}

impl Level {
    fn of(kind: Option<&str>, metric: &Metric, level: &Of) -> Self {
        Level {
            metric: metric.name().to_owned(),
            kind: kind.map(str::to_owned),
            count: level.count,
            min_ns: level.min_ns,
            mean_ns: level.mean_ns,
            p50_ns: level.p50_ns,
            p95_ns: level.p95_ns,
            p99_ns: level.p99_ns,
            spread: level.spread.and_then(|spread| finite(spread.cv)),
        }
    }
}
