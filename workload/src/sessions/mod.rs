//! The partly-open model: users come as they like, and then do one thing after the other.
//!
//! Sessions arrive open-loop, at a rate σ that no server changes. Within a session each step waits for the one before:
//! its intended instant is the completion of that step plus a think time. Neither an open loop (every request arrives
//! on its own) nor a closed one (a fixed number of users, who wait for a slow server and so spare it) is like it:
//! B. Schroeder, A. Wierman and M. Harchol-Balter, "Open versus closed: a cautionary tale" (NSDI 2006).
//!
//! | symbol | meaning |
//! | --- | --- |
//! | σ | sessions that arrive per second |
//! | N | steps of a session, one request each, at least 1 |
//! | Z | think time between the completion of a step and the intended instant of the next, in seconds |
//! | W | response time of a request, in seconds |
//! | λ = σ·E\[N\] | requests per second |
//!
//! **Stability** asks for λ·E\[S\] < c at a server with c places and a service time S: think times and responses move
//! requests in time, but do not make them fewer. With a session of 10 requests, ten sessions a second are a hundred
//! requests a second.
//!
//! The plan is fixed before anything is sent, step by step, by `(seed, session, step)`. When a step is sent depends on
//! the server, and on nothing else.

mod counts;

pub(crate) use counts::{count, largest, mean_count};

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Values;
use crate::seed::{named, numbered};

/// How many steps sessions have, and how long users think between them.
///
/// # Examples
/// Sessions of 5 requests in the mean, with 8 s to read each answer:
/// ```
/// use openloop_workload::sessions::Sessions;
///
/// let sessions = Sessions::new("exponential:5".parse()?, "lognormal:mean=8,cv=1".parse()?)?;
/// let seed = 7;
/// for step in 1..sessions.steps(seed, 41) {
///     let _pause = sessions.think(seed, 41, step);
/// }
/// // 20 sessions a second are 100 requests a second; as a session has one step at least, a little more.
/// assert!((sessions.request_rate(20.0) - 101.7).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a file it is a table of both laws, each as a text or a table:
/// ```
/// use openloop_workload::sessions::Sessions;
///
/// let sessions: Sessions = serde_json::from_str(r#"{"steps": "fixed:3", "think": "exponential:2"}"#)?;
/// assert_eq!(sessions.steps(1, 0), 3);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table")]
pub struct Sessions {
    steps: Values,
    think: Values,
}

/// The form in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    steps: Values,
    think: Values,
}

impl TryFrom<Table> for Sessions {
    type Error = SessionsError;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        Sessions::new(table.steps, table.think)
    }
}

impl Sessions {
    /// The most steps a session may have, 2²⁴.
    pub const MOST_STEPS: u32 = 1 << 24;

    /// The longest think time, 10⁹ seconds: 31 years.
    pub const LONGEST_THINK: Duration = Duration::from_secs(1_000_000_000);

    /// Sessions with so many steps, to the nearest whole number and at least 1, and think times in seconds.
    ///
    /// # Errors
    /// When a session could have more than [`MOST_STEPS`](Sessions::MOST_STEPS) steps or a think time above
    /// [`LONGEST_THINK`](Sessions::LONGEST_THINK), by a chance that is ever drawn.
    pub fn new(steps: Values, think: Values) -> Result<Self, SessionsError> {
        let most = largest(&steps);
        if most > f64::from(Self::MOST_STEPS) {
            return Err(SessionsError::Steps(most));
        }
        let longest = largest(&think);
        if longest > Self::LONGEST_THINK.as_secs_f64() {
            return Err(SessionsError::Think(longest));
        }
        Ok(Sessions { steps, think })
    }

    /// How many steps session number `session` of a run with this seed has: at least 1.
    #[must_use]
    pub fn steps(&self, seed: u64, session: u64) -> u32 {
        count(&self.steps, named(seed, "steps"), session)
    }

    /// The time between the completion of the step before `step` and the intended instant of `step`, which counts
    /// from 0. Step 0 has none: it starts when the session arrives.
    #[must_use]
    pub fn think(&self, seed: u64, session: u64, step: u32) -> Duration {
        if step == 0 {
            return Duration::ZERO;
        }
        let seed = numbered(named(seed, "think"), session);
        let seconds = self.think.value(seed, u64::from(step));
        // A value is never negative, and `new` has seen that none is too long.
        Duration::try_from_secs_f64(seconds).unwrap_or(Self::LONGEST_THINK)
    }

    /// E\[N\], the mean number of requests of a session, rounding and the least of 1 included.
    #[must_use]
    pub fn mean_requests_per_session(&self) -> f64 {
        mean_count(&self.steps)
    }

    /// E\[Z\], the mean think time.
    #[must_use]
    pub fn mean_think(&self) -> Duration {
        Duration::try_from_secs_f64(self.think.mean()).unwrap_or(Self::LONGEST_THINK)
    }

    /// λ = σ·E\[N\], the requests per second of `session_rate` sessions per second, once as many sessions end as begin:
    /// after the [`mean_session`](Sessions::mean_session) and more.
    #[must_use]
    pub fn request_rate(&self, session_rate: f64) -> f64 {
        session_rate * self.mean_requests_per_session()
    }

    /// σ = λ/E\[N\], the sessions per second that make `request_rate` requests per second.
    #[must_use]
    pub fn session_rate(&self, request_rate: f64) -> f64 {
        request_rate / self.mean_requests_per_session()
    }

    /// How long a session takes in the mean, when a response takes `response`, W, in the mean:
    /// E\[N\]·W + (E\[N\] − 1)·E\[Z\].
    ///
    /// By Little's law σ times this is the mean number of sessions in progress.
    #[must_use]
    pub fn mean_session(&self, response: Duration) -> Duration {
        let requests = self.mean_requests_per_session();
        let seconds = requests * response.as_secs_f64() + (requests - 1.0) * self.think.mean();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// The law of the number of steps.
    #[must_use]
    pub const fn steps_law(&self) -> &Values {
        &self.steps
    }

    /// The law of the think times, in seconds.
    #[must_use]
    pub const fn think_law(&self) -> &Values {
        &self.think
    }
}

/// Why sessions cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// Sessions without an end in sight.
    #[error(
        "a session could have {0:e} steps, more than 16777216: bound the law, as in lognormal:mean=5,cv=2,max=1000"
    )]
    Steps(f64),
    /// Think times without an end in sight.
    #[error(
        "a think time could be {0:e} seconds, above 1e9: bound the law, as in lognormal:mean=8,cv=2,max=3600"
    )]
    Think(f64),
}
