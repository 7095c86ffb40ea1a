//! What was asked of the run.

use super::{finite, nanos};
use openloop_experiment::{InFlight, Load, Plan, Run, TimeoutFrom};
use serde::{Deserialize, Serialize};

/// The limits on each arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Limits {
    /// How many could be in flight at once; `None` without a limit.
    pub max_in_flight: Option<u64>,
    /// What happened to one that came when they were: `queue` or `shed`.
    pub on_limit: Option<String>,
    /// For how long an arrival was waited for; `None` without a limit.
    pub timeout_ns: Option<u64>,
    /// From when: `intended` or `dispatch`.
    pub timeout_from: Option<String>,
    /// For how long, after the last arrival, what was in flight was waited for.
    pub drain_ns: u64,
}

impl Limits {
    pub(crate) fn of(plan: &Plan) -> Self {
        let limits = plan.limits();
        let (max_in_flight, on_limit) = match limits.in_flight {
            InFlight::Unlimited => (None, None),
            InFlight::Queue(limit) => (Some(limit as u64), Some("queue".to_owned())),
            InFlight::Shed(limit) => (Some(limit as u64), Some("shed".to_owned())),
        };
        let from = |from| match from {
            TimeoutFrom::Intended => "intended".to_owned(),
            TimeoutFrom::Dispatched => "dispatch".to_owned(),
        };
        Limits {
            max_in_flight,
            on_limit,
            timeout_ns: limits.timeout.map(|timeout| nanos(timeout.after)),
            timeout_from: limits.timeout.map(|timeout| from(timeout.from)),
            drain_ns: nanos(limits.drain),
        }
    }
}

/// The users of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Closed {
    /// How many there were.
    pub users: u64,
    /// How long each thought between an answer and its next request.
    pub think_ns: u64,
}

impl Closed {
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        match plan.load() {
            Load::Open { .. } | Load::PartlyOpen { .. } => None,
            Load::Closed { users, think } => Some(Closed {
                users: *users as u64,
                think_ns: nanos(*think),
            }),
        }
    }
}

/// The sessions of a partly open loop.
///
/// Always `started = finished + ended_early + unfinished`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Sessions {
    /// Sessions per second, as asked; `None` for a profile or a trace, which have no one rate.
    pub asked_rate: Option<f64>,
    /// How many sessions the whole schedule has.
    pub planned: Option<u64>,
    /// Sessions whose first request was released.
    pub started: u64,
    /// Sessions whose last request has ended.
    pub finished: u64,
    /// Sessions that ended before it, because a request of theirs was not served.
    pub ended_early: u64,
    /// Sessions that the end of the run cut off.
    pub unfinished: u64,
    /// Requests per session, in the mean of the plan.
    pub planned_steps: Option<f64>,
    /// Requests per session, in the mean of the run.
    pub steps: Option<f64>,
    /// The mean think time between an answer and the next request of a session.
    pub think_ns: u64,
    /// What a session does when a request of its is not served: `end` or `continue`.
    pub on_failure: String,
}

impl Sessions {
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let counts = run.sessions()?;
        let Load::PartlyOpen {
            sessions,
            on_failure,
            ..
        } = run.plan().load()
        else {
            return None;
        };
        Some(Sessions {
            asked_rate: run.asked_sessions_per_second().and_then(finite),
            planned: run.plan().preview().map(|preview| preview.total),
            started: counts.started,
            finished: counts.finished,
            ended_early: counts.ended_early,
            unfinished: counts.unfinished(),
            planned_steps: finite(sessions.mean_requests_per_session()),
            steps: counts.mean_steps().and_then(finite),
            think_ns: nanos(sessions.mean_think()),
            on_failure: on_failure.name().to_owned(),
        })
    }
}

/// Which part of a run a report is of, where several processes share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Shard {
    /// Which one, from 0.
    pub index: u64,
    /// How many there are.
    pub count: u64,
    /// When all of them were to begin, by the wall clock (RFC 3339, UTC), where that was agreed on.
    #[serde(default)]
    pub start_at: Option<String>,
    /// A number, in hexadecimal, that shards of one run have in common: of the schedule of all of them, the phases and the
    /// limits.
    #[serde(default)]
    pub plan: Option<String>,
    /// A number, in hexadecimal, that shards of one run have in common: of the requests, where the tool tells.
    #[serde(default)]
    pub requests: Option<String>,
    /// How far the wall clock of its machine was off from one that all shards asked, where they did: `start_at` then is by
    /// that one.
    #[serde(default)]
    pub clock: Option<ShardClock>,
}

/// How far the wall clock of a shard's machine was off from one that all of them can ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShardClock {
    /// Whose clock they asked.
    pub reference: String,
    /// What that clock read less what this machine's read, in nanoseconds: negative where this one was ahead.
    pub offset_ns: i64,
    /// By how much that may have been wrong at the start, either way.
    pub within_ns: u64,
}

impl Shard {
    /// Of a plan that is one of several shards.
    pub(crate) fn of(plan: &Plan, start_at: Option<String>) -> Option<Self> {
        let shard = plan.shard();
        let clock = plan.clock_offset().map(|clock| ShardClock {
            reference: clock.reference.clone(),
            offset_ns: clock.offset_ns,
            within_ns: nanos(clock.within),
        });
        (shard.count() > 1).then(|| Shard {
            index: shard.index(),
            count: shard.count(),
            start_at,
            plan: Some(format!("{:016x}", plan.fingerprint())),
            requests: None,
            clock,
        })
    }
}

/// Of which reports a report was merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merged {
    /// What they are of each other: `runs`, one after another, or `shards` of one run.
    pub of: String,
    /// How many there were.
    pub reports: u64,
}
