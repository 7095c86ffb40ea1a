//! What an overload did to the service.

use super::{finite, nanos};
use openloop_experiment::resilience::{Resilience as Measured, Stage as Of};
use openloop_measurer::Quantile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an overload did to the service, and whether it degrades as stated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Resilience {
    /// `pass`, `fail`, `inconclusive` or `invalid`.
    pub verdict: String,
    /// The stated degradation, claim by claim.
    pub claims: Vec<Claim>,
    /// What decided beside the claims.
    pub why: Vec<String>,
    /// Before the overload.
    pub before: Stage,
    /// During the overload.
    pub during: Stage,
    /// After the overload.
    pub after: Stage,
    /// How long after the overload all was as before; `None` if it never was.
    pub recovery_ns: Option<u64>,
    /// How exactly that is known.
    pub resolution_ns: u64,
}

/// One claim, and whether it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Claim {
    /// What was claimed.
    pub claim: String,
    /// `pass`, `fail` or `inconclusive`.
    pub verdict: String,
    /// What was found.
    pub found: String,
}

/// What became of the arrivals of one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stage {
    /// First instant, in nanoseconds of the run.
    #[serde(default)]
    pub from_ns: Option<u64>,
    /// First instant after it.
    #[serde(default)]
    pub to_ns: Option<u64>,
    /// Arrivals per second.
    pub offered_rate: Option<f64>,
    /// Served arrivals per second, by the instant of their completion.
    pub achieved_rate: Option<f64>,
    /// The share that was served.
    pub ok: Option<f64>,
    /// The share that the service turned away.
    pub shed: Option<f64>,
    /// The share that came to nothing in another way.
    pub failed: Option<f64>,
    /// What those who were served waited in the middle.
    pub p50_ns: Option<u64>,
    /// And at the 99th percentile.
    pub p99_ns: Option<u64>,
    /// Named counts, such as preemptions.
    pub counts: BTreeMap<String, u64>,
}

impl Resilience {
    pub(crate) fn of(measured: &Measured) -> Self {
        let claims = measured.claims().iter();
        Resilience {
            verdict: measured.verdict().name().to_owned(),
            claims: claims
                .map(|claim| Claim {
                    claim: claim.claim.clone(),
                    verdict: claim.verdict.name().to_owned(),
                    found: claim.found.clone(),
                })
                .collect(),
            why: measured.why().to_vec(),
            before: Stage::of(measured.before()),
            during: Stage::of(measured.during()),
            after: Stage::of(measured.after()),
            recovery_ns: measured.recovery().map(nanos),
            resolution_ns: nanos(measured.resolution()),
        }
    }
}

impl Stage {
    fn of(stage: &Of) -> Self {
        let counts = stage.counts().iter();
        Stage {
            from_ns: Some(stage.from().as_nanos()),
            to_ns: Some(stage.to().as_nanos()),
            offered_rate: finite(stage.offered()),
            achieved_rate: finite(stage.achieved()),
            ok: finite(stage.ok()),
            shed: finite(stage.shed()),
            failed: finite(stage.failed()),
            p50_ns: stage.quantile_ns(Quantile::P50),
            p99_ns: stage.quantile_ns(Quantile::P99),
            counts: counts.map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        }
    }
}
