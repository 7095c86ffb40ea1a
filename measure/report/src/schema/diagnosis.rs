//! What a sweep says of the service behind it.

use super::finite;
use openloop_experiment::diagnosis::{Diagnosis as Read, System};
use openloop_experiment::sweep::{Fits as Through, Utilisation as Told};
use serde::{Deserialize, Serialize};

/// Which queue the service behaves like, and why its tail is long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Diagnosis {
    /// `single_worker`, `workers`, `bounded_pool`, `batching`, `pauses` or `unsure`.
    pub model: String,
    /// The same in words, with its parameters.
    pub model_text: String,
    /// `smooth`, `pauses`, `of_service` or `unsure`.
    pub tail: String,
    /// The same in words.
    pub tail_text: String,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// What speaks against it, or is missing.
    pub doubts: Vec<String>,
    /// Systems that are known to behave so, and what fails first in them.
    pub systems: Vec<Class>,
}

/// A class of systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Class {
    /// Of the class.
    pub examples: String,
    /// Its queueing model in Kendall's notation.
    pub model: String,
    /// What goes wrong first.
    pub first_failure: String,
    /// How to size it.
    pub sizing: String,
}

/// Laws through the points of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Fits {
    /// The response of M/M/c.
    pub mmc: Option<MmcFit>,
    /// Why there is none.
    pub no_mmc: Option<String>,
    /// The throughput of the universal scalability law.
    pub usl: Option<UslFit>,
    /// Why there is none.
    pub no_usl: Option<String>,
}

/// The response of M/M/c through the points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MmcFit {
    /// c.
    pub servers: u64,
    /// S.
    pub service_ns: f64,
    /// c/S, per second.
    pub highest_rate: f64,
    /// Its 95 % confidence interval; the upper end is `None` where nothing bounds it.
    pub highest_rate_interval: [Option<f64>; 2],
    /// The relative error of a point about the curve.
    pub relative_error: Option<f64>,
    /// `good`, `fair` or `poor`: a poor one describes another kind of service.
    pub goodness: String,
}

/// The universal scalability law through the points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UslFit {
    /// γ: throughput of one in flight, per second.
    pub single: [Option<f64>; 2],
    /// σ, the share that is serial: its interval.
    pub contention: [Option<f64>; 2],
    /// κ, the cost of keeping coherent: its interval.
    pub coherence: [Option<f64>; 2],
    /// The number in flight at the highest throughput: its interval.
    pub peak_in_flight: [Option<f64>; 2],
    /// The relative error of a point about the curve.
    pub relative_error: Option<f64>,
    /// `good`, `fair` or `poor`.
    pub goodness: String,
}

/// How busy the service is, told in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Utilisation {
    /// The formula.
    pub formula: String,
    /// A share.
    pub value: Option<f64>,
    /// What has to be so for it to be true.
    pub assumes: String,
}

impl Diagnosis {
    pub(crate) fn of(read: &Read) -> Self {
        let class = |system: &System| Class {
            examples: system.examples.to_owned(),
            model: system.model.to_owned(),
            first_failure: system.first_failure.to_owned(),
            sizing: system.sizing.to_owned(),
        };
        Diagnosis {
            model: read.model.name().to_owned(),
            model_text: read.model.to_string(),
            tail: read.tail.name().to_owned(),
            tail_text: read.tail.to_string(),
            evidence: read.evidence.clone(),
            doubts: read.doubts.clone(),
            systems: read.systems().map(class).collect(),
        }
    }
}

impl Fits {
    pub(crate) fn of(fits: &Through) -> Self {
        let ends = |lower: f64, upper: f64| [finite(lower), finite(upper)];
        Fits {
            mmc: fits.mmc.as_ref().ok().map(|fit| MmcFit {
                servers: u64::from(fit.servers),
                service_ns: fit.mean_service * 1e9,
                highest_rate: fit.highest_rate,
                highest_rate_interval: ends(fit.rate_interval.lower, fit.rate_interval.upper),
                relative_error: finite(fit.relative_error),
                goodness: fit.goodness.to_string(),
            }),
            no_mmc: fits.mmc.as_ref().err().cloned(),
            usl: fits.usl.as_ref().ok().map(|fit| UslFit {
                single: ends(fit.single.lower, fit.single.upper),
                contention: ends(fit.contention.lower, fit.contention.upper),
                coherence: ends(fit.coherence.lower, fit.coherence.upper),
                peak_in_flight: ends(fit.peak_load.lower, fit.peak_load.upper),
                relative_error: finite(fit.relative_error),
                goodness: fit.goodness.to_string(),
            }),
            no_usl: fits.usl.as_ref().err().cloned(),
        }
    }
}

impl Utilisation {
    pub(crate) fn of(told: &Told) -> Self {
        Utilisation {
            formula: told.formula.to_owned(),
            value: finite(told.value),
            assumes: told.assumes.clone(),
        }
    }
}
