//! What was measured at one rate.

use crate::evidence::Evidence;
use crate::run::{Backlog, Run};
use crate::series::{Metric, Series};
use openloop_measurer::{Counts, Course, Kind, Kinds, Quantile, Section, Value};
use openloop_sched::Rate;
use std::time::Duration;

/// A backlog that grows by less than this share of what is offered may be chance.
const GROWTH: f64 = 0.005;

/// A service that serves less than this share of what it serves at a low rate has reached its limit.
const SERVED: f64 = 0.95;

/// What was measured at one rate, by one run or several with seeds of their own.
///
/// Its figures are those of the runs that may be believed, taken together: histograms are merged, window by window, and
/// nothing is averaged.
#[derive(Clone, Debug)]
pub struct Point {
    asked: Rate,
    runs: Vec<PointRun>,
    kinds: Kinds,
    windows: Vec<Section>,
}

/// One run at a rate, in short.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PointRun {
    /// From which its schedule was drawn.
    pub seed: u64,
    /// How long its steady phase was.
    pub steady: Duration,
    /// Whether it may be believed.
    pub valid: bool,
    /// Why not.
    pub faults: Vec<String>,
    /// Whether it was stopped early.
    pub interrupted: bool,
    /// Arrivals of its steady phase, by outcome.
    pub counts: Counts,
    /// Arrivals per second of the realised schedule.
    pub offered: f64,
    /// Served arrivals per second, by the instant of their completion.
    pub achieved: f64,
    /// Mean number in flight.
    pub in_flight: f64,
    /// Whether the backlog grew; `None` where that cannot be told.
    pub backlog: Option<Backlog>,
    /// Whether more came than the service could serve.
    pub saturated: bool,
    courses: Vec<(Option<Kind>, Course)>,
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

impl PointRun {
    /// `served_before`: the share of what is offered that was served at the lowest rate.
    fn of(run: &Run, served_before: Option<f64>) -> Self {
        let counts = run.snapshot().steady_counts();
        let offered = run.offered_per_second().unwrap_or(0.0);
        let achieved = run.achieved_per_second().unwrap_or(0.0);
        let backlog = run.backlog();
        let grows =
            backlog.is_some_and(|backlog| backlog.grows && backlog.per_second > GROWTH * offered);
        let kinds = run.plan().kinds();
        let courses = std::iter::once((None, run.snapshot().course().clone())).chain(
            kinds.iter().filter_map(|(kind, _)| {
                Some((Some(kind), run.snapshot().of_kind(kind).course()?.clone()))
            }),
        );
        PointRun {
            seed: run.plan().seed(),
            steady: run.steady_length(),
            valid: run.validity().is_valid(),
            faults: run
                .validity()
                .faults()
                .map(|check| format!("{}: {}", check.name, check.why))
                .collect(),
            interrupted: run.interrupted().is_some(),
            counts,
            offered,
            achieved,
            in_flight: run.snapshot().mean_in_flight().0,
            backlog,
            saturated: grows || falls_behind(counts, offered, achieved, served_before),
            courses: courses.collect(),
        }
    }
}

/// Whether less is achieved than offered, by more than chance and more than at the lowest rate.
fn falls_behind(counts: Counts, offered: f64, achieved: f64, served_before: Option<f64>) -> bool {
    let expected = served_before.unwrap_or(1.0) * offered;
    let chance = 3.0 / (counts.scheduled.max(1) as f64).sqrt();
    achieved < (SERVED.min(1.0 - chance)) * expected
}

impl Point {
    pub(super) fn new(asked: Rate) -> Self {
        Point {
            asked,
            runs: Vec::new(),
            kinds: Kinds::default(),
            windows: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, run: &Run, served_before: Option<f64>) {
        let of = PointRun::of(run, served_before);
        if of.valid {
            let windows = run.snapshot().windows();
            self.windows.resize_with(windows.len(), Section::default);
            for (into, from) in self.windows.iter_mut().zip(windows) {
                into.merge(from);
            }
            self.kinds = run.plan().kinds().clone();
        }
        self.runs.push(of);
    }

    /// The rate asked for.
    #[must_use]
    pub fn asked(&self) -> Rate {
        self.asked
    }

    /// The runs, those that may not be believed among them.
    #[must_use]
    pub fn runs(&self) -> &[PointRun] {
        &self.runs
    }

    /// The runs that may be believed.
    pub(crate) fn believed(&self) -> impl Iterator<Item = &PointRun> {
        self.runs.iter().filter(|run| run.valid)
    }

    /// Whether at least one of its runs may be believed. If not, it says nothing about the service.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.believed().next().is_some()
    }

    /// How long was measured, in all runs that may be believed.
    #[must_use]
    pub fn steady(&self) -> Duration {
        self.believed().map(|run| run.steady).sum()
    }

    /// The mean of a figure over the runs, each weighted by its length.
    fn over_runs(&self, figure: impl Fn(&PointRun) -> f64) -> Option<f64> {
        let steady = self.steady().as_secs_f64();
        let sum: f64 = self
            .believed()
            .map(|run| figure(run) * run.steady.as_secs_f64())
            .sum();
        (steady > 0.0).then(|| sum / steady)
    }

    /// Arrivals per second of the realised schedules.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        self.over_runs(|run| run.offered)
    }

    /// Served arrivals per second, by the instant of their completion.
    #[must_use]
    pub fn achieved(&self) -> Option<f64> {
        self.over_runs(|run| run.achieved)
    }

    /// Mean number in flight.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        self.over_runs(|run| run.in_flight)
    }

    /// The share of what is offered that was served.
    #[must_use]
    pub fn served(&self) -> Option<f64> {
        let offered = self.offered().filter(|offered| *offered > 0.0)?;
        Some(self.achieved()? / offered)
    }

    /// By how many requests per second the backlog grew, where it did in most of the runs.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let growing = |run: &PointRun| run.backlog.is_some_and(|backlog| backlog.grows);
        let runs = self.believed().count();
        let grew = self.believed().filter(|run| growing(run)).count();
        (2 * grew > runs)
            .then(|| self.over_runs(|run| run.backlog.map_or(0.0, |backlog| backlog.per_second)))?
    }

    /// Whether more came than the service could serve, in most of the runs: the backlog grew, or less was served than
    /// at a low rate.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        let runs = self.believed().count();
        2 * self.believed().filter(|run| run.saturated).count() > runs
    }

    /// Arrivals of the steady phases, by outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for run in self.believed() {
            counts.merge(&run.counts);
        }
        counts
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
        Series::of(&self.windows, metric)
    }

    /// The steady phase in ten windows, those of all runs merged by their place.
    #[must_use]
    pub fn windows(&self) -> &[Section] {
        &self.windows
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
    pub fn per_second(&self, count: &str) -> Option<f64> {
        let named = self.windows.iter().flat_map(Section::counts);
        let sum = named
            .filter(|(name, _)| *name == count)
            .map(|(_, by)| by)
            .reduce(|a, b| a + b)?;
        let steady = self.steady().as_secs_f64();
        (steady > 0.0).then(|| sum as f64 / steady)
    }

    /// The courses in time of the runs that may be believed.
    pub(crate) fn courses(&self) -> impl Iterator<Item = &Course> {
        self.courses_of(None)
    }

    fn courses_of(&self, kind: Option<Kind>) -> impl Iterator<Item = &Course> {
        let courses = self.believed().flat_map(|run| &run.courses);
        courses
            .filter(move |(of, _)| *of == kind)
            .map(|(_, course)| course)
    }
}

impl Evidence for Point {
    fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    fn series(&self, kind: Option<Kind>, metric: &Metric) -> Series {
        match kind {
            None => Point::series(self, metric),
            Some(kind) => {
                let windows = self.windows.iter();
                Series::of(windows.map(|window| window.of_kind(kind)), metric)
            }
        }
    }

    fn excursions_above(&self, kind: Option<Kind>, ns: u64) -> Option<u64> {
        self.courses_of(kind)
            .map(|course| course.excursions_above(ns))
            .reduce(|a, b| a + b)
    }

    fn scheduled(&self, kind: Option<Kind>) -> u64 {
        match kind {
            None => self.counts().scheduled,
            Some(_) => Evidence::series(self, kind, &Metric::Response)
                .whole()
                .count(),
        }
    }

    fn steady(&self) -> Duration {
        Point::steady(self)
    }
}
