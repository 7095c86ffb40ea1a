//! What a run will do, checked before anything is sent.

mod builder;

pub use builder::PlanBuilder;

use crate::{ClockOffset, InFlight, OnFailure, Target, Timeout};
use builder::Source;
use openloop_measurer::{Kinds, Layout};
use openloop_sched::{Precision, Preview, Profile, Rate, Recorded, Schedule, Shard};
use openloop_workload::named;
use openloop_workload::sessions::Sessions;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// How long the generator goes on releasing arrivals that are overdue at the end of the plan.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

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
    shard: Shard,
    start_at: Option<SystemTime>,
    clock_offset: Option<ClockOffset>,
    fingerprint: u64,
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
    /// In sessions, which come from a schedule, whatever the service does, and whose later requests wait for the
    /// answers to the earlier ones.
    PartlyOpen {
        /// The instants of all sessions.
        schedule: Schedule,
        /// The target rate of sessions, where there is one rate.
        asked: Option<Rate>,
        /// How exactly the pacer waits.
        precision: Precision,
        /// How many requests sessions have, and how long their users think.
        sessions: Arc<Sessions>,
        /// What a session does when one of them is not served.
        on_failure: OnFailure,
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

    /// The schedule: of all arrivals of an open loop or, partly open, of all sessions; of a [shard](Plan::shard), of its own.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.load {
            Load::Open { schedule, .. } | Load::PartlyOpen { schedule, .. } => Some(schedule),
            Load::Closed { .. } => None,
        }
    }

    /// What sessions are like, where arrivals come in sessions.
    #[must_use]
    pub fn sessions(&self) -> Option<&Sessions> {
        match &self.load {
            Load::PartlyOpen { sessions, .. } => Some(sessions),
            Load::Open { .. } | Load::Closed { .. } => None,
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

    /// Which part of the schedule this process sends; [`Shard::WHOLE`] where it is alone.
    #[must_use]
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// A number that shards of one run have in common, and plans of other loads hardly share: of the first thousand arrivals
    /// of all shards together, of how many there will be, in what phases, and within which limits.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// When it begins by the wall clock, where that has been agreed on.
    #[must_use]
    pub fn start_at(&self) -> Option<SystemTime> {
        self.start_at
    }

    /// How far the wall clock of this machine is off from the one by which it begins, where that has been measured.
    #[must_use]
    pub fn clock_offset(&self) -> Option<&ClockOffset> {
        self.clock_offset.as_ref()
    }

    /// The agreed instant by the wall clock of this machine.
    pub(crate) fn start_here(&self) -> Option<SystemTime> {
        let at = self.start_at?;
        match &self.clock_offset {
            None => Some(at),
            Some(clock) => clock.here(at),
        }
    }

    /// A number that no plan of another seed has, to put into each request where a cache of the service would
    /// otherwise know it from an earlier run: into the query of a URL, a key, the beginning of a prompt. It is derived
    /// from the [seed](Plan::seed), so that the same plan asks for the same again.
    ///
    /// ```
    /// # use openloop_experiment::{Lifecycle, Plan};
    /// # use openloop_sched::Rate;
    /// let base = Plan::open(Rate::per_second(5.0)?).lifecycle(Lifecycle::quick());
    /// let [one, other] = [base.clone().seed(1).build()?, base.seed(2).build()?];
    /// let url = |plan: &Plan| format!("http://shop.test/products/7?run={:x}", plan.nonce());
    /// assert_ne!(url(&one), url(&other));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn nonce(&self) -> u64 {
        named(self.seed, "nonce")
    }

    /// About how many arrivals there will be, by the rate alone; `None` where there is no rate.
    #[must_use]
    pub fn expected(&self) -> Option<f64> {
        Some(self.schedule()?.profile()?.expected())
    }

    /// How many arrivals there will be, in total and by phase, counted from the schedule itself: 20 to 40 ns
    /// each, the first time. `None` for a closed loop, which has no arrivals before it runs.
    ///
    /// Of a plan with [sessions](Plan::sessions) these are its sessions, with one arrival each: how many more follow
    /// depends on the service as well.
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
