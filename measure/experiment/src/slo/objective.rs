//! An objective whose limits are known.

use super::bound::{Bound, Limit, Statistic};
use super::{Evidence, Judgement, Lint, Slo, SloError, judge, known, lint};
use crate::Floor;
use crate::floor::{Level, Ratio};
use crate::series::Metric;
use crate::units::{Ns, Short};
use std::fmt;
use std::time::Duration;

/// An objective whose limits are known: made by [`Slo::on`].
#[derive(Clone, Debug)]
pub struct Objective<'a> {
    pub(super) terms: Vec<Term<'a>>,
    pub(super) floor: Option<&'a Floor>,
}

/// A bound and what became of its limit.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    pub(super) bound: &'a Bound,
    /// Nanoseconds, or a share, or a rate; `None` for a multiple without a floor.
    pub(super) limit: Option<f64>,
    pub(super) basis: Option<Basis>,
    pub(super) level: Option<&'a Level>,
}

/// How a multiple of the floor became a limit: `times` · `unit_ns` + `rtt_ns`, or the noise floor where that is more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Basis {
    /// The multiple.
    pub times: f64,
    /// Whether of S or of the same quantile of the floor.
    pub ratio: Ratio,
    /// What it is a multiple of, without the round trip.
    pub unit_ns: f64,
    /// How well that is known: its 95 % interval across the trials. It is shown, and not part of the verdict: a limit is
    /// a number that was agreed on.
    pub unit_interval: Option<(f64, f64)>,
    /// The round trip.
    pub rtt_ns: f64,
    /// Whether the noise floor is more, and so the limit.
    pub is_noise_floor: bool,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (times, unit) = (Short(self.times), Ns(self.unit_ns));
        let of = match self.ratio {
            Ratio::Literal => "S",
            Ratio::Inflation => "what the idle service has there",
        };
        write!(f, "{times} x {unit}, {of} ({} ratio)", self.ratio)?;
        if let Some((low, high)) = self.unit_interval {
            write!(f, ", known within {} to {}", Ns(low), Ns(high))?;
        }
        if self.rtt_ns > 0.0 {
            write!(f, ", + {} round trip", Ns(self.rtt_ns))?;
        }
        match self.is_noise_floor {
            true => f.write_str("; the noise floor is more"),
            false => Ok(()),
        }
    }
}

impl<'a> Objective<'a> {
    /// Without a floor.
    pub(super) fn absolute(slo: &'a Slo) -> Self {
        let term = |bound: &'a Bound| Term {
            bound,
            limit: match bound.limit {
                Limit::Fixed(limit) => Some(limit),
                Limit::OfFloor { .. } => None,
            },
            basis: None,
            level: None,
        };
        Objective {
            terms: slo.bounds().iter().map(term).collect(),
            floor: None,
        }
    }

    pub(super) fn on(slo: &'a Slo, floor: &'a Floor) -> Result<Self, SloError> {
        // A stated floor need not name every stage there is.
        if floor.trials() > 0 {
            slo.check_stages(&floor.stages())?;
        }
        let terms = slo.bounds().iter().map(|bound| Term::on(bound, floor));
        Ok(Objective {
            terms: terms.collect::<Result<_, _>>()?,
            floor: Some(floor),
        })
    }

    /// The bounds, with what each is in the end: nanoseconds, a share of errors, a rate.
    pub fn limits(&self) -> impl Iterator<Item = (&'a Bound, Option<f64>, Option<Basis>)> {
        let terms = self.terms.iter();
        terms.map(|term| (term.bound, term.limit, term.basis))
    }

    /// What is questionable in the bounds, before anything is sent: those that are impossible, and those that a
    /// service on the verge of collapse would keep.
    #[must_use]
    pub fn lint(&self) -> Vec<Lint> {
        match self.floor {
            Some(floor) => lint::all(&self.terms, floor),
            None => Vec::new(),
        }
    }

    /// What a run, or [replicas](crate::Replicas) of it, say of the objective.
    #[must_use]
    pub fn judge(&self, evidence: &impl Evidence) -> Judgement {
        judge::judge(self, evidence.runs(), evidence.stability())
    }

    /// The lowest limit on a latency.
    pub(super) fn tightest(&self) -> Option<Duration> {
        let latencies = self
            .terms
            .iter()
            .filter(|term| term.bound.statistic.is_of_latency());
        let lowest = latencies
            .filter_map(|term| term.limit)
            .min_by(f64::total_cmp)?;
        Some(Duration::from_nanos(lowest as u64))
    }
}

impl<'a> Term<'a> {
    fn on(bound: &'a Bound, floor: &'a Floor) -> Result<Self, SloError> {
        let kind = bound.kind.as_deref();
        let level = floor.level(kind, &bound.metric);
        let (limit, basis) = match (bound.limit, level) {
            (Limit::Fixed(limit), _) => (limit, None),
            (Limit::OfFloor { .. }, None) => return Err(unknown(bound, floor)),
            (Limit::OfFloor { times, at_least_ns }, Some(_)) => {
                let (limit, basis) = Term::multiple(bound, floor, times, at_least_ns)?;
                (limit, Some(basis))
            }
        };
        Ok(Term {
            bound,
            limit: Some(limit),
            basis,
            level: level.filter(|_| bound.statistic.is_of_latency()),
        })
    }

    fn multiple(
        bound: &Bound,
        floor: &Floor,
        times: f64,
        at_least_ns: f64,
    ) -> Result<(f64, Basis), SloError> {
        let (kind, metric) = (bound.kind.as_deref(), &bound.metric);
        let ratio = floor.ratio(kind, metric).unwrap_or(Ratio::Literal);
        let (ratio, unit_ns) = match bound.statistic {
            Statistic::Quantile(q) => (ratio, floor.unit_ns(kind, metric, q, ratio)),
            _ => (Ratio::Literal, floor.s_ns(kind, metric)),
        };
        let unit_ns = unit_ns.ok_or_else(|| SloError::NoQuantile(bound.to_string()))?;
        if unit_ns <= 0.0 {
            return Err(SloError::NoService(bound.to_string()));
        }
        let rtt_ns = floor.rtt_ns(metric);
        let level = floor.level(kind, metric);
        let interval = match (bound.statistic, ratio) {
            (Statistic::Quantile(q), Ratio::Inflation) => level.and_then(|level| level.interval(q)),
            _ => level.and_then(Level::mean_interval),
        };
        let limit = times * unit_ns + rtt_ns;
        let basis = Basis {
            times,
            ratio,
            unit_ns,
            unit_interval: interval.map(|(low, high)| (low - rtt_ns, high - rtt_ns)),
            rtt_ns,
            is_noise_floor: at_least_ns > limit,
        };
        Ok((limit.max(at_least_ns), basis))
    }

    /// What the statistic is at the floor, with its confidence interval.
    pub(super) fn at_floor(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let level = self.level?;
        match self.bound.statistic {
            Statistic::Quantile(q) => Some((level.quantile_ns(q)?, level.interval(q))),
            Statistic::Mean => Some((level.mean_ns, level.mean_interval())),
            Statistic::Errors
            | Statistic::Achieved
            | Statistic::Goodput
            | Statistic::GoodputRate => None,
        }
    }

    /// What the statistic is at the floor, if that surely breaks the bound.
    pub(super) fn broken_by_floor(&self) -> Option<f64> {
        let limit = self.limit?;
        let (value, interval) = self.at_floor()?;
        let least = interval.map_or(value, |(low, _)| low);
        (value > limit && least > limit).then_some(value)
    }
}

fn unknown(bound: &Bound, floor: &Floor) -> SloError {
    if let (Metric::Named(_), None) = (&bound.metric, &bound.kind) {
        return SloError::UnknownStage {
            bound: bound.to_string(),
            known: known(floor.stages().into_iter()),
        };
    }
    let mut kinds: Vec<&str> = floor.levels().filter_map(|(kind, _, _)| kind).collect();
    kinds.dedup();
    SloError::UnknownKind {
        bound: bound.to_string(),
        known: known(kinds.into_iter()),
    }
}
