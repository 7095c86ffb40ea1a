//! A verdict, with every number behind it.

use super::bound::Bound;
use super::objective::Basis;
use super::verdict::Verdict;
use crate::Validity;
use crate::series::Sections;
use crate::units::Short;
use std::fmt;

/// What a run, or replicas of it, say of an objective, with every number behind it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// The verdict on the whole.
    pub verdict: Verdict,
    /// Bound by bound.
    pub findings: Vec<Finding>,
    /// What decided beside the bounds: faults of the generator, a growing backlog, runs that disagree.
    pub why: Vec<String>,
    /// Whether the run may be believed for the purpose of this objective: as [`Run::validity`](crate::Run::validity),
    /// but the generator's own part of the response may also be 2 % of the lowest bound. Of several runs, that of the
    /// first which may not; of the first of all if they all may.
    pub validity: Validity,
    /// How many runs were judged.
    pub runs: usize,
}

/// What a run says of one bound.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The bound.
    pub bound: Bound,
    /// What it comes to: nanoseconds, a share of errors, a rate; `None` for a multiple without a floor.
    pub limit: Option<f64>,
    /// How a multiple of the floor became that limit.
    pub basis: Option<Basis>,
    /// What was measured: nanoseconds, a share, a rate; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Whether it is only a lower bound.
    pub at_least: bool,
    /// Its 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// What the interval rests on.
    pub sections: Sections,
    /// What was measured against the floor, by both ratios.
    pub ratios: Option<Ratios>,
    /// The verdict on this bound.
    pub verdict: Verdict,
    /// Why, with the figures.
    pub why: String,
    /// Why, without them; empty where they speak for themselves.
    pub(super) reason: String,
}

/// A quantile under load against the floor, the round trip taken off both.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ratios {
    /// P_q / S.
    pub literal: f64,
    /// P_q / P_q(floor); `None` where the floor was stated without that quantile.
    pub inflation: Option<f64>,
}

impl Judgement {
    /// Whether every bound is kept, by runs that may be believed and had enough data.
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

/// A table: one line for each bound, and under it why, where the figures do not say so themselves.
impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "verdict: {}", self.verdict.name().to_uppercase())?;
        match self.runs {
            0 | 1 => writeln!(f)?,
            runs => writeln!(f, " (of {runs} runs)")?,
        }
        for why in &self.why {
            writeln!(f, "  {why}")?;
        }
        let mut table = vec![
            [
                "bound",
                "limit",
                "measured",
                "95 % interval",
                "x S",
                "x floor",
                "verdict",
            ]
            .map(str::to_owned),
        ];
        table.extend(self.findings.iter().map(Finding::row));
        let width = |column: usize| {
            let cells = table.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        // Ratios only where there is a floor.
        let has_ratios = self.findings.iter().any(|finding| finding.ratios.is_some());
        let shown = (0..7).filter(|column| has_ratios || !(4..6).contains(column));
        let columns: Vec<(usize, usize)> = shown.map(|column| (column, width(column))).collect();
        for (index, row) in table.iter().enumerate() {
            let cells = columns.iter().map(|&(column, width)| {
                let cell = &row[column];
                match column {
                    0 => format!("{cell:<width$}"),
                    6 => cell.clone(),
                    _ => format!("{cell:>width$}"),
                }
            });
            writeln!(f, "  {}", cells.collect::<Vec<_>>().join("   "))?;
            let Some(finding) = index.checked_sub(1).map(|index| &self.findings[index]) else {
                continue;
            };
            if let Some(basis) = &finding.basis {
                writeln!(f, "      limit = {basis}")?;
            }
            if !finding.reason.is_empty() {
                writeln!(f, "      {}", finding.reason)?;
            }
        }
        Ok(())
    }
}

impl Finding {
    /// The bound and what was measured, without the rest: `ttft.p99 <= 200 ms: 231 ms`.
    #[must_use]
    pub fn short(&self) -> String {
        let shown = |value: f64| self.bound.statistic.shown(value);
        match (self.value, self.at_least) {
            (None, _) => format!("{}: {}", self.bound, self.reason),
            (Some(value), false) => format!("{}: {}", self.bound, shown(value)),
            (Some(value), true) => format!("{}: at least {}", self.bound, shown(value)),
        }
    }

    fn row(&self) -> [String; 7] {
        let shown = |value: f64| self.bound.statistic.shown(value);
        let verdict = match self.verdict {
            Verdict::Pass => "pass".to_owned(),
            other => other.name().to_uppercase(),
        };
        let ratio = |x: Option<f64>| x.map_or(String::new(), |x| Short(x).to_string());
        [
            self.bound.to_string(),
            self.limit.map_or("?".to_owned(), shown),
            match (self.value, self.at_least) {
                (None, _) => "-".to_owned(),
                (Some(value), false) => shown(value),
                (Some(value), true) => format!("≥ {}", shown(value)),
            },
            match self.interval {
                Some((low, high)) => format!("{} to {}", shown(low), shown(high)),
                None => "-".to_owned(),
            },
            ratio(self.ratios.map(|ratios| ratios.literal)),
            ratio(self.ratios.and_then(|ratios| ratios.inflation)),
            verdict,
        ]
    }
}
