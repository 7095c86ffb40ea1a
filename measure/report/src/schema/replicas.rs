//! The same run several times.

use super::{LowerBounds, finite};
use crate::words::units::percent;
use openloop_experiment::{
    Metric, QuantileVariation, Replicas as Repeated, Run, Stability, Variation as Varied,
};
use openloop_measurer::Quantile;
use serde::{Deserialize, Serialize};

/// The runs that a report is of, where they are several, and whether they agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Replicas {
    /// Run by run.
    pub runs: Vec<Replica>,
    /// `stable` (C_v of at most 3 %), `shared` (at most 10 %) or `discard`.
    pub steadiness: String,
    /// How the achieved rate varies from run to run.
    pub throughput: Option<Variation>,
    /// How the mean response does.
    pub mean: Option<Variation>,
    /// The C_v of the mean that sampling alone explains; it is not taken off.
    pub mean_by_sampling: Option<f64>,
    /// How quantiles of the response do.
    pub quantiles: Vec<QuantileSpread>,
    /// How many sets of runs were discarded before these.
    pub discarded: u64,
    /// What to do about runs that disagree.
    #[serde(default)]
    pub remedy: Option<String>,
}

/// Whether the replicas at one rate of a sweep agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Agreement {
    /// `stable` (C_v of at most 3 %), `shared` (at most 10 %) or `discard`.
    pub steadiness: String,
    /// How the achieved rate varies from run to run.
    pub throughput: Option<Variation>,
    /// How the mean response does.
    pub mean: Option<Variation>,
    /// The C_v of the mean that sampling alone explains; it is not taken off.
    pub mean_by_sampling: Option<f64>,
    /// How quantiles of the response do.
    pub quantiles: Vec<QuantileSpread>,
    /// How many sets of runs at the rate were discarded before these.
    pub discarded: u64,
    /// What to do about runs that disagree.
    pub remedy: Option<String>,
}

impl Agreement {
    pub(super) fn of(stability: &Stability, discarded: usize) -> Self {
        Agreement {
            steadiness: stability.steadiness().name().to_owned(),
            throughput: stability.throughput.as_ref().map(Variation::of),
            mean: stability.mean.as_ref().map(Variation::of),
            mean_by_sampling: stability.mean_by_sampling.and_then(finite),
            quantiles: stability.quantiles.iter().map(QuantileSpread::of).collect(),
            discarded: discarded as u64,
            remedy: stability.remedy(),
        }
    }

    /// `stable: C_v 1.2 %`: how much the mean varies and, where that is much, how much of it chance explains.
    pub(crate) fn told(&self) -> String {
        let mut told = self.steadiness.clone();
        if let Some(mean) = &self.mean {
            told.push_str(&format!(": C_v {}", percent(mean.cv)));
        }
        if let (Some(chance), "discard") = (self.mean_by_sampling, self.steadiness.as_str()) {
            told.push_str(&format!(", {} by sampling", percent(chance)));
        }
        told
    }
}

/// One of several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Replica {
    /// From which its schedule was drawn.
    pub seed: u64,
    /// Whether it may be believed.
    pub valid: bool,
    /// Arrivals of its schedule in the steady phase, per second.
    pub offered_rate: Option<f64>,
    /// Served arrivals whose completion lies there, per second.
    pub achieved_rate: Option<f64>,
    /// Its mean response.
    pub mean_ns: Option<f64>,
    /// Its median response.
    pub p50_ns: Option<u64>,
    /// Its 99th percentile.
    pub p99_ns: Option<u64>,
    /// Which of them are lower bounds.
    #[serde(default)]
    pub at_least: LowerBounds,
}

/// How a figure varies from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Variation {
    /// The coefficient of variation.
    pub cv: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
}

/// How a quantile varies from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct QuantileSpread {
    /// Which: `p99`.
    pub quantile: String,
    /// The coefficient of variation.
    pub cv: f64,
    /// The part that sampling alone explains.
    pub by_sampling: f64,
    /// What remains beyond it.
    pub excess: f64,
}

impl Replicas {
    pub(crate) fn of(replicas: &Repeated) -> Self {
        let stability: &Stability = replicas.stability();
        Replicas {
            runs: replicas.runs().iter().map(Replica::of).collect(),
            steadiness: stability.steadiness().name().to_owned(),
            throughput: stability.throughput.as_ref().map(Variation::of),
            mean: stability.mean.as_ref().map(Variation::of),
            mean_by_sampling: stability.mean_by_sampling.and_then(finite),
            quantiles: stability.quantiles.iter().map(QuantileSpread::of).collect(),
            discarded: replicas.discarded().len() as u64,
            remedy: stability.remedy(),
        }
    }
}

impl Replica {
    pub(super) fn of(run: &Run) -> Self {
        let response = run.series(&Metric::Response);
        let mut at_least = LowerBounds::default();
        let mut quantile = |name, q| Some(at_least.note(name, response.quantile(q)?));
        let p50_ns = quantile("p50_ns", Quantile::P50);
        let p99_ns = quantile("p99_ns", Quantile::P99);
        if response.whole().at_least.count() > 0 {
            at_least.add("mean_ns");
        }
        Replica {
            seed: run.plan().seed(),
            valid: run.validity().is_valid(),
            offered_rate: run.offered_per_second().and_then(finite),
            achieved_rate: run.achieved_per_second().and_then(finite),
            mean_ns: response.whole().mean_ns(),
            p50_ns,
            p99_ns,
            at_least,
        }
    }
}

impl Variation {
    fn of(varied: &Varied) -> Self {
        let (low, high) = varied.interval;
        Variation {
            cv: varied.cv,
            interval: finite(low).zip(finite(high)).map(|(low, high)| [low, high]),
        }
    }
}

impl QuantileSpread {
    fn of(quantile: &QuantileVariation) -> Self {
        QuantileSpread {
            quantile: quantile.quantile.to_string(),
            cv: quantile.variation.cv,
            by_sampling: quantile.by_sampling,
            excess: quantile.excess,
        }
    }
}
