//! The same run several times.

mod stability;

pub use stability::{QuantileVariation, Stability, Steadiness};

use crate::drive::DriveError;
use crate::plan::PlanBuilder;
use crate::series::{Metric, Series};
use crate::{Plan, ProtocolError, Run};
use openloop_measurer::Kind;
use openloop_workload::{named, numbered};
use std::fmt;

/// How often a run is repeated, and what is done when the repetitions disagree.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::simulate::{Station, simulate};
/// use openloop_experiment::{Metric, Plan, Replication, Slo};
/// use openloop_measurer::Quantile;
/// use openloop_sched::Rate;
///
/// let base = Plan::open(Rate::per_second(50.0)?);
/// let station = Station::new(1, "exponential:0.01".parse()?)?;
/// let replicas = Replication::new(3)?
///     .retest(1)
///     .measure(base, async |plan| simulate(plan, station.clone()))
///     .await?;
///
/// println!("{}", replicas.stability());
/// let response = replicas.series(&Metric::Response); // all three merged
/// println!("{:?} {}", response.interval(Quantile::P50), response.sections());
/// "p50<=20ms".parse::<Slo>()?.judge(&replicas).assert();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "the runs are made by measure()"]
pub struct Replication {
    runs: usize,
    retests: usize,
}

impl Replication {
    /// `runs` whole lifecycles of the same plan, each with a seed of its own.
    ///
    /// # Errors
    /// Unless it is an odd number of at least 3, so that one of them is the middle one.
    pub fn new(runs: usize) -> Result<Self, ProtocolError> {
        if runs < 3 || runs.is_multiple_of(2) {
            return Err(ProtocolError::Options(format!(
                "{runs} replicas do not do: take an odd number of at least 3, such as 3 or 5"
            )));
        }
        Ok(Replication { runs, retests: 0 })
    }

    /// Measures all over again, up to so many times, when the runs disagree or one of them may not be believed; what
    /// was discarded stays in the [record](Replicas::discarded). A backlog that grows is no reason: that is a finding.
    pub fn retest(mut self, times: usize) -> Self {
        self.retests = times;
        self
    }

    /// Runs the plan.
    ///
    /// # Errors
    /// When the plan cannot be made, or a run does not come about.
    pub async fn measure(
        self,
        base: PlanBuilder,
        mut trial: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Replicas, ProtocolError> {
        let step = "replicas";
        let seed = named(base.seeded(), step);
        let mut discarded = Vec::new();
        loop {
            let mut runs = Vec::with_capacity(self.runs);
            for _ in 0..self.runs {
                let index = discarded.len() * self.runs + runs.len();
                let plan = base.clone().seed(numbered(seed, index as u64)).build();
                let plan = plan.map_err(|source| ProtocolError::Plan { step, source })?;
                let run = trial(&plan).await.map_err(|source| ProtocolError::Drive {
                    step,
                    run: index + 1,
                    source,
                })?;
                runs.push(run);
            }
            let set = Set::new(runs);
            if discarded.len() == self.retests || !set.is_for_retest() {
                return Ok(Replicas { set, discarded });
            }
            discarded.push(set);
        }
    }
}

/// What several runs of one plan gave.
#[derive(Clone, Debug)]
pub struct Replicas {
    set: Set,
    discarded: Vec<Set>,
}

/// One set of runs.
#[derive(Clone, Debug)]
pub struct Set {
    runs: Vec<Run>,
    stability: Stability,
}

impl Set {
    fn new(runs: Vec<Run>) -> Self {
        Set {
            stability: Stability::of(&runs),
            runs,
        }
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Whether they agree.
    #[must_use]
    pub fn stability(&self) -> &Stability {
        &self.stability
    }

    fn is_for_retest(&self) -> bool {
        is_for_retest(&self.runs, &self.stability)
    }
}

/// Whether runs of one plan should be made anew: they disagree, or one may not be believed; a backlog that grows is a
/// finding, and no reason.
pub(crate) fn is_for_retest(runs: &[Run], stability: &Stability) -> bool {
    let grew = grown(runs) * 2 > runs.len();
    let is_valid = runs.iter().all(|run| run.validity().is_valid());
    !grew && (!is_valid || stability.steadiness() == Steadiness::Discard)
}

/// In how many of the runs the backlog grew.
pub(crate) fn grown(runs: &[Run]) -> usize {
    let backlogs = runs.iter().filter_map(Run::backlog);
    backlogs.filter(|backlog| backlog.grows).count()
}

impl Replicas {
    /// Of runs that were made elsewhere: on several days, on several machines.
    ///
    /// # Errors
    /// Unless their number is odd and at least 3.
    pub fn of(runs: Vec<Run>) -> Result<Self, ProtocolError> {
        let _ = Replication::new(runs.len())?;
        Ok(Replicas {
            set: Set::new(runs),
            discarded: Vec::new(),
        })
    }

    /// The runs that count.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        self.set.runs()
    }

    /// Whether they agree.
    #[must_use]
    pub fn stability(&self) -> &Stability {
        self.set.stability()
    }

    /// The sets of runs that were discarded before them.
    #[must_use]
    pub fn discarded(&self) -> &[Set] {
        &self.discarded
    }

    /// One latency of all runs as one, from their merged histograms. Its intervals are across runs where there are
    /// five or more, else over windows: [`Series::sections`] says which.
    #[must_use]
    pub fn series(&self, metric: &Metric) -> Series {
        Series::merged(self.runs().iter().map(|run| run.series(metric)))
    }

    /// The same of one kind of request, or of the arrivals without a label.
    #[must_use]
    pub fn series_of(&self, kind: impl Into<Option<Kind>>, metric: &Metric) -> Series {
        let kind = kind.into();
        Series::merged(self.runs().iter().map(|run| run.series_of(kind, metric)))
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, set) in self.discarded.iter().enumerate() {
            writeln!(f, "set {} was discarded: {}", index + 1, set.stability())?;
        }
        write!(f, "{}", self.stability())
    }
}
