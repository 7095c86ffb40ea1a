//! What a run will do, checked before anything is sent.

use crate::{InFlight, Lifecycle, PlanError, Target, Timeout, TimeoutFrom};
use openloop_measurer::{Kinds, Layout, Span};
use openloop_sched::{Arrivals, Bursts, Precision, Preview, Profile, Rate, Recorded, Schedule};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long the generator goes on releasing arrivals that are overdue at the end of the plan.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

const DRAIN: Duration = Duration::from_secs(10);

/// What one run will do: when requests start, in which phases, within which limits. A checked, immutable value.
///
/// ```
/// use openloop_experiment::{Lifecycle, Plan};
/// use openloop_sched::{Arrivals, Rate};
/// use std::time::Duration;
///
/// let plan = Plan::open(Rate::per_second(2000.0)?)
///     .lifecycle(Lifecycle::quick())
///     .arrivals(Arrivals::Poisson)
///     .timeout(Duration::from_secs(2))
///     .seed(7)
///     .build()?;
///
/// let preview = plan.preview().expect("an open loop has a schedule");
/// assert_eq!(preview.phases[2].0, "steady");
/// assert!((23_000..25_000).contains(&preview.total));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    load: Load,
    layout: Layout,
    limits: Limits,
    kinds: Kinds,
    target: Target,
    seed: u64,
    /// Counted when first asked for.
    preview: Arc<OnceLock<Option<Preview>>>,
}

/// Where arrivals come from.
#[derive(Clone, Debug)]
pub enum Load {
    /// From a schedule, whatever the service does.
    Open {
        /// The instants of all arrivals.
        schedule: Schedule,
        /// The target rate, where there is one rate.
        asked: Option<Rate>,
        /// How exactly the pacer waits.
        precision: Precision,
    },
    /// From users who wait for each answer before they ask again.
    Closed {
        /// How many users there are.
        users: usize,
        /// How long each thinks between an answer and its next request.
        think: Duration,
    },
}

/// The limits on each arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many may be in flight at once.
    pub in_flight: InFlight,
    /// For how long.
    pub timeout: Option<Timeout>,
    /// How long to wait, after the last arrival, for what is in flight.
    pub drain: Duration,
}

impl Plan {
    /// An open loop: `rate` arrivals per second, whatever the service does.
    pub fn open(rate: Rate) -> PlanBuilder {
        PlanBuilder::new(Source::Rate(rate))
    }

    /// An open loop with a rate that changes in time. All of it counts as steady.
    pub fn profile(profile: Profile) -> PlanBuilder {
        PlanBuilder::new(Source::Profile(profile))
    }

    /// An open loop with the arrivals of a trace. All of it counts as steady.
    pub fn recorded(trace: Recorded) -> PlanBuilder {
        PlanBuilder::new(Source::Recorded(trace))
    }

    /// A closed loop: `users` who each wait for the answer before they ask again.
    ///
    /// It is right for batch workers on a bounded queue and wrong for a public service: when the service slows
    /// down, so does the load, and the requests that would have come are missing from the result. Every report
    /// of such a run says that it is a closed loop.
    pub fn closed(users: usize) -> PlanBuilder {
        PlanBuilder::new(Source::Users(users))
    }

    /// Where arrivals come from.
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// The schedule of an open loop.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.load {
            Load::Open { schedule, .. } => Some(schedule),
            Load::Closed { .. } => None,
        }
    }

    /// The phases.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The limits on each arrival.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The kinds of request that results are told apart by.
    #[must_use]
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Where the service runs.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// From which the schedule is drawn.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many arrivals there will be, in total and by phase, counted from the schedule itself: 20 to 40 ns
    /// each, the first time. `None` for a closed loop, which has no arrivals before it runs.
    #[must_use]
    pub fn preview(&self) -> Option<Preview> {
        let count = || {
            let phases: Vec<_> = self
                .layout
                .spans()
                .iter()
                .map(|span| (span.phase.name(), span.from, span.to))
                .collect();
            Some(self.schedule()?.preview(&phases))
        };
        self.preview.get_or_init(count).clone()
    }
}

/// Whether a window has so many arrivals on the average that there is no need to look for one.
fn is_surely_met(schedule: &Schedule, window: Span) -> bool {
    schedule.profile().is_some_and(|profile| {
        let until = |at| profile.integral(at).as_arrivals();
        until(window.to) - until(window.from) > 1000.0
    })
}

#[derive(Clone, Debug)]
enum Source {
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
    think: Option<Duration>,
    in_flight: InFlight,
    timeout: Option<Duration>,
    timeout_from: TimeoutFrom,
    drain: Duration,
    precision: Precision,
    kinds: Vec<String>,
    target: Target,
    seed: u64,
}

impl PlanBuilder {
    fn new(source: Source) -> Self {
        PlanBuilder {
            source,
            lifecycle: None,
            arrivals: None,
            bursts: None,
            think: None,
            in_flight: InFlight::Unlimited,
            timeout: None,
            timeout_from: TimeoutFrom::Intended,
            drain: DRAIN,
            precision: Precision::default(),
            kinds: Vec::new(),
            target: Target::Unknown,
            seed: 1,
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
        if let Load::Open { schedule, .. } = &load
            && !is_surely_met(schedule, steady)
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
        Ok(Plan {
            load,
            layout,
            limits: Limits {
                in_flight: self.in_flight,
                timeout: self.timeout.map(|after| Timeout {
                    after,
                    from: self.timeout_from,
                }),
                // A shorter drain would cut off what may still time out, and its age would say nothing.
                drain: self.drain.max(self.timeout.unwrap_or_default()),
            },
            kinds: Kinds::new(self.kinds)?,
            target: self.target,
            seed: self.seed,
            preview: Arc::default(),
        })
    }

    fn load(&self) -> Result<(Load, Layout), PlanError> {
        let lifecycle = self.lifecycle.unwrap_or_default();
        match &self.source {
            Source::Users(users) => {
                if *users == 0 {
                    return Err(PlanError::NoUsers);
                }
                if self.arrivals.is_some() || self.bursts.is_some() {
                    return Err(PlanError::ScheduleOfClosedLoop);
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
                Ok((self.open(Schedule::recorded(trace.clone()), None), layout))
            }
        }
    }

    fn scheduled(&self, profile: Profile, asked: Option<Rate>) -> Result<Load, PlanError> {
        let profile = match self.bursts {
            Some(bursts) => profile.bursts(bursts, self.seed)?,
            None => profile,
        };
        let arrivals = self.arrivals.unwrap_or(Arrivals::Poisson);
        Ok(self.open(Schedule::new(profile, arrivals, self.seed), asked))
    }

    fn open(&self, schedule: Schedule, asked: Option<Rate>) -> Load {
        Load::Open {
            schedule,
            asked,
            precision: self.precision,
        }
    }

    fn refuse_lifecycle(&self) -> Result<(), PlanError> {
        match self.lifecycle {
            Some(_) => Err(PlanError::LifecycleOfProfile),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_measurer::LayoutError;

    fn rate(rate: f64) -> Rate {
        Rate::per_second(rate).unwrap()
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn phases_follow_each_other_and_their_arrivals_add_up() {
        let lifecycle = Lifecycle {
            ramp_up: secs(10),
            warm_up: secs(5),
            steady: secs(20),
            cooldown: secs(10),
        };
        let plan = Plan::open(rate(100.0))
            .lifecycle(lifecycle)
            .arrivals(Arrivals::Constant)
            .build()
            .unwrap();
        let preview = plan.preview().unwrap();
        assert_eq!(preview.total, 3500);
        assert_eq!(
            preview.phases,
            [
                ("ramp_up", 500),
                ("warm_up", 500),
                ("steady", 2000),
                ("cooldown", 500)
            ]
        );
    }

    #[test]
    fn a_slow_rate_sends_what_it_should() {
        let plan = Plan::open(rate(0.1))
            .lifecycle(Lifecycle::steady_only(secs(30)))
            .arrivals(Arrivals::Constant)
            .build()
            .unwrap();
        assert_eq!(plan.preview().unwrap().total, 3);
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_a_reason() {
        let quick =
            |builder: PlanBuilder| builder.lifecycle(Lifecycle::quick()).build().unwrap_err();
        assert_eq!(quick(Plan::open(Rate::ZERO)), PlanError::NoRate);
        assert_eq!(quick(Plan::closed(0)), PlanError::NoUsers);
        assert_eq!(
            quick(Plan::open(rate(1.0)).think(secs(1))),
            PlanError::ThinkTimeOfOpenLoop
        );
        assert_eq!(
            quick(Plan::closed(1).arrivals(Arrivals::Constant)),
            PlanError::ScheduleOfClosedLoop
        );
        assert_eq!(
            quick(Plan::open(rate(1.0)).in_flight(InFlight::Shed(0))),
            PlanError::NothingInFlight
        );
        assert_eq!(
            quick(Plan::open(rate(1.0)).timeout(Duration::ZERO)),
            PlanError::NoTime
        );
        assert_eq!(
            quick(Plan::profile("5/10s".parse().unwrap())),
            PlanError::LifecycleOfProfile
        );
        let empty = Plan::open(rate(1.0))
            .lifecycle(Lifecycle::steady_only(Duration::ZERO))
            .build();
        assert_eq!(empty.unwrap_err(), PlanError::Layout(LayoutError::NoSteady));
        assert_eq!(
            quick(Plan::closed(1).in_flight(InFlight::Shed(1))),
            PlanError::ShedOfClosedLoop
        );
        let never = Plan::open(rate(0.001))
            .lifecycle(Lifecycle {
                warm_up: secs(1),
                ..Lifecycle::steady_only(secs(30))
            })
            .arrivals(Arrivals::Constant)
            .build();
        assert_eq!(never.unwrap_err(), PlanError::NothingToMeasure(secs(30)));
    }

    #[test]
    fn the_drain_is_never_shorter_than_the_timeout() {
        let plan = Plan::open(rate(1.0)).timeout(secs(30)).build().unwrap();
        assert_eq!(plan.limits().drain, secs(30));
    }
}
