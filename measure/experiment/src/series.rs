//! A latency of a run, whole and by window.

use crate::stats::section;
use openloop_measurer::{ClassStats, Histogram, Outcome, Population, Quantile, Section, Value};
use std::fmt;
use std::str::FromStr;

/// From so many runs on, intervals are across runs: of three the half-width would be 2.5 standard deviations.
pub(crate) const ENOUGH_RUNS: usize = 5;

/// Which latency of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Of every arrival; those never served are lower bounds.
    Response,
    /// Of the arrivals that were served.
    ResponseOk,
    /// As an objective sees it: everything not served is a lower bound.
    ResponseSlo,
    /// Inside the user's future.
    Service,
    /// Service without the wait on our side: what a naive tool calls latency.
    Exchange,
    /// Until the first poll.
    ScheduleDelay,
    /// Until the release.
    Lag,
    /// From the kernel's receive stamp to the end of the future.
    Pickup,
    /// A stage or a named duration of an adapter.
    Named(String),
}

impl Metric {
    /// Name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Metric::Response => "response",
            Metric::ResponseOk => "response_ok",
            Metric::ResponseSlo => "response_slo",
            Metric::Service => "service",
            Metric::Exchange => "exchange",
            Metric::ScheduleDelay => "schedule_delay",
            Metric::Lag => "lag",
            Metric::Pickup => "pickup",
            Metric::Named(name) => name,
        }
    }

    /// `of_answers`: whether what was not served ranks above all that has it.
    fn of(&self, section: &Section, of_answers: bool) -> Population {
        let total = |of: fn(&ClassStats) -> &Histogram| Population::from(section.total(of));
        match self {
            Metric::Response => section.response(),
            Metric::ResponseOk => section.response_ok(),
            Metric::ResponseSlo => section.response_slo(),
            // What was cut off took at least as long as it had.
            Metric::Service => section.population(Outcome::is_open_ended, |class| &class.service),
            Metric::Exchange => section.population(Outcome::is_open_ended, |class| &class.exchange),
            Metric::ScheduleDelay => total(|class| &class.schedule_delay),
            Metric::Lag => total(|class| &class.lag),
            Metric::Pickup => total(|class| &class.pickup),
            Metric::Named(name) => {
                let mut population = section
                    .metric(name)
                    .map_or_else(Population::new, |histogram| histogram.into_owned().into());
                let lost = section
                    .classes()
                    .filter(|(outcome, _)| *outcome != Outcome::Ok);
                for (_, class) in lost.filter(|_| of_answers) {
                    population.at_least.merge(&class.response);
                }
                population
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = std::convert::Infallible;

    /// A name that is none of the built-in ones is that of a stage.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let built_in = [
            Metric::Response,
            Metric::ResponseOk,
            Metric::ResponseSlo,
            Metric::Service,
            Metric::Exchange,
            Metric::ScheduleDelay,
            Metric::Lag,
            Metric::Pickup,
        ];
        let found = built_in.into_iter().find(|metric| metric.name() == name);
        Ok(found.unwrap_or_else(|| Metric::Named(name.to_owned())))
    }
}

/// One latency over the steady phase, whole and in sections.
#[derive(Clone, Debug)]
pub struct Series {
    whole: Population,
    sections: Vec<Population>,
    by: Sections,
}

/// What the intervals of a [`Series`] rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sections {
    /// Ten contiguous windows of the steady phase of one run.
    Windows,
    /// The same windows of so many runs, merged: the first of all, the second of all, and so on. What differs from run
    /// to run is not in the interval.
    WindowsOfRuns(usize),
    /// So many runs, each as a whole.
    Runs(usize),
}

impl fmt::Display for Sections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sections::Windows => f.write_str("by sectioning over ten windows"),
            Sections::WindowsOfRuns(runs) => {
                write!(f, "by sectioning over ten windows, merged over {runs} runs")
            }
            Sections::Runs(runs) => write!(f, "across {runs} runs"),
        }
    }
}

impl Series {
    pub(crate) fn of<'a>(windows: impl IntoIterator<Item = &'a Section>, metric: &Metric) -> Self {
        let windows: Vec<&Section> = windows.into_iter().collect();
        // One in which nothing was served does not say it itself.
        let of_answers = windows
            .iter()
            .any(|window| window.is_of_answers(metric.name()));
        let sections = windows.iter().map(|window| metric.of(window, of_answers));
        Series::of_windows(sections.collect())
    }

    /// Of what was measured in each window: as a report keeps it, or merged.
    #[must_use]
    pub fn of_windows(windows: Vec<Population>) -> Self {
        Series::new(windows, Sections::Windows)
    }

    fn new(sections: Vec<Population>, by: Sections) -> Self {
        let mut whole = Population::new();
        for section in &sections {
            whole.merge(section);
        }
        Series {
            whole,
            sections,
            by,
        }
    }

    /// The series of several runs of the same plan, as one: their histograms merged.
    ///
    /// Of five runs or more the intervals are across runs; of fewer, which would say next to nothing, over windows.
    pub(crate) fn merged(runs: impl IntoIterator<Item = Series>) -> Self {
        let mut runs: Vec<_> = runs.into_iter().collect();
        match runs.len() {
            0 => Series::new(Vec::new(), Sections::Windows),
            1 => runs.swap_remove(0),
            n if n >= ENOUGH_RUNS => {
                let wholes = runs.into_iter().map(|run| run.whole);
                Series::new(wholes.collect(), Sections::Runs(n))
            }
            n => Series::new(Series::merged_windows(&runs), Sections::WindowsOfRuns(n)),
        }
    }

    /// The windows of several runs, merged: the first of all, the second of all, and so on.
    pub(crate) fn merged_windows(runs: &[Series]) -> Vec<Population> {
        let most = runs.iter().map(|run| run.sections.len()).max();
        let mut windows = vec![Population::new(); most.unwrap_or(0)];
        for run in runs {
            for (into, from) in windows.iter_mut().zip(&run.sections) {
                into.merge(from);
            }
        }
        windows
    }

    /// Of what was measured in the whole steady phase, where its windows are not known: there are no intervals then.
    #[must_use]
    pub fn of_whole(whole: Population) -> Self {
        Series {
            whole,
            sections: Vec::new(),
            by: Sections::Windows,
        }
    }

    /// The windows of the steady phase, in order, or the runs that [intervals](Series::sections) rest on; empty where they
    /// are not known.
    #[must_use]
    pub fn windows(&self) -> &[Population] {
        &self.sections
    }

    /// The whole steady phase.
    #[must_use]
    pub fn whole(&self) -> &Population {
        &self.whole
    }

    /// What intervals rest on.
    #[must_use]
    pub fn sections(&self) -> Sections {
        self.by
    }

    /// The quantile `q` of the whole steady phase.
    #[must_use]
    pub fn quantile(&self, q: Quantile) -> Option<Value> {
        self.whole.quantile(q)
    }

    /// The 95 % confidence interval of the quantile `q`, in nanoseconds, by sectioning over the ten windows, or
    /// [across runs](Series::sections); `None` where a section is empty or the quantile itself is only a lower bound.
    #[must_use]
    pub fn interval(&self, q: Quantile) -> Option<(f64, f64)> {
        let point = self.quantile(q)?.exact()? as f64;
        self.sectioned(point, &self.section_quantiles(q)?)
    }

    /// The quantile `q` of each section, in nanoseconds; `None` where one is empty.
    ///
    /// They are for intervals and tests, never for an average of quantiles.
    #[must_use]
    pub fn section_quantiles(&self, q: Quantile) -> Option<Vec<f64>> {
        // A lower bound in one section is the best that is known of it, and widens the interval upwards.
        let of = |section: &Population| Some(section.quantile(q)?.ns() as f64);
        self.sections.iter().map(of).collect()
    }

    /// The 95 % confidence interval of the mean, likewise.
    #[must_use]
    pub fn mean_interval(&self) -> Option<(f64, f64)> {
        self.sectioned(self.whole.mean_ns()?, &self.section_means()?)
    }

    pub(crate) fn section_means(&self) -> Option<Vec<f64>> {
        self.sections.iter().map(Population::mean_ns).collect()
    }

    /// The share of arrivals that are lower bounds: of [`Metric::ResponseSlo`], those not served.
    #[must_use]
    pub fn error_share(&self) -> Option<f64> {
        error_share(&self.whole)
    }

    /// Its 95 % confidence interval.
    #[must_use]
    pub fn error_interval(&self) -> Option<(f64, f64)> {
        let shares: Vec<_> = self
            .sections
            .iter()
            .map(error_share)
            .collect::<Option<_>>()?;
        self.sectioned(self.error_share()?, &shares)
    }

    fn sectioned(&self, point: f64, sections: &[f64]) -> Option<(f64, f64)> {
        let (low, high) = section(point, sections)?;
        Some((low.max(0.0), high))
    }
}

fn error_share(population: &Population) -> Option<f64> {
    let n = population.count();
    (n > 0).then(|| population.at_least.count() as f64 / n as f64)
}
