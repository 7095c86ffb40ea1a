//! Whether runs of one plan agree.

use crate::Run;
use crate::series::{Metric, Series};
use crate::stats::{Variation, fisher_above, variance_of_point};
use crate::units::Percent;
use openloop_measurer::Quantile;
use std::fmt;

/// Up to here the environment is steady …
const STABLE: f64 = 0.03;
/// … and up to here as steady as a shared machine is.
const SHARED: f64 = 0.1;
/// The quantiles that are compared.
const QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P95, Quantile::P99];
/// What sampling alone explains this seldom is laid to the environment.
const SELDOM: f64 = 0.01;

/// What the variation between runs says of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Steadiness {
    /// C_v of at most 3 %.
    Stable,
    /// C_v of at most 10 %: as on shared machines.
    Shared,
    /// More than that: noise. Discard the runs and measure on isolated hardware.
    Discard,
}

impl Steadiness {
    fn of(cv: f64) -> Self {
        match cv {
            cv if cv <= STABLE => Steadiness::Stable,
            cv if cv <= SHARED => Steadiness::Shared,
            _ => Steadiness::Discard,
        }
    }

    /// Name in reports: `stable`, `shared`, `discard`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Steadiness::Stable => "stable",
            Steadiness::Shared => "shared",
            Steadiness::Discard => "discard",
        }
    }
}

impl fmt::Display for Steadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether runs of one plan agree: their coefficients of variation (C_v) against 3 % and 10 %.
///
/// In an open loop the throughput is imposed, so that it tells little; a queue's mean scatters by itself, the more
/// the nearer it is to saturation; and three runs tell a C_v to within a factor of three: the intervals say so. Where
/// [sampling alone](Stability::mean_by_sampling) explains the scatter of the mean, longer runs are what helps, and no other
/// machine: [`remedy`](Stability::remedy) says which.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stability {
    /// Of the achieved rate; `None` where a run has none.
    pub throughput: Option<Variation>,
    /// Of the mean response.
    pub mean: Option<Variation>,
    /// The C_v of the mean that sampling alone explains, from the windows of the runs. It is *not* taken off, but decides
    /// on the [remedy](Stability::remedy).
    pub mean_by_sampling: Option<f64>,
    /// Of quantiles of the response.
    pub quantiles: Vec<QuantileVariation>,
}

/// How much a quantile varies from run to run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuantileVariation {
    /// Which quantile.
    pub quantile: Quantile,
    /// From run to run.
    pub variation: Variation,
    /// The C_v that sampling alone explains, from the windows of the runs.
    pub by_sampling: f64,
    /// What remains, √(C_v² − sampling²), where sampling would explain as much as was seen in less than 1 % of cases
    /// (F test); else 0.
    pub excess: f64,
}

impl Stability {
    pub(crate) fn of(runs: &[Run]) -> Self {
        let rates: Option<Vec<f64>> = runs.iter().map(Run::achieved_per_second).collect();
        let series: Vec<Series> = runs
            .iter()
            .map(|run| run.series(&Metric::Response))
            .collect();
        let means: Option<Vec<f64>> = series
            .iter()
            .map(|series| series.whole().mean_ns())
            .collect();
        let mean_by_sampling = by_sampling(&series, |series| {
            Some((series.whole().mean_ns()?, series.section_means()?))
        });
        Stability {
            throughput: rates.and_then(|rates| Variation::of(&rates)),
            mean: means.and_then(|means| Variation::of(&means)),
            mean_by_sampling,
            quantiles: QUANTILES
                .into_iter()
                .filter_map(|q| QuantileVariation::of(&series, q))
                .collect(),
        }
    }

    /// The verdict: that of the figure that varies most.
    #[must_use]
    pub fn steadiness(&self) -> Steadiness {
        let figures = [self.throughput, self.mean];
        let figures = figures.into_iter().flatten().map(|figure| figure.cv);
        let excesses = self.quantiles.iter().map(|quantile| quantile.excess);
        let worst = figures.chain(excesses).map(Steadiness::of).max();
        worst.unwrap_or(Steadiness::Discard)
    }

    /// What to do about runs that disagree; `None` where they do not.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        if self.steadiness() != Steadiness::Discard {
            return None;
        }
        let excesses = self.quantiles.iter().map(|quantile| quantile.excess);
        let others = self.throughput.map(|throughput| throughput.cv);
        let others = excesses.chain(others).map(Steadiness::of).max();
        let explained = self.mean.zip(self.mean_by_sampling);
        Some(match explained {
            // The environment adds nothing that these runs would show.
            Some((mean, sampling))
                if mean.cv <= 2.0 * sampling && others != Some(Steadiness::Discard) =>
            {
                let longer = (mean.cv / SHARED).powi(2).max(1.0) * 2.0;
                format!(
                    "sampling alone explains {} of it: measure {longer:.0} times as long",
                    Percent(sampling)
                )
            }
            _ => "measure again, on isolated hardware".to_owned(),
        })
    }
}

impl QuantileVariation {
    fn of(runs: &[Series], quantile: Quantile) -> Option<Self> {
        let values = runs
            .iter()
            .map(|run| Some(run.quantile(quantile)?.ns() as f64));
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let variation = Variation::of(&values)?;
        let by_sampling = by_sampling(runs, |run| {
            Some((
                run.quantile(quantile)?.ns() as f64,
                run.section_quantiles(quantile)?,
            ))
        })?;
        let (seen, explained) = (variation.cv.powi(2), by_sampling.powi(2));
        let freedom = (runs.len() as f64 - 1.0, 9.0 * runs.len() as f64);
        let is_more = match explained > 0.0 {
            true => fisher_above(seen / explained, freedom.0, freedom.1)? < SELDOM,
            false => true,
        };
        let excess = match is_more {
            true => (seen - explained).max(0.0).sqrt(),
            false => 0.0,
        };
        Some(QuantileVariation {
            quantile,
            variation,
            by_sampling,
            excess,
        })
    }
}

/// The C_v of a figure of a whole run that its windows explain: the root of the mean of the squares over all runs.
fn by_sampling(
    runs: &[Series],
    figure: impl Fn(&Series) -> Option<(f64, Vec<f64>)>,
) -> Option<f64> {
    let squares = runs.iter().map(|run| {
        let (point, sections) = figure(run)?;
        (point > 0.0).then(|| variance_of_point(point, &sections) / point.powi(2))
    });
    let squares: Vec<f64> = squares.collect::<Option<_>>()?;
    Some((squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

impl fmt::Display for Stability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steadiness = self.steadiness();
        write!(f, "{steadiness}")?;
        if let Some(remedy) = self.remedy() {
            write!(f, " ({remedy})")?;
        }
        f.write_str(": between runs")?;
        let shown = |variation: &Variation| {
            let (low, high) = variation.interval;
            format!(
                "{} (95 % interval {} to {})",
                Percent(variation.cv),
                Percent(low),
                Percent(high)
            )
        };
        if let Some(throughput) = &self.throughput {
            write!(f, " throughput varies by {},", shown(throughput))?;
        }
        if let Some(mean) = &self.mean {
            write!(f, " the mean by {}", shown(mean))?;
        }
        if let Some(by_sampling) = self.mean_by_sampling {
            write!(
                f,
                " of which sampling alone explains {}",
                Percent(by_sampling)
            )?;
        }
        for quantile in &self.quantiles {
            write!(
                f,
                ", {} by {} beyond the {} of sampling",
                quantile.quantile,
                Percent(quantile.excess),
                Percent(quantile.by_sampling)
            )?;
        }
        Ok(())
    }
}
