//! Why a step of the protocol gave no result.

use crate::PlanError;
use crate::drive::DriveError;

/// Why a step of the protocol gave no result: a floor, a set of replicas, a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// One of its runs cannot be planned.
    #[error("the {step} cannot be planned: {source}")]
    Plan {
        /// Of which step: `floor`, `replicas`.
        step: &'static str,
        /// Why.
        source: PlanError,
    },
    /// One of its runs did not come about.
    #[error("the {step} has no run {run}: {source}")]
    Drive {
        /// Of which step.
        step: &'static str,
        /// Which of its runs, from 1.
        run: usize,
        /// Why.
        source: DriveError,
    },
    /// Options that make no sense.
    #[error("{0}")]
    Options(String),
    /// Nothing was served, so there is nothing to go on with.
    #[error("the {step} has nothing to go on: {why}")]
    NothingServed {
        /// Of which step.
        step: &'static str,
        /// What came instead.
        why: String,
    },
}
