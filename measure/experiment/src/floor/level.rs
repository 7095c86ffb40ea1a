//! One figure of the floor, whole.

use crate::stats::{Exceedance, Variation, section, student, variance_of_point};
use crate::units::{Ns, Percent};
use openloop_measurer::{Histogram, Quantile};
use std::fmt;
use std::time::Duration;

/// The floor of one metric of one kind of request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Level {
    /// How many requests it rests on; 0 if it is stated.
    pub count: u64,
    /// The least.
    pub min_ns: f64,
    /// The mean: S in formulas.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: f64,
    /// 19 in 20 take at most this.
    pub p95_ns: f64,
    /// 99 in 100 take at most this.
    pub p99_ns: f64,
    /// How much the means of the trials vary; `None` if it is stated.
    pub spread: Option<Variation>,
    /// All trials merged, for other quantiles.
    whole: Option<Box<Histogram>>,
    trials: Vec<Histogram>,
}

impl Level {
    /// Of the histograms of several trials; `None` if there is nothing in them.
    pub(crate) fn of(trials: Vec<Histogram>) -> Option<Self> {
        let mut whole = Histogram::new();
        for trial in &trials {
            whole.merge(trial);
        }
        let quantile = |q| Some(whole.quantile(q)? as f64);
        let means: Vec<f64> = trials.iter().filter_map(Histogram::mean_ns).collect();
        Some(Level {
            count: whole.count(),
            min_ns: whole.min_ns()? as f64,
            mean_ns: whole.mean_ns()?,
            p50_ns: quantile(Quantile::P50)?,
            p95_ns: quantile(Quantile::P95)?,
            p99_ns: quantile(Quantile::P99)?,
            spread: Variation::of(&means),
            whole: Some(Box::new(whole)),
            trials,
        })
    }

    /// A level that was not measured here: `mean`, and every quantile the same until it is said otherwise.
    #[must_use]
    pub fn stated(mean: Duration) -> Self {
        let ns = mean.as_nanos() as f64;
        Level {
            count: 0,
            min_ns: ns,
            mean_ns: ns,
            p50_ns: ns,
            p95_ns: ns,
            p99_ns: ns,
            spread: None,
            whole: None,
            trials: Vec::new(),
        }
    }

    /// The same with that least value.
    #[must_use]
    pub fn min(mut self, min: Duration) -> Self {
        self.min_ns = min.as_nanos() as f64;
        self
    }

    /// The same with that median.
    #[must_use]
    pub fn p50(mut self, p50: Duration) -> Self {
        self.p50_ns = p50.as_nanos() as f64;
        self
    }

    /// The same with that 95th percentile.
    #[must_use]
    pub fn p95(mut self, p95: Duration) -> Self {
        self.p95_ns = p95.as_nanos() as f64;
        self
    }

    /// The same with that 99th percentile.
    #[must_use]
    pub fn p99(mut self, p99: Duration) -> Self {
        self.p99_ns = p99.as_nanos() as f64;
        self
    }

    /// The quantile `q`; `None` where it is only stated, and not for this one.
    #[must_use]
    pub fn quantile_ns(&self, q: Quantile) -> Option<f64> {
        match (&self.whole, q) {
            (_, Quantile::P50) => Some(self.p50_ns),
            (_, Quantile::P95) => Some(self.p95_ns),
            (_, Quantile::P99) => Some(self.p99_ns),
            (Some(whole), q) => Some(whole.quantile(q)? as f64),
            (None, _) => None,
        }
    }

    /// The 95 % confidence interval of the quantile `q`, across trials; `None` of fewer than three.
    #[must_use]
    pub fn interval(&self, q: Quantile) -> Option<(f64, f64)> {
        let of = |trial: &Histogram| Some(trial.quantile(q)? as f64);
        let trials: Vec<f64> = self.trials.iter().map(of).collect::<Option<_>>()?;
        not_negative(section(self.quantile_ns(q)?, &trials))
    }

    /// The lower 99.5 % confidence limit of the quantile `q`; `None` where it is stated.
    pub(crate) fn quantile_at_least(&self, q: Quantile) -> Option<f64> {
        let whole = self.whole.as_deref()?;
        let share = 1.0 - q.as_f64();
        let is_sure = |ns: u64| {
            let trials = self.trials.iter();
            let trials: Vec<_> = trials
                .map(|trial| (trial.count_above(ns), trial.count()))
                .collect();
            Exceedance::of_independent(&trials).is_some_and(|known| known.at_least() >= share)
        };
        let (mut low, mut high) = (whole.min_ns()?, whole.quantile(q)?);
        while high - low > 1 + low / 1000 {
            let middle = low + (high - low) / 2;
            match is_sure(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(low as f64)
    }

    /// That of the mean, across the trials.
    pub(crate) fn mean_at_least(&self) -> Option<f64> {
        let means: Vec<f64> = self.trials.iter().filter_map(Histogram::mean_ns).collect();
        let t = student(0.995, means.len() as f64 - 1.0)?;
        let off = t * variance_of_point(self.mean_ns, &means).sqrt() / self.mean_ns;
        Some(self.mean_ns * (-off).exp()).filter(|least| least.is_finite())
    }

    /// The 95 % confidence interval of the mean, likewise.
    #[must_use]
    pub fn mean_interval(&self) -> Option<(f64, f64)> {
        let means: Vec<f64> = self
            .trials
            .iter()
            .map(Histogram::mean_ns)
            .collect::<Option<_>>()?;
        not_negative(section(self.mean_ns, &means))
    }
}

/// The figures in columns.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ns in [
            self.min_ns,
            self.mean_ns,
            self.p50_ns,
            self.p95_ns,
            self.p99_ns,
        ] {
            write!(f, "{:>9} ", Ns(ns).to_string())?;
        }
        write!(f, "{:>7}", self.count)?;
        match &self.spread {
            Some(spread) => write!(f, "  {}", Percent(spread.cv)),
            None => Ok(()),
        }
    }
}
/// A time is not negative, whatever a symmetric interval says.
fn not_negative(interval: Option<(f64, f64)>) -> Option<(f64, f64)> {
    interval.map(|(low, high)| (low.max(0.0), high))
}
