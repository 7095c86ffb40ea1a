//! What the exit status says.

use crate::course::Outcome;
use openloop_experiment::resilience::Resilience;
use openloop_experiment::{Run, Verdict};
use openloop_report::Report;
use std::process::ExitCode;

/// What came out, for the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The objective is kept or, without one, the run may be believed.
    Pass = 0,
    /// The objective is not kept, or cannot be.
    Missed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The run may not be believed, or this machine cannot make it.
    Invalid = 3,
    /// The target cannot be reached: before the run, and nothing was sent, or any more after it.
    Unreachable = 4,
    /// The data are too few to judge the objective, or replicas disagree.
    Inconclusive = 5,
    /// Interrupted; what there was has been written.
    Interrupted = 130,
}

/// The list for `--help`.
pub(crate) const HELP: &str = "\
Exit status:
  0    the objective is kept or, without one, the run is valid
  1    the objective is not kept, or cannot be
  2    the command line makes no sense
  3    the run may not be believed, or this machine lacks descriptors or ports for it
  4    the target cannot be reached: before the run, and nothing was sent; or after it, and the report is written
  5    the data are too few to judge the objective, or replicas disagree
  130  interrupted: the report is written, and marked so";

impl Status {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        if outcome.stopped {
            return Status::Interrupted;
        }
        let judged = outcome
            .judgement
            .as_ref()
            .map(|judgement| judgement.verdict);
        let degrades = outcome.resilience.as_ref().map(Resilience::verdict);
        let runs = outcome.runs.all();
        // Where there are both an objective and a degradation, the worse of the two.
        let status = match judged.into_iter().chain(degrades).min() {
            None if !runs.iter().all(|run| run.validity().is_valid()) => Status::Invalid,
            None if outcome.runs.disagree() => Status::Inconclusive,
            None => Status::Pass,
            Some(Verdict::Invalid) => Status::Invalid,
            Some(Verdict::Infeasible | Verdict::Fail) => Status::Missed,
            Some(Verdict::Inconclusive) => Status::Inconclusive,
            Some(Verdict::Pass) => Status::Pass,
        };
        status.unless_gone(runs.iter().any(|run| gone(run).is_some()))
    }

    /// A target that did not outlive its load has not passed, however well it did until then.
    fn unless_gone(self, is_gone: bool) -> Self {
        match self {
            Status::Pass | Status::Inconclusive if is_gone => Status::Unreachable,
            status => status,
        }
    }
}

/// Why the target could not be reached after a run, if it could not.
pub(crate) fn gone(run: &Run) -> Option<&str> {
    run.health()
        .check
        .as_ref()?
        .as_ref()
        .err()
        .map(String::as_str)
}

impl Status {
    /// What the run of a report ended with or, of a merged one, what one run of all that would have.
    pub(crate) fn of_report(report: &Report) -> Self {
        if report.interrupted {
            return Status::Interrupted;
        }
        let objective = report.slo.as_ref().map(|slo| slo.verdict.as_str());
        let degrades = report
            .resilience
            .as_ref()
            .map(|found| found.verdict.as_str());
        let verdicts = [objective, degrades];
        let has = |verdict: &str| verdicts.contains(&Some(verdict));
        let replicas = report.replicas.as_ref();
        let health = report.health.as_ref();
        // In the order of the lattice.
        let status = if has("invalid") || !report.validity.valid {
            Status::Invalid
        } else if has("infeasible") || has("fail") {
            Status::Missed
        } else if has("inconclusive") || replicas.is_some_and(|all| all.steadiness == "discard") {
            Status::Inconclusive
        } else {
            Status::Pass
        };
        status.unless_gone(health.is_some_and(|health| health.check == Some(false)))
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// Why there is no result, in a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// This machine cannot make the run, or lost its result.
    #[error("{0}")]
    Machine(String),
    /// The target cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// Interrupted before anything was sent.
    #[error("interrupted before anything was sent: there is no report")]
    Interrupted,
}

impl Failure {
    /// Of a value that is refused where it is used; the message says why.
    pub(crate) fn usage(error: impl ToString) -> Self {
        Failure::Usage(error.to_string())
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            Failure::Usage(_) => Status::Usage,
            Failure::Machine(_) => Status::Invalid,
            Failure::Unreachable(_) => Status::Unreachable,
            Failure::Interrupted => Status::Interrupted,
        }
    }
}
