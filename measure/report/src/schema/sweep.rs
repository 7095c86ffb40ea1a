//! What the service did at each of several rates.

use super::diagnosis::{Diagnosis, Fits, Utilisation};
use super::finite;
use super::objective::{Finding, Objective};
use super::replicas::{Agreement, Replica};
use openloop_experiment::sweep::{Capacity as Known, Curve, Estimate as Measured, Point};
use openloop_measurer::Quantile;
use serde::{Deserialize, Serialize};

/// What the service did at each of several rates: the hockey stick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Sweep {
    /// By rate, from the lowest to the highest.
    pub points: Vec<Step>,
    /// The objective whose capacity was to be found.
    pub sought: Option<String>,
    /// The capacity within it.
    pub found: Option<Capacity>,
    /// λ_knee: P99 at most 3 times the floor, unless another rule is named. `None` without a floor.
    pub knee: Option<Capacity>,
    /// The rule of the knee, where it is another.
    #[serde(default)]
    pub knee_rule: Option<String>,
    /// The edge of the cliff: P99 at most 10 times the floor. `None` without a floor.
    pub cliff: Option<Capacity>,
    /// λ_max: the most that was served.
    pub max: Capacity,
    /// The knee of each stage that the objective bounds: its own P99 at most 3 times its floor.
    #[serde(default)]
    pub knees: Vec<Knee>,
    /// What the rates were given in, if not in requests.
    #[serde(default)]
    pub counted: Option<Counted>,
    /// Which ratio to the floor is in use: `literal` or `inflation`.
    pub ratio: Option<String>,
    /// Laws through the points.
    pub fits: Fits,
    /// Which queue the service behaves like, and why its tail is long.
    pub diagnosis: Diagnosis,
    /// How busy the service is where the rest of the report was measured, told in several ways.
    pub utilisation: Vec<Utilisation>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// At which rate the rest of the report was measured.
    pub reported_rate: Option<f64>,
}

/// How much a service carries before one of its stages bends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Knee {
    /// The stage: `ttft`, `tpot`.
    pub metric: String,
    /// The highest rate before it.
    pub capacity: Capacity,
}

/// What a rate counts instead of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Counted {
    /// The count of the report: `output_tokens`.
    pub name: String,
    /// How many a request was to have on the average: a rate of requests times this is the rate that was asked for.
    pub per_request: f64,
}

/// What the service did at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Step {
    /// Arrivals per second, as asked.
    pub asked_rate: f64,
    /// Whether any run at it may be believed. The figures are `None` if not.
    pub valid: bool,
    /// Whether more came than the service could serve.
    pub saturated: bool,
    /// Arrivals of the realised schedules, per second.
    pub offered_rate: Option<f64>,
    /// Served arrivals, per second.
    pub achieved_rate: Option<f64>,
    /// The mean response; like the quantiles, as an objective sees it.
    pub mean: Option<Estimate>,
    /// The median.
    pub p50: Option<Estimate>,
    /// The 95th percentile.
    pub p95: Option<Estimate>,
    /// The 99th percentile.
    pub p99: Option<Estimate>,
    /// P99 over the floor, in the ratio in use.
    pub p99_ratio: Option<f64>,
    /// In which zone the service works: `free`, `working`, `sizing`, `steep`, `cliff` or `saturated`.
    pub zone: Option<String>,
    /// The share of arrivals that were not served.
    pub errors: Option<f64>,
    /// The mean number in flight.
    pub in_flight: Option<f64>,
    /// What each bound of the objective came to, where one was sought.
    #[serde(default)]
    pub bounds: Vec<Finding>,
    /// How much of [`Sweep::counted`] came per second.
    #[serde(default)]
    pub counted_rate: Option<f64>,
    /// Its runs, those that may not be believed among them.
    pub runs: Vec<Replica>,
    /// Whether they agree, where they are replicas.
    #[serde(default)]
    pub agreement: Option<Agreement>,
}

/// A statistic of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Estimate {
    /// What was measured.
    pub ns: f64,
    /// Whether it is only a lower bound.
    pub at_least: bool,
    /// Its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
}

/// How much a service carries, as far as that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Capacity {
    /// `found`, `at_least`, `below`, `infeasible` or `unknown`.
    pub known: String,
    /// The rate per second.
    pub rate: Option<f64>,
    /// Of one that was found, the lowest rate above it at which the objective was surely broken: the capacity lies
    /// between the two.
    pub not_at: Option<f64>,
    /// In a sentence, as text.
    pub text: String,
}

impl Sweep {
    pub(crate) fn of(curve: &Curve, reported: Option<f64>) -> Self {
        let has_floor = curve.floor().is_some();
        let fits = curve.fits();
        let at_report = |point: &&Point| Some(point.per_second()) == reported;
        let reported_point = curve.points().iter().find(at_report);
        let ways = reported_point.map(|point| curve.utilisations(point, &fits));
        let point = |point: &Point| Step::of(curve, point);
        Sweep {
            points: curve.points().iter().map(point).collect(),
            sought: curve.sought().map(ToString::to_string),
            found: curve.sought().map(|_| Capacity::of(&curve.found())),
            knee: has_floor.then(|| Capacity::of(&curve.knee())),
            knee_rule: curve.knee_rule().map(ToString::to_string),
            cliff: has_floor.then(|| Capacity::of(&curve.cliff())),
            max: Capacity::of(&curve.max()),
            knees: curve
                .knees()
                .into_iter()
                .map(|(metric, knee)| Knee {
                    metric: metric.to_string(),
                    capacity: Capacity::of(&knee),
                })
                .collect(),
            counted: curve.counted().map(|counted| Counted {
                name: counted.name.clone(),
                per_request: counted.per_request,
            }),
            diagnosis: Diagnosis::of(&curve.diagnose()),
            utilisation: ways.iter().flatten().map(Utilisation::of).collect(),
            fits: Fits::of(&fits),
            ratio: curve.ratio_in_use().map(|ratio| ratio.name().to_owned()),
            warnings: curve.warnings(),
            reported_rate: reported.and_then(finite),
        }
    }
}

impl Step {
    fn of(curve: &Curve, point: &Point) -> Self {
        let quantile = |q| point.quantile(q).map(Estimate::of);
        let runs = point.runs().iter().chain(point.dismissed());
        Step {
            asked_rate: point.per_second(),
            valid: point.is_valid(),
            saturated: point.is_saturated(),
            offered_rate: point.offered().and_then(finite),
            achieved_rate: point.achieved().and_then(finite),
            mean: point.mean().map(Estimate::of),
            p50: quantile(Quantile::P50),
            p95: quantile(Quantile::P95),
            p99: quantile(Quantile::P99),
            p99_ratio: curve.ratio(point).and_then(finite),
            zone: curve.zone(point).map(|zone| zone.name().to_owned()),
            errors: point.errors().and_then(|(share, _)| finite(share)),
            in_flight: point.in_flight().and_then(finite),
            bounds: match curve.judged(point).filter(|_| point.is_valid()) {
                Some(judgement) => Objective::of(&judgement).findings,
                None => Vec::new(),
            },
            counted_rate: curve
                .counted()
                .and_then(|counted| finite(point.counted(&counted.name)?)),
            runs: runs.map(Replica::of).collect(),
            agreement: point
                .stability()
                .map(|stability| Agreement::of(stability, point.discarded().len())),
        }
    }
}

impl Estimate {
    fn of(measured: Measured) -> Self {
        let interval = measured.interval;
        Estimate {
            ns: measured.ns,
            at_least: measured.at_least,
            interval: interval
                .and_then(|(low, high)| finite(low).zip(finite(high)))
                .map(|(low, high)| [low, high]),
        }
    }
}

impl Capacity {
    fn of(capacity: &Known) -> Self {
        let (known, rate, not_at) = match capacity {
            Known::Found { rate, not_at, .. } => ("found", Some(*rate), Some(*not_at)),
            Known::AtLeast { rate, .. } => ("at_least", Some(*rate), None),
            Known::Below { rate, .. } => ("below", Some(*rate), None),
            Known::Infeasible { .. } => ("infeasible", None, None),
            _ => ("unknown", None, None),
        };
        Capacity {
            known: known.to_owned(),
            rate: rate.and_then(finite),
            not_at: not_at.and_then(finite),
            text: capacity.to_string(),
        }
    }
}
