//! The problem that a run answers.

use openloop_experiment::problem::{Evidence as Seen, Observed, ProblemStatement, Remark as Said};
use serde::{Deserialize, Serialize};

/// The problem that the run answers, and what was found of what it says: `problem` of the schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Problem {
    /// The statement, as it was read.
    pub statement: serde_json::Value,
    /// What it leaves out, what in it is doubtful, and what of it was found.
    pub remarks: Vec<Remark>,
    /// The failure modes that it anticipates and those that were seen.
    pub evidence: Vec<Evidence>,
}

/// A remark on the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Remark {
    /// Which field.
    pub about: String,
    /// `missing`, `doubtful`, `confirmed` or `contradicted`.
    pub standing: String,
    /// Why.
    pub why: String,
}

/// What was seen of one way to fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Evidence {
    /// Which way.
    pub mode: String,
    /// Whether the statement anticipates it.
    pub anticipated: bool,
    /// `seen`, `not_seen` or `not_measured`.
    pub found: String,
    /// By what.
    pub why: String,
}

impl Problem {
    pub(crate) fn of(statement: &ProblemStatement, observed: &Observed<'_>) -> Self {
        let remark = |remark: Said| Remark {
            about: remark.about.to_owned(),
            standing: remark.standing.name().to_owned(),
            why: remark.why,
        };
        let evidence = |evidence: Seen| Evidence {
            mode: evidence.mode.name().to_owned(),
            anticipated: evidence.anticipated,
            found: evidence.found.name().to_owned(),
            why: evidence.why,
        };
        let remarks = statement.remarks().into_iter();
        Problem {
            statement: serde_json::to_value(statement).unwrap_or_default(),
            remarks: remarks
                .chain(statement.judged(observed))
                .map(remark)
                .collect(),
            evidence: statement
                .evidence(observed)
                .into_iter()
                .map(evidence)
                .collect(),
        }
    }
}
