//! One bound of an objective.

use crate::series::Metric;
use crate::units::{Ns, Percent, Short};
use openloop_measurer::Quantile;
use std::fmt;
use std::time::Duration;

/// What a bound is on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Statistic {
    /// A quantile of a latency: at most the limit.
    Quantile(Quantile),
    /// The mean of a latency: at most the limit.
    Mean,
    /// The share of arrivals that were not served: at most the limit.
    Errors,
    /// Arrivals per second that were served and completed in the steady phase: at *least* the limit.
    Achieved,
    /// The share of arrivals that were served well enough: at *least* the limit. Which those are the adapter says, by its
    /// count [`GOOD`]; where it says nothing of the kind, they are all that were served.
    Goodput,
    /// Such arrivals per second of the steady phase: at *least* the limit.
    GoodputRate,
}

/// The count under which an adapter tells how many answers were good enough: 0 or 1 of each that was served.
pub const GOOD: &str = "good";

impl Statistic {
    /// Whether it is one of a latency.
    #[must_use]
    pub fn is_of_latency(self) -> bool {
        matches!(self, Statistic::Quantile(_) | Statistic::Mean)
    }

    /// Whether the limit is the least that it may be, and not the most.
    #[must_use]
    pub fn is_at_least(self) -> bool {
        match self {
            Statistic::Achieved | Statistic::Goodput | Statistic::GoodputRate => true,
            Statistic::Quantile(_) | Statistic::Mean | Statistic::Errors => false,
        }
    }

    /// A value of it, with its unit.
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Statistic::Errors | Statistic::Goodput => Percent(value).to_string(),
            Statistic::Achieved | Statistic::GoodputRate => format!("{}/s", Short(value)),
            Statistic::Quantile(_) | Statistic::Mean => Ns(value).to_string(),
        }
    }
}

/// How much, or how little, is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So many nanoseconds; of [`Statistic::Errors`] and [`Statistic::Goodput`] a share, of [`Statistic::Achieved`] and
    /// [`Statistic::GoodputRate`] a rate.
    Fixed(f64),
    /// A multiple of the floor: `4S`, or `max(4S, 2ms)`.
    OfFloor {
        /// Of S, or of the same quantile of the floor: see [`Floor::ratio`](crate::Floor::ratio).
        times: f64,
        /// The least that the limit may be, in nanoseconds; 0 without one. Under some 2 ms the scheduling of an
        /// operating system decides, and not the service.
        at_least_ns: f64,
    },
}

/// One bound: a statistic of a metric, and how much it may be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// Of which latency; that of an objective, [`Metric::ResponseSlo`], unless another is named.
    pub metric: Metric,
    /// Of which kind of request, by its name; `None` for all together.
    pub kind: Option<String>,
    /// Which statistic.
    pub statistic: Statistic,
    /// The most that it may be, or [the least](Statistic::is_at_least).
    pub limit: Limit,
    /// Of goodput: what each answer must keep to be good, as the adapter has it (`ttft<=200ms, tpot<=25ms`). The adapter is
    /// to be told the same; where it counts nothing under [`GOOD`] the bound is inconclusive. `None` leaves it to the adapter.
    pub good: Option<String>,
}

impl Bound {
    /// `metric`'s quantile `q` may be at most `limit`.
    #[must_use]
    pub fn quantile(metric: Metric, q: Quantile, limit: Duration) -> Self {
        Bound::new(metric, Statistic::Quantile(q), Limit::Fixed(ns(limit)))
    }

    /// `metric`'s mean may be at most `limit`.
    #[must_use]
    pub fn mean(metric: Metric, limit: Duration) -> Self {
        Bound::new(metric, Statistic::Mean, Limit::Fixed(ns(limit)))
    }

    /// `metric`'s quantile `q` may be at most `times` the floor.
    ///
    /// ```
    /// use openloop_experiment::{Bound, Metric};
    /// use openloop_measurer::Quantile;
    /// use std::time::Duration;
    ///
    /// let bound = Bound::times_floor(Metric::ResponseSlo, Quantile::P99, 4.0)
    ///     .but_at_least(Duration::from_millis(2))
    ///     .of_kind("read");
    /// assert_eq!(bound.to_string(), "p99[read] <= max(4S, 2 ms)");
    /// ```
    #[must_use]
    pub fn times_floor(metric: Metric, q: Quantile, times: f64) -> Self {
        let limit = Limit::OfFloor {
            times,
            at_least_ns: 0.0,
        };
        Bound::new(metric, Statistic::Quantile(q), limit)
    }

    /// At most this share of arrivals, from 0 to 1, may not be served.
    #[must_use]
    pub fn errors(share: f64) -> Self {
        Bound::new(Metric::ResponseSlo, Statistic::Errors, Limit::Fixed(share))
    }

    /// At least so many arrivals must be served each second.
    #[must_use]
    pub fn achieved(per_second: f64) -> Self {
        let limit = Limit::Fixed(per_second);
        Bound::new(Metric::ResponseSlo, Statistic::Achieved, limit)
    }

    /// At least this share of arrivals, from 0 to 1, must be served well enough: see [`Statistic::Goodput`].
    ///
    /// ```
    /// use openloop_experiment::Bound;
    ///
    /// let bound = Bound::goodput(0.99).where_good("ttft<=200ms, tpot<=25ms");
    /// assert_eq!(bound.to_string(), "goodput(ttft<=200ms, tpot<=25ms) >= 99 %");
    /// ```
    #[must_use]
    pub fn goodput(share: f64) -> Self {
        Bound::new(Metric::ResponseSlo, Statistic::Goodput, Limit::Fixed(share))
    }

    /// At least so many arrivals must be served well enough each second.
    #[must_use]
    pub fn goodput_rate(per_second: f64) -> Self {
        let limit = Limit::Fixed(per_second);
        Bound::new(Metric::ResponseSlo, Statistic::GoodputRate, limit)
    }

    pub(super) fn new(metric: Metric, statistic: Statistic, limit: Limit) -> Self {
        Bound {
            metric,
            kind: None,
            statistic,
            limit,
            good: None,
        }
    }

    /// Says of a bound on goodput what a good answer is: [`Bound::good`].
    #[must_use]
    pub fn where_good(mut self, keeps: impl Into<String>) -> Self {
        self.good = Some(keeps.into());
        self
    }

    /// The same bound on one kind of request alone.
    #[must_use]
    pub fn of_kind(mut self, name: impl Into<String>) -> Self {
        self.kind = Some(name.into());
        self
    }

    /// The same bound, but if it is a multiple of the floor, its limit is never less than `noise_floor`.
    #[must_use]
    pub fn but_at_least(mut self, noise_floor: Duration) -> Self {
        if let Limit::OfFloor { at_least_ns, .. } = &mut self.limit {
            *at_least_ns = ns(noise_floor);
        }
        self
    }

    /// Whether the limit is a multiple of the floor.
    #[must_use]
    pub fn needs_floor(&self) -> bool {
        matches!(self.limit, Limit::OfFloor { .. })
    }

    /// As it is written, with limits by `limit`.
    pub(super) fn written(&self, f: &mut fmt::Formatter<'_>, exact: bool) -> fmt::Result {
        if self.metric != Metric::ResponseSlo {
            write!(f, "{}.", self.metric)?;
        }
        match self.statistic {
            Statistic::Quantile(q) => write!(f, "{q}")?,
            Statistic::Mean => f.write_str("mean")?,
            Statistic::Errors => f.write_str("errors")?,
            Statistic::Achieved => f.write_str("achieved")?,
            Statistic::Goodput | Statistic::GoodputRate => f.write_str("goodput")?,
        }
        if let Some(good) = &self.good {
            write!(f, "({good})")?;
        }
        if let Some(kind) = &self.kind {
            write!(f, "{}", Brackets(kind))?;
        }
        let sign = match self.statistic.is_at_least() {
            true => ">=",
            false => "<=",
        };
        write!(f, " {sign} ")?;
        let time = |ns: f64| match exact {
            true => exact_time(ns),
            false => Ns(ns).to_string(),
        };
        match (self.limit, self.statistic) {
            (Limit::Fixed(share), Statistic::Errors | Statistic::Goodput) => match exact {
                true => write!(f, "{share}"),
                false => write!(f, "{} %", (share * 1e10).round() / 1e8),
            },
            (Limit::Fixed(rate), Statistic::Achieved | Statistic::GoodputRate) => {
                write!(f, "{rate}/s")
            }
            (Limit::Fixed(ns), _) => f.write_str(&time(ns)),
            (Limit::OfFloor { times, at_least_ns }, _) if at_least_ns > 0.0 => {
                write!(f, "max({times}S, {})", time(at_least_ns))
            }
            (Limit::OfFloor { times, .. }, _) => write!(f, "{times}S"),
        }
    }
}

fn ns(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

/// A time in the longest unit in which it is whole.
fn exact_time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let whole = units.iter().find(|(unit, _)| ns % unit == 0.0);
    let (unit, name) = whole.unwrap_or(&(1.0, "ns"));
    format!("{}{name}", (ns / unit).round())
}

/// As it is written, rounded to what a person reads.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written(f, false)
    }
}

/// A kind of request as it stands in a bound.
struct Brackets<'a>(&'a str);

impl fmt::Display for Brackets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let is_plain = !name.contains(['[', ']', '"']) && name.trim() == name && !name.is_empty();
        if is_plain {
            return write!(f, "[{name}]");
        }
        let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "[\"{escaped}\"]")
    }
}
