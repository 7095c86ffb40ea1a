//! From many rates to where the service bends, breaks and ends.
//!
//! ```text
//!  response │                       ╱ cliff: P99 > 10 times that at next to no load
//!           │                     ╱
//!           │                __╱   objective, such as P99 ≤ 4 S
//!           │ ________---‾‾‾       knee λ_knee: P99 ≤ 3 times
//!           └──────────────────────┴──► rate          λ_max: no more is served
//! ```
//!
//! | you want to | you write |
//! | --- | --- |
//! | see the curve at rates of your own | [`Sweep::rates`], [`Sweep::fractions`] |
//! | find how much a service carries within an objective | [`Sweep::find`] |
//! | compare with the idle service | [`Sweep::floor`] |
//! | read what was found | [`Curve`], [`Capacity`] |
//! | describe it by a law | [`Curve::fits`], [`Fits`] |
//! | know how busy the service is | [`Curve::zone`], [`Curve::utilisations`] |
//! | know what to buy and set for a peak | [`Curve::plan`] |
//! | know what kind of queue it is | [`diagnosis`](crate::diagnosis) |
//!
//! # Example
//! The capacity of a simulated service within an objective:
//! ```
//! use openloop_experiment::simulate::{Station, simulate};
//! use openloop_experiment::sweep::Sweep;
//! use openloop_experiment::{Lifecycle, Plan};
//! use openloop_sched::Rate;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = Station::new(4, "exponential:0.020".parse()?)?;
//! let base = Plan::open(Rate::per_second(1.0)?).lifecycle(Lifecycle::quick());
//! let sweep = Sweep::find("p99<=150ms".parse()?, Rate::per_second(20.0)?).resolution(0.2);
//! let curve = sweep.run(&base, async |plan| simulate(plan, service.clone())).await?;
//! let found = curve.found();
//! assert!(found.is_found() && found.rate() < Some(200.0), "{curve}");
//! # Ok(())
//! # }
//! ```
//!
//! # Every step
//! is a whole lifecycle with a seed of its own, derived from that of the plan, and so with arrivals, requests and a
//! [nonce](crate::Plan::nonce) of its own: what the service remembers of one step is no help in the next. A sweep ends
//! where the service is saturated: the backlog grows, or less is served than at a low rate; and where a run is stopped.

mod capacity;
mod curve;
mod fits;
mod point;
mod search;
mod sizing;
mod steps;
mod table;
mod utilisation;
mod zones;

pub use capacity::Capacity;
pub(crate) use capacity::PerSecond;
pub use curve::{Counted, Curve};
pub use fits::Fits;
pub use point::{Estimate, Point};
pub use utilisation::Utilisation;
pub use zones::Zone;

use crate::drive::DriveError;
use crate::slo::Certainty;
use crate::{Evidence, Floor, Judgement, Plan, PlanBuilder, ProtocolError, Run, Slo, Statistic};
use openloop_sched::Rate;
use search::{Next, Search, Tried};
use std::time::Duration;
use steps::Steps;

/// How many runs at a rate of a list may not be believed before it is left.
const TRIES: usize = 2;

/// Which rates are tried, and until when.
#[derive(Clone, Debug)]
#[must_use = "a sweep is made by run()"]
pub struct Sweep {
    rates: Rates,
    runs: usize,
    retests: usize,
    knee: Option<Slo>,
    floor: Option<Floor>,
    counted: Option<Counted>,
}

#[derive(Clone, Debug)]
enum Rates {
    List {
        rates: Vec<f64>,
        slo: Option<Slo>,
    },
    Find {
        slo: Slo,
        from: f64,
        to: Option<f64>,
        growth: f64,
        resolution: f64,
        longest: Option<Duration>,
    },
}

impl Sweep {
    /// These rates, from the lowest to the highest.
    pub fn rates(rates: impl IntoIterator<Item = Rate>) -> Self {
        Sweep::list(rates.into_iter().map(Rate::as_per_second))
    }

    /// These shares of `highest`: 0.1 is a tenth of it.
    pub fn fractions(highest: Rate, shares: impl IntoIterator<Item = f64>) -> Self {
        let highest = highest.as_per_second();
        Sweep::list(shares.into_iter().map(|share| share * highest))
    }

    /// Finds the capacity within `slo`: the highest rate at which it is kept. From `lowest` upwards by a factor until the
    /// service is saturated, and then by halves. The knee is `p99<=3S`.
    ///
    /// A step that does not tell is repeated, with another seed and for as long as the [resolution](Sweep::resolution)
    /// needs by what the measurement shows of itself so far, up to the [longest](Sweep::longest). The answer errs on the low
    /// side: [a rate that is surely kept](Curve::capacity), with the lowest one above it that is surely broken. Where a
    /// step could not be made long enough to tell, the answer is below it and the [warnings](Curve::warnings) say which
    /// length would do.
    pub fn find(slo: Slo, lowest: Rate) -> Self {
        Sweep::of(Rates::Find {
            slo,
            from: lowest.as_per_second(),
            to: None,
            growth: 1.5,
            resolution: 0.05,
            longest: None,
        })
    }

    fn list(rates: impl Iterator<Item = f64>) -> Self {
        Sweep::of(Rates::List {
            rates: rates.collect(),
            slo: None,
        })
    }

    fn of(rates: Rates) -> Self {
        Sweep {
            rates,
            runs: 1,
            retests: 0,
            knee: None,
            floor: None,
            counted: None,
        }
    }

    /// How often each rate of a list is measured, each time in a lifecycle of its own; without it once. Three or more are
    /// replicas, whose [stability](Point::stability) is told, and a rate at which they disagree keeps no objective. A search
    /// repeats by itself what it needs to know better.
    pub fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// Measures a rate of a list all over again, up to so many times, when its replicas disagree or one of them may not be
    /// believed; what was discarded stays in the [record](Point::discarded). A backlog that grows is no reason.
    pub fn retest(mut self, times: usize) -> Self {
        self.retests = times;
        self
    }

    /// The floor of the service, for the knee, the cliff, and bounds that are multiples of it.
    pub fn floor(mut self, floor: Floor) -> Self {
        self.floor = Some(floor);
        self
    }

    /// What the [knee](Curve::knee) of the curve is, if it is to be another than `p99<=3S`: one bound that is a multiple of
    /// the floor, such as `p95<=2.5S`. A [search](Sweep::find) for it is one for the capacity within it.
    pub fn knee(mut self, rule: Slo) -> Self {
        self.knee = Some(rule);
        self
    }

    /// The objective whose capacity the curve of a list is to tell ([`Curve::found`]): the highest of its rates at which it
    /// is kept.
    pub fn within(mut self, objective: Slo) -> Self {
        if let Rates::List { slo, .. } = &mut self.rates {
            *slo = Some(objective);
        }
        self
    }

    /// The highest rate that [`find`](Sweep::find) tries; without it a thousand times the lowest.
    pub fn up_to(mut self, highest: Rate) -> Self {
        if let Rates::Find { to, .. } = &mut self.rates {
            *to = Some(highest.as_per_second());
        }
        self
    }

    /// The factor from one rate to the next on the way up; without it 1.5.
    pub fn growth(mut self, factor: f64) -> Self {
        if let Rates::Find { growth, .. } = &mut self.rates {
            *growth = factor;
        }
        self
    }

    /// How far below the truth the answer of [`find`](Sweep::find) may be, as a share of it; without it 0.05. Steps are
    /// as long as that needs, up to the [longest](Sweep::longest).
    pub fn resolution(mut self, share: f64) -> Self {
        if let Rates::Find { resolution, .. } = &mut self.rates {
            *resolution = share;
        }
        self
    }

    /// How long one rate may be measured in all; without it, twenty times the steady phase of the plan.
    pub fn longest(mut self, steady: Duration) -> Self {
        if let Rates::Find { longest, .. } = &mut self.rates {
            *longest = Some(steady);
        }
        self
    }

    /// Rates are given in `name` per second, of which a request has `per_request` on the average: in tokens per second,
    /// say. The plan's rates are these divided by that; what was really counted under the name, the points of the curve
    /// tell by [`Point::counted`].
    pub fn counted(mut self, name: impl Into<String>, per_request: f64) -> Self {
        self.counted = Some(Counted {
            name: name.into(),
            per_request,
        });
        self
    }

    /// Makes the sweep: `base` is the plan of each step but for its rate and seed, and `trial` runs a plan. When a run is
    /// [stopped](crate::drive::Stop) early, so is the sweep, and the curve ends there.
    ///
    /// # Errors
    /// When the options make no sense, a step cannot be planned, or a run does not come about.
    pub async fn run(
        &self,
        base: &PlanBuilder,
        mut trial: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Curve, ProtocolError> {
        self.check()?;
        if let Some(slo) = self.objective()
            && slo.needs_floor()
            && self.floor.is_none()
        {
            return Err(ProtocolError::Options(format!(
                "{slo} is a multiple of the floor: measure that first, and give it by floor()"
            )));
        }
        let per_request = self.counted.as_ref().map_or(1.0, |unit| unit.per_request);
        let mut steps = Steps::new(base);
        let steady = base.phases().steady;
        let curve = |points, sought, remarks| Curve {
            points,
            sought,
            remarks,
            floor: self.floor.clone(),
            knee_rule: self.knee.clone(),
            counted: self.counted.clone(),
        };
        match &self.rates {
            Rates::List { rates, slo } => {
                let mut rates: Vec<f64> = rates.iter().map(|rate| rate / per_request).collect();
                rates.sort_by(f64::total_cmp);
                let mut points = Vec::new();
                for rate in rates {
                    let mut point = steps.point(rate)?;
                    loop {
                        while point.runs().len() < self.runs
                            && point.dismissed().len() < TRIES
                            && !steps.interrupted
                        {
                            let run = steps.make(&point, steady, &mut trial).await?;
                            let believed = run.validity().is_valid();
                            point.add(run, believed);
                        }
                        let again = point.compare() && !steps.interrupted;
                        if !again || point.discarded().len() >= self.retests {
                            break;
                        }
                        point.discard();
                    }
                    let ends = point.is_saturated() || steps.interrupted;
                    points.push(point);
                    if ends {
                        break;
                    }
                }
                Ok(curve(points, slo.clone(), Vec::new()))
            }
            Rates::Find {
                slo,
                from,
                to,
                growth,
                resolution,
                longest,
            } => {
                let search = Search {
                    from: from / per_request,
                    to: to.unwrap_or(1000.0 * from) / per_request,
                    growth: *growth,
                    resolution: *resolution,
                    steady,
                    longest: longest.unwrap_or(20 * steady),
                };
                let floor = self.floor.as_ref();
                let mut tried: Vec<Tried> = Vec::new();
                while let Some(Next { rate, steady }) = search.next(&tried) {
                    let at = tried.partition_point(|tried| tried.point.per_second() < rate);
                    let is_new =
                        (tried.get(at)).is_none_or(|tried| tried.point.per_second() > rate);
                    let mut point = match is_new {
                        true => steps.point(rate)?,
                        false => tried.remove(at).point,
                    };
                    let run = steps.make(&point, steady, &mut trial).await?;
                    // For the purpose of this objective.
                    let believed = judged(slo, floor, &run)?.0.validity.is_valid();
                    point.add(run, believed);
                    let (judgement, certainty) = judged(slo, floor, &point)?;
                    let known = Tried {
                        point,
                        judgement,
                        certainty,
                    };
                    tried.insert(at, known);
                    if steps.interrupted {
                        break;
                    }
                }
                let remarks = search.remarks(&tried);
                let points = tried.into_iter().map(|tried| tried.point).collect();
                Ok(curve(points, Some(slo.clone()), remarks))
            }
        }
    }

    fn objective(&self) -> Option<&Slo> {
        match &self.rates {
            Rates::List { slo, .. } => slo.as_ref(),
            Rates::Find { slo, .. } => Some(slo),
        }
    }

    /// Checks the options, as [`run`](Sweep::run) does before anything else; but for the floor, which may be measured later.
    ///
    /// # Errors
    /// When they make no sense.
    pub fn check(&self) -> Result<(), ProtocolError> {
        let refuse = |why: String| Err(ProtocolError::Options(why));
        let of_rate = |bound: &&crate::Bound| {
            matches!(
                bound.statistic,
                Statistic::Achieved | Statistic::GoodputRate
            )
        };
        if let Some(bound) = self
            .objective()
            .and_then(|slo| slo.bounds().iter().find(of_rate))
        {
            return refuse(format!(
                "\"{bound}\" cannot be kept at lower rates, so there is no capacity within it: leave it out"
            ));
        }
        if let Some(rule) = &self.knee
            && !matches!(rule.bounds(), [bound] if bound.needs_floor())
        {
            return refuse(format!(
                "\"{rule}\" is no knee: give one bound that is a multiple of the floor, such as p99<=3S"
            ));
        }
        if self.runs == 0 {
            return refuse(
                "a sweep of 0 runs at each rate measures nothing: give at least 1".to_owned(),
            );
        }
        if let Some(unit) = &self.counted
            && !(unit.per_request.is_finite() && unit.per_request > 0.0)
        {
            return refuse(format!(
                "{} {} per request is no number to divide by: give one above 0",
                unit.per_request, unit.name
            ));
        }
        let is_rate = |rate: &f64| rate.is_finite() && *rate > 0.0;
        match &self.rates {
            Rates::List { rates, .. } if rates.is_empty() => {
                refuse("a sweep without rates measures nothing: give at least 3".to_owned())
            }
            Rates::List { rates, .. } => match rates.iter().find(|rate| !is_rate(rate)) {
                Some(rate) => refuse(format!(
                    "a step at {rate}/s sends nothing: give rates above 0"
                )),
                None => match twice(rates) {
                    Some(rate) => refuse(format!(
                        "{rate}/s stands twice in the list: a rate is repeated by runs()"
                    )),
                    None => Ok(()),
                },
            },
            Rates::Find {
                from,
                to,
                growth,
                resolution,
                ..
            } => {
                if !is_rate(from) {
                    return refuse(format!(
                        "a search cannot begin at {from}/s: give a low rate above 0"
                    ));
                }
                if to.is_some_and(|to| to < *from) {
                    return refuse(format!(
                        "a search from {from}/s up to less than that tries nothing: give a higher end"
                    ));
                }
                if !(growth.is_finite() && *growth > 1.0) {
                    return refuse(format!(
                        "a factor of {growth} from rate to rate leads nowhere: give one above 1, such as 1.5"
                    ));
                }
                if !(0.001..=0.5).contains(resolution) {
                    return refuse(format!(
                        "a resolution of {resolution} is out of range: give a share from 0.001 to 0.5"
                    ));
                }
                Ok(())
            }
        }
    }
}

/// A rate that is there twice.
fn twice(rates: &[f64]) -> Option<f64> {
    let mut rates = rates.iter().enumerate();
    let all = rates.clone();
    let is_again = |(index, rate): &(usize, &f64)| {
        all.clone()
            .any(|(other, same)| other < *index && same == *rate)
    };
    rates.find(is_again).map(|(_, rate)| *rate)
}

fn judged(
    slo: &Slo,
    floor: Option<&Floor>,
    evidence: &impl Evidence,
) -> Result<(Judgement, Certainty), ProtocolError> {
    curve::judge(slo, floor, evidence).map_err(ProtocolError::Options)
}
