//! What a sweep found.

use super::baseline::{Baseline, Ratio};
use super::limit::{Limit, Plain};
use super::point::{Estimate, Point};
use super::rule::Rule;
use crate::ProtocolError;
use crate::slo::{Ns, Verdict};
use openloop_measurer::Quantile;
use std::fmt;

/// What a sweep found: what the service did at each rate.
#[derive(Clone, Debug)]
pub struct Curve {
    pub(super) points: Vec<Point>,
    pub(super) rule: Option<Rule>,
    pub(super) baseline: Option<Baseline>,
    pub(super) unit: Option<Counted>,
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

impl Curve {
    /// What was measured, by rate from the lowest to the highest.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// What a sweep was to find.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.rule.as_ref()
    }

    /// What ratios are ratios to.
    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.baseline.as_ref()
    }

    /// What the rates were given in, if not in requests.
    #[must_use]
    pub fn counted(&self) -> Option<&Counted> {
        self.unit.as_ref()
    }

    /// The points that may be believed.
    pub(crate) fn valid(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.points.iter().filter(|point| point.is_valid())
    }

    /// The points that may be believed and at which the service kept up.
    pub(crate) fn stable(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.valid().filter(|point| !point.is_saturated())
    }

    /// The highest rate at which the rule that was searched for is kept.
    #[must_use]
    pub fn found(&self) -> Limit {
        match &self.rule {
            Some(rule) => self.limit(rule),
            None => Limit::Unknown {
                why: "the sweep was not asked to find anything".to_owned(),
            },
        }
    }

    /// λ_knee: the highest rate at which P99 is at most 3 times that at next to no load.
    #[must_use]
    pub fn knee(&self) -> Limit {
        self.relative(Rule::knee)
    }

    /// The edge of the cliff: the highest rate at which P99 is at most 10 times that at next to no load.
    #[must_use]
    pub fn cliff(&self) -> Limit {
        self.relative(Rule::cliff)
    }

    fn relative(&self, rule: impl Fn(&Baseline) -> Result<Rule, ProtocolError>) -> Limit {
        let Some(baseline) = &self.baseline else {
            return Limit::Unknown {
                why: "no floor was measured that the responses could be compared with".to_owned(),
            };
        };
        match rule(baseline) {
            Ok(rule) => self.limit(&rule),
            Err(error) => Limit::Unknown {
                why: error.to_string(),
            },
        }
    }

    /// The highest rate at which `rule` is kept. It errs on the low side: kept means that the whole confidence interval
    /// is. Runs that may not be believed say nothing about the service, and are left out.
    #[must_use]
    pub fn limit(&self, rule: &Rule) -> Limit {
        let rate = |point: &Point| point.asked().as_per_second();
        let opinions: Vec<_> = self
            .valid()
            .map(|point| (rate(point), rule.judge(point)))
            .collect();
        let fails = |verdict| matches!(verdict, Verdict::Fail | Verdict::Infeasible);
        let failed = opinions
            .iter()
            .position(|(_, opinion)| fails(opinion.verdict));
        let before = &opinions[..failed.unwrap_or(opinions.len())];
        let kept = before
            .iter()
            .rposition(|(_, opinion)| opinion.verdict == Verdict::Pass);
        let first_line = |opinion: &super::Opinion| {
            let findings = opinion
                .findings
                .iter()
                .filter(|f| f.verdict != Verdict::Pass);
            let mut lines = opinion
                .why
                .iter()
                .cloned()
                .chain(findings.map(|finding| format!("{}: {}", finding.bound, finding.why)));
            lines.next().unwrap_or_default()
        };
        match (kept, failed) {
            (Some(kept), Some(_)) => Limit::Found {
                rate: opinions[kept].0,
                not_at: opinions[kept + 1].0,
            },
            (Some(kept), None) => {
                let (best, _) = opinions[kept];
                let why = match (opinions.get(kept + 1), self.invalid_above(best)) {
                    (Some((next, opinion)), _) => {
                        format!("at {}/s {}", Plain(*next), first_line(opinion))
                    }
                    (None, Some(why)) => why,
                    (None, None) => "it was kept at the highest rate that was tried".to_owned(),
                };
                Limit::AtLeast { rate: best, why }
            }
            (None, Some(failed)) => Limit::Below {
                rate: opinions[failed].0,
                why: first_line(&opinions[failed].1),
            },
            (None, None) => Limit::Unknown {
                why: match opinions.first() {
                    Some((rate, opinion)) => {
                        format!("at {}/s {}", Plain(*rate), first_line(opinion))
                    }
                    None => self
                        .invalid_above(0.0)
                        .unwrap_or_else(|| "nothing was measured".to_owned()),
                },
            },
        }
    }

    fn invalid_above(&self, rate: f64) -> Option<String> {
        let is_above = |point: &&Point| point.asked().as_per_second() > rate && !point.is_valid();
        let point = self.points.iter().find(is_above)?;
        let fault = point.runs().iter().flat_map(|run| &run.faults).next();
        Some(format!(
            "the run at {}/s may not be believed ({})",
            Plain(point.asked().as_per_second()),
            fault.map_or("no reason given", String::as_str)
        ))
    }

    /// λ_max: the highest rate of served arrivals, per second. Found where the service was saturated; of a service that
    /// kept up with all that came, what it served is only the least that it can.
    #[must_use]
    pub fn max(&self) -> Limit {
        let achieved = self.valid().filter_map(Point::achieved);
        let Some(rate) = achieved.reduce(f64::max) else {
            return Limit::Unknown {
                why: "no run may be believed".to_owned(),
            };
        };
        match self.valid().find(|point| point.is_saturated()) {
            Some(saturated) => Limit::Found {
                rate,
                not_at: saturated.asked().as_per_second(),
            },
            None => Limit::AtLeast {
                rate,
                why: self
                    .invalid_above(rate)
                    .unwrap_or_else(|| "the service kept up with all that came".to_owned()),
            },
        }
    }

    /// P99 at a point over that at next to no load, in the ratio in use.
    #[must_use]
    pub fn ratio(&self, point: &Point) -> Option<f64> {
        let p99 = point.quantile(Quantile::P99)?.ns;
        self.baseline
            .as_ref()?
            .ratio_of(Ratio::Automatic, Quantile::P99, p99)
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
        if self.baseline.is_none() {
            warnings.push(
                "no floor was measured, so there are neither ratios nor a knee: measure it first"
                    .to_owned(),
            );
        }
        for point in self.points.iter().filter(|point| !point.is_valid()) {
            warnings.push(format!(
                "the step at {}/s may not be believed, and says nothing about the service",
                Plain(point.asked().as_per_second())
            ));
        }
        warnings
    }
}

struct Cell(Option<Estimate>);

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            None => "-".to_owned(),
            Some(estimate) => {
                let sign = if estimate.at_least { ">=" } else { "" };
                format!("{sign}{}", Ns(estimate.ns))
            }
        };
        f.pad(&text)
    }
}

/// A table of the points, and the limits below it.
impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>12} {:>8} {:>9} {:>7}",
            "asked/s",
            "offered",
            "achieved",
            "mean",
            "p50",
            "p95",
            "p99",
            "p99 x",
            "in flight",
            "errors"
        )?;
        for point in &self.points {
            let asked = Plain(point.asked().as_per_second());
            if !point.is_valid() {
                writeln!(f, "{asked:>10} invalid: it may not be believed")?;
                continue;
            }
            let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), |r| Plain(r).to_string());
            let ratio = self
                .ratio(point)
                .map_or("-".to_owned(), |r| format!("{r:.2}"));
            let errors = point.errors().map_or(0.0, |(share, _)| share);
            let quantile = |q| Cell(point.quantile(q));
            let end = if point.is_saturated() {
                " saturated"
            } else {
                ""
            };
            writeln!(
                f,
                "{asked:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>12} {ratio:>8} {:>9} {:>6.2}%{end}",
                rate(point.offered()),
                rate(point.achieved()),
                Cell(point.mean()),
                quantile(Quantile::P50),
                quantile(Quantile::P95),
                quantile(Quantile::P99),
                rate(point.in_flight()),
                errors * 100.0,
            )?;
        }
        if let Some(rule) = &self.rule {
            writeln!(f, "{rule}: {}", self.found())?;
        }
        if self.baseline.is_some() {
            writeln!(f, "knee:    {}", self.knee())?;
            writeln!(f, "cliff:   {}", self.cliff())?;
        }
        writeln!(f, "maximum: {}", self.max())?;
        for warning in self.warnings() {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}
