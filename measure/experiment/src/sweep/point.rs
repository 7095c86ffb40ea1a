//! What was measured at one rate.

use crate::replicas::{Stability, is_for_retest};
use crate::run::Run;
use crate::series::{Metric, Series};
use openloop_measurer::{Counts, Course, Outcome, Quantile, Section, Value};
use openloop_sched::Rate;
use std::time::Duration;

/// A service that serves less than this share of what it serves at a low rate has reached its limit.
const SERVED: f64 = 0.95;

/// What was measured at one rate, by one run or several with seeds of their own.
///
/// Its figures are those of the runs that may be believed (in a search: for the purpose of the objective, as in
/// [`Judgement::validity`](crate::Judgement::validity)), taken together: histograms are merged, and nothing is
/// averaged that cannot be.
#[derive(Clone, Debug)]
pub struct Point {
    asked: Rate,
    runs: Vec<Run>,
    dismissed: Vec<Run>,
    /// The share of what is offered that is served at a low rate.
    served_before: f64,
    /// Whether its runs agree, where they are replicas: runs of one plan, as long as each other.
    stability: Option<Stability>,
    /// The sets of replicas that disagreed, and were made anew.
    discarded: Vec<Vec<Run>>,
}

/// A statistic of a latency, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// What was measured.
    pub ns: f64,
    /// Whether it is only a lower bound.
    pub at_least: bool,
    /// Its 95 % confidence interval, by sectioning.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    pub(super) fn new(asked: Rate, served_before: f64) -> Self {
        Point {
            asked,
            runs: Vec::new(),
            dismissed: Vec::new(),
            served_before,
            stability: None,
            discarded: Vec::new(),
        }
    }

    /// Compares its runs with each other, as replicas; whether they should be made anew.
    pub(super) fn compare(&mut self) -> bool {
        if self.runs.len() < 3 {
            return false;
        }
        let stability = Stability::of(&self.runs);
        let again = is_for_retest(&self.runs, &stability);
        self.stability = Some(stability);
        again
    }

    /// Puts its runs aside, for others in their place.
    pub(super) fn discard(&mut self) {
        self.stability = None;
        self.discarded.push(std::mem::take(&mut self.runs));
    }

    pub(super) fn add(&mut self, run: Run, believed: bool) {
        match believed {
            true => self.runs.push(run),
            false => self.dismissed.push(run),
        }
    }

    /// The rate asked for.
    #[must_use]
    pub fn asked(&self) -> Rate {
        self.asked
    }

    /// The same in arrivals per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.asked.as_per_second()
    }

    /// The runs that may be believed.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs that may not be believed, and count for nothing.
    #[must_use]
    pub fn dismissed(&self) -> &[Run] {
        &self.dismissed
    }

    /// Whether its runs agree, where they are [replicas](crate::sweep::Sweep::runs): three or more of a list. A rate at
    /// which they do not is [inconclusive](crate::Verdict::Inconclusive) for every objective.
    #[must_use]
    pub fn stability(&self) -> Option<&Stability> {
        self.stability.as_ref()
    }

    /// The sets of replicas that disagreed, and were [made anew](crate::sweep::Sweep::retest).
    #[must_use]
    pub fn discarded(&self) -> &[Vec<Run>] {
        &self.discarded
    }

    /// Whether at least one of its runs may be believed. If not, it says nothing about the service.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        !self.runs.is_empty()
    }

    /// How long was measured.
    #[must_use]
    pub fn steady(&self) -> Duration {
        self.runs.iter().map(Run::steady_length).sum()
    }

    /// The mean of a figure over the runs, each weighted by its length.
    fn over_runs(&self, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        let mut sum = 0.0;
        for run in &self.runs {
            sum += figure(run)? * run.steady_length().as_secs_f64();
        }
        let steady = self.steady().as_secs_f64();
        (steady > 0.0).then(|| sum / steady)
    }

    /// Arrivals per second of the realised schedules.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        self.over_runs(Run::offered_per_second)
    }

    /// Served arrivals per second, by the instant of their completion.
    #[must_use]
    pub fn achieved(&self) -> Option<f64> {
        self.over_runs(Run::achieved_per_second)
    }

    /// Mean number in flight.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        self.over_runs(|run| Some(run.snapshot().mean_in_flight().0))
    }

    /// The share of what is offered that was served.
    #[must_use]
    pub fn served(&self) -> Option<f64> {
        let offered = self.offered().filter(|offered| *offered > 0.0)?;
        Some(self.achieved()? / offered)
    }

    /// Whether it is so of most of the runs.
    fn mostly(&self, is_so: impl Fn(&Run) -> bool) -> bool {
        2 * self.runs.iter().filter(|run| is_so(run)).count() > self.runs.len()
    }

    /// Whether the backlog grew, in most of the runs.
    #[must_use]
    pub fn grew(&self) -> bool {
        self.mostly(|run| run.backlog().is_some_and(|backlog| backlog.grows))
    }

    /// Whether more came than the service could serve, in most of the runs: the backlog grew by more than chance
    /// explains, or less was served than at a low rate.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.mostly(|run| {
            let offered = run.offered_per_second().unwrap_or(0.0);
            let grows = run.backlog().is_some_and(|backlog| backlog.grows);
            let chance = 3.0 / (run.snapshot().steady_counts().scheduled.max(1) as f64).sqrt();
            let least = SERVED.min(1.0 - chance) * self.served_before * offered;
            grows
                || run
                    .achieved_per_second()
                    .is_some_and(|achieved| achieved < least)
        })
    }

    /// Arrivals of the steady phases, by outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for run in &self.runs {
            counts.merge(&run.snapshot().steady_counts());
        }
        counts
    }

    /// Arrivals of the steady phases with this outcome, its class included.
    pub(crate) fn with_outcome(&self, outcome: Outcome) -> u64 {
        let windows = self.runs.iter().flat_map(|run| run.snapshot().windows());
        let classes = windows.flat_map(Section::classes);
        classes
            .filter(|(found, _)| *found == outcome)
            .map(|(_, stats)| stats.response.count())
            .sum()
    }

    /// The share of arrivals that were not served, with its 95 % confidence interval.
    #[must_use]
    pub fn errors(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let series = self.series(&Metric::ResponseSlo);
        Some((series.error_share()?, series.error_interval()))
    }

    /// One latency of all runs together.
    #[must_use]
    pub fn series(&self, metric: &Metric) -> Series {
        Series::merged(self.runs.iter().map(|run| run.series(metric)))
    }

    /// The quantile `q` of the response as an objective sees it.
    #[must_use]
    pub fn quantile(&self, q: Quantile) -> Option<Estimate> {
        let series = self.series(&Metric::ResponseSlo);
        let value = series.quantile(q)?;
        Some(Estimate {
            ns: value.ns() as f64,
            at_least: matches!(value, Value::AtLeast(_)),
            interval: series.interval(q),
        })
    }

    /// The mean response as an objective sees it: a lower bound where some were not served.
    #[must_use]
    pub fn mean(&self) -> Option<Estimate> {
        let series = self.series(&Metric::ResponseSlo);
        Some(Estimate {
            ns: series.whole().mean_ns()?,
            at_least: series.whole().at_least.count() > 0,
            interval: series.mean_interval(),
        })
    }

    /// How much of a named count came per second: tokens, bytes. `None` where nothing was counted under that name.
    #[must_use]
    pub fn counted(&self, count: &str) -> Option<f64> {
        let windows = self.runs.iter().flat_map(|run| run.snapshot().windows());
        let sum = windows
            .flat_map(Section::counts)
            .filter(|(name, _)| *name == count)
            .map(|(_, by)| by)
            .reduce(|a, b| a + b)?;
        let steady = self.steady().as_secs_f64();
        (steady > 0.0).then(|| sum as f64 / steady)
    }

    /// The courses in time of its runs.
    pub(crate) fn courses(&self) -> impl Iterator<Item = &Course> {
        self.runs.iter().map(|run| run.snapshot().course())
    }
}
