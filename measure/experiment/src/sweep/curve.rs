//! What a sweep found.

use super::capacity::{Capacity, PerSecond};
use super::point::Point;
use crate::Stability;
use crate::floor::{Floor, Ratio};
use crate::series::Metric;
use crate::slo::{Bound, Certainty, Evidence, Finding, Judgement, Slo, Verdict};
use crate::units::Percent;
use openloop_measurer::Quantile;

/// What a sweep found: what the service did at each rate.
#[derive(Clone, Debug)]
pub struct Curve {
    pub(super) points: Vec<Point>,
    pub(super) sought: Option<Slo>,
    pub(super) floor: Option<Floor>,
    pub(super) knee_rule: Option<Slo>,
    pub(super) counted: Option<Counted>,
    /// What kept a search from being as exact as it was to be.
    pub(super) remarks: Vec<String>,
}

/// What else than requests a rate can count, such as tokens.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Counted {
    /// The name of the count, as the work reports it.
    pub name: String,
    /// How many a request has on the average.
    pub per_request: f64,
}

/// P99 of the knee, as a multiple of that at next to no load.
pub(super) const KNEE: f64 = 3.0;

/// How exactly the floor is to be known.
const VAGUE: f64 = 0.1;

/// That of the cliff.
pub(super) const CLIFF: f64 = 10.0;

impl Curve {
    /// What was measured, by rate from the lowest to the highest.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The objective whose capacity was to be found.
    #[must_use]
    pub fn sought(&self) -> Option<&Slo> {
        self.sought.as_ref()
    }

    /// The floor of the service.
    #[must_use]
    pub fn floor(&self) -> Option<&Floor> {
        self.floor.as_ref()
    }

    /// What the rates were given in, if not in requests.
    #[must_use]
    pub fn counted(&self) -> Option<&Counted> {
        self.counted.as_ref()
    }

    /// The points that may be believed.
    pub(crate) fn valid(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.points.iter().filter(|point| point.is_valid())
    }

    /// The points that may be believed and at which the service kept up.
    pub(crate) fn stable(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.valid().filter(|point| !point.is_saturated())
    }

    /// The capacity within the objective that the sweep was to find.
    #[must_use]
    pub fn found(&self) -> Capacity {
        match &self.sought {
            Some(slo) => self.capacity(slo),
            None => Capacity::Unknown {
                why: "the sweep was not asked to find anything".to_owned(),
            },
        }
    }

    /// λ_knee: the highest rate at which P99 is at most 3 times the floor, or another [rule](crate::sweep::Sweep::knee) is
    /// kept. For any other ask for the
    /// [capacity](Curve::capacity) within `p95<=2.5S`. A floor that is known vaguely makes it lower, and the
    /// [warnings](Curve::warnings) say so.
    #[must_use]
    pub fn knee(&self) -> Capacity {
        match &self.knee_rule {
            Some(rule) => self.capacity(rule),
            None => self.within(Metric::ResponseSlo, KNEE),
        }
    }

    /// The [rule](crate::sweep::Sweep::knee) of the knee, if it is another than P99 at most 3 times the floor.
    #[must_use]
    pub fn knee_rule(&self) -> Option<&Slo> {
        self.knee_rule.as_ref()
    }

    /// The edge of the cliff: the highest rate at which P99 is at most 10 times the floor.
    #[must_use]
    pub fn cliff(&self) -> Capacity {
        self.within(Metric::ResponseSlo, CLIFF)
    }

    /// The knee of each stage that the objective bounds and that has a floor, such as of the time to first token: the
    /// highest rate at which its own P99 is at most 3 times its floor.
    #[must_use]
    pub fn knees(&self) -> Vec<(&Metric, Capacity)> {
        let Some(floor) = &self.floor else {
            return Vec::new();
        };
        let mut metrics: Vec<&Metric> = Vec::new();
        for bound in self.sought.iter().flat_map(Slo::bounds) {
            let is_stage = matches!(bound.metric, Metric::Named(_));
            let has_floor = floor.s_ns(None, &bound.metric).is_some_and(|s| s > 0.0);
            if is_stage && has_floor && !metrics.contains(&&bound.metric) {
                metrics.push(&bound.metric);
            }
        }
        let knee = |metric: &'_ Metric| self.within(metric.clone(), KNEE);
        metrics
            .into_iter()
            .map(|metric| (metric, knee(metric)))
            .collect()
    }

    /// What the runs at a point say of the objective that was sought; `None` without one, or where they cannot be held
    /// against it.
    #[must_use]
    pub fn judged(&self, point: &Point) -> Option<Judgement> {
        let judged = judge(self.sought.as_ref()?, self.floor.as_ref(), point).ok()?;
        Some(judged.0)
    }

    fn within(&self, metric: Metric, times: f64) -> Capacity {
        let bound = Bound::times_floor(metric, Quantile::P99, times);
        match Slo::new(vec![bound]) {
            Ok(slo) => self.capacity(&slo),
            Err(error) => Capacity::Unknown {
                why: error.to_string(),
            },
        }
    }

    /// The capacity within an objective. It errs on the low side: a rate counts as kept where the judgement is a pass and
    /// the upper 99.5 % confidence limit, of what was measured and of the floor together, keeps every bound. That limit
    /// counts the separate excursions above a bound by the memory of the responses, so that a run which is short against
    /// that is too short to say, and not a pass by chance. Runs that may not be believed say nothing about the service,
    /// and are left out. A rate above [the highest that is served](Curve::max) is never kept.
    #[must_use]
    pub fn capacity(&self, slo: &Slo) -> Capacity {
        if slo.needs_floor() && self.floor.is_none() {
            return Capacity::Unknown {
                why: "no floor was measured that the responses could be compared with".to_owned(),
            };
        }
        let judged: Result<Vec<_>, _> = self
            .valid()
            .map(|point| {
                let (judgement, certainty) = judge(slo, self.floor.as_ref(), point)?;
                Ok((point.per_second(), judgement, certainty))
            })
            .collect();
        let judged = match judged {
            Ok(judged) => judged,
            Err(why) => return Capacity::Unknown { why },
        };
        if let Some((_, judgement, _)) = judged
            .iter()
            .find(|(_, judgement, _)| judgement.verdict == Verdict::Infeasible)
        {
            return Capacity::Infeasible {
                why: reason(judgement),
            };
        }
        // More than the service can serve is not kept either, though in a short run the backlog may not show.
        let most = match self.max() {
            Capacity::Found { rate, .. } => rate,
            _ => f64::INFINITY,
        };
        let broken = judged
            .iter()
            .position(|(rate, judgement, _)| judgement.verdict == Verdict::Fail || *rate > most);
        let before = &judged[..broken.unwrap_or(judged.len())];
        let kept = before.iter().rposition(|(_, judgement, certainty)| {
            judgement.verdict == Verdict::Pass && certainty.is_kept()
        });
        let told = |(rate, judgement, _): &(f64, Judgement, Certainty)| {
            let why = match judgement.verdict {
                Verdict::Pass => {
                    "it is kept, and not as surely as an answer has to be: measure longer"
                        .to_owned()
                }
                _ => reason(judgement),
            };
            format!("at {} {why}", PerSecond(*rate))
        };
        match (kept, broken) {
            (Some(kept), Some(broken)) => Capacity::Found {
                rate: judged[kept].0,
                not_at: judged[broken].0,
                why: first_broken(&judged[broken].1),
            },
            (Some(kept), None) => Capacity::AtLeast {
                rate: judged[kept].0,
                why: (judged.get(kept + 1).map(told))
                    .or_else(|| self.dismissed_above(judged[kept].0))
                    .unwrap_or_else(|| "it was kept at the highest rate that was tried".to_owned()),
            },
            (None, Some(broken)) => Capacity::Below {
                rate: judged[broken].0,
                why: match judged[broken].1.verdict {
                    Verdict::Fail => reason(&judged[broken].1),
                    _ => format!("no more than {} is served", PerSecond(most)),
                },
            },
            (None, None) => Capacity::Unknown {
                why: (judged.first().map(told))
                    .or_else(|| self.dismissed_above(0.0))
                    .unwrap_or_else(|| "nothing was measured".to_owned()),
            },
        }
    }

    fn dismissed_above(&self, rate: f64) -> Option<String> {
        let is_above = |point: &&Point| point.per_second() > rate && !point.is_valid();
        let point = self.points.iter().find(is_above)?;
        let faults = point
            .dismissed()
            .iter()
            .flat_map(|run| run.validity().faults());
        Some(format!(
            "the run at {} may not be believed ({})",
            PerSecond(point.per_second()),
            faults.map(|check| check.name).next().unwrap_or("no reason")
        ))
    }

    /// λ_max: the highest rate of served arrivals, per second. Found where the service was saturated; of a service that
    /// kept up with all that came, what it served is only the least that it can.
    #[must_use]
    pub fn max(&self) -> Capacity {
        let achieved = self.valid().filter_map(Point::achieved);
        let Some(rate) = achieved.reduce(f64::max) else {
            return Capacity::Unknown {
                why: "no run may be believed".to_owned(),
            };
        };
        match self.valid().find(|point| point.is_saturated()) {
            Some(saturated) => Capacity::Found {
                rate,
                not_at: saturated.per_second(),
                why: String::new(),
            },
            None => Capacity::AtLeast {
                rate,
                why: self
                    .dismissed_above(rate)
                    .unwrap_or_else(|| "the service kept up with all that came".to_owned()),
            },
        }
    }

    /// Which ratio is in use, for want of a floor `None`.
    #[must_use]
    pub fn ratio_in_use(&self) -> Option<Ratio> {
        self.floor.as_ref()?.ratio(None, &Metric::ResponseSlo)
    }

    /// P99 at a point over the floor, in the ratio in use.
    #[must_use]
    pub fn ratio(&self, point: &Point) -> Option<f64> {
        let (floor, metric) = (self.floor.as_ref()?, Metric::ResponseSlo);
        let unit = floor.unit_ns(None, &metric, Quantile::P99, self.ratio_in_use()?)?;
        let p99 = point.quantile(Quantile::P99)?.ns - floor.rtt_ns(&metric);
        (unit > 0.0).then(|| p99 / unit)
    }

    /// What a reader should know before the curve is believed.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.points.len() == 1 {
            warnings.push(
                "one rate says how the service does there, and nothing of its capacity: sweep several"
                    .to_owned(),
            );
        }
        match &self.floor {
            None => warnings.push(
                "no floor was measured, so there are neither ratios nor a knee: measure it first"
                    .to_owned(),
            ),
            Some(floor) => {
                warnings.extend(floor.faults().iter().chain(floor.warnings()).cloned());
                warnings.extend(self.floor_is_vague());
            }
        }
        let runs = self.points.iter().flat_map(Point::runs);
        if runs.filter(|run| run.interrupted().is_some()).count() > 0 {
            warnings.push("the sweep was interrupted: higher rates were not tried".to_owned());
        }
        warnings.extend(self.remarks.iter().cloned());
        for point in &self.points {
            let rate = PerSecond(point.per_second());
            if let Some(remedy) = point.stability().and_then(Stability::remedy) {
                warnings.push(format!("the runs at {rate} disagree: {remedy}"));
            }
            match point.discarded().len() {
                0 => {}
                1 => warnings.push(format!(
                    "a set of runs at {rate} disagreed, and was made anew"
                )),
                n => warnings.push(format!(
                    "{n} sets of runs at {rate} disagreed, and were made anew"
                )),
            }
        }
        for point in self.points.iter().filter(|point| !point.is_valid()) {
            warnings.push(format!(
                "the step at {} may not be believed, and says nothing about the service",
                PerSecond(point.per_second())
            ));
        }
        warnings
    }
}

impl Curve {
    /// Whether the knee is known no better than the floor is.
    fn floor_is_vague(&self) -> Option<String> {
        let level = self.floor.as_ref()?.level(None, &Metric::ResponseSlo)?;
        let (value, (low, high)) = match self.ratio_in_use()? {
            Ratio::Literal => (level.mean_ns, level.mean_interval()?),
            Ratio::Inflation => (level.p99_ns, level.interval(Quantile::P99)?),
        };
        let off = (high - low) / 2.0 / value;
        (off > VAGUE).then(|| {
            format!(
                "what ratios are ratios to is known to within {}, and so are they: give the floor more trials or requests",
                Percent(off)
            )
        })
    }
}

/// What the runs at a point say of an objective.
pub(super) fn judge(
    slo: &Slo,
    floor: Option<&Floor>,
    evidence: &impl Evidence,
) -> Result<(Judgement, Certainty), String> {
    let objective = match floor {
        Some(floor) => slo.on(floor).map_err(|error| error.to_string())?,
        None => slo.absolute(),
    };
    let certainty = Certainty::of(&objective, evidence);
    Ok((objective.judge(evidence), certainty))
}

/// Why a judgement is not a pass, in a line.
fn reason(judgement: &Judgement) -> String {
    let findings = judgement
        .findings
        .iter()
        .filter(|finding| finding.verdict == judgement.verdict)
        .map(|finding| format!("{}: {}", finding.bound, finding.why));
    let mut reasons = judgement.why.iter().cloned().chain(findings);
    reasons.next().unwrap_or_default()
}

/// What is broken, in a few words; of what is not, that no more is served.
fn first_broken(judgement: &Judgement) -> String {
    if judgement.verdict != Verdict::Fail {
        return "no more is served".to_owned();
    }
    let findings = judgement.findings.iter();
    let broken = findings.filter(|finding| finding.verdict == Verdict::Fail);
    let broken: Vec<String> = broken.map(Finding::short).collect();
    match (broken.is_empty(), judgement.why.first()) {
        (true, Some(why)) => why.clone(),
        _ => broken.join(", "),
    }
}
