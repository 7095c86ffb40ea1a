//! Which request of which session an arrival is.

use openloop_sched::Ticket;
use openloop_workload::sessions::Sessions;
use std::future::Future;

/// Which request of which session an arrival of a [partly open](crate::Plan::open) plan is.
///
/// It is what the number of the arrival means, and the other way round:
///
/// seq = session + step · 2⁴⁰
///
/// So a session's first request has the number that it would have in an open loop, every request has a number of its
/// own, and whatever is drawn by `(seed, seq)` is a function of the seed, the session and the step alone. Samplers
/// that take the number for a place in time, such as keys of the latest entries, are given
/// [`session`](Step::session) instead.
///
/// ```
/// use openloop_experiment::Step;
///
/// let step = Step::of_seq(41);
/// assert_eq!((step.session(), step.index()), (41, 0));
/// let third = Step::new(41, 2).unwrap();
/// assert_eq!(Step::of_seq(third.seq()), third);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    session: u64,
    index: u32,
}

const SESSION_BITS: u32 = 40;

impl Step {
    /// How many sessions can be told apart: 2⁴⁰, at a million per second those of 12 days.
    pub const MOST_SESSIONS: u64 = 1 << SESSION_BITS;

    /// Step `index` of `session`, both from 0. `None` from [`MOST_SESSIONS`](Step::MOST_SESSIONS) or
    /// [`Sessions::MOST_STEPS`] on.
    #[must_use]
    pub const fn new(session: u64, index: u32) -> Option<Self> {
        if session < Self::MOST_SESSIONS && index < Sessions::MOST_STEPS {
            Some(Step { session, index })
        } else {
            None
        }
    }

    /// That of an arrival.
    #[must_use]
    pub const fn of(ticket: Ticket) -> Self {
        Step::of_seq(ticket.seq)
    }

    /// That of the arrival with this number.
    #[must_use]
    pub const fn of_seq(seq: u64) -> Self {
        Step {
            session: seq & (Self::MOST_SESSIONS - 1),
            // 24 bits are left.
            index: (seq >> SESSION_BITS) as u32,
        }
    }

    /// The number of its arrival.
    #[must_use]
    pub const fn seq(self) -> u64 {
        self.session | (self.index as u64) << SESSION_BITS
    }

    /// The number of the session, from 0 in the order of their arrival.
    #[must_use]
    pub const fn session(self) -> u64 {
        self.session
    }

    /// The number of the step in its session, from 0.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Whether it is the one with which the session arrives.
    #[must_use]
    pub const fn is_first(self) -> bool {
        self.index == 0
    }
}

/// Work that is told which step of which session each arrival is.
///
/// # Example
/// Users who open a page and then leaf through their cart; each takes 20 ms to read an answer:
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # async fn get(_path: String) {}
/// use openloop_experiment::{Lifecycle, Plan, Step, drive, in_sessions};
/// use openloop_sched::Rate;
/// use openloop_workload::sessions::Sessions;
/// use std::time::Duration;
///
/// let plan = Plan::open(Rate::per_second(100.0)?)
///     .sessions(Sessions::new("fixed:3".parse()?, "fixed:0.02".parse()?)?)
///     .lifecycle(Lifecycle::steady_only(Duration::from_millis(300)))
///     .build()?;
/// let work = in_sessions(|step: Step| {
///     get(match step.index() {
///         0 => "/".to_owned(),
///         page => format!("/carts/{}?page={page}", step.session()),
///     })
/// });
/// let run = drive::shared(&plan, work).await?;
/// let sessions = run.sessions().ok_or("a run in sessions")?;
/// assert_eq!(sessions.started, sessions.finished + sessions.unfinished());
/// # Ok(())
/// # }
/// ```
pub fn in_sessions<F, Fut>(work: F) -> impl Fn(Ticket) -> Fut + use<F, Fut>
where
    F: Fn(Step) -> Fut + 'static,
    Fut: Future + 'static,
{
    move |ticket| work(Step::of(ticket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_steps_are_one_to_one_up_to_the_last_of_both() {
        let last = Step::new(Step::MOST_SESSIONS - 1, Sessions::MOST_STEPS - 1).unwrap();
        assert_eq!(last.seq(), u64::MAX);
        for (session, index) in [(0, 0), (7, 0), (0, 1), (123_456_789, 77)] {
            let step = Step::new(session, index).unwrap();
            assert_eq!(Step::of_seq(step.seq()), step);
            assert_eq!((step.session(), step.index()), (session, index));
            assert_eq!(step.is_first(), step.seq() == session);
        }
        assert_eq!(Step::of_seq(u64::MAX), last);
        assert_eq!(Step::new(Step::MOST_SESSIONS, 0), None);
        assert_eq!(Step::new(0, Sessions::MOST_STEPS), None);
    }
}
