//! What becomes of a service when more comes than it can serve, and how long it takes to recover.
//!
//! One run of ten equal parts, without a pause between them:
//!
//! ```text
//!  rate
//!   │          ┌──────────┐
//!   │          │  above   │
//!   ├╌╌╌╌╌╌╌╌╌╌┤          ├╌╌╌╌╌╌╌╌╌╌╌╌╌ what the service can serve
//!   │ below    │          │ below
//!   └─┴───┴───┴───┴───┴───┴───┴───┴───┴──► parts
//!     0   1   2   3   4   5   6   7   8  9
//!    warm before    overload      after
//! ```
//!
//! ```
//! use openloop_experiment::resilience::{Degradation, Overload};
//! use openloop_experiment::simulate::{Station, simulate};
//! use openloop_experiment::Plan;
//! use openloop_measurer::Quantile;
//! use openloop_sched::Rate;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Four workers, 400 requests a second at the most; 20 may wait, and whoever comes then is turned away.
//! let service = Station::new(4, "exponential:0.010".parse()?)?.waiting(20);
//! let overload = Overload::new(Rate::per_second(250.0)?, Rate::per_second(800.0)?, Duration::from_secs(10));
//! let stated = Degradation::default()
//!     .accepted(Quantile::P99, Duration::from_millis(150))
//!     .recovers_within(Duration::from_secs(2));
//! let base = Plan::open(Rate::per_second(1.0)?);
//! let resilience = overload
//!     .run(&base, &stated, async |plan| simulate(plan, service.clone()))
//!     .await?;
//! resilience.assert();
//! assert!(resilience.during().shed() > 0.4, "{resilience}");
//! # Ok(())
//! # }
//! ```

mod degradation;
mod recovery;
mod stage;
mod text;

pub use degradation::{Claim, Degradation};
pub use stage::Stage;

use crate::drive::DriveError;
use crate::{Plan, PlanBuilder, ProtocolError, Run, Verdict};
use openloop_sched::{Profile, Rate};
use openloop_workload::named;
use std::time::Duration;

const STEP: &str = "resilience";

/// Of the ten parts of the run: the first warms up; then so many before, …
const BEFORE: std::ops::Range<usize> = 1..3;
/// … so many of overload …
const DURING: std::ops::Range<usize> = 3..6;
/// … and so many after it.
const AFTER: std::ops::Range<usize> = 6..10;

/// A run below what a service can serve, above it, and below again.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "it is made by run()"]
pub struct Overload {
    below: Rate,
    above: Rate,
    part: Duration,
}

impl Overload {
    /// At `below` for three parts of the length `part`, at `above` for three, at `below` for four. Take rates of 0.7 and
    /// 1.5 times λ_max, and a part of several times as long as what the service does from time to time.
    pub fn new(below: Rate, above: Rate, part: Duration) -> Self {
        Overload { below, above, part }
    }

    /// Checks the rates, as [`run`](Overload::run) does before anything else.
    ///
    /// # Errors
    /// When `above` is not above `below`.
    pub fn check(&self) -> Result<(), ProtocolError> {
        if self.above > self.below {
            return Ok(());
        }
        Err(ProtocolError::Options(format!(
            "an overload of {}/s is none after {}/s: give a higher rate",
            self.above.as_per_second(),
            self.below.as_per_second()
        )))
    }

    /// Makes the run, with the limits, kinds, target and seed of `base`, and holds it against the `stated` degradation.
    ///
    /// # Errors
    /// When `above` is not above `below`, or the run cannot be planned or does not come about.
    pub async fn run(
        self,
        base: &PlanBuilder,
        stated: &Degradation,
        mut trial: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Resilience, ProtocolError> {
        self.check()?;
        let steps = [
            (self.below, 3 * self.part),
            (self.above, 3 * self.part),
            (self.below, 4 * self.part),
        ];
        let planned = |source| ProtocolError::Plan { step: STEP, source };
        let profile = Profile::step(&steps).map_err(|error| planned(error.into()))?;
        let seed = named(base.seeded(), STEP);
        let plan = base
            .clone()
            .along(profile)
            .seed(seed)
            .build()
            .map_err(planned)?;
        let run = trial(&plan).await.map_err(|source| ProtocolError::Drive {
            step: STEP,
            run: 1,
            source,
        })?;
        Ok(Resilience::of(run, stated))
    }
}

/// What an overload did to a service.
#[derive(Clone, Debug)]
pub struct Resilience {
    run: Run,
    stages: [Stage; 3],
    recovery: Option<Duration>,
    resolution: Duration,
    claims: Vec<Claim>,
    verdict: Verdict,
    why: Vec<String>,
}

impl Resilience {
    fn of(run: Run, stated: &Degradation) -> Self {
        let stages = [BEFORE, DURING, AFTER].map(|parts| Stage::of(&run, parts));
        let (recovery, resolution) = recovery::of(&run);
        let mut resilience = Resilience {
            run,
            stages,
            recovery,
            resolution,
            claims: Vec::new(),
            verdict: Verdict::Pass,
            why: Vec::new(),
        };
        resilience.claims = stated.claims(&resilience);
        let claims = resilience.claims.iter();
        resilience.verdict = claims
            .map(|claim| claim.verdict)
            .min()
            .unwrap_or(Verdict::Pass);
        let mut lower = |to: Verdict, why: String| {
            resilience.verdict = resilience.verdict.min(to);
            resilience.why.push(why);
        };
        if !resilience.stages[1].is_overload_of(&resilience.stages[0]) {
            lower(
                Verdict::Inconclusive,
                "the overload was none: nothing was shed and nobody waited longer; take a higher rate"
                    .to_owned(),
            );
        }
        if resilience.run.interrupted().is_some() {
            lower(Verdict::Inconclusive, "the run was interrupted".to_owned());
        }
        for check in resilience.run.validity().faults() {
            resilience.verdict = Verdict::Invalid;
            resilience.why.push(check.why.clone());
        }
        resilience
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Before the overload.
    #[must_use]
    pub fn before(&self) -> &Stage {
        &self.stages[0]
    }

    /// During the overload.
    #[must_use]
    pub fn during(&self) -> &Stage {
        &self.stages[1]
    }

    /// After the overload.
    #[must_use]
    pub fn after(&self) -> &Stage {
        &self.stages[2]
    }

    /// How long after the end of the overload arrivals were served as before, to within the
    /// [resolution](Resilience::resolution); `None` if they never were.
    #[must_use]
    pub fn recovery(&self) -> Option<Duration> {
        self.recovery
    }

    /// How exactly the time to recover is known: a 120th of the run.
    #[must_use]
    pub fn resolution(&self) -> Duration {
        self.resolution
    }

    /// The stated degradation, claim by claim.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Whether the service degrades as stated.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// What decided beside the claims.
    #[must_use]
    pub fn why(&self) -> &[String] {
        &self.why
    }

    /// Does nothing if the verdict is [`Verdict::Pass`]: for tests.
    ///
    /// # Panics
    /// If it is any other, with every number behind it.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.verdict == Verdict::Pass, "\n{self}");
    }
}
