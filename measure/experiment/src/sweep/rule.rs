//! Up to where a service counts as good.

use super::baseline::{Baseline, Ratio};
use super::point::Point;
use crate::ProtocolError;
use crate::series::Metric;
use crate::slo::{Bound, Finding, Ns, Slo, Verdict, judge};
use openloop_measurer::Quantile;
use std::fmt;
use std::time::Duration;

/// Up to where a service counts as good: bounds that its responses keep at a low rate, and do not at a high one.
///
/// ```
/// use openloop_experiment::sweep::Rule;
///
/// let rule = Rule::objective("p99<=20ms, errors<=0.1%".parse()?);
/// assert_eq!(rule.to_string(), "p99 <= 20 ms, errors <= 0.1 %");
/// # Ok::<(), openloop_experiment::SloError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    name: String,
    slo: Slo,
}

/// What the measurements at one rate say of a rule.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opinion {
    /// [`Verdict::Pass`] where it is kept, by the upper confidence limit; [`Verdict::Fail`] where it is broken, by the
    /// lower one, or the backlog grew; [`Verdict::Inconclusive`] between; [`Verdict::Invalid`] where the measurements
    /// may not be believed.
    pub verdict: Verdict,
    /// Bound by bound.
    pub findings: Vec<Finding>,
    /// What decided beside the bounds.
    pub why: Vec<String>,
}

impl Rule {
    /// The knee of λ_knee: P99 at most 3 times that at next to no load.
    ///
    /// # Errors
    /// As [`Rule::ratio`].
    pub fn knee(baseline: &Baseline) -> Result<Self, ProtocolError> {
        Rule::ratio(Quantile::P99, 3.0, Ratio::Automatic, baseline)
    }

    /// The edge of the cliff: P99 at most 10 times that at next to no load.
    ///
    /// # Errors
    /// As [`Rule::ratio`].
    pub fn cliff(baseline: &Baseline) -> Result<Self, ProtocolError> {
        Rule::ratio(Quantile::P99, 10.0, Ratio::Automatic, baseline)
    }

    /// The quantile `q` at most `multiple` times what it is compared with.
    ///
    /// # Errors
    /// When the multiple is not a number above 1, or the baseline has nothing to compare with.
    pub fn ratio(
        q: Quantile,
        multiple: f64,
        ratio: Ratio,
        baseline: &Baseline,
    ) -> Result<Self, ProtocolError> {
        if !(multiple.is_finite() && multiple > 1.0) {
            return Err(ProtocolError::Options(format!(
                "a multiple of {multiple} of the response at next to no load is no limit: give a number above 1"
            )));
        }
        let divisor = baseline.divisor_ns(ratio, q).ok_or_else(|| {
            ProtocolError::Options(format!(
                "the baseline ({}) has no {q}, so nothing can be a multiple of it: measure the floor",
                baseline.source()
            ))
        })?;
        let limit = multiple * divisor + baseline.round_trip_ns();
        let of = match baseline.in_use(ratio) {
            Ratio::Literal => "S".to_owned(),
            Ratio::Inflation | Ratio::Automatic => format!("its own at next to no load"),
        };
        let bound = Bound::quantile(
            Metric::ResponseSlo,
            q,
            Duration::from_nanos(limit.round() as u64),
        );
        Ok(Rule {
            name: format!("{q} <= {multiple} x {of} = {}", Ns(limit)),
            slo: Slo::new(vec![bound])
                .map_err(|error| ProtocolError::Options(error.to_string()))?,
        })
    }

    /// An objective in absolute terms.
    #[must_use]
    pub fn objective(slo: Slo) -> Self {
        let bounds: Vec<_> = slo.bounds().iter().map(ToString::to_string).collect();
        Rule {
            name: bounds.join(", "),
            slo,
        }
    }

    /// The bounds, in absolute terms.
    #[must_use]
    pub fn bounds(&self) -> &[Bound] {
        self.slo.bounds()
    }

    /// What the measurements at one rate say of it.
    #[must_use]
    pub fn judge(&self, point: &Point) -> Opinion {
        if !point.is_valid() {
            let faults = point.runs().iter().flat_map(|run| &run.faults);
            return Opinion {
                verdict: Verdict::Invalid,
                findings: Vec::new(),
                why: faults.cloned().collect(),
            };
        }
        let findings: Vec<_> = self
            .bounds()
            .iter()
            .map(|bound| judge(bound, point))
            .collect();
        let mut verdict = findings
            .iter()
            .map(|finding| finding.verdict)
            .min()
            .unwrap_or(Verdict::Inconclusive);
        let mut why = Vec::new();
        if let Some(growth) = point.growth() {
            verdict = verdict.min(Verdict::Fail);
            why.push(format!(
                "the backlog grew by {growth:.2} requests per second: more came than was served"
            ));
        } else if point.is_saturated() {
            verdict = verdict.min(Verdict::Fail);
            why.push("less was served than came".to_owned());
        }
        if point.believed().any(|run| run.interrupted) && verdict == Verdict::Pass {
            verdict = Verdict::Inconclusive;
            why.push("a run was interrupted".to_owned());
        }
        Opinion {
            verdict,
            findings,
            why,
        }
    }
}

impl Opinion {
    /// Of the bound that is nearest to its limit, or furthest beyond it: what was measured over the limit, and the half
    /// width of its interval relative to what was measured.
    pub(super) fn tightest(&self) -> Option<(f64, f64)> {
        let share = |finding: &Finding| {
            let value = finding.value.filter(|value| *value > 0.0)?;
            let (low, high) = finding.interval?;
            Some((value / finding.bound.limit, (high - low) / 2.0 / value))
        };
        self.findings
            .iter()
            .filter_map(share)
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
