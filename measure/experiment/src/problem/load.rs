//! The fourth dimension: how requests arrive.

use super::Written;
use openloop_sched::{Arrivals, Bursts, Profile, Rate};
use openloop_workload::Values;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[cfg(test)]
use super::workload::LawSchema;

/// How requests arrive: at a rate, by a profile, or from users who wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LoadStatement {
    /// Requests per second, whatever the service does. With sessions, sessions per second.
    pub rate: Option<Written<Rate>>,
    /// A rate that changes, instead: `"0->100/10s,100/20s"`. All of it is measured.
    pub profile: Option<Written<Profile>>,
    /// A closed loop, instead: how many users wait for each answer before they ask again.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub users: Option<usize>,
    /// How long those users think.
    pub think: Option<Written<Duration>>,
    /// Why a closed loop is right here: batch workers on one bounded queue.
    pub closed_because: Option<String>,
    /// How arrivals scatter around the rate: `constant`, `poisson` or `gamma:CV`.
    pub arrivals: Option<Written<Arrivals>>,
    /// Random bursts, ON,OFF,FACTOR: `"100ms,900ms,5"`.
    pub bursts: Option<Written<Bursts>>,
    /// Makes each arrival a session: the law of its number of requests.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub sessions: Option<Values>,
    /// The law of the seconds between an answer and the session's next request.
    #[cfg_attr(test, schemars(with = "Option<LawSchema>"))]
    pub session_think: Option<Values>,
    /// What a session does where a request of its is not served.
    pub on_failure: Option<OnFailure>,
    /// The most requests per second that production is expected to bring: what is sized for.
    pub peak: Option<Written<Rate>>,
    /// The most requests in flight at once.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_in_flight: Option<usize>,
    /// What happens to one above it.
    pub on_limit: Option<OnLimit>,
    /// When a request is given up.
    pub timeout: Option<Written<Duration>>,
    /// From when that runs.
    pub timeout_from: Option<RunsFrom>,
    /// What everything random is drawn from.
    pub seed: Option<u64>,
}

/// What happens to a request above the limit on those in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnLimit {
    /// It waits, and its wait counts.
    Queue,
    /// It is never sent, and counts as shed.
    Shed,
}

/// From when a timeout runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunsFrom {
    /// From the instant at which it should have started: a user who gives up.
    Intended,
    /// From its dispatch: a client library.
    Dispatch,
}

/// What a session does where a request of its is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnFailure {
    /// It ends, as of a user who leaves.
    End,
    /// It goes on with its next request, as of a program.
    Continue,
}
