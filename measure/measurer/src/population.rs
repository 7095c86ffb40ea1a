//! A population of latencies, some of which are only known to be at least something.

use crate::{Histogram, LIMIT_NS, Quantile};

/// Latencies of a set of arrivals: what was measured, and lower bounds for what never ended well.
///
/// A lower bound ranks above every measured value: an arrival that was never served was worse for its user than
/// any that was. A quantile that falls on one is [`Value::AtLeast`].
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// What was measured.
    pub exact: Histogram,
    /// Ages or limits of the arrivals whose true latency is unknown, and at least that.
    pub at_least: Histogram,
}

/// A quantile of a [`Population`], in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The quantile.
    Exact(u64),
    /// The quantile is at least this: it falls on an arrival whose end is unknown.
    AtLeast(u64),
}

impl Value {
    /// The number, whether exact or a lower bound.
    #[must_use]
    pub fn ns(self) -> u64 {
        match self {
            Value::Exact(ns) | Value::AtLeast(ns) => ns,
        }
    }

    /// The number, if it is exact.
    #[must_use]
    pub fn exact(self) -> Option<u64> {
        match self {
            Value::Exact(ns) => Some(ns),
            Value::AtLeast(_) => None,
        }
    }

    /// Whether the number is only a lower bound.
    #[must_use]
    pub fn is_lower_bound(self) -> bool {
        matches!(self, Value::AtLeast(_))
    }
}

impl Population {
    /// An empty population.
    #[must_use]
    pub fn new() -> Self {
        Population::default()
    }

    /// Adds every arrival of `other`.
    pub fn merge(&mut self, other: &Population) {
        self.exact.merge(&other.exact);
        self.at_least.merge(&other.at_least);
    }

    /// How many arrivals there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.exact.count() + self.at_least.count()
    }

    /// The quantile `q`: the value of rank max(1, ⌈q·n⌉), lower bounds ranked above all measured values.
    #[must_use]
    pub fn quantile(&self, q: Quantile) -> Option<Value> {
        let n = self.count();
        if n == 0 {
            return None;
        }
        let rank = q.rank(n);
        if rank <= self.exact.count() {
            let ns = self.exact.value_at_rank(rank);
            let beyond = rank > self.exact.count() - self.exact.over_range();
            return Some(if beyond && rank < self.exact.count() {
                Value::AtLeast(LIMIT_NS)
            } else {
                Value::Exact(ns)
            });
        }
        let age = self.at_least.lower_bound_at_rank(rank - self.exact.count());
        Some(Value::AtLeast(age.max(self.exact.max_ns().unwrap_or(0))))
    }

    /// The largest value: a lower bound as soon as one arrival has no end.
    #[must_use]
    pub fn max(&self) -> Option<Value> {
        let exact = self.exact.max_ns();
        match self.at_least.max_ns() {
            None => exact.map(Value::Exact),
            Some(age) => Some(Value::AtLeast(age.max(exact.unwrap_or(0)))),
        }
    }

    /// The smallest measured value, or the smallest lower bound where nothing was measured.
    #[must_use]
    pub fn min(&self) -> Option<Value> {
        match self.exact.min_ns() {
            Some(ns) => Some(Value::Exact(ns)),
            None => self.at_least.min_ns().map(Value::AtLeast),
        }
    }

    /// The mean of measured values and lower bounds together: itself a lower bound where there are any.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        let n = self.count();
        let sum = self.exact.sum_ns() + self.at_least.sum_ns();
        (n > 0).then(|| sum as f64 / n as f64)
    }
}

impl From<Histogram> for Population {
    fn from(exact: Histogram) -> Self {
        Population {
            exact,
            at_least: Histogram::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_on_a_lower_bound_says_so_and_is_never_below_what_was_measured() {
        let mut p = Population::new();
        for _ in 0..90 {
            p.exact.record(100_000);
        }
        for _ in 0..10 {
            p.at_least.record(5);
        }
        assert_eq!(p.quantile(Quantile::P90), Some(Value::Exact(100_000)));
        assert_eq!(p.quantile(Quantile::P99), Some(Value::AtLeast(100_000)));
        assert_eq!(p.max(), Some(Value::AtLeast(100_000)));
        assert_eq!(p.count(), 100);
    }

    #[test]
    fn an_age_above_everything_measured_is_the_bound() {
        let mut p = Population::new();
        p.exact.record(10);
        p.at_least.record(2_000_000_000);
        p.at_least.record(3_000_000_000);
        // Of the bucket that it falls into, the lowest value: more would not be certain.
        let bound = p.quantile(Quantile::P50).unwrap();
        assert!(bound.is_lower_bound());
        assert!(
            (1_999_000_000..=2_000_000_000).contains(&bound.ns()),
            "{bound:?}"
        );
        assert_eq!(p.max(), Some(Value::AtLeast(3_000_000_000)));
        assert_eq!(p.min(), Some(Value::Exact(10)));
    }

    #[test]
    fn empty_is_none() {
        let p = Population::new();
        assert_eq!(
            (p.quantile(Quantile::P50), p.max(), p.min(), p.mean_ns()),
            (None, None, None, None)
        );
    }
}
