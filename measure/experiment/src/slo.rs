//! Objectives, and what a run says of them.

mod bound;
mod certainty;
mod enough;
mod evidence;
mod file;
mod good;
mod judge;
mod judgement;
mod lint;
mod objective;
mod parse;
mod subject;
mod verdict;

pub use bound::{Bound, GOOD, Limit, Statistic};
pub(crate) use certainty::Certainty;
pub use evidence::Evidence;
pub use judgement::{Finding, Judgement, Ratios};
pub use lint::{Concern, Lint};
pub use objective::{Basis, Objective};
pub use verdict::Verdict;

use crate::series::Metric;
use crate::{Floor, Plan};
use openloop_measurer::{Quantile, QuantileError};
use openloop_sched::DurationError;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A service-level objective: bounds that all must be kept.
///
/// In its short form bounds are parted by commas: `p99<=100ms`, `p50<=5ms,p99<=25ms,errors<=0.1%`, `mean<=3ms`,
/// `achieved>=950/s`, and `connect.p99<=2ms` for a stage of an adapter. A bound is on the response as an objective sees
/// it, in which an arrival that was not served is later than any that was.
///
/// Goodput is of arrivals that were served well enough: `goodput>=99%` is their share, `goodput>=40/s` their rate. Which
/// they are the adapter says, and the bound may repeat it: `goodput(ttft<=200ms, tpot<=25ms)>=99%`.
///
/// A bound may be a multiple of the [floor](Floor): `p99<=4S`, and with a noise floor `p99<=max(4S, 2ms)`. Such an
/// objective is judged [on a floor](Slo::on).
///
/// A bound on one kind of request has its name in brackets: `p99[read]<=5ms`, `errors[write]<=1%`,
/// `connect.p99[read]<=2ms`. A name with brackets, quotes or blanks at its ends is put in double quotes, in which `\"`
/// and `\\` stand for those themselves: `p99["list[0]"]<=5ms`.
///
/// ```
/// use openloop_experiment::Slo;
///
/// let slo: Slo = "p99<=100ms, errors<=0.1%".parse()?;
/// assert_eq!(slo.bounds()[0].to_string(), "p99 <= 100 ms");
/// # Ok::<(), openloop_experiment::SloError>(())
/// ```
///
/// [`Slo::default`] is P50 ≤ 1.5 S, P95 ≤ 3 S, P99 ≤ max(4 S, 2 ms).
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    bounds: Vec<Bound>,
}

/// P50 ≤ 1.5 S, P95 ≤ 3 S, P99 ≤ max(4 S, 2 ms): where an exponential server is 33, 67 and 75 % busy.
impl Default for Slo {
    fn default() -> Self {
        let bound = |q, times| Bound::times_floor(Metric::ResponseSlo, q, times);
        Slo {
            bounds: vec![
                bound(Quantile::P50, 1.5),
                bound(Quantile::P95, 3.0),
                bound(Quantile::P99, 4.0).but_at_least(Duration::from_millis(2)),
            ],
        }
    }
}

impl Slo {
    /// An objective of these bounds.
    ///
    /// # Errors
    /// When there is none, one stands there twice, or a limit is not a number above zero (for errors: from zero to one), or a multiple of the
    /// floor is asked for what has none.
    pub fn new(bounds: Vec<Bound>) -> Result<Self, SloError> {
        if bounds.is_empty() {
            return Err(SloError::Empty);
        }
        for (index, bound) in bounds.iter().enumerate() {
            if bounds[..index].contains(bound) {
                return Err(SloError::Twice(bound.to_string()));
            }
            let positive = |x: f64| x.is_finite() && x > 0.0;
            let fits = match (bound.limit, bound.statistic) {
                (Limit::Fixed(share), Statistic::Errors) => (0.0..=1.0).contains(&share),
                (Limit::Fixed(share), Statistic::Goodput) => positive(share) && share <= 1.0,
                (Limit::Fixed(limit), _) => positive(limit),
                (Limit::OfFloor { times, at_least_ns }, _) => {
                    positive(times) && at_least_ns.is_finite() && at_least_ns >= 0.0
                }
            };
            if !fits {
                return Err(SloError::Limit(bound.to_string()));
            }
            let has_floor = bound.statistic.is_of_latency()
                && !matches!(
                    bound.metric,
                    Metric::ScheduleDelay | Metric::Lag | Metric::Pickup
                );
            if bound.needs_floor() && !has_floor {
                return Err(SloError::NoFloorOf(bound.to_string()));
            }
        }
        Ok(Slo { bounds })
    }

    /// The bounds.
    #[must_use]
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// Whether a bound is a multiple of the floor, so that the objective has to be judged [on one](Slo::on).
    #[must_use]
    pub fn needs_floor(&self) -> bool {
        self.bounds.iter().any(Bound::needs_floor)
    }

    /// Checks, before anything is sent, that `plan` has every kind of request that a bound names.
    ///
    /// # Errors
    /// When it has not: the message has the kinds that it has.
    pub fn check(&self, plan: &Plan) -> Result<(), SloError> {
        let kinds = plan.kinds();
        for bound in &self.bounds {
            if let Some(kind) = &bound.kind
                && kinds.get(kind).is_none()
            {
                return Err(SloError::UnknownKind {
                    bound: bound.to_string(),
                    known: known(kinds.iter().map(|(_, name)| name)),
                });
            }
        }
        Ok(())
    }

    /// Checks that every stage that a bound names is one of `known`: those of an adapter.
    ///
    /// # Errors
    /// When one is not: the message has those that are.
    pub fn check_stages(&self, stages: &[&str]) -> Result<(), SloError> {
        for bound in &self.bounds {
            if let Metric::Named(name) = &bound.metric
                && bound.statistic.is_of_latency()
                && !stages.contains(&name.as_str())
            {
                return Err(SloError::UnknownStage {
                    bound: bound.to_string(),
                    known: known(stages.iter().copied()),
                });
            }
        }
        Ok(())
    }

    /// The objective on a floor, for limits that are multiples of it. A bound that the floor itself breaks is
    /// infeasible.
    ///
    /// # Errors
    /// When a bound names a stage, or a multiple a kind of request, that the floor does not have.
    pub fn on<'a>(&'a self, floor: &'a Floor) -> Result<Objective<'a>, SloError> {
        Objective::on(self, floor)
    }

    /// What a run, or [replicas](crate::Replicas) of it, say of the objective. A bound that is a multiple of the floor
    /// is inconclusive without one: see [`on`](Slo::on).
    ///
    /// The generator's own part of the response is held against the lowest of the bounds: see
    /// [`Judgement::validity`].
    #[must_use]
    pub fn judge(&self, evidence: &impl Evidence) -> Judgement {
        self.absolute().judge(evidence)
    }

    /// The objective without a floor.
    pub(crate) fn absolute(&self) -> Objective<'_> {
        Objective::absolute(self)
    }
}

fn known<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    }
}

/// In the short form, exact.
impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, bound) in self.bounds.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            bound.written(f, true)?;
        }
        Ok(())
    }
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bounds = parse::split(text)
            .into_iter()
            .filter(|part| !part.trim().is_empty())
            .map(parse::bound)
            .collect::<Result<_, _>>()?;
        Slo::new(bounds)
    }
}

/// Why something is not an objective, or not one of this plan or floor.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SloError {
    /// No bound at all.
    #[error("an objective needs at least one bound, such as p99<=100ms or p99<=4S")]
    Empty,
    /// Not of the form statistic<=limit.
    #[error(
        "\"{0}\" is not a bound: write p99<=100ms, p99<=4S, mean<=5ms, connect.p99<=2ms, errors<=0.1%, achieved>=950/s or goodput>=99%"
    )]
    Form(String),
    /// A kind of request whose name does not end, or is empty.
    #[error(
        "\"{0}\" does not name a kind of request: write p99[read]<=5ms, or p99[\"a [b]\"]<=5ms where the name has brackets or quotes"
    )]
    Kind(String),
    /// Not something that a bound can be on.
    #[error(
        "\"{0}\" is nothing that a bound can be on: there are quantiles such as p50 and p99.9, mean, errors, achieved and goodput; of a stage connect.p99"
    )]
    Statistic(String),
    /// Not a quantile.
    #[error(transparent)]
    Quantile(#[from] QuantileError),
    /// Not a duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// Not a share.
    #[error("\"{0}\" is not a share of errors: write 0.1% or 0.001")]
    Share(String),
    /// Not how much is good.
    #[error("\"{0}\" is no share and no rate of good answers: write 99% or 40/s")]
    Good(String),
    /// Not a rate.
    #[error("\"{0}\" is not a rate: write 950/s")]
    Rate(String),
    /// Not the greater of a multiple and a time.
    #[error("\"{0}\" is not the greater of a multiple of the floor and a time: write max(4S, 2ms)")]
    Greater(String),
    /// The same bound twice.
    #[error("\"{0}\" stands there twice: leave one out, or say what the other should have been")]
    Twice(String),
    /// A limit that nothing or everything keeps.
    #[error(
        "the limit of \"{0}\" is out of range: above zero, for errors from 0 to 100 %, for goodput up to 100 %"
    )]
    Limit(String),
    /// A multiple of a floor that there cannot be.
    #[error(
        "\"{0}\" is a multiple of a floor that there is not: errors, rates and the generator's own delays have none"
    )]
    NoFloorOf(String),
    /// A kind of request that the plan or the floor does not have.
    #[error("\"{bound}\" is on a kind of request that there is not; {known}")]
    UnknownKind {
        /// The bound.
        bound: String,
        /// What there is.
        known: String,
    },
    /// A stage that the adapter or the floor does not have.
    #[error("\"{bound}\" is on a stage that no request has; {known}")]
    UnknownStage {
        /// The bound.
        bound: String,
        /// What there is.
        known: String,
    },
    /// A quantile that a stated floor does not have.
    #[error(
        "the floor was stated without the quantile of \"{0}\": measure it, or bound p50, p95 or p99"
    )]
    NoQuantile(String),
    /// A floor below its own round trip.
    #[error(
        "the floor of \"{0}\" is no longer than the round trip, so that nothing is left for S: estimate the round trip anew"
    )]
    NoService(String),
    /// Not TOML, or not of the right form.
    #[error("the objective cannot be read: {0}")]
    File(String),
}
