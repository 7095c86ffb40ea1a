//! Whether one build is slower than another.

mod abba;
mod comparison;
mod figure;

pub use abba::Abba;
pub use comparison::{Change, Comparison, Method};
pub use figure::{Figure, FigureError};

use crate::series::Metric;
use crate::slo::Evidence;
use openloop_measurer::Quantile;

/// A gate against regressions: one quantile of one latency of two builds, compared by the ratio.
///
/// Successive responses resemble each other, and a test that takes them for independent finds a difference between two
/// runs of the *same* build in 63 to 76 % of cases at ρ = 0.75, where 5 % were promised. So the ten windows of both
/// are compared, by the logarithms of their quantiles: Welch's test, at 2 % of false alarms. The median is compared
/// unless another quantile is asked for: a 99th percentile needs five times the data.
///
/// Against a *stored* result all that has changed between the two days is in the ratio, and is in no interval. When both
/// builds are at hand, run them by turns: [`Gate::abba`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::simulate::{Station, simulate};
/// use openloop_experiment::{Change, Gate, Lifecycle, Plan};
/// use openloop_sched::Rate;
///
/// let base = Plan::open(Rate::per_second(500.0)?).lifecycle(Lifecycle::quick());
/// let main = Station::new(4, "lognormal:0.002:0.5".parse()?)?;
/// let slow = Station::new(4, "lognormal:0.0026:0.5".parse()?)?;
/// let abba = Gate::default()
///     .abba(
///         base,
///         async |plan| simulate(plan, main.clone()),
///         async |plan| simulate(plan, slow.clone()),
///     )
///     .await?;
/// assert_eq!(abba.comparison().change, Change::Slower);
/// println!("{}", abba.comparison());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "it compares by compare(), judge() or abba()"]
pub struct Gate {
    metric: Metric,
    kind: Option<String>,
    quantile: Quantile,
    tolerance: f64,
}

/// The median of the response, as an objective sees it, with no tolerance.
impl Default for Gate {
    fn default() -> Self {
        Gate {
            metric: Metric::ResponseSlo,
            kind: None,
            quantile: Quantile::P50,
            tolerance: 0.0,
        }
    }
}

impl Gate {
    /// Compares that quantile. For P99 take at least 5000 arrivals a side.
    pub fn quantile(mut self, quantile: Quantile) -> Self {
        self.quantile = quantile;
        self
    }

    /// Compares that latency.
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = metric;
        self
    }

    /// Compares one kind of request.
    pub fn of_kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Lets a build be slower by that share: with 0.05 it has to be slower by more than 5 %, beyond doubt, to count as
    /// slower; and faster likewise.
    pub fn tolerance(mut self, share: f64) -> Self {
        self.tolerance = share.max(0.0);
        self
    }

    /// The figure that this gate compares, of a run or of replicas.
    ///
    /// # Errors
    /// When there is no such kind of request, or a window of the steady phase has no arrival.
    pub fn figure(&self, evidence: &impl Evidence) -> Result<Figure, FigureError> {
        Figure::of(
            evidence.runs(),
            &self.metric,
            self.kind.as_deref(),
            self.quantile,
        )
    }

    /// Compares a build with a stored figure, or any two.
    #[must_use]
    pub fn compare(&self, base: &Figure, new: &Figure) -> Comparison {
        comparison::by_welch(self.statistic(), base, new, self.tolerance)
    }

    /// The same of two runs, or replicas; those that may not be believed are named, and the gate does not pass.
    ///
    /// # Errors
    /// As [`figure`](Gate::figure).
    pub fn judge(
        &self,
        base: &impl Evidence,
        new: &impl Evidence,
    ) -> Result<Comparison, FigureError> {
        let comparison = self.compare(&self.figure(base)?, &self.figure(new)?);
        let faults = [("base", base.runs()), ("new", new.runs())];
        Ok(comparison.with_faults(faults))
    }

    /// The statistic by its name: `p50`, `ttft.p99[chat]`.
    fn statistic(&self) -> String {
        let metric = match self.metric {
            Metric::ResponseSlo => String::new(),
            _ => format!("{}.", self.metric),
        };
        let kind = self.kind.as_deref().map(|kind| format!("[{kind}]"));
        format!("{metric}{}{}", self.quantile, kind.unwrap_or_default())
    }
}
