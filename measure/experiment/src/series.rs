//! A latency of a run, whole and by window.

use crate::stats::section;
use openloop_measurer::{ClassStats, Histogram, Outcome, Population, Quantile, Section, Value};
use std::fmt;
use std::str::FromStr;

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

    fn of(&self, section: &Section) -> Population {
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
            Metric::Named(name) => section
                .metric(name)
                .map_or_else(Population::new, |histogram| histogram.into_owned().into()),
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

/// One latency over the steady phase, whole and in its ten windows.
#[derive(Clone, Debug)]
pub struct Series {
    whole: Population,
    windows: Vec<Population>,
}

impl Series {
    pub(crate) fn of<'a>(windows: impl IntoIterator<Item = &'a Section>, metric: &Metric) -> Self {
        let windows = windows.into_iter().map(|window| metric.of(window));
        Series::of_windows(windows.collect())
    }

    /// Of what was measured in each window: as a report keeps it, or merged.
    #[must_use]
    pub fn of_windows(windows: Vec<Population>) -> Self {
        let mut whole = Population::new();
        for window in &windows {
            whole.merge(window);
        }
        Series { whole, windows }
    }

    /// Of what was measured in the whole steady phase, where its windows are not known: there are no intervals then.
    #[must_use]
    pub fn of_whole(whole: Population) -> Self {
        Series {
            whole,
            windows: Vec::new(),
        }
    }

    /// The windows of the steady phase, in order; empty where they are not known.
    #[must_use]
    pub fn windows(&self) -> &[Population] {
        &self.windows
    }

    /// The whole steady phase.
    #[must_use]
    pub fn whole(&self) -> &Population {
        &self.whole
    }

    /// The quantile `q` of the whole steady phase.
    #[must_use]
    pub fn quantile(&self, q: Quantile) -> Option<Value> {
        self.whole.quantile(q)
    }

    /// The 95 % confidence interval of the quantile `q`, in nanoseconds, by sectioning over the ten windows;
    /// `None` where a window is empty or the quantile itself is only a lower bound.
    #[must_use]
    pub fn interval(&self, q: Quantile) -> Option<(f64, f64)> {
        let point = self.quantile(q)?.exact()? as f64;
        let windows = self.windows.iter().map(|window| window.quantile(q));
        // A lower bound in one window is the best that is known of it, and widens the interval upwards.
        self.sectioned(point, windows.map(|value| Some(value?.ns() as f64)))
    }

    /// The 95 % confidence interval of the mean, likewise.
    #[must_use]
    pub fn mean_interval(&self) -> Option<(f64, f64)> {
        let point = self.whole.mean_ns()?;
        self.sectioned(point, self.windows.iter().map(Population::mean_ns))
    }

    /// The share of arrivals that are lower bounds: of [`Metric::ResponseSlo`], those not served.
    pub(crate) fn error_share(&self) -> Option<f64> {
        error_share(&self.whole)
    }

    /// Its 95 % confidence interval.
    pub(crate) fn error_interval(&self) -> Option<(f64, f64)> {
        self.sectioned(self.error_share()?, self.windows.iter().map(error_share))
    }

    fn sectioned(
        &self,
        point: f64,
        windows: impl Iterator<Item = Option<f64>>,
    ) -> Option<(f64, f64)> {
        let windows: Vec<f64> = windows.collect::<Option<_>>()?;
        let (low, high) = section(point, &windows)?;
        Some((low.max(0.0), high))
    }
}

fn error_share(population: &Population) -> Option<f64> {
    let n = population.count();
    (n > 0).then(|| population.at_least.count() as f64 / n as f64)
}
