//! Objectives, and what a run says of them.

mod bound;

pub use bound::{Bound, Statistic};

use crate::evidence::Evidence;
use crate::run::Run;
use crate::series::{Metric, Series};
use crate::validity::{EXCURSIONS, Validity};
pub(crate) use bound::Ns;
use openloop_measurer::{Kind, QuantileError, Value};
use openloop_sched::DurationError;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What a run says of an objective.
///
/// In the order in which they are decided: the first that applies is the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The generator or its environment failed, so the run says nothing of the service.
    Invalid,
    /// The service needs longer than the bound even when it is idle.
    Infeasible,
    /// The bound is broken, or the backlog grew.
    Fail,
    /// The data are too few to tell.
    Inconclusive,
    /// The bound is kept.
    Pass,
}

impl Verdict {
    /// Name in reports: `invalid`, `infeasible`, `fail`, `inconclusive`, `pass`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Invalid => "invalid",
            Verdict::Infeasible => "infeasible",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Pass => "pass",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A service-level objective: bounds that all must be kept.
///
/// In its short form bounds are parted by commas: `p99<=100ms`, `p50<=5ms,p99<=25ms,errors<=0.1%`, `mean<=3ms`, and
/// `connect.p99<=2ms` for a stage of an adapter. A bound is on the response as an objective sees it, in which an
/// arrival that was not served is later than any that was.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    bounds: Vec<Bound>,
}

impl Slo {
    /// An objective of these bounds.
    ///
    /// # Errors
    /// When there is none, or a limit is not a number above zero (for errors: from zero to one).
    pub fn new(bounds: Vec<Bound>) -> Result<Self, SloError> {
        if bounds.is_empty() {
            return Err(SloError::Empty);
        }
        for bound in &bounds {
            let fits = match bound.statistic {
                Statistic::Errors => (0.0..=1.0).contains(&bound.limit),
                Statistic::Quantile(_) | Statistic::Mean => {
                    bound.limit.is_finite() && bound.limit > 0.0
                }
            };
            if !fits {
                return Err(SloError::Limit(bound.to_string()));
            }
        }
        Ok(Slo { bounds })
    }

    /// The bounds.
    #[must_use]
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// The lowest bound on a latency.
    fn tightest(&self) -> Option<Duration> {
        let latencies = self
            .bounds
            .iter()
            .filter(|bound| bound.statistic != Statistic::Errors);
        let lowest = latencies.map(|bound| bound.limit).min_by(f64::total_cmp)?;
        Some(Duration::from_nanos(lowest as u64))
    }

    /// What `run` says of the objective.
    ///
    /// The generator's own part of the response is held against the lowest of the bounds: see
    /// [`Judgement::validity`].
    #[must_use]
    pub fn judge(&self, run: &Run) -> Judgement {
        let growth = run.backlog().filter(|backlog| backlog.grows);
        let findings: Vec<_> = self.bounds.iter().map(|bound| judge(bound, run)).collect();
        let mut verdict = findings
            .iter()
            .map(|finding| finding.verdict)
            .min()
            .unwrap_or(Verdict::Inconclusive);
        let mut why = Vec::new();
        if run.interrupted().is_some() && verdict == Verdict::Pass {
            verdict = Verdict::Inconclusive;
            why.push("the run was interrupted".to_owned());
        }
        if let Some(growth) = growth {
            verdict = verdict.min(Verdict::Fail);
            why.push(format!(
                "the backlog grew by {:.2} requests per second: more came than was served",
                growth.per_second
            ));
        }
        let validity = match self.tightest() {
            Some(bound) => Validity::for_bound(run, bound),
            None => run.validity().clone(),
        };
        if !validity.is_valid() {
            verdict = Verdict::Invalid;
            why.extend(validity.faults().map(|check| check.why.clone()));
        }
        Judgement {
            verdict,
            findings,
            why,
            validity,
        }
    }
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bounds = bound::split(text)
            .into_iter()
            .filter(|part| !part.trim().is_empty())
            .map(bound::parse)
            .collect::<Result<_, _>>()?;
        Slo::new(bounds)
    }
}

/// Why a text is not an objective.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SloError {
    /// No bound at all.
    #[error("an objective needs at least one bound, such as p99<=100ms")]
    Empty,
    /// Not of the form statistic<=limit.
    #[error(
        "\"{0}\" is not a bound: write p99<=100ms, mean<=5ms, connect.p99<=2ms or errors<=0.1%"
    )]
    Form(String),
    /// A kind of request whose name does not end, or is empty.
    #[error(
        "\"{0}\" does not name a kind of request: write p99[read]<=5ms, or p99[\"a [b]\"]<=5ms where the name has brackets or quotes"
    )]
    Kind(String),
    /// Not a quantile.
    #[error(transparent)]
    Quantile(#[from] QuantileError),
    /// Not a duration.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// Not a share.
    #[error("\"{0}\" is not a share of errors: write 0.1% or 0.001")]
    Share(String),
    /// A limit that nothing or everything keeps.
    #[error("the limit of \"{0}\" is out of range: above zero, and for errors from 0 to 100 %")]
    Limit(String),
    /// A multiple of a floor that was not measured.
    #[error(
        "\"{0}\" is a multiple of the service floor, which a single run does not measure: give the limit as a time"
    )]
    NoFloor(String),
}

/// What a run says of an objective, with every number behind it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict on the whole.
    pub verdict: Verdict,
    /// Bound by bound.
    pub findings: Vec<Finding>,
    /// What decided beside the bounds: faults of the generator, a growing backlog.
    pub why: Vec<String>,
    /// Whether the run may be believed for the purpose of this objective: as [`Run::validity`], but the generator's
    /// own part of the response may also be 2 % of the lowest bound.
    pub validity: Validity,
}

/// What a run says of one bound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The bound.
    pub bound: Bound,
    /// What was measured: nanoseconds, or a share; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Whether it is only a lower bound.
    pub at_least: bool,
    /// Its 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// The verdict on this bound.
    pub verdict: Verdict,
    /// Why.
    pub why: String,
}

impl Judgement {
    /// Whether every bound is kept, by a run that may be believed and had enough data.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    /// Does nothing if the verdict is [`Verdict::Pass`]: for tests.
    ///
    /// # Panics
    /// If it is any other, with every number behind it.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.passed(), "\n{self}");
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "verdict: {}", self.verdict.name().to_uppercase())?;
        for finding in &self.findings {
            let name = finding.verdict.name();
            writeln!(
                f,
                "  {:<28} {name:<13} {}",
                finding.bound.to_string(),
                finding.why
            )?;
        }
        for why in &self.why {
            writeln!(f, "  {why}")?;
        }
        Ok(())
    }
}

/// What the evidence says of one bound.
pub(crate) fn judge(bound: &Bound, evidence: &impl Evidence) -> Finding {
    let of = match Of::find(bound, evidence) {
        Ok(of) => of,
        Err(why) => {
            return Finding {
                bound: bound.clone(),
                value: None,
                at_least: false,
                interval: None,
                verdict: Verdict::Inconclusive,
                why,
            };
        }
    };
    let series = of.series(&bound.metric);
    let (value, at_least, interval) = measure(bound, &series);
    let unit = |x: f64| match bound.statistic {
        Statistic::Errors => format!("{:.3} %", x * 100.0),
        Statistic::Quantile(_) | Statistic::Mean => Ns(x).to_string(),
    };
    let shown = interval.map_or_else(
        || "no interval".to_owned(),
        |(low, high)| format!("95 % interval {} to {}", unit(low), unit(high)),
    );
    let (verdict, why) = match (value, interval) {
        (None, _) => (Verdict::Inconclusive, "nothing was measured".to_owned()),
        (Some(value), _) if at_least && bound.statistic == Statistic::Mean => {
            let verdict = if value > bound.limit {
                Verdict::Fail
            } else {
                Verdict::Inconclusive
            };
            let why = format!(
                "at least {}: arrivals that were not served count with the age they had",
                unit(value)
            );
            (verdict, why)
        }
        (Some(value), _) if at_least => (
            Verdict::Fail,
            format!(
                "at least {}: it falls on arrivals that were not served",
                unit(value)
            ),
        ),
        (Some(value), Some((low, _))) if low > bound.limit => {
            (Verdict::Fail, format!("{} ({shown})", unit(value)))
        }
        (Some(value), Some((_, high))) if high <= bound.limit => {
            match of.too_few(bound, &series, value) {
                None => (Verdict::Pass, format!("{} ({shown})", unit(value))),
                Some(why) => (
                    Verdict::Inconclusive,
                    format!("{} ({shown}), but {why}", unit(value)),
                ),
            }
        }
        (Some(value), Some(_)) => (
            Verdict::Inconclusive,
            format!(
                "{} ({shown}): the interval straddles the bound",
                unit(value)
            ),
        ),
        (Some(value), None) => (
            Verdict::Inconclusive,
            format!(
                "{} (no interval: a tenth of the steady phase has no arrivals)",
                unit(value)
            ),
        ),
    };
    Finding {
        bound: bound.clone(),
        value,
        at_least,
        interval,
        verdict,
        why,
    }
}

fn measure(bound: &Bound, series: &Series) -> (Option<f64>, bool, Option<(f64, f64)>) {
    match bound.statistic {
        Statistic::Quantile(q) => match series.quantile(q) {
            None => (None, false, None),
            Some(Value::AtLeast(ns)) => (Some(ns as f64), true, None),
            Some(Value::Exact(ns)) => (Some(ns as f64), false, series.interval(q)),
        },
        // A mean of which some parts are lower bounds is one itself.
        Statistic::Mean => (
            series.whole().mean_ns(),
            series.whole().at_least.count() > 0,
            series.mean_interval(),
        ),
        Statistic::Errors => (series.error_share(), false, series.error_interval()),
    }
}

/// What a bound is on: all arrivals, or those of one kind.
struct Of<'a, E> {
    evidence: &'a E,
    kind: Option<Kind>,
}

impl<'a, E: Evidence> Of<'a, E> {
    /// Of which arrivals `bound` speaks; if there are no such, why.
    fn find(bound: &Bound, evidence: &'a E) -> Result<Self, String> {
        let kinds = evidence.kinds();
        let kind = match &bound.kind {
            None => None,
            Some(name) => match kinds.get(name) {
                Some(kind) => Some(kind),
                None if kinds.is_empty() => {
                    return Err("the run does not tell kinds of request apart".to_owned());
                }
                None => {
                    let names: Vec<_> = kinds.iter().map(|(_, name)| name).collect();
                    return Err(format!(
                        "the run has no such kind of request; there are: {}",
                        names.join(", ")
                    ));
                }
            },
        };
        Ok(Of { evidence, kind })
    }

    fn series(&self, metric: &Metric) -> Series {
        self.evidence.series(self.kind, metric)
    }

    /// Why the data do not resolve a quantile that seems to keep its bound; `None` if they do.
    fn too_few(&self, bound: &Bound, series: &Series, value: f64) -> Option<String> {
        let q = match bound.statistic {
            Statistic::Quantile(q) => q,
            Statistic::Errors => return self.too_few_for_errors(bound, value),
            Statistic::Mean => return None,
        };
        let excursions = self.evidence.excursions_above(self.kind, value as u64);
        let above = match (&bound.metric, excursions) {
            (Metric::Response | Metric::ResponseOk | Metric::ResponseSlo, Some(excursions)) => {
                excursions
            }
            // Of other metrics there is no course in time: single values are counted instead.
            _ => series.whole().count() - q.rank(series.whole().count()),
        };
        if above >= EXCURSIONS {
            return None;
        }
        let steady = self.evidence.steady();
        let factor = EXCURSIONS as f64 / (above.max(1)) as f64;
        Some(format!(
            "only {above} separate excursions lie above it and {EXCURSIONS} are needed: a steady phase of about {:.0} s would do",
            (steady.as_secs_f64() * factor).ceil()
        ))
    }

    /// Without an error among n arrivals, their share may still be up to 3/n (at 95 %).
    fn too_few_for_errors(&self, bound: &Bound, share: f64) -> Option<String> {
        let n = self.evidence.scheduled(self.kind) as f64;
        let needed = (3.0 / bound.limit).ceil();
        (share == 0.0 && bound.limit > 0.0 && n < needed).then(|| {
            format!("none among {n:.0} arrivals says no more than that: {needed:.0} are needed")
        })
    }
}
