//! Two builds by turns.

use super::finite;
use openloop_experiment::Comparison;
use serde::{Deserialize, Serialize};

/// What two builds that ran by turns say of each other: A is the base, and the rest of the report is of B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ByTurns {
    /// What A is.
    pub base: String,
    /// Which quantile of which latency is compared.
    pub statistic: String,
    /// `slower`, `faster` or `no_difference`: whether B is.
    pub change: String,
    /// Of A.
    pub base_ns: Option<f64>,
    /// Of B.
    pub new_ns: Option<f64>,
    /// B over A.
    pub ratio: Option<f64>,
    /// The interval of the ratio, at the level at which a build differs from itself in 2 % of cases.
    pub interval: Option<[f64; 2]>,
    /// Runs of which a check failed, so that the comparison may not be believed.
    pub faults: Vec<String>,
    /// All of it as text.
    pub text: String,
}

impl ByTurns {
    pub(crate) fn of(comparison: &Comparison, base: String) -> Self {
        let interval = comparison.interval;
        Self {
            base,
            statistic: comparison.statistic.clone(),
            change: comparison.change.name().to_owned(),
            base_ns: finite(comparison.base_ns),
            new_ns: finite(comparison.new_ns),
            ratio: finite(comparison.ratio),
            interval: interval
                .and_then(|(low, high)| finite(low).zip(finite(high)))
                .map(|(low, high)| [low, high]),
            faults: comparison.faults.clone(),
            text: comparison.to_string().trim_end().to_owned(),
        }
    }
}
