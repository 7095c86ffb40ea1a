//! What the run says of an objective.

use super::finite;
use openloop_experiment::{Concern, Judgement, Statistic};
use serde::{Deserialize, Serialize};

/// What the run says of a service-level objective: `slo` of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Objective {
    /// `pass`, `fail`, `infeasible`, `inconclusive` or `invalid`.
    pub verdict: String,
    /// Bound by bound.
    pub findings: Vec<Finding>,
    /// What decided beside the bounds.
    pub why: Vec<String>,
    /// What is questionable in the bounds, whatever was measured.
    #[serde(default)]
    pub lints: Vec<Lint>,
}

/// What is questionable in a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Lint {
    /// The bound.
    pub bound: String,
    /// What: `infeasible`, `at_the_floor`, `tight`, `loose`, `noise_floor`.
    pub concern: String,
    /// Why, with the figures.
    pub why: String,
}

/// What the run says of one bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// The bound, as it is written: `p99 <= 100 ms`.
    pub bound: String,
    /// Of which latency.
    pub metric: String,
    /// Of which kind of request; `None` for all together.
    #[serde(default)]
    pub kind: Option<String>,
    /// The most that was allowed; of `achieved` and `goodput` the least.
    pub limit: Option<f64>,
    /// What was measured.
    pub value: Option<f64>,
    /// In what `limit`, `value` and `interval` are given: `ns`, `share` or `per_second`.
    pub unit: String,
    /// Whether `value` is only a lower bound.
    pub at_least: bool,
    /// The 95 % confidence interval of `value`.
    pub interval: Option<[f64; 2]>,
    /// How a multiple of the floor became `limit`.
    #[serde(default)]
    pub basis: Option<String>,
    /// What was measured over S, the mean of the floor; the round trip is taken off both.
    #[serde(default)]
    pub ratio_literal: Option<f64>,
    /// The same over that quantile of the floor.
    #[serde(default)]
    pub ratio_inflation: Option<f64>,
    /// The verdict on this bound.
    pub verdict: String,
    /// Why.
    pub why: String,
}

impl Objective {
    pub(crate) fn of(judgement: &Judgement) -> Self {
        let finding = |finding: &openloop_experiment::Finding| Finding {
            bound: finding.bound.to_string(),
            metric: finding.bound.metric.name().to_owned(),
            kind: finding.bound.kind.clone(),
            limit: finding.limit.and_then(finite),
            value: finding.value.and_then(finite),
            unit: match finding.bound.statistic {
                Statistic::Errors | Statistic::Goodput => "share",
                Statistic::Achieved | Statistic::GoodputRate => "per_second",
                _ => "ns",
            }
            .to_owned(),
            at_least: finding.at_least,
            interval: finding
                .interval
                .filter(|(low, high)| low.is_finite() && high.is_finite())
                .map(|(low, high)| [low, high]),
            basis: finding.basis.as_ref().map(ToString::to_string),
            ratio_literal: finding.ratios.and_then(|ratios| finite(ratios.literal)),
            ratio_inflation: finding.ratios.and_then(|ratios| finite(ratios.inflation?)),
            verdict: finding.verdict.name().to_owned(),
            why: finding.why.clone(),
        };
        Objective {
            verdict: judgement.verdict.name().to_owned(),
            findings: judgement.findings.iter().map(finding).collect(),
            why: judgement.why.clone(),
            lints: Vec::new(),
        }
    }
}

impl Lint {
    pub(crate) fn of(lint: &openloop_experiment::Lint) -> Self {
        Lint {
            bound: lint.bound.clone(),
            concern: match lint.concern {
                Concern::Infeasible => "infeasible",
                Concern::AtTheFloor => "at_the_floor",
                Concern::Tight => "tight",
                Concern::Loose => "loose",
                Concern::NoiseFloor => "noise_floor",
                // A concern that is younger than this renderer.
                _ => "other",
            }
            .to_owned(),
            why: lint.why.clone(),
        }
    }
}
