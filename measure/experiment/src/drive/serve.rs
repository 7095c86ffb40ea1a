//! The life of one arrival after its release.

use super::live::LiveTasks;
use crate::{InFlight, Limits, TimeoutFrom, Work};
use openloop_measurer::{Arrival, Classify, Details, Kind, Recorder, Sample, Verdict};
use openloop_sched::{Due, Offset, Ticket};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

/// What all arrivals of one driver share.
pub(crate) struct Shared<W> {
    work: W,
    pub(crate) recorder: Recorder,
    limits: Limits,
    permits: Option<Arc<Semaphore>>,
    pub(crate) live: LiveTasks,
}

/// The place of an arrival in flight, or what it must do to get one.
pub(crate) enum Admission {
    /// There is no limit.
    Free,
    /// It has its place, and gives it back when dropped.
    Held { _permit: OwnedSemaphorePermit },
    /// It queues for one.
    Queue(Arc<Semaphore>),
}

/// The places in flight of a whole run, however many drivers it has.
pub(crate) fn places(limits: Limits) -> Option<Arc<Semaphore>> {
    let limit = limits.in_flight.limit()?;
    Some(Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS))))
}

impl<W: Work> Shared<W> {
    pub(crate) fn new(
        work: W,
        recorder: Recorder,
        limits: Limits,
        permits: Option<Arc<Semaphore>>,
    ) -> Arc<Self> {
        // Where the work is not `Send`, the handle never leaves its thread.
        #[allow(clippy::arc_with_non_send_sync)]
        Arc::new(Shared {
            work,
            recorder,
            limits,
            permits,
            live: LiveTasks::default(),
        })
    }

    /// Takes up a released arrival; `None` if it was shed.
    pub(crate) fn admit(&self, due: Due) -> Option<(Arrival, Admission)> {
        let arrival = self.recorder.arrive(due).of_kind(self.kind(due.ticket));
        let admission = match (&self.permits, self.limits.in_flight) {
            (None, _) | (_, InFlight::Unlimited) => Admission::Free,
            (Some(permits), InFlight::Queue(_)) => Admission::Queue(permits.clone()),
            (Some(permits), InFlight::Shed(_)) => match permits.clone().try_acquire_owned() {
                Ok(permit) => Admission::Held { _permit: permit },
                Err(_) => {
                    arrival.shed();
                    return None;
                }
            },
        };
        Some((arrival, admission))
    }

    /// Writes down an arrival that was due and never released.
    pub(crate) fn unsent(&self, ticket: Ticket, gave_up: Offset) {
        let sample = Sample::unsent(ticket, gave_up);
        self.recorder.write(sample.of_kind(self.kind(ticket)));
    }

    /// The kind of an arrival. This is the user's code, and the generator goes on if it panics: the arrival then is
    /// of a kind that no plan names.
    fn kind(&self, ticket: Ticket) -> Option<Kind> {
        catch_unwind(AssertUnwindSafe(|| self.work.kind(ticket)))
            .unwrap_or_else(|_| Some(Kind::new(usize::MAX)))
    }

    /// From admission to the end of one arrival.
    pub(crate) async fn serve(&self, arrival: Arrival, admission: Admission) -> Sample {
        let ticket = arrival.ticket();
        let deadline = self.deadline(ticket);
        let _place = match admission {
            // Boxed, so that an arrival that need not queue does not carry the room for it.
            Admission::Queue(places) => {
                match Box::pin(within(deadline, places.acquire_owned())).await {
                    Ok(Ok(permit)) => Admission::Held { _permit: permit },
                    Ok(Err(_never_closed)) => Admission::Free,
                    Err(Elapsed { .. }) => return arrival.timed_out(),
                }
            }
            admission => admission,
        };
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            // Nobody waits for it any more, so it is not sent.
            return arrival.timed_out();
        }
        // It stays where it is made: futures are large, and each hand that it passes through would copy it.
        let call = pin!(async { self.work.call(ticket).await });
        let classify = self.work.classify();
        match (deadline, self.limits.timeout) {
            (Some(deadline), _) => {
                let call = timeout_at(deadline, call);
                arrival.measure_by(call, OrTimedOut(classify)).await.1
            }
            (None, Some(limit)) => {
                let call = timeout(limit.after, call);
                arrival.measure_by(call, OrTimedOut(classify)).await.1
            }
            (None, None) => arrival.measure_by(call, By(classify)).await.1,
        }
    }

    /// The instant at which the arrival's user gives up, where the timeout runs from the intended instant.
    fn deadline(&self, ticket: Ticket) -> Option<Instant> {
        let limit = self.limits.timeout?;
        match limit.from {
            TimeoutFrom::Intended => {
                let intended = self.recorder.start() + ticket.intended.as_duration();
                intended.checked_add(limit.after)
            }
            TimeoutFrom::Dispatched => None,
        }
    }
}

async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Result<F::Output, Elapsed> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await,
        None => Ok(future.await),
    }
}

/// Counts a task as alive until dropped.
pub(crate) struct Alive<W>(Arc<Shared<W>>);

impl<W> Alive<W> {
    pub(crate) fn new(shared: &Arc<Shared<W>>) -> Self {
        shared.live.begin();
        Alive(shared.clone())
    }

    pub(crate) fn shared(&self) -> &Shared<W> {
        &self.0
    }
}

impl<W> Drop for Alive<W> {
    fn drop(&mut self) {
        self.0.live.end();
    }
}

/// A borrowed classifier.
struct By<'a, C>(&'a C);

impl<O, C: Classify<O>> Classify<O> for By<'_, C> {
    fn verdict(&self, output: &O) -> Verdict {
        self.0.verdict(output)
    }

    fn details(&self, output: &O, into: &mut Details<'_>) {
        self.0.details(output, into);
    }
}

/// A borrowed classifier of outputs that may have run out of time.
struct OrTimedOut<'a, C>(&'a C);

impl<O, C: Classify<O>> Classify<Result<O, Elapsed>> for OrTimedOut<'_, C> {
    fn verdict(&self, output: &Result<O, Elapsed>) -> Verdict {
        match output {
            Ok(output) => self.0.verdict(output),
            Err(Elapsed { .. }) => Verdict::TimedOut,
        }
    }

    fn details(&self, output: &Result<O, Elapsed>, into: &mut Details<'_>) {
        if let Ok(output) = output {
            self.0.details(output, into);
        }
    }
}
