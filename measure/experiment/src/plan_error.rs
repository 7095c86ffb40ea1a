//! Why a plan cannot be run.

use openloop_measurer::{KindsError, LayoutError};
use openloop_sched::{ProfileError, ShardError};
use std::time::Duration;

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A rate of zero.
    #[error(
        "the rate is 0, so nothing would be sent: give arrivals per second, or users for a closed loop"
    )]
    NoRate,
    /// A closed loop without users.
    #[error("a closed loop of 0 users sends nothing: give at least 1")]
    NoUsers,
    /// No arrival falls into the steady phase.
    #[error("no arrival falls into the steady phase of {0:?}: make it longer, or the rate higher")]
    NothingToMeasure(Duration),
    /// Phases that cannot be.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Kinds of request that cannot be told apart.
    #[error(transparent)]
    Kinds(#[from] KindsError),
    /// A profile that cannot be.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A shard that cannot be.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// A shard of users.
    #[error(
        "a closed loop has no schedule to share: give each process users and a seed of its own, and merge the reports as runs"
    )]
    ShardOfClosedLoop,
    /// A limit of zero in flight.
    #[error("a limit of 0 in flight lets nothing through: give at least 1, or no limit")]
    NothingInFlight,
    /// A timeout of zero.
    #[error("a timeout of 0 lets nothing succeed: make it longer, or leave it out")]
    NoTime,
    /// Phases beside a profile.
    #[error(
        "a profile or a trace has no phases, since all of it is measured: leave out the lifecycle"
    )]
    LifecycleOfProfile,
    /// A process beside a trace.
    #[error("a trace has its own arrivals: leave out the arrival process and the bursts")]
    ArrivalsOfTrace,
    /// A process beside users.
    #[error(
        "in a closed loop the service decides when requests start: leave out the arrival process and the bursts"
    )]
    ScheduleOfClosedLoop,
    /// Think time beside a schedule.
    #[error(
        "this think time belongs to the users of a closed loop: leave it out of an open one; sessions have their own"
    )]
    ThinkTimeOfOpenLoop,
    /// Sessions beside users.
    #[error(
        "the users of a closed loop have no sessions, since they never leave: leave out the sessions, or give a rate instead of users"
    )]
    SessionsOfClosedLoop,
    /// What sessions do on failure, without sessions.
    #[error("only sessions go on or end when a request fails: give sessions, or leave it out")]
    FailureWithoutSessions,
    /// More sessions than can be told apart.
    #[error(
        "some {0:e} sessions would arrive, and 2^40 can be told apart: lower the rate or make the run shorter"
    )]
    TooManySessions(f64),
    /// Shedding in a closed loop.
    #[error(
        "a user of a closed loop who is shed asks again at once, for ever: use fewer users, or let them queue"
    )]
    ShedOfClosedLoop,
}
