//! The later requests of sessions: when they are due, and what becomes of the sessions.

use super::serve::Shared;
use super::stop::Stop;
use crate::plan::Load;
use crate::{OnFailure, Plan, SessionCounts, Step, Work};
use openloop_measurer::{Outcome, Recorder, Sample, Span};
use openloop_sched::{Offset, Pacer, Schedule, Ticket};
use openloop_workload::sessions::Sessions;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long after the end of the plan a driver still takes up requests that became due just before it.
const SETTLE: Duration = Duration::from_millis(5);

/// What follows from the end of an arrival.
pub(crate) trait Then: 'static {
    /// It has ended like this. Dropped instead, it was shed, panicked, or was cut off.
    fn ended(self, sample: &Sample);
}

/// In an open loop, nothing.
impl Then for () {
    fn ended(self, _: &Sample) {}
}

/// How one request of a session leads to the next, in one driver.
#[derive(Debug)]
pub(crate) struct Succession {
    sessions: Arc<Sessions>,
    seed: u64,
    on_failure: OnFailure,
    steady: Span,
    /// The end of the plan: nothing becomes due from then on.
    end: Offset,
    recorder: Recorder,
    /// One message for each request that was awaited: the next, if it becomes due.
    successors: UnboundedSender<Option<Ticket>>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    /// Requests in flight that another may follow. Counted by the pump alone.
    awaited: AtomicU64,
    started: AtomicU64,
    finished: AtomicU64,
    ended_early: AtomicU64,
    due_in_steady: AtomicU64,
    first_unsent: AtomicU64,
    later_due: AtomicU64,
    later_released: AtomicU64,
    later_unsent: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl Succession {
    /// A request was released.
    pub(crate) fn begin(self: &Arc<Self>, ticket: Ticket) -> Underway {
        let step = Step::of(ticket);
        if step.is_first() {
            count(&self.tally.started);
            self.count_first(ticket);
        } else {
            count(&self.tally.later_released);
        }
        let index = step.index() + 1;
        let more = index < self.sessions.steps(self.seed, step.session());
        let next = more.then(|| Step::new(step.session(), index)).flatten();
        if next.is_some() {
            count(&self.tally.awaited);
        }
        Underway {
            of: self.clone(),
            next,
            ended: false,
        }
    }

    /// A request was due and is not released.
    fn unsent(&self, ticket: Ticket) {
        if Step::of(ticket).is_first() {
            count(&self.tally.first_unsent);
            self.count_first(ticket);
        } else {
            count(&self.tally.later_unsent);
        }
    }

    fn count_first(&self, ticket: Ticket) {
        if self.steady.contains(ticket.intended) {
            count(&self.tally.due_in_steady);
        }
    }

    /// The request before `next` has ended.
    fn ended(&self, next: Option<Step>, at: Offset, served: bool) {
        let Some(next) = next else {
            count(&self.tally.finished);
            return;
        };
        let goes_on = served || self.on_failure == OnFailure::Continue;
        let successor = goes_on.then(|| Ticket {
            seq: next.seq(),
            intended: at.saturating_add(self.sessions.think(
                self.seed,
                next.session(),
                next.index(),
            )),
        });
        let successor = successor.filter(|ticket| ticket.intended < self.end);
        if !goes_on {
            count(&self.tally.ended_early);
        }
        if successor.is_some() {
            count(&self.tally.later_due);
        }
        // Fails only after the run, when what comes next is not part of it.
        let _ = self.successors.send(successor);
    }

    fn counts(&self) -> SessionCounts {
        let of = |counter: &AtomicU64| counter.load(Relaxed);
        let tally = &self.tally;
        let (started, later_released) = (of(&tally.started), of(&tally.later_released));
        SessionCounts {
            started,
            finished: of(&tally.finished),
            ended_early: of(&tally.ended_early),
            steps: started + later_released,
            due_in_steady: of(&tally.due_in_steady),
            first_unsent: of(&tally.first_unsent),
            later_due: of(&tally.later_due),
            later_taken_up: later_released + of(&tally.later_unsent),
        }
    }
}

/// A request of a session, from its release to its end.
#[derive(Debug)]
pub(crate) struct Underway {
    of: Arc<Succession>,
    /// What follows it, if it is not the last.
    next: Option<Step>,
    ended: bool,
}

impl Then for Underway {
    fn ended(mut self, sample: &Sample) {
        self.ended = true;
        let served = sample.outcome == Outcome::Ok;
        self.of.ended(self.next, sample.ended, served);
    }
}

/// Shed, or a panic of the work: both are failures. What is cut off at the end of a run comes too late to matter.
impl Drop for Underway {
    fn drop(&mut self) {
        if !self.ended {
            self.of.ended(self.next, self.of.recorder.now(), false);
        }
    }
}

/// The requests that have become due, on their way to the pacer of one driver.
#[derive(Debug)]
pub(crate) struct Successors {
    of: Arc<Succession>,
    receiver: UnboundedReceiver<Option<Ticket>>,
}

impl Successors {
    /// Of a plan that is partly open.
    pub(crate) fn of(plan: &Plan, recorder: &Recorder) -> Option<Self> {
        let Load::PartlyOpen {
            schedule,
            sessions,
            on_failure,
            ..
        } = plan.load()
        else {
            return None;
        };
        let (successors, receiver) = unbounded_channel();
        let of = Arc::new(Succession {
            sessions: sessions.clone(),
            seed: plan.seed(),
            on_failure: *on_failure,
            steady: plan.layout().steady(),
            end: schedule.end(),
            recorder: recorder.clone(),
            successors,
            tally: Tally::default(),
        });
        Some(Successors { of, receiver })
    }

    pub(crate) fn succession(&self) -> Arc<Succession> {
        self.of.clone()
    }

    /// Hands to `pacer` what has become due, and keeps it open for as long as more may. Wakes the task when there is
    /// more.
    pub(super) fn hand_over(&mut self, cx: &mut Context<'_>, pacer: &mut Pacer<Schedule>) {
        let awaited = &self.of.tally.awaited;
        while let Poll::Ready(Some(successor)) = self.receiver.poll_recv(cx) {
            awaited.fetch_sub(1, Relaxed);
            if let Some(ticket) = successor {
                pacer.insert(ticket);
            }
        }
        pacer.stay_open(if awaited.load(Relaxed) > 0 {
            self.of.end.saturating_add(SETTLE)
        } else {
            Offset::ZERO
        });
    }

    pub(super) fn unsent(&self, ticket: Ticket) {
        self.of.unsent(ticket);
    }

    /// After the drain: writes down what was due by the end of the run and became known too late, and says what
    /// became of the sessions.
    pub(crate) fn settle<W: Work>(mut self, shared: &Shared<W>, stop: &Stop) -> SessionCounts {
        let ended = stop
            .stopped_at(shared.recorder.start())
            .unwrap_or(self.of.end);
        while let Ok(successor) = self.receiver.try_recv() {
            if let Some(ticket) = successor
                && ticket.intended < ended
            {
                shared.unsent(ticket, ended);
                self.of.unsent(ticket);
            }
        }
        self.of.counts()
    }
}
