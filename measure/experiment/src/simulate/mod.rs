//! Runs a plan against a service that exists only as arithmetic.

mod batcher;
mod engines;
mod station;

pub use batcher::{Batcher, EmptyBatches};
pub use engines::{Tokens, simulate_engines};
pub use station::{Pauses, Station, StationError};

use crate::drive::{DriveError, Users};
use crate::environment::Environment;
use crate::generator::Generator;
use crate::plan::Load;
use crate::run::{Parts, Run};
use crate::{InFlight, Limits, Plan, TimeoutFrom};
use openloop_measurer::{Kind, Outcome, Recorder, Sample};
use openloop_sched::{Offset, Ticket};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// A service that exists only as arithmetic: it says at once when each request would end.
pub trait Simulated {
    /// Begins a run anew: whatever is drawn at random comes from `seed`.
    fn begin(&mut self, seed: u64);

    /// What becomes of a request that reaches the service at `at`. Calls come in order of `at`.
    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served;
}

/// What became of a request of a simulated service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// When its answer came.
    pub ended: Offset,
    /// What the answer was.
    pub outcome: Outcome,
    /// Which kind of request it was.
    pub kind: Option<Kind>,
}

/// Runs `plan` against `service` in virtual time: as fast as the machine computes, some 0.3 µs an arrival, and exact to
/// the nanosecond. The generator of such a run is never late; everything else is as in any other: phases, limits,
/// timeouts, drain, histograms and intervals.
///
/// It is for rehearsing an experiment before it costs hours, and for trying a rule on a service whose truth is known.
///
/// ```
/// use openloop_experiment::simulate::{Station, simulate};
/// use openloop_experiment::{Lifecycle, Metric, Plan};
/// use openloop_measurer::Quantile;
/// use openloop_sched::Rate;
///
/// // M/M/1 at half its capacity: responses are exponential with mean 2 ms.
/// let plan = Plan::open(Rate::per_second(500.0)?).lifecycle(Lifecycle::default()).build()?;
/// let run = simulate(&plan, Station::new(1, "exponential:0.001".parse()?)?)?;
/// let median = run.series(&Metric::Response).quantile(Quantile::P50).unwrap();
/// assert!((median.ns() as f64 / (2e6 * 2_f64.ln()) - 1.0).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DriveError::NotSimulated`] where arrivals come in sessions.
pub fn simulate(plan: &Plan, service: impl Simulated) -> Result<Run, DriveError> {
    simulate_watched(plan, service, |_| ControlFlow::Continue(()))
}

/// Arrivals from one look to the next: a hundredth of a second or so.
const LOOK: u64 = 1 << 15;

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// The instant of the run.
    pub at: Offset,
    /// Arrivals so far.
    pub arrivals: u64,
}

/// The same, looked at every 32 768 arrivals: for long ones, to tell how far they are, and to stop them. A run that is
/// stopped is one that was [interrupted](Run::interrupted) at that instant.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_watched(
    plan: &Plan,
    mut service: impl Simulated,
    mut watch: impl FnMut(Reached) -> ControlFlow<()>,
) -> Result<Run, DriveError> {
    let (mut arrivals, mut interrupted) = (0, None);
    let mut goes_on = |at: Offset| {
        arrivals += 1;
        let goes_on = arrivals % LOOK != 0 || watch(Reached { at, arrivals }).is_continue();
        if !goes_on {
            interrupted = Some(at);
        }
        goes_on
    };
    service.begin(plan.seed());
    let start = Instant::now();
    let recorder = Recorder::with_kinds(start, plan.layout().clone(), plan.kinds().clone());
    let mut desk = Desk::new(plan, &recorder, service);
    match plan.load() {
        Load::Open { schedule, .. } => {
            for ticket in schedule.clone() {
                if !goes_on(ticket.intended) {
                    break;
                }
                desk.arrive(ticket);
            }
        }
        Load::Closed { users, think } => {
            let users = Users::new(*users, *think, plan.layout().clone());
            let mut ready: BinaryHeap<_> = users
                .of_shard(0, 1)
                .map(|user| Reverse((users.begin(user), user)))
                .collect();
            let mut seq = 0;
            while let Some(Reverse((intended, user))) = ready.pop() {
                if intended >= users.end(user) {
                    continue;
                }
                if !goes_on(intended) {
                    break;
                }
                let ended = desk.arrive(Ticket { seq, intended });
                seq += 1;
                ready.push(Reverse((ended.saturating_add(*think), user)));
            }
        }
        Load::PartlyOpen { .. } => return Err(DriveError::NotSimulated),
    }
    Ok(Run::new(Parts {
        plan: plan.clone(),
        snapshot: recorder.finish(),
        start,
        started_at: SystemTime::now(),
        environment: Environment::default(),
        generator: Generator::simulated(plan.layout().end()),
        interrupted,
        sessions: None,
    }))
}

/// Where arrivals are let in, and their ends written down.
struct Desk<'a, S> {
    recorder: &'a Recorder,
    service: S,
    limits: Limits,
    /// When the drain ends.
    closes: Offset,
    /// When those in flight end; only kept where their number is limited.
    in_flight: BinaryHeap<Reverse<Offset>>,
}

impl<'a, S: Simulated> Desk<'a, S> {
    fn new(plan: &Plan, recorder: &'a Recorder, service: S) -> Self {
        Desk {
            recorder,
            service,
            limits: plan.limits(),
            closes: plan.layout().end().saturating_add(plan.limits().drain),
            in_flight: BinaryHeap::new(),
        }
    }

    /// When the arrival ended.
    fn arrive(&mut self, ticket: Ticket) -> Offset {
        let sample = self.settle(ticket);
        if let (Some(_), Some(_)) = (sample.dispatched, self.limits.in_flight.limit()) {
            self.in_flight.push(Reverse(sample.ended));
        }
        self.recorder.write(sample);
        sample.ended
    }

    fn settle(&mut self, ticket: Ticket) -> Sample {
        let at = ticket.intended;
        let Some(dispatched) = self.admit(at) else {
            return undispatched(ticket, at, Outcome::Shed);
        };
        let timeout = self.limits.timeout;
        let deadline = timeout.map(|timeout| {
            let from = match timeout.from {
                TimeoutFrom::Intended => at,
                TimeoutFrom::Dispatched => dispatched,
            };
            from.saturating_add(timeout.after)
        });
        if let Some(deadline) = deadline.filter(|deadline| dispatched >= *deadline) {
            return undispatched(ticket, deadline, Outcome::TimedOut);
        }
        if dispatched >= self.closes {
            return undispatched(ticket, self.closes, Outcome::Abandoned);
        }
        let served = self.service.serve(ticket, dispatched);
        let cut = deadline.map_or((self.closes, Outcome::Abandoned), |deadline| {
            match deadline <= self.closes {
                true => (deadline, Outcome::TimedOut),
                false => (self.closes, Outcome::Abandoned),
            }
        });
        let (ended, outcome) = match served.ended >= cut.0 {
            true => cut,
            false => (served.ended, served.outcome),
        };
        Sample::new(ticket, at, dispatched, ended, outcome).of_kind(served.kind)
    }

    /// When an arrival at `at` is dispatched; `None` if it is shed.
    fn admit(&mut self, at: Offset) -> Option<Offset> {
        let Some(limit) = self.limits.in_flight.limit() else {
            return Some(at);
        };
        while let Some(Reverse(ended)) = self.in_flight.peek()
            && *ended <= at
        {
            self.in_flight.pop();
        }
        if self.in_flight.len() < limit {
            return Some(at);
        }
        match self.limits.in_flight {
            InFlight::Shed(_) => None,
            InFlight::Queue(_) | InFlight::Unlimited => {
                let Reverse(place) = self.in_flight.pop()?;
                Some(place.max(at))
            }
        }
    }
}

fn undispatched(ticket: Ticket, ended: Offset, outcome: Outcome) -> Sample {
    let at = ticket.intended;
    let mut sample = Sample::new(ticket, at, at, ended, outcome);
    sample.dispatched = None;
    sample
}

impl Served {
    /// Served at `ended`.
    #[must_use]
    pub fn at(ended: Offset) -> Self {
        Served {
            ended,
            outcome: Outcome::Ok,
            kind: None,
        }
    }
}

/// A length of time in seconds, in whole nanoseconds; what is out of range is the nearest that is not.
fn seconds(length: f64) -> Duration {
    Duration::from_nanos((length * 1e9).round() as u64)
}
