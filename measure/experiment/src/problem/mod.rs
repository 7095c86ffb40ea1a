//! A problem stated before it is measured: the five dimensions of an experiment, as a file.
//!
//! ```text
//! 1 objective, environment   why, where, and what will fail first
//! 2 floor, slo               how long an idle service takes, and what must be kept
//! 3 workload                 what requests are like
//! 4 load                     how they arrive
//! 5 lifecycle, sweep,        how it is measured, and how often
//!   replicas
//! ```
//!
//! A statement drives the experiment: [`plan`](ProblemStatement::plan), `slo`. What it leaves
//! out is a [remark](ProblemStatement::remarks) by name before the run, and what it says is held against what was found
//! after it: [`judged`](ProblemStatement::judged), [`evidence`](ProblemStatement::evidence).

mod check;
mod evidence;
mod load;
mod objective;
mod plan;
mod protocol;
mod remarks;
mod sizing;
mod workload;
mod written;

pub use evidence::{Evidence, Found, Observed};
pub use load::{LoadStatement, OnFailure, OnLimit, RunsFrom};
pub use objective::{
    EnvironmentStatement, FailureMode, Interconnect, ObjectiveStatement, Periodic, Purpose, Tenancy,
};
pub use protocol::{
    FloorStatement, LifecycleStatement, RehearsalStatement, ReplicasStatement, ResilienceStatement,
    SweepStatement,
};
pub use remarks::{Remark, Standing};
pub use sizing::{KvStatement, SizingStatement};
pub use workload::{Cache, WorkloadStatement};
pub use written::{Bandwidth, Readable, Written};

use crate::simulate::StationError;
use crate::{PlanError, Slo, file_error};
use openloop_capacity::CapacityError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A problem, stated before it is measured.
///
/// ```
/// use openloop_experiment::problem::ProblemStatement;
///
/// let problem = ProblemStatement::from_toml(
///     r#"
///     title = "checkout"
///     [objective]
///     purpose = "slo_gate"
///     [slo]
///     bounds = ["p99<=100ms", "errors<=0.1%"]
///     [load]
///     rate = 200
///     [lifecycle]
///     steady = "60s"
///     "#,
/// )?;
/// let plan = problem.plan()?.build()?;
/// assert_eq!(problem.slo.as_ref().unwrap().to_string(), "p99 <= 100ms, errors <= 0.001");
/// assert!(problem.remarks().iter().any(|remark| remark.about == "environment.isolated"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(
    test,
    schemars(description = "A problem, stated before it is measured.")
)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProblemStatement {
    /// What the experiment is called.
    pub title: Option<String>,
    /// Why it is made.
    pub objective: ObjectiveStatement,
    /// Where.
    pub environment: EnvironmentStatement,
    /// How long an idle service takes.
    pub floor: FloorStatement,
    /// What must be kept: the form of [`Slo::TEMPLATE`], a list of bounds, or one text.
    #[cfg_attr(test, schemars(with = "Option<SloSchema>"))]
    pub slo: Option<Slo>,
    /// What requests are like.
    pub workload: WorkloadStatement,
    /// How they arrive.
    pub load: LoadStatement,
    /// How long each phase lasts.
    pub lifecycle: LifecycleStatement,
    /// At which rates it is measured.
    pub sweep: Option<SweepStatement>,
    /// How far past its limit the service is driven.
    pub resilience: Option<ResilienceStatement>,
    /// How often.
    pub replicas: ReplicasStatement,
    /// What the plan for a peak needs beside what is measured.
    pub sizing: SizingStatement,
    /// On what service it is rehearsed.
    pub rehearsal: RehearsalStatement,
}

/// Why a file states no problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Not TOML, or a field is unknown or of another form; the message has the line.
    #[error("{0}")]
    Toml(String),
    /// Not JSON, or a field is unknown or of another form; the message has the line.
    #[error("{}", file_error::in_words(&.0.to_string()))]
    Json(#[from] serde_json::Error),
    /// The load is not said.
    #[error("how much load is not said: give load.rate, load.profile, load.users or sweep.rates")]
    NoLoad,
    /// Two fields that exclude each other.
    #[error("{0} and {1} exclude each other: leave one out")]
    Both(&'static str, &'static str),
    /// A field that says nothing without another.
    #[error("{0} says nothing without {1}: give that as well, or leave it out")]
    Without(&'static str, &'static str),
    /// A value that is out of range.
    #[error("{field} = {value} is out of range: {allowed}")]
    Range {
        /// Which field.
        field: &'static str,
        /// What it says.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The sessions cannot be.
    #[error("load.sessions: {0}")]
    Sessions(String),
    /// The plan cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Something stands twice in a list.
    #[error("{0} has {1} twice: leave one out")]
    Twice(&'static str, String),
    /// A periodic event that never ends.
    #[error(
        "environment.periodic: \"{0}\" comes every 0 s: say how long it is from one to the next, such as 5m"
    )]
    Always(String),
    /// The cache of a language model cannot be.
    #[error("sizing.kv_cache: {0}")]
    KvCache(#[from] CapacityError),
    /// The service of the rehearsal cannot be.
    #[error("rehearsal: {0}")]
    Rehearsal(#[from] StationError),
}

impl ProblemStatement {
    /// A statement to fill in for a web service or a database, every field explained.
    pub const WEB: &str = include_str!("web.toml");
    /// A statement to fill in for the inference of a language model, every field explained.
    pub const LLM: &str = include_str!("llm.toml");
    /// The JSON schema of a statement.
    pub const SCHEMA: &str = include_str!("problem.schema.json");

    /// Reads a statement from TOML.
    ///
    /// # Errors
    /// When a field is unknown, or not of its form, or excludes another.
    pub fn from_toml(text: &str) -> Result<Self, ProblemError> {
        let problem: ProblemStatement = toml::from_str(text)
            .map_err(|error| ProblemError::Toml(file_error::of_toml(&error, text)))?;
        problem.check()?;
        Ok(problem)
    }

    /// Reads a statement from JSON.
    ///
    /// # Errors
    /// As [`from_toml`](ProblemStatement::from_toml).
    pub fn from_json(text: &str) -> Result<Self, ProblemError> {
        let problem: ProblemStatement = serde_json::from_str(text)?;
        problem.check()?;
        Ok(problem)
    }

    /// Reads a statement from a file: JSON where its name ends in `.json`, else TOML.
    ///
    /// # Errors
    /// As [`from_toml`](ProblemStatement::from_toml), and when the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ProblemError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)?;
        match path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            true => ProblemStatement::from_json(&text),
            false => ProblemStatement::from_toml(&text),
        }
    }
}

/// An objective as text, a list, or a table.
#[cfg(test)]
struct SloSchema;

#[cfg(test)]
impl schemars::JsonSchema for SloSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Slo".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "array", "object"] })
    }
}

#[cfg(test)]
mod accepts;
#[cfg(test)]
mod tests;
