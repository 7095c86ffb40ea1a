//! Why there was no run.

use openloop_sched::{PacerError, ShardError};
use std::io;
use std::time::Duration;

/// Why there was no run. Nothing was sent, or what was sent has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// A run on the current runtime needs one.
    #[error("there is no tokio runtime here: call it inside block_on or a task, or use sharded()")]
    NoRuntime,
    /// A run without threads.
    #[error("0 shards send nothing: give at least 1")]
    NoShards,
    /// The pacer could not be made.
    #[error(transparent)]
    Pacer(#[from] PacerError),
    /// The schedule could not be split.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// A shard's thread or runtime could not be made.
    #[error("shard {shard} could not start its thread or runtime")]
    Thread {
        /// Which shard.
        shard: usize,
        /// Why.
        source: io::Error,
    },
    /// A shard's client could not be made.
    #[error("shard {shard} could not be set up: {source}")]
    SetUp {
        /// Which shard.
        shard: usize,
        /// What the factory said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The instant at which the run should begin has passed.
    #[error(
        "the run should have begun {0:?} ago: give a later instant, by which every shard is set up"
    )]
    StartIsPast(Duration),
    /// The instant at which the run should begin cannot be waited for.
    #[error(
        "the run should begin in {0:?}, which no clock of this machine reaches: give a nearer instant"
    )]
    StartIsTooFar(Duration),
    /// The factory of a shard's client panicked, or the runtime was shut down under the run.
    #[error("the run ended without a report: its driver panicked, or its runtime was shut down")]
    Died,
    /// Stopped before anything was sent.
    #[error("the run was stopped while it was being set up: nothing was sent")]
    StoppedInSetUp,
    /// A simulation of what it does not know.
    #[error("sessions cannot be simulated yet: leave them out, or run the plan on a real service")]
    NotSimulated,
}
