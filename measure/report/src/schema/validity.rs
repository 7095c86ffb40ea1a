//! Whether a run may be believed.

use super::finite;
use openloop_experiment::{Severity, Unit, Validity as Checked};
use serde::{Deserialize, Serialize};

/// Whether the run may be believed, check by check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Validity {
    /// Whether it may: no check of severity `fault` failed that was not waived.
    pub valid: bool,
    /// The checks that could be made.
    pub checks: Vec<Check>,
}

/// One check of the generator or its environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Check {
    /// Name, also for waiving.
    pub name: String,
    /// Whether what was found is allowed.
    pub pass: bool,
    /// What was found, where it is a number.
    pub value: Option<f64>,
    /// What is allowed, where it is a number.
    pub limit: Option<f64>,
    /// What it is about and, if it failed, what to do.
    pub why: String,
    /// In what `value` and `limit` are given: `ns`, `share` or `count`.
    #[serde(default)]
    pub unit: Option<String>,
    /// What a failure means: `fault` (the run may not be believed) or `warning`.
    #[serde(default)]
    pub severity: Option<String>,
    /// Whether a failure was declared harmless beforehand.
    #[serde(default)]
    pub waived: bool,
}

impl Validity {
    pub(crate) fn of(checked: &Checked) -> Self {
        let check = |check: &openloop_experiment::Check| Check {
            name: check.name.to_owned(),
            pass: check.pass,
            value: check.value.and_then(finite),
            limit: check.limit.and_then(finite),
            why: check.why.clone(),
            unit: unit(check.unit).map(str::to_owned),
            severity: Some(severity(check.severity).to_owned()),
            waived: check.waived,
        };
        Validity {
            valid: checked.is_valid(),
            checks: checked.checks().iter().map(check).collect(),
        }
    }

    /// The failed checks for which the run may not be believed.
    pub fn faults(&self) -> impl Iterator<Item = &Check> {
        self.failed().filter(|check| check.is_fault())
    }

    /// The failed checks that the reader should know of.
    pub fn warnings(&self) -> impl Iterator<Item = &Check> {
        self.failed().filter(|check| !check.is_fault())
    }

    fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.pass)
    }
}

impl Check {
    /// Whether a failure of it makes the run invalid: one without a severity does.
    fn is_fault(&self) -> bool {
        !self.waived && self.severity.as_deref() != Some(severity(Severity::Warning))
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Fault => "fault",
        Severity::Warning => "warning",
    }
}

fn unit(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Nanoseconds => Some("ns"),
        Unit::Share => Some("share"),
        Unit::Count => Some("count"),
        // A unit that is younger than this renderer.
        _ => None,
    }
}
