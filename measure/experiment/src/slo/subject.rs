//! What a bound is on.

use super::bound::Statistic;
use super::good::Good;
use super::judgement::Finding;
use super::objective::Term;
use crate::Run;
use crate::series::{ENOUGH_RUNS, Metric, Series};
use crate::stats::section;
use openloop_measurer::{Course, Kind, Phase, Population, SLICES, Value, WINDOWS};

/// What a bound is on: all arrivals of the runs, or those of one kind.
pub(super) struct Of<'a> {
    runs: &'a [Run],
    pub(super) term: &'a Term<'a>,
    kind: Option<Kind>,
    pub(super) series: Series,
}

impl<'a> Of<'a> {
    /// Of which arrivals the bound speaks; if there are no such, why.
    pub(super) fn find(term: &'a Term<'a>, runs: &'a [Run]) -> Result<Self, String> {
        let first = runs.first().ok_or("there is no run")?;
        let kinds = first.plan().kinds();
        let kind = match &term.bound.kind {
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
        if term.limit.is_none() {
            return Err(
                "it is a multiple of the floor, which a run does not measure: judge the objective on a floor"
                    .to_owned(),
            );
        }
        let metric = &term.bound.metric;
        let series = runs.iter().map(|run| match kind {
            None => run.series(metric),
            Some(kind) => run.series_of(kind, metric),
        });
        let of = Of {
            runs,
            term,
            kind,
            series: Series::merged(series),
        };
        if let Some(good) = &term.bound.good
            && !Good::is_told(runs)
        {
            return Err(format!(
                "nothing was counted as good or not: tell the adapter that an answer is good with {good}"
            ));
        }
        let is_of_stage =
            matches!(metric, Metric::Named(_)) && term.bound.statistic.is_of_latency();
        match is_of_stage && of.series.whole().count() == 0 {
            true => Err(of.no_such_stage()),
            false => Ok(of),
        }
    }

    fn no_such_stage(&self) -> String {
        let mut stages = Vec::new();
        for window in self.runs.iter().flat_map(|run| run.snapshot().windows()) {
            for (name, _) in window.metrics() {
                if !stages.contains(&name) {
                    stages.push(name);
                }
            }
        }
        match stages.is_empty() {
            true => "no request had such a stage, or any".to_owned(),
            false => format!(
                "no request had such a stage; there are: {}",
                stages.join(", ")
            ),
        }
    }

    pub(super) fn measure(&self, finding: &mut Finding) {
        let series = &self.series;
        finding.sections = series.sections();
        match self.term.bound.statistic {
            Statistic::Quantile(q) => match series.quantile(q) {
                None => {}
                Some(Value::AtLeast(ns)) => {
                    (finding.value, finding.at_least) = (Some(ns as f64), true);
                }
                Some(Value::Exact(ns)) => {
                    finding.value = Some(ns as f64);
                    finding.interval = series.interval(q);
                }
            },
            // A mean of which some parts are lower bounds is one itself.
            Statistic::Mean => {
                finding.value = series.whole().mean_ns();
                finding.at_least = series.whole().at_least.count() > 0;
                finding.interval = series.mean_interval();
            }
            Statistic::Errors => {
                finding.value = series.error_share();
                finding.interval = series.error_interval();
            }
            Statistic::Achieved => {
                finding.value = self.achieved();
                finding.interval = self.achieved_interval();
            }
            Statistic::Goodput => {
                let good = self.good();
                finding.value = good.share();
                finding.interval = good.share_interval();
            }
            Statistic::GoodputRate => {
                let good = self.good();
                let seconds = self.steady_seconds();
                finding.value = (seconds > 0.0).then(|| good.total() / seconds);
                finding.interval = finding.value.and_then(|rate| {
                    let is_whole = self.runs.iter().all(|run| run.interrupted().is_none());
                    good.rate_interval(rate, seconds).filter(|_| is_whole)
                });
            }
        }
    }

    fn good(&self) -> Good {
        Good::of(self.runs, self.kind)
    }

    /// The responses of each run, in the course of time and as a whole.
    pub(super) fn responses(&self) -> impl Iterator<Item = (&'a Course, Population)> {
        let runs = self.runs.iter().map(|run| match self.kind {
            None => run.series(&Metric::Response),
            Some(kind) => run.series_of(kind, &Metric::Response),
        });
        self.courses()
            .zip(runs.map(|series| series.whole().clone()))
    }

    pub(super) fn courses(&self) -> impl Iterator<Item = &'a Course> {
        let kind = self.kind;
        self.runs.iter().filter_map(move |run| match kind {
            None => Some(run.snapshot().course()),
            Some(kind) => run.snapshot().of_kind(kind).course(),
        })
    }

    /// The length of all steady phases together.
    pub(super) fn steady_seconds(&self) -> f64 {
        let lengths = self.runs.iter().map(|run| run.steady_length());
        lengths.map(|length| length.as_secs_f64()).sum()
    }

    /// Arrivals of the steady phases.
    pub(super) fn scheduled(&self) -> u64 {
        let of_run = |run: &Run| match self.kind {
            None => run.snapshot().steady_counts().scheduled,
            Some(kind) => {
                let of_kind = run.snapshot().of_kind(kind);
                of_kind.phase_counts(Phase::Steady).scheduled
            }
        };
        self.runs.iter().map(of_run).sum()
    }

    /// Whether the runs are parts of what others share with them.
    pub(super) fn is_of_shard(&self) -> bool {
        self.runs.iter().any(|run| run.plan().shard().count() > 1)
    }

    fn achieved(&self) -> Option<f64> {
        let (mut completions, mut seconds) = (0, 0.0);
        for (course, run) in self.courses().zip(self.runs) {
            let end = run.snapshot().layout().steady().to;
            let end = run.interrupted().map_or(end, |at| at.min(end));
            let (count, counted) = course.ok_completions_before(end);
            completions += count;
            seconds += counted.as_secs_f64();
        }
        (seconds > 0.0).then(|| completions as f64 / seconds)
    }

    fn achieved_interval(&self) -> Option<(f64, f64)> {
        if self.runs.iter().any(|run| run.interrupted().is_some()) {
            return None;
        }
        let seconds = self.steady_seconds() / self.runs.len() as f64 / WINDOWS as f64;
        let of_course = |course: &Course| -> Vec<f64> {
            let windows = course.slices().chunks(SLICES / WINDOWS);
            let counts = windows.map(|window| window.iter().map(|s| s.ok_completions).sum::<u64>());
            counts.map(|count| count as f64 / seconds).collect()
        };
        let by_run: Vec<Vec<f64>> = self.courses().map(of_course).collect();
        let n = by_run.len() as f64;
        let sections: Vec<f64> = match by_run.len() >= ENOUGH_RUNS {
            true => by_run
                .iter()
                .map(|windows| windows.iter().sum::<f64>() / WINDOWS as f64)
                .collect(),
            false => (0..WINDOWS)
                .map(|index| by_run.iter().map(|windows| windows[index]).sum::<f64>() / n)
                .collect(),
        };
        section(self.achieved()?, &sections)
    }
}
