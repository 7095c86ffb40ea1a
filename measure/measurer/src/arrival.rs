//! One released arrival: it has exactly one end, because it can be consumed once.

use crate::outcome::PANIC;
use crate::{
    Classify, Describe, Described, Details, Kind, Measured, Outcome, Recorder, Sample, Verdict,
};
use openloop_sched::{Due, Offset, Ticket};
use std::future::Future;
use std::num::NonZeroU64;
use std::time::Duration;

/// One released arrival.
///
/// It is consumed once: by measuring a future, or by saying that there will be none. Dropped without that, it
/// counts as [`Abandoned`](Outcome::Abandoned); so the books balance by ownership, whatever happens to tasks.
#[must_use = "an arrival that is dropped counts as abandoned"]
#[derive(Debug)]
pub struct Arrival {
    recorder: Recorder,
    due: Due,
    /// Nanoseconds plus one, so that the option takes no room.
    dispatched: Option<NonZeroU64>,
    kind: Option<Kind>,
    /// Set while the user's code runs. Still set in `drop`, it tells a panic from a cancellation:
    /// `std::thread::panicking()` would call every future a panic that is dropped by a panicking test.
    in_user_code: bool,
    ended: bool,
}

impl Arrival {
    pub(crate) fn new(recorder: Recorder, due: Due) -> Self {
        Arrival {
            recorder,
            due,
            dispatched: None,
            kind: None,
            in_user_code: false,
            ended: false,
        }
    }

    /// Which arrival this is, and when it should have started.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.due.ticket
    }

    /// When it was released.
    #[must_use]
    pub fn fired(&self) -> Offset {
        self.due.fired
    }

    /// The same arrival with a label: results are told apart by it, however the arrival ends.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use openloop_measurer::{Kinds, Layout, Recorder};
    /// # use std::time::Duration;
    /// # use tokio::time::Instant;
    /// let kinds = Kinds::new(["read", "write"])?;
    /// let layout = Layout::steady_only(Duration::from_secs(60))?;
    /// let recorder = Recorder::with_kinds(Instant::now(), layout, kinds.clone());
    ///
    /// let write = kinds.get("write");
    /// recorder.arrive_at(0, recorder.start()).of_kind(write).shed();
    /// assert_eq!(recorder.snapshot().of_kind(write).counts().shed, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_kind(mut self, kind: impl Into<Option<Kind>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// The kind of request that it is, if it has a label.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Measures a future whose output describes itself: `()`, an adapter's reply, a `Result` of such.
    pub fn measure<F>(self, future: F) -> Measured<F, Described>
    where
        F: Future,
        F::Output: Describe,
    {
        self.measure_by(future, Described)
    }

    /// Measures any future, with a closure that says what its output means:
    /// `arrival.measure_with(client.get(url), |reply| …)`, or [`ok_err`](crate::ok_err).
    pub fn measure_with<F, C>(self, future: F, classify: C) -> Measured<F, C>
    where
        F: Future,
        C: Fn(&F::Output) -> Verdict,
    {
        self.measure_by(future, classify)
    }

    /// Measures any future, with a classifier.
    pub fn measure_by<F, C>(self, future: F, classify: C) -> Measured<F, C>
    where
        F: Future,
        C: Classify<F::Output>,
    {
        Measured::new(self, future, classify)
    }

    /// It will never be sent: too many are in flight.
    pub fn shed(self) -> Sample {
        self.end(Outcome::Shed)
    }

    /// Its limit on time ran out before it was dispatched.
    pub fn timed_out(self) -> Sample {
        self.end(Outcome::TimedOut)
    }

    fn end(mut self, outcome: Outcome) -> Sample {
        let now = self.recorder.now();
        self.finish(now, outcome, |_| {})
    }

    pub(crate) fn dispatch(&mut self) {
        if self.dispatched.is_none() {
            let now = self.recorder.now().max(self.due.fired);
            self.dispatched = NonZeroU64::MIN.checked_add(now.as_nanos());
            self.recorder.dispatched(now);
        }
    }

    pub(crate) fn enter_user_code(&mut self) {
        self.in_user_code = true;
    }

    pub(crate) fn leave_user_code(&mut self) {
        self.in_user_code = false;
    }

    pub(crate) fn now(&self) -> Offset {
        self.recorder.now()
    }

    pub(crate) fn finish(
        &mut self,
        ended: Offset,
        outcome: Outcome,
        details: impl FnOnce(&mut Details<'_>),
    ) -> Sample {
        let dispatched = self
            .dispatched
            .map(|plus_one| Offset::from_nanos(plus_one.get() - 1));
        let sample = Sample {
            seq: self.due.ticket.seq,
            intended: self.due.ticket.intended,
            fired: self.due.fired,
            dispatched,
            ended: ended.max(dispatched.unwrap_or(self.due.fired)),
            received: None,
            acquire: Duration::ZERO,
            kind: self.kind,
            outcome,
        };
        let sample = self.recorder.record(sample, details);
        self.ended = true;
        sample
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        if !self.ended {
            let outcome = if self.in_user_code {
                Outcome::Failed(PANIC)
            } else {
                Outcome::Abandoned
            };
            let now = self.recorder.now();
            self.finish(now, outcome, |_| {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_takes_48_bytes_with_its_label() {
        assert_eq!(size_of::<Arrival>(), 48);
    }
}
