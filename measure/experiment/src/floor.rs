//! How long a service takes when nobody waits.

mod level;
mod rtt;
mod trials;

pub use level::Level;
pub use rtt::{Rtt, RttSource};
pub use trials::FloorTrials;

use crate::plan::PlanBuilder;
use crate::series::Metric;
use crate::units::{Ns, Percent};
use crate::{Plan, ProtocolError, Run, drive::DriveError};
use openloop_measurer::Quantile;
use std::fmt;
use std::time::Duration;

/// The most that a service may be used while its floor is measured.
pub(crate) const LIGHT: f64 = 0.05;

/// How long a service takes when nobody waits: measured with one request at a time, or stated.
///
/// There is a [`Level`] for each kind of request and each metric. Its *mean* is S in formulas (W/S, utilisation); its
/// *min* is the physical line of plots; its quantiles are what tails are compared with. All of it holds the round trip,
/// as responses under load do; [`Floor::s_ns`] is without.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::simulate::{Station, simulate};
/// use openloop_experiment::{Floor, Metric, Plan};
/// use openloop_sched::Rate;
///
/// let base = Plan::open(Rate::per_second(75.0)?);
/// let station = Station::new(1, "exponential:0.01".parse()?)?;
/// let floor = Floor::measure(base, async |plan| simulate(plan, station.clone())).await?;
///
/// let response = floor.level(None, &Metric::Response).unwrap();
/// assert!((response.mean_ns / 1e7 - 1.0).abs() < 0.1);
/// assert!(floor.utilisation().unwrap() < 0.05);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Floor {
    entries: Vec<Entry>,
    rtt: Rtt,
    trials: usize,
    utilisation: Option<f64>,
    cold: Option<Duration>,
    warnings: Vec<String>,
    faults: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Option<String>,
    metric: Metric,
    level: Level,
}

/// Which of the two ratios a multiple of the floor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ratio {
    /// P_q / S: that quantile over the mean of the floor.
    Literal,
    /// P_q / P_q(floor): that quantile over the same of the floor.
    Inflation,
}

impl Ratio {
    /// Name in reports: `literal`, `inflation`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Ratio::Literal => "literal",
            Ratio::Inflation => "inflation",
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Floor {
    /// Measures it by [`FloorTrials`] with their defaults.
    ///
    /// # Errors
    /// When a trial cannot be run, or nothing is served.
    pub async fn measure(
        base: PlanBuilder,
        trial: impl AsyncFnMut(&Plan) -> Result<Run, DriveError>,
    ) -> Result<Self, ProtocolError> {
        FloorTrials::default().measure(base, trial).await
    }

    /// A floor that was not measured here: from a stored report, or from what is known of a service. Add levels by
    /// [`with`](Floor::with).
    ///
    /// ```
    /// use openloop_experiment::{Floor, Level, Metric, Rtt};
    /// use std::time::Duration;
    ///
    /// let level = Level::stated(Duration::from_millis(2)).p99(Duration::from_micros(2500));
    /// let floor = Floor::stated(Rtt::same_host()).with(None, Metric::Response, level);
    /// assert_eq!(floor.s_ns(None, &Metric::Response), Some(2e6));
    /// ```
    #[must_use]
    pub fn stated(rtt: Rtt) -> Self {
        Floor {
            entries: Vec::new(),
            rtt,
            trials: 0,
            utilisation: None,
            cold: None,
            warnings: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Adds a level, or puts it in the place of the one that there is.
    #[must_use]
    pub fn with(mut self, kind: Option<&str>, metric: Metric, level: Level) -> Self {
        let metric = of_floor(&metric);
        self.entries
            .retain(|entry| entry.kind.as_deref() != kind || entry.metric != metric);
        self.entries.push(Entry {
            kind: kind.map(str::to_owned),
            metric,
            level,
        });
        self
    }

    /// The level of one metric, of one kind of request or of all together; `None` where there is none. The three
    /// populations of response have one floor.
    #[must_use]
    pub fn level(&self, kind: Option<&str>, metric: &Metric) -> Option<&Level> {
        let metric = of_floor(metric);
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.kind.as_deref() == kind && entry.metric == metric)?;
        Some(&entry.level)
    }

    /// All levels: kind of request (`None` for all together), metric, level.
    pub fn levels(&self) -> impl Iterator<Item = (Option<&str>, &Metric, &Level)> {
        let entries = self.entries.iter();
        entries.map(|entry| (entry.kind.as_deref(), &entry.metric, &entry.level))
    }

    /// S: the mean, without the round trip where the metric holds one.
    #[must_use]
    pub fn s_ns(&self, kind: Option<&str>, metric: &Metric) -> Option<f64> {
        Some(self.level(kind, metric)?.mean_ns - self.rtt_ns(metric))
    }

    /// The quantile `q` of the floor, likewise without the round trip.
    #[must_use]
    pub fn quantile_ns(&self, kind: Option<&str>, metric: &Metric, q: Quantile) -> Option<f64> {
        Some(self.level(kind, metric)?.quantile_ns(q)? - self.rtt_ns(metric))
    }

    /// Which ratio a multiple of this floor is of: literal where its own P99 is at most 1.5 S, so that a multiple of S
    /// says something of the load; else inflation, for the literal ratio of an *idle* exponential server is already
    /// 4.6 at P99.
    #[must_use]
    pub fn ratio(&self, kind: Option<&str>, metric: &Metric) -> Option<Ratio> {
        let s = self.s_ns(kind, metric)?;
        let p99 = self.quantile_ns(kind, metric, Quantile::P99)?;
        Some(match p99 <= 1.5 * s {
            true => Ratio::Literal,
            false => Ratio::Inflation,
        })
    }

    /// What a quantile under load is divided by for this ratio.
    #[must_use]
    pub fn unit_ns(
        &self,
        kind: Option<&str>,
        metric: &Metric,
        q: Quantile,
        ratio: Ratio,
    ) -> Option<f64> {
        match ratio {
            Ratio::Literal => self.s_ns(kind, metric),
            Ratio::Inflation => self.quantile_ns(kind, metric, q),
        }
    }

    /// The round trip, estimated.
    #[must_use]
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// The round trip inside `metric`, in nanoseconds: in responses, service, exchange, and in the stages `ttft` and
    /// `first_byte`; 0 in all others, which happen on one side.
    #[must_use]
    pub fn rtt_ns(&self, metric: &Metric) -> f64 {
        let holds_one = match of_floor(metric) {
            Metric::Response | Metric::Service | Metric::Exchange => true,
            Metric::Named(name) => matches!(name.as_str(), "ttft" | "first_byte"),
            _ => false,
        };
        match holds_one {
            true => self.rtt.estimate().as_nanos() as f64,
            false => 0.0,
        }
    }

    /// How many trials it rests on; 0 if it is stated.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// The share of time in which a request was being served during the trials, by the generator's own gauge.
    #[must_use]
    pub fn utilisation(&self) -> Option<f64> {
        self.utilisation
    }

    /// The response of the very first request, which is in no figure: it paid for connections, caches and compilers.
    #[must_use]
    pub fn cold(&self) -> Option<Duration> {
        self.cold
    }

    /// What the reader should know of the figures.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Why the floor may not be believed: checks of the generator that failed in its trials.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Names of the stages and named durations that it has.
    pub(crate) fn stages(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for entry in &self.entries {
            if let Metric::Named(name) = &entry.metric
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }
}

/// The metric under which the floor of `metric` is kept.
fn of_floor(metric: &Metric) -> Metric {
    match metric {
        Metric::ResponseOk | Metric::ResponseSlo => Metric::Response,
        other => other.clone(),
    }
}

/// A table: what was measured, and on what it rests.
impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trials {
            0 => write!(f, "floor, as stated")?,
            n => write!(f, "floor: {n} trials of one request at a time")?,
        }
        if let Some(utilisation) = self.utilisation {
            write!(f, ", the service used {} of the time", Percent(utilisation))?;
        }
        writeln!(f)?;
        writeln!(f, "  round trip {}", self.rtt)?;
        if let Some(cold) = self.cold {
            let cold = Ns(cold.as_nanos() as f64);
            writeln!(f, "  first request {cold}, left out of all figures")?;
        }
        writeln!(
            f,
            "  {:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}  spread of trials",
            "", "min", "mean = S", "p50", "p95", "p99", "count"
        )?;
        for (kind, metric, level) in self.levels() {
            let name = match kind {
                Some(kind) => format!("{metric}[{kind}]"),
                None => metric.to_string(),
            };
            writeln!(f, "  {name:<24} {level}")?;
        }
        for text in self.faults.iter().chain(&self.warnings) {
            writeln!(f, "  {text}")?;
        }
        Ok(())
    }
}
