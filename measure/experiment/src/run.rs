//! What a run gave.

use crate::environment::Environment;
use crate::health::HealthReport;
use crate::plan::Load;
use crate::series::{Metric, Series};
use crate::stats::Kendall;
use crate::validity::{UnknownCheck, Validity};
use crate::{Generator, Plan, SessionCounts};
use openloop_measurer::{Kind, Snapshot};
use openloop_sched::Offset;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// A backlog that grows by less than this share of what is offered may be chance.
const GROWTH: f64 = 0.005;

/// How many parts of the steady phase are compared in the test of a trend.
const BATCHES: usize = 12;

/// What a run gave: everything recorded, what the generator cost, and whether it may be believed.
#[derive(Clone, Debug)]
pub struct Run {
    parts: Parts,
    health: HealthReport,
    validity: Validity,
}

#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) plan: Plan,
    pub(crate) snapshot: Snapshot,
    pub(crate) start: Instant,
    pub(crate) started_at: SystemTime,
    pub(crate) environment: Environment,
    pub(crate) generator: Generator,
    pub(crate) interrupted: Option<Offset>,
    pub(crate) sessions: Option<SessionCounts>,
}

/// Whether the arrivals came whatever the service did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopKind {
    /// They did.
    Open,
    /// Sessions did, and within a session each request waited for the answer before.
    PartlyOpen,
    /// They waited for answers.
    Closed,
}

impl LoopKind {
    /// Name in reports: `open`, `partly_open`, `closed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LoopKind::Open => "open",
            LoopKind::PartlyOpen => "partly_open",
            LoopKind::Closed => "closed",
        }
    }
}

impl Run {
    pub(crate) fn new(parts: Parts) -> Self {
        let health = HealthReport {
            abandoned: parts.snapshot.counts().abandoned,
            descriptors_left: parts
                .environment
                .descriptors
                .map(|(before, after)| after as i64 - before as i64),
            check: None,
        };
        let mut run = Run {
            parts,
            health,
            validity: Validity::default(),
        };
        run.validity = Validity::of(&run);
        run
    }

    pub(crate) fn set_health(&mut self, check: Option<Result<(), String>>) {
        self.health.check = check;
    }

    /// What was planned.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.parts.plan
    }

    /// The instant from which the offsets of the run count.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.parts.start
    }

    /// The same by the wall clock, as it was when the run was about to begin: that it is set later moves nothing.
    #[must_use]
    pub fn started_at(&self) -> SystemTime {
        self.parts.started_at
    }

    /// Everything recorded.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.parts.snapshot
    }

    /// The machine that the generator ran on.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.parts.environment
    }

    /// What the generator itself cost.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.parts.generator
    }

    /// The instant at which the run was stopped, where it did not reach its end.
    #[must_use]
    pub fn interrupted(&self) -> Option<Offset> {
        self.parts.interrupted
    }

    /// What was found after the drain.
    #[must_use]
    pub fn health(&self) -> &HealthReport {
        &self.health
    }

    /// Whether the run may be believed.
    #[must_use]
    pub fn validity(&self) -> &Validity {
        &self.validity
    }

    /// Lets the check `name` fail without making the run invalid; the report keeps its figures.
    ///
    /// # Errors
    /// When there is no such check.
    pub fn waive(&mut self, name: &str) -> Result<(), UnknownCheck> {
        self.validity.waive(name)
    }

    /// Whether it was an open loop, or partly open, or closed.
    #[must_use]
    pub fn loop_kind(&self) -> LoopKind {
        match self.plan().load() {
            Load::Open { .. } => LoopKind::Open,
            Load::PartlyOpen { .. } => LoopKind::PartlyOpen,
            Load::Closed { .. } => LoopKind::Closed,
        }
    }

    /// What became of the sessions, where arrivals came in sessions.
    #[must_use]
    pub fn sessions(&self) -> Option<&SessionCounts> {
        self.parts.sessions.as_ref()
    }

    /// The rate of arrivals asked for, per second; `None` for a profile, a trace, sessions or a closed loop, which
    /// have no one rate of arrivals.
    #[must_use]
    pub fn asked_per_second(&self) -> Option<f64> {
        match self.plan().load() {
            Load::Open { asked, .. } => asked.map(|rate| rate.as_per_second()),
            Load::PartlyOpen { .. } | Load::Closed { .. } => None,
        }
    }

    /// The rate of sessions asked for, per second; `None` where arrivals do not come in sessions, or at no one rate.
    #[must_use]
    pub fn asked_sessions_per_second(&self) -> Option<f64> {
        match self.plan().load() {
            Load::PartlyOpen { asked, .. } => asked.map(|rate| rate.as_per_second()),
            Load::Open { .. } | Load::Closed { .. } => None,
        }
    }

    /// How long the steady phase lasted: as planned, or until the run was stopped.
    #[must_use]
    pub fn steady_length(&self) -> Duration {
        let steady = self.snapshot().layout().steady();
        let end = self.interrupted().map_or(steady.to, |at| at.min(steady.to));
        end.saturating_since(steady.from)
    }

    /// Arrivals of the realised schedule in the steady phase, per second of it; `None` if it was never reached.
    #[must_use]
    pub fn offered_per_second(&self) -> Option<f64> {
        per_second(
            self.snapshot().steady_counts().scheduled,
            self.steady_length(),
        )
    }

    /// Arrivals that were served and whose *completion* lies in the steady window, per second of it; `None` if it
    /// was never reached. Of a run that was stopped, the window ends with the last whole one of the
    /// [slices](openloop_measurer::SLICES) before the stop: what completes in the drain is not achieved.
    #[must_use]
    pub fn achieved_per_second(&self) -> Option<f64> {
        let end = self.snapshot().layout().steady().to;
        let end = self.interrupted().map_or(end, |at| at.min(end));
        let (completions, counted) = self.snapshot().course().ok_completions_before(end);
        per_second(completions, counted)
    }

    /// One latency over the steady phase.
    #[must_use]
    pub fn series(&self, metric: &Metric) -> Series {
        Series::of(self.snapshot().windows(), metric)
    }

    /// The same of one kind of request, or of the arrivals without a label. Empty if there are none.
    ///
    /// ```no_run
    /// # fn read(run: &openloop_experiment::Run) -> Option<()> {
    /// use openloop_experiment::Metric;
    /// use openloop_measurer::Quantile;
    ///
    /// let write = run.plan().kinds().get("write")?;
    /// println!("{:?}", run.series_of(write, &Metric::Response).quantile(Quantile::P99));
    /// println!("{:?}", run.snapshot().of_kind(write).counts());
    /// # Some(())
    /// # }
    /// ```
    #[must_use]
    pub fn series_of(&self, kind: impl Into<Option<Kind>>, metric: &Metric) -> Series {
        Series::of(self.snapshot().of_kind(kind).windows(), metric)
    }

    /// Whether the backlog grew over the steady phase: Kendall's τ over the means of twelve parts of it, of the
    /// response and of the number in flight, both rising at the level of 1 %, and the latter by more than half a percent
    /// of what is offered: one run in a hundred or so rises by chance, and by little.
    ///
    /// `None` unless there is one rate of arrivals asked for: where the rate itself changes, users wait for answers,
    /// or sessions accumulate, a rise says nothing; and `None` where a twelfth of the phase has no arrival.
    #[must_use]
    pub fn backlog(&self) -> Option<Backlog> {
        self.asked_per_second()?;
        let course = self.snapshot().course();
        let responses: Vec<f64> = course
            .response_means_ns(BATCHES)
            .into_iter()
            .collect::<Option<_>>()?;
        let in_flight = course.in_flight_means(BATCHES);
        let response = Kendall::of(&responses)?;
        let stays = Kendall::of(&in_flight)?;
        let (first, last) = (in_flight.first()?, in_flight.last()?);
        let between = self.snapshot().layout().steady().length().as_secs_f64()
            * (BATCHES - 1) as f64
            / BATCHES as f64;
        let per_second = (last - first) / between;
        let offered = self.offered_per_second().unwrap_or(0.0);
        Some(Backlog {
            grows: response.rises() && stays.rises() && per_second > GROWTH * offered,
            per_second,
            response_tau: response.tau,
            response_p: response.p,
            in_flight_tau: stays.tau,
            in_flight_p: stays.p,
        })
    }
}

fn per_second(count: u64, length: Duration) -> Option<f64> {
    let length = length.as_secs_f64();
    (length > 0.0).then(|| count as f64 / length)
}

/// Whether more came than was served.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Backlog {
    /// Whether the responses and the number in flight both rise, significantly and by more than chance explains.
    pub grows: bool,
    /// By how many the number in flight grew per second.
    pub per_second: f64,
    /// Kendall's τ of the mean responses.
    pub response_tau: f64,
    /// Its two-sided p-value.
    pub response_p: f64,
    /// Kendall's τ of the mean numbers in flight.
    pub in_flight_tau: f64,
    /// Its two-sided p-value.
    pub in_flight_p: f64,
}
