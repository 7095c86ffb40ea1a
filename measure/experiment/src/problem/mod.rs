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

mod evidence;
mod load;
mod objective;
mod plan;
mod protocol;
mod remarks;
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
pub use workload::{Cache, WorkloadStatement};
pub use written::{Bandwidth, Readable, Written};

use crate::simulate::StationError;
use crate::{PlanError, Slo, file_error};
use openloop_sched::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

    /// What can be told without the service.
    fn check(&self) -> Result<(), ProblemError> {
        let load = &self.load;
        for (first, second, names) in [
            (
                load.rate.is_some(),
                load.profile.is_some(),
                ("load.rate", "load.profile"),
            ),
            (
                load.rate.is_some(),
                load.users.is_some(),
                ("load.rate", "load.users"),
            ),
            (
                load.profile.is_some(),
                load.users.is_some(),
                ("load.profile", "load.users"),
            ),
            (
                load.users.is_some(),
                self.sweep.is_some(),
                ("load.users", "sweep"),
            ),
            (
                load.profile.is_some(),
                self.sweep.is_some(),
                ("load.profile", "sweep"),
            ),
            (
                self.resilience.is_some(),
                self.sweep.is_some(),
                ("resilience", "sweep"),
            ),
            (
                self.sweep
                    .as_ref()
                    .is_some_and(|sweep| !sweep.rates.is_empty()),
                self.sweep.as_ref().is_some_and(|sweep| sweep.find),
                ("sweep.rates", "sweep.find"),
            ),
        ] {
            if first && second {
                return Err(ProblemError::Both(names.0, names.1));
            }
        }
        let shares = [
            ("workload.read_share", self.workload.read_share),
            ("workload.prefix_reuse", self.workload.prefix_reuse),
        ];
        for (field, value) in shares {
            range(field, value, "0 to 1", |share| (0.0..=1.0).contains(&share))?;
        }
        let cv = self.workload.service_cv;
        range("workload.service_cv", cv, "a number from 0 on", |cv| {
            cv.is_finite() && cv >= 0.0
        })?;
        let trials = self.floor.trials.map(|trials| trials as f64);
        range("floor.trials", trials, "0, or 3 to 100", |trials| {
            trials == 0.0 || (3.0..=100.0).contains(&trials)
        })?;
        let requests = self.floor.requests.map(f64::from);
        range("floor.requests", requests, "10 or more", |n| n >= 10.0)?;
        let at_least_one = [
            ("load.users", load.users),
            ("load.max_in_flight", load.max_in_flight),
            (
                "rehearsal.servers",
                self.rehearsal.servers.map(|n| n as usize),
            ),
        ];
        for (field, n) in at_least_one {
            range(field, n.map(|n| n as f64), "1 or more", |n| n >= 1.0)?;
        }
        self.check_rates()?;
        self.check_lists()?;
        if let Some(sweep) = &self.sweep {
            range(
                "sweep.resolution",
                sweep.resolution,
                "0.001 to 0.5",
                |share| (0.001..=0.5).contains(&share),
            )?;
        }
        if let Some(resilience) = &self.resilience {
            if resilience.above.is_none() {
                return Err(ProblemError::Without("resilience", "resilience.above"));
            }
            for (field, value) in [
                ("resilience.serves_still", resilience.serves_still),
                ("resilience.fails_at_most", resilience.fails_at_most),
            ] {
                range(field, value, "0 to 1", |share| (0.0..=1.0).contains(&share))?;
            }
        }
        for (given, with, (field, needed)) in [
            (
                load.on_limit.is_some(),
                load.max_in_flight.is_some(),
                ("load.on_limit", "load.max_in_flight"),
            ),
            (
                load.timeout_from.is_some(),
                load.timeout.is_some(),
                ("load.timeout_from", "load.timeout"),
            ),
            (
                load.session_think.is_some(),
                load.sessions.is_some(),
                ("load.session_think", "load.sessions"),
            ),
        ] {
            if given && !with {
                return Err(ProblemError::Without(field, needed));
            }
        }
        let runs = self.replicas.runs.map(|runs| runs as f64);
        range(
            "replicas.runs",
            runs,
            "1, or an odd number from 3 on",
            |runs| runs % 2.0 == 1.0,
        )
    }
}

impl ProblemStatement {
    /// A rate of 0 sends nothing.
    fn check_rates(&self) -> Result<(), ProblemError> {
        let per_second =
            |rate: &Option<Written<Rate>>| rate.as_deref().map(|rate| rate.as_per_second());
        let (sweep, resilience) = (self.sweep.as_ref(), self.resilience.as_ref());
        let of_list = sweep.iter().flat_map(|sweep| &sweep.rates);
        let of_list = of_list.map(|rate| ("sweep.rates", Some(rate.as_per_second())));
        let single = [
            ("load.rate", per_second(&self.load.rate)),
            ("load.peak", per_second(&self.load.peak)),
            (
                "sweep.up_to",
                sweep.and_then(|sweep| per_second(&sweep.up_to)),
            ),
            (
                "resilience.above",
                resilience.and_then(|resilience| per_second(&resilience.above)),
            ),
        ];
        for (field, rate) in single.into_iter().chain(of_list) {
            range(field, rate, "a rate above 0", |rate| rate > 0.0)?;
        }
        Ok(())
    }

    /// What stands twice in a list says nothing the second time, and mostly was meant to be something else.
    fn check_lists(&self) -> Result<(), ProblemError> {
        let rates = self.sweep.iter().flat_map(|sweep| &sweep.rates);
        let rates = rates.map(|rate| ("sweep.rates", rate.to_string()));
        let modes = self.objective.failure_modes.iter();
        let modes = modes.map(|mode| ("objective.failure_modes", mode.name().to_owned()));
        let events = self.environment.periodic.iter().flatten();
        let names = events
            .clone()
            .map(|periodic| ("environment.periodic", periodic.event.clone()));
        let mut seen = BTreeSet::new();
        for entry in rates.chain(modes).chain(names) {
            if !seen.insert(entry.clone()) {
                return Err(ProblemError::Twice(entry.0, entry.1));
            }
        }
        match events.clone().find(|periodic| periodic.every.is_zero()) {
            Some(periodic) => Err(ProblemError::Always(periodic.event.clone())),
            None => Ok(()),
        }
    }
}

fn range(
    field: &'static str,
    value: Option<f64>,
    allowed: &'static str,
    is_allowed: impl Fn(f64) -> bool,
) -> Result<(), ProblemError> {
    match value.filter(|value| !is_allowed(*value)) {
        Some(value) => Err(ProblemError::Range {
            field,
            value,
            allowed,
        }),
        None => Ok(()),
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
