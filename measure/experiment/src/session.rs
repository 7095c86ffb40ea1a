//! What becomes of sessions.

use std::ops::Add;

/// What a session does when one of its requests is not served: fails, runs out of time, is rejected or shed.
///
/// It decides how a service that fails is loaded. Users who leave take their later requests with them, and so spare
/// it; users who go on keep up the load. Which of them yours are, only your own data tell; a report says how many
/// sessions ended early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// It ends: the user leaves, and what they would have asked next is never due.
    #[default]
    End,
    /// It goes on: the next request is due a think time after the failure.
    Continue,
}

impl OnFailure {
    /// Name in reports: `end`, `continue`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OnFailure::End => "end",
            OnFailure::Continue => "continue",
        }
    }
}

/// What became of the sessions of a run.
///
/// Always `started = finished + ended_early + unfinished`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCounts {
    /// Sessions whose first request was released.
    pub started: u64,
    /// Sessions whose last request has ended, however it ended.
    pub finished: u64,
    /// Sessions that ended before their last request, because an earlier one was not served: see [`OnFailure::End`].
    pub ended_early: u64,
    /// Requests that were released, first ones and later ones.
    pub steps: u64,
    /// Sessions of the steady phase, whether or not their first request was released.
    pub(crate) due_in_steady: u64,
    /// Sessions whose first request was due and not released.
    pub(crate) first_unsent: u64,
    /// Later requests that became due …
    pub(crate) later_due: u64,
    /// … and that were released, or written down as unsent.
    pub(crate) later_taken_up: u64,
}

impl SessionCounts {
    /// Sessions that the end of the run cut off: their next request would have been due after it, or their last one
    /// of it did not end.
    #[must_use]
    pub fn unfinished(&self) -> u64 {
        self.started
            .saturating_sub(self.finished)
            .saturating_sub(self.ended_early)
    }

    /// Requests per session, as they were in this run: below the mean of the plan where sessions ended early or were
    /// cut off. `None` if none started.
    #[must_use]
    pub fn mean_steps(&self) -> Option<f64> {
        (self.started > 0).then(|| self.steps as f64 / self.started as f64)
    }
}

/// Of the drivers of one run.
impl Add for SessionCounts {
    type Output = SessionCounts;

    fn add(self, other: SessionCounts) -> SessionCounts {
        SessionCounts {
            started: self.started + other.started,
            finished: self.finished + other.finished,
            ended_early: self.ended_early + other.ended_early,
            steps: self.steps + other.steps,
            due_in_steady: self.due_in_steady + other.due_in_steady,
            first_unsent: self.first_unsent + other.first_unsent,
            later_due: self.later_due + other.later_due,
            later_taken_up: self.later_taken_up + other.later_taken_up,
        }
    }
}
