//! The inner timings and counts of one finished arrival, on their way into the recorder.

use std::time::Duration;
use tokio::time::Instant;

/// The stage that [`Details::acquire`] records.
pub(crate) const ACQUIRE: &str = "acquire";

/// One named number of one arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    /// A named duration in nanoseconds; it may repeat within one arrival.
    Duration(&'static str, u64),
    /// The same, of a whole answer: what was not served has none, and is later than all that was.
    OfAnswer(&'static str, u64),
    /// The one told just before, which runs from the intended instant, without the generator's lateness.
    SinceFired(&'static str, u64),
    /// A named count, summed over arrivals.
    Count(&'static str, u64),
}

/// Takes the inner timings and counts of one finished arrival.
///
/// It writes straight into the recorder's buffer: nothing is allocated for a sample. Names are `snake_case`
/// and appear in the report under `metrics` (durations) and `counts`.
#[derive(Debug)]
pub struct Details<'a> {
    into: &'a mut Vec<Detail>,
    acquire_ns: u64,
    received: Option<Instant>,
    intended: Instant,
    lag: Duration,
}

impl<'a> Details<'a> {
    pub(crate) fn new(into: &'a mut Vec<Detail>, intended: Instant, lag: Duration) -> Self {
        Details {
            into,
            intended,
            lag,
            acquire_ns: 0,
            received: None,
        }
    }

    /// A named duration: a stage (`connect`, `first_byte`), or one that repeats (`itl`).
    pub fn duration(&mut self, name: &'static str, taken: Duration) {
        self.into.push(Detail::Duration(name, nanos(taken)));
    }

    /// A named duration that belongs to a whole answer, such as the time to its first token: once for an arrival.
    ///
    /// An arrival that was not served has none, whatever came of it; quantiles over all arrivals rank it above those that
    /// were served, with its age for a lower bound, so that no failure can make one better.
    pub fn of_answer(&mut self, name: &'static str, taken: Duration) {
        self.into.push(Detail::OfAnswer(name, nanos(taken)));
    }

    /// When the arrival should have started: what an adapter's own instants are counted from, where a user waits for
    /// them, such as the first token of an answer.
    #[must_use]
    pub fn intended(&self) -> Instant {
        self.intended
    }

    /// A named duration from the [intended](Details::intended) instant until `at`: 0 where `at` lies before it.
    pub fn since_intended(&mut self, name: &'static str, at: Instant) {
        self.duration(name, at.saturating_duration_since(self.intended));
    }

    /// The same, of a [whole answer](Details::of_answer): what users wait for before its end.
    ///
    /// The generator's lateness is in it as it is in the response, of which it may be a small part, and so a run is valid
    /// only where that is little for it as well.
    pub fn answer_since_intended(&mut self, name: &'static str, at: Instant) {
        let taken = at.saturating_duration_since(self.intended);
        self.of_answer(name, taken);
        let since_fired = nanos(taken.saturating_sub(self.lag));
        self.into.push(Detail::SinceFired(name, since_fired));
    }

    /// Stages by name: those that the arrival came to.
    pub fn durations(
        &mut self,
        stages: impl IntoIterator<Item = (&'static str, Option<Duration>)>,
    ) {
        for (name, taken) in stages {
            if let Some(taken) = taken {
                self.duration(name, taken);
            }
        }
    }

    /// The wait on our side of the wire before the exchange began: for a pooled connection, a stream slot.
    ///
    /// It is the stage `acquire`, and it is what the exchange leaves out of the service time.
    pub fn acquire(&mut self, waited: Duration) {
        self.duration(ACQUIRE, waited);
        self.acquire_ns = self.acquire_ns.saturating_add(nanos(waited));
    }

    /// A named count, summed over all arrivals: bytes, tokens, connections opened.
    pub fn count(&mut self, name: &'static str, by: u64) {
        self.into.push(Detail::Count(name, by));
    }

    /// Counts by name; those of 0 are left out.
    pub fn counts(&mut self, counts: impl IntoIterator<Item = (&'static str, u64)>) {
        for (name, by) in counts {
            if by > 0 {
                self.count(name, by);
            }
        }
    }

    /// The kernel's receive stamp of the last byte of the answer.
    pub fn received(&mut self, at: Instant) {
        self.received = Some(at);
    }

    pub(crate) fn finish(self) -> (u64, Option<Instant>) {
        (self.acquire_ns, self.received)
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
