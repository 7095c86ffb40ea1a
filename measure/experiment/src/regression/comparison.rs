//! What a comparison says.

use super::figure::Figure;
use crate::Run;
use crate::stats::{Difference, paired, welch};
use crate::units::{Ns, Short};
use std::fmt;

/// The share of comparisons of a build with itself that are to find a difference.
const LEVEL: f64 = 0.02;
/// The variance of the logarithm of a quantile that is read from buckets of 0.1 %: of a uniform law.
const BUCKET: f64 = 1e-6 / 12.0;

/// Whether a build is slower than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is.
    Slower,
    /// It is faster.
    Faster,
    /// There is no difference that these data can show.
    NoDifference,
}

impl Change {
    /// Name in reports: `slower`, `faster`, `no_difference`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::Slower => "slower",
            Change::Faster => "faster",
            Change::NoDifference => "no_difference",
        }
    }
}

/// How the interval of a ratio was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// From the scatter of the windows of both sides, by Welch's formula: they had arrivals of their own.
    Welch,
    /// From the scatter of the ratios window by window: both sides had the same arrivals.
    Paired,
}

/// What a comparison of two builds says of one quantile.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Which quantile of which latency: `p50`, `ttft.p99[chat]`.
    pub statistic: String,
    /// Of the build that is compared with.
    pub base_ns: f64,
    /// Of the build in question.
    pub new_ns: f64,
    /// New over base.
    pub ratio: f64,
    /// The interval of the ratio, at the level at which a build differs from itself in 2 % of cases; `None` where the
    /// quantile falls on arrivals that were not served.
    pub interval: Option<(f64, f64)>,
    /// How the interval was found.
    pub method: Method,
    /// The share by which a build may be slower or faster and count as the same.
    pub tolerance: f64,
    /// The verdict.
    pub change: Change,
    /// Runs of which a check failed, so that the comparison may not be believed.
    pub faults: Vec<String>,
}

impl Comparison {
    /// Whether the new build is not slower, by runs that may be believed and say something of it.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.change != Change::Slower && self.is_told() && self.faults.is_empty()
    }

    /// Whether there was anything to compare: not where the quantile falls on arrivals that were not served, on both sides.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.interval.is_some() || self.change != Change::NoDifference
    }

    /// Does nothing if the new build is not slower: for tests.
    ///
    /// # Panics
    /// If it is slower, if neither build was served well enough to tell, or if the runs may not be believed, with every
    /// number behind it.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.passed(), "\n{self}");
    }

    /// The smallest slow-down that data with so much scatter would show, as a share.
    #[must_use]
    pub fn resolution(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        Some((high / low).sqrt() * (1.0 + self.tolerance) - 1.0)
    }

    pub(super) fn with_faults(mut self, sides: [(&str, &[Run]); 2]) -> Self {
        for (side, runs) in sides {
            for (index, run) in runs.iter().enumerate() {
                let faults = run.validity().faults();
                let named = faults.map(|check| format!("{side} {}: {}", index + 1, check.why));
                self.faults.extend(named);
            }
        }
        self
    }
}

pub(super) fn by_welch(
    statistic: String,
    base: &Figure,
    new: &Figure,
    tolerance: f64,
) -> Comparison {
    let ((a, a_windows), (b, b_windows)) = (base.logs(), new.logs());
    let difference = welch((a, &a_windows), (b, &b_windows), BUCKET, LEVEL);
    of(statistic, (base, new), difference, Method::Welch, tolerance)
}

/// `differences` are those of the logarithms, window by window.
pub(super) fn by_pairs(
    statistic: String,
    base: &Figure,
    new: &Figure,
    differences: &[f64],
    tolerance: f64,
) -> Comparison {
    let point = base.logs().0;
    let difference = paired(new.logs().0 - point, differences, BUCKET, LEVEL);
    of(
        statistic,
        (base, new),
        difference,
        Method::Paired,
        tolerance,
    )
}

fn of(
    statistic: String,
    (base, new): (&Figure, &Figure),
    difference: Option<Difference>,
    method: Method,
    tolerance: f64,
) -> Comparison {
    let bounds = (base.is_lower_bound(), new.is_lower_bound());
    let interval = difference.filter(|_| bounds == (false, false));
    let interval = interval.map(|d| ((d.point - d.half).exp(), (d.point + d.half).exp()));
    let change = match (bounds, interval) {
        ((false, true), _) => Change::Slower,
        ((true, false), _) => Change::Faster,
        (_, Some((low, _))) if low > 1.0 + tolerance => Change::Slower,
        (_, Some((_, high))) if high < 1.0 / (1.0 + tolerance) => Change::Faster,
        _ => Change::NoDifference,
    };
    Comparison {
        statistic,
        base_ns: base.whole_ns(),
        new_ns: new.whole_ns(),
        ratio: new.whole_ns() / base.whole_ns(),
        interval,
        method,
        tolerance,
        change,
        faults: Vec::new(),
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match (self.faults.is_empty(), self.change) {
            (false, _) => "INVALID",
            (_, Change::Slower) => "SLOWER",
            (_, Change::Faster) => "faster",
            _ if !self.is_told() => "UNKNOWN",
            (_, Change::NoDifference) => "no difference that these data can show",
        };
        writeln!(f, "verdict: {verdict}")?;
        let (base, new) = (Ns(self.base_ns), Ns(self.new_ns));
        let ratio = self.ratio;
        write!(
            f,
            "  {}: {new} against {base}, {ratio:.3} x",
            self.statistic
        )?;
        match self.interval {
            Some((low, high)) => write!(f, " (98 % interval {low:.3} to {high:.3})")?,
            None => f.write_str(": it falls on arrivals that were not served")?,
        }
        if self.tolerance > 0.0 {
            write!(f, ", {} % allowed", Short(self.tolerance * 100.0))?;
        }
        writeln!(f)?;
        if let (Change::NoDifference, Some(resolution)) = (self.change, self.resolution()) {
            let least = Short(resolution * 100.0);
            writeln!(
                f,
                "  a slow-down of less than {least} % may hide in this scatter"
            )?;
        }
        for fault in &self.faults {
            writeln!(f, "  {fault}")?;
        }
        Ok(())
    }
}
