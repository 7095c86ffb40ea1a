//! Puts a plan together, and checks it.

use super::{Limits, Load, Plan};
use crate::{
    ClockOffset, InFlight, Lifecycle, OnFailure, PlanError, Step, Target, Timeout, TimeoutFrom,
};
use openloop_measurer::{Kinds, Layout, Span};
use openloop_sched::{Arrivals, Bursts, Precision, Profile, Rate, Recorded, Schedule, Shard};
use openloop_workload::sessions::Sessions;
use openloop_workload::{named, numbered};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const DRAIN: Duration = Duration::from_secs(10);
/// How many arrivals tell one schedule from another.
const FINGERPRINTED: usize = 1000;

/// Whether a window has so many arrivals on the average that there is no need to look for one.
fn is_surely_met(schedule: &Schedule, shard: Shard, window: Span) -> bool {
    schedule.profile().is_some_and(|profile| {
        let until = |at| profile.integral(at).as_arrivals();
        (until(window.to) - until(window.from)) / shard.count() as f64 > 1000.0
    })
}

#[derive(Clone, Debug)]
pub(super) enum Source {
    Rate(Rate),
    Profile(Profile),
    Recorded(Recorded),
    Users(usize),
}

/// Puts a [`Plan`] together; all checks are in [`build`](PlanBuilder::build).
#[must_use = "a plan is made by build()"]
#[derive(Clone, Debug)]
pub struct PlanBuilder {
    source: Source,
    lifecycle: Option<Lifecycle>,
    arrivals: Option<Arrivals>,
    bursts: Option<Bursts>,
    sessions: Option<Arc<Sessions>>,
    on_failure: Option<OnFailure>,
    think: Option<Duration>,
    in_flight: InFlight,
    timeout: Option<Duration>,
    timeout_from: TimeoutFrom,
    drain: Duration,
    precision: Precision,
    kinds: Vec<String>,
    target: Target,
    seed: u64,
    shard: Shard,
    start_at: Option<SystemTime>,
    clock_offset: Option<ClockOffset>,
}

impl PlanBuilder {
    pub(super) fn new(source: Source) -> Self {
        PlanBuilder {
            source,
            lifecycle: None,
            arrivals: None,
            bursts: None,
            sessions: None,
            on_failure: None,
            think: None,
            in_flight: InFlight::Unlimited,
            timeout: None,
            timeout_from: TimeoutFrom::Intended,
            drain: DRAIN,
            precision: Precision::default(),
            kinds: Vec::new(),
            target: Target::Unknown,
            seed: 1,
            shard: Shard::WHOLE,
            start_at: None,
            clock_offset: None,
        }
    }

    /// The phases; without it [`Lifecycle::default`]. Not for profiles and traces, which are all steady.
    pub fn lifecycle(mut self, lifecycle: Lifecycle) -> Self {
        self.lifecycle = Some(lifecycle);
        self
    }

    /// How arrivals scatter around the rate; without it, Poisson: the traffic of many independent users.
    pub fn arrivals(mut self, arrivals: Arrivals) -> Self {
        self.arrivals = Some(arrivals);
        self
    }

    /// Modulates the rate by random bursts.
    pub fn bursts(mut self, bursts: Bursts) -> Self {
        self.bursts = Some(bursts);
        self
    }

    /// Makes each arrival a session of one or more requests: a partly open loop.
    ///
    /// Sessions arrive by the schedule, whatever the service does, so the rate is now one of *sessions*. Within a
    /// session each request waits for the one before: its intended instant is the completion of that one plus a think
    /// time, and everything is counted from there: lag, response, timeout, phase. Later requests are released by the
    /// same pacer as first ones, and as precisely. None becomes due at or after the end of the plan; what is in flight
    /// then is drained. [`Step`] says which request of which session an arrival is.
    ///
    /// # When it matters
    /// A service that slows down delays the later requests of the sessions in progress, and so spares itself a
    /// little, as one with real users does; new sessions keep coming. With one request a session this is an open
    /// loop, to the nanosecond. The longer sessions are, the more it resembles a closed loop: of the same service at
    /// the same utilisation, an open loop sees mean responses of several times those of a closed one where service
    /// times vary, and a partly open one behaves as the open with up to about 5 requests a session and as the closed
    /// from about 10 on (a rule of thumb, principle vii of B. Schroeder, A. Wierman and M. Harchol-Balter, "Open versus
    /// closed: a cautionary tale", NSDI 2006, section 6). So take the length of your own sessions, and do not compare
    /// figures of different lengths.
    ///
    /// The plan alone does not set the rate of requests. It tends to σ·E\[N\], sessions per second times requests of
    /// a session, if the service keeps up, once as many sessions end as begin: let ramp-up and warm-up be longer than a
    /// [mean session](Sessions::mean_session). Sessions that [end early](OnFailure::End) or are cut off by the end make
    /// it fewer.
    ///
    /// # Example
    /// 20 sessions a second of 5 requests or so, with half a second to read each answer:
    /// ```
    /// use openloop_experiment::{Lifecycle, Plan};
    /// use openloop_sched::Rate;
    /// use openloop_workload::sessions::Sessions;
    ///
    /// let sessions = Sessions::new("exponential:5".parse()?, "exponential:0.5".parse()?)?;
    /// let plan = Plan::open(Rate::per_second(20.0)?)
    ///     .sessions(sessions)
    ///     .lifecycle(Lifecycle::quick())
    ///     .build()?;
    /// let requests_per_second = plan.sessions().unwrap().request_rate(20.0);
    /// assert!((requests_per_second - 101.7).abs() < 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sessions(mut self, sessions: Sessions) -> Self {
        self.sessions = Some(Arc::new(sessions));
        self
    }

    /// What a session does when one of its requests is not served; without it, [`OnFailure::End`].
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = Some(on_failure);
        self
    }

    /// The same plan at another rate, which for a profile, a trace or users becomes the rate of an open loop with
    /// phases: for a sweep.
    pub fn at(mut self, rate: Rate) -> Self {
        self.source = Source::Rate(rate);
        self
    }

    /// The same plan along a profile, all of which counts as steady: without phases of its own.
    pub fn along(mut self, profile: Profile) -> Self {
        self.source = Source::Profile(profile);
        self.lifecycle = None;
        self
    }

    /// The phases that a plan at one rate will have.
    pub(crate) fn phases(&self) -> Lifecycle {
        self.lifecycle.unwrap_or_default()
    }

    /// How long the users of a closed loop think; without it, not at all.
    pub fn think(mut self, think: Duration) -> Self {
        self.think = Some(think);
        self
    }

    /// The limit on what is in flight; without it, none.
    pub fn in_flight(mut self, in_flight: InFlight) -> Self {
        self.in_flight = in_flight;
        self
    }

    /// The limit on the time of each arrival; without it, none.
    pub fn timeout(mut self, after: Duration) -> Self {
        self.timeout = Some(after);
        self
    }

    /// From when the timeout runs; without it, from the intended instant.
    pub fn timeout_from(mut self, from: TimeoutFrom) -> Self {
        self.timeout_from = from;
        self
    }

    /// How long to wait for what is in flight after the last arrival; without it, 10 s, or the timeout where
    /// that is longer.
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// How exactly the pacer waits; without it, [`Precision::default`].
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// The names of the kinds of request, where there are several: results are then told apart by the
    /// [kind](crate::Work::kind) of each arrival.
    pub fn kinds<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.kinds = names.into_iter().map(Into::into).collect();
        self
    }

    /// Where the service runs, for the checks of validity.
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// From which everything random is drawn; without it, 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sends one shard of the schedule alone: the others are sent by other processes, on this machine or on others, each
    /// with the same plan but for this. Rates in the plan and in its report are those of all together. They begin at one
    /// instant by [`start_at`](PlanBuilder::start_at), and `Report::merge_shards` puts their reports together.
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = shard;
        self
    }

    /// Begins at this instant by the wall clock, to which the clocks of all machines of the run must be set; without it,
    /// once everything is set up.
    ///
    /// Setting up comes before, so let it be some seconds away: a run that is not ready by then is refused, since it
    /// would begin with arrivals that are late.
    pub fn start_at(mut self, at: SystemTime) -> Self {
        self.start_at = Some(at);
        self
    }

    /// The instant of [`start_at`](PlanBuilder::start_at) is by a clock that all machines of the run have asked, from which
    /// that of this machine is so far off. The report then says by how much the beginnings of the shards may differ.
    pub fn clock_offset(mut self, offset: ClockOffset) -> Self {
        self.clock_offset = Some(offset);
        self
    }

    /// The same plan for one user who thinks for so long between requests.
    pub(crate) fn alone(mut self, think: Duration, lifecycle: Lifecycle) -> Self {
        self.source = Source::Users(1);
        self.think = Some(think);
        self.lifecycle = Some(lifecycle);
        self.in_flight = InFlight::Unlimited;
        (self.arrivals, self.bursts) = (None, None);
        (self.sessions, self.on_failure) = (None, None);
        self
    }

    /// Where the service runs, as far as it has been said.
    pub(crate) fn is_for(&self) -> Target {
        self.target
    }

    /// From which everything random is drawn.
    pub(crate) fn seeded(&self) -> u64 {
        self.seed
    }

    /// Checks everything.
    ///
    /// # Errors
    /// When nothing would be sent or measured, a limit is zero, or options do not go together; the message says
    /// which and what to do.
    pub fn build(self) -> Result<Plan, PlanError> {
        if self.in_flight.limit() == Some(0) {
            return Err(PlanError::NothingInFlight);
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(PlanError::NoTime);
        }
        let (load, layout) = self.load()?;
        let steady = layout.steady();
        if let Load::Open { schedule, .. } | Load::PartlyOpen { schedule, .. } = &load
            && !is_surely_met(schedule, self.shard, steady)
            && schedule.count_within(steady.from, steady.to) == 0
        {
            return Err(PlanError::NothingToMeasure(steady.length()));
        }
        if matches!(
            (&load, self.in_flight),
            (Load::Closed { .. }, InFlight::Shed(_))
        ) {
            return Err(PlanError::ShedOfClosedLoop);
        }
        let limits = Limits {
            in_flight: self.in_flight,
            timeout: self.timeout.map(|after| Timeout {
                after,
                from: self.timeout_from,
            }),
            // A shorter drain would cut off what may still time out, and its age would say nothing.
            drain: self.drain.max(self.timeout.unwrap_or_default()),
        };
        let told_apart = format!("{:?} {limits:?} {:?}", layout.spans(), self.sessions);
        Ok(Plan {
            fingerprint: named(self.of_schedule(&load), &told_apart),
            load,
            layout,
            limits,
            kinds: Kinds::new(self.kinds)?,
            target: self.target,
            seed: self.seed,
            shard: self.shard,
            start_at: self.start_at,
            clock_offset: self.clock_offset,
            preview: Arc::default(),
        })
    }

    /// A number of the beginning of a schedule and of its size: of the whole one, whatever the shard.
    fn of_schedule(&self, load: &Load) -> u64 {
        let (Load::Open { schedule, .. } | Load::PartlyOpen { schedule, .. }) = load else {
            return self.seed;
        };
        let expected = schedule
            .profile()
            .map(|profile| profile.integral(profile.end()).as_arrivals().to_bits());
        let whole = schedule.clone().whole();
        let instants = whole
            .take(FINGERPRINTED)
            .map(|ticket| ticket.intended.as_nanos());
        instants
            .chain([schedule.end().as_nanos()])
            .chain(expected)
            .fold(self.seed, numbered)
    }

    fn load(&self) -> Result<(Load, Layout), PlanError> {
        let lifecycle = self.lifecycle.unwrap_or_default();
        if self.on_failure.is_some() && self.sessions.is_none() {
            return Err(PlanError::FailureWithoutSessions);
        }
        match &self.source {
            Source::Users(users) => {
                if *users == 0 {
                    return Err(PlanError::NoUsers);
                }
                if self.arrivals.is_some() || self.bursts.is_some() {
                    return Err(PlanError::ScheduleOfClosedLoop);
                }
                if self.shard.count() > 1 {
                    return Err(PlanError::ShardOfClosedLoop);
                }
                if self.sessions.is_some() {
                    return Err(PlanError::SessionsOfClosedLoop);
                }
                let think = self.think.unwrap_or_default();
                let users = *users;
                Ok((Load::Closed { users, think }, lifecycle.layout()?))
            }
            _ if self.think.is_some() => Err(PlanError::ThinkTimeOfOpenLoop),
            Source::Rate(rate) => {
                if rate.is_zero() {
                    return Err(PlanError::NoRate);
                }
                // The layout first: its message about an empty steady phase is the clearer one.
                let layout = lifecycle.layout()?;
                let load = self.scheduled(lifecycle.profile(*rate)?, Some(*rate))?;
                Ok((load, layout))
            }
            Source::Profile(profile) => {
                self.refuse_lifecycle()?;
                let layout = Layout::steady_only(profile.end().as_duration())?;
                Ok((self.scheduled(profile.clone(), None)?, layout))
            }
            Source::Recorded(trace) => {
                self.refuse_lifecycle()?;
                if self.arrivals.is_some() || self.bursts.is_some() {
                    return Err(PlanError::ArrivalsOfTrace);
                }
                let layout = Layout::steady_only(trace.end().as_duration())?;
                Ok((self.open(Schedule::recorded(trace.clone()), None)?, layout))
            }
        }
    }

    fn scheduled(&self, profile: Profile, asked: Option<Rate>) -> Result<Load, PlanError> {
        let profile = match self.bursts {
            Some(bursts) => profile.bursts(bursts, self.seed)?,
            None => profile,
        };
        let arrivals = self.arrivals.unwrap_or(Arrivals::Poisson);
        self.open(Schedule::new(profile, arrivals, self.seed), asked)
    }

    fn open(&self, whole: Schedule, asked: Option<Rate>) -> Result<Load, PlanError> {
        let schedule = whole.shard(self.shard.index(), self.shard.count())?;
        let precision = self.precision;
        let Some(sessions) = self.sessions.clone() else {
            return Ok(Load::Open {
                schedule,
                asked,
                precision,
            });
        };
        let count = schedule
            .profile()
            .map_or(0.0, |profile| profile.integral(profile.end()).as_arrivals());
        // Half of what there is: a count at random is not twice its mean.
        if count > Step::MOST_SESSIONS as f64 / 2.0 {
            return Err(PlanError::TooManySessions(count));
        }
        Ok(Load::PartlyOpen {
            schedule,
            asked,
            precision,
            sessions,
            on_failure: self.on_failure.unwrap_or_default(),
        })
    }

    fn refuse_lifecycle(&self) -> Result<(), PlanError> {
        match self.lifecycle {
            Some(_) => Err(PlanError::LifecycleOfProfile),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
