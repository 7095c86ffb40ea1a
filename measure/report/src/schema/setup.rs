//! What was asked of the run.

use super::nanos;
use openloop_experiment::{InFlight, Load, Plan, TimeoutFrom};
use serde::{Deserialize, Serialize};

/// The limits on each arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
            Load::Open { .. } => None,
            Load::Closed { users, think } => Some(Closed {
                users: *users as u64,
                think_ns: nanos(*think),
            }),
        }
    }
}
