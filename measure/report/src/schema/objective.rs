//! What the run says of an objective.

use super::finite;
use openloop_experiment::{Judgement, Statistic};
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
    /// The most that was allowed.
    pub limit: Option<f64>,
    /// What was measured.
    pub value: Option<f64>,
    /// In what `limit`, `value` and `interval` are given: `ns` or `share`.
    pub unit: String,
    /// Whether `value` is only a lower bound.
    pub at_least: bool,
    /// The 95 % confidence interval of `value`.
    pub interval: Option<[f64; 2]>,
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
            limit: finite(finding.bound.limit),
            value: finding.value.and_then(finite),
            unit: match finding.bound.statistic {
                Statistic::Errors => "share",
                _ => "ns",
            }
            .to_owned(),
            at_least: finding.at_least,
            interval: finding
                .interval
                .filter(|(low, high)| low.is_finite() && high.is_finite())
                .map(|(low, high)| [low, high]),
            verdict: finding.verdict.name().to_owned(),
            why: finding.why.clone(),
        };
        Objective {
            verdict: judgement.verdict.name().to_owned(),
            findings: judgement.findings.iter().map(finding).collect(),
            why: judgement.why.clone(),
        }
    }
}
