//! Values that were measured.

use super::law::{draws, not_negative};
use super::{Law, ValuesError};
use std::sync::Arc;

/// Measured values, each as often as it was counted.
///
/// | symbol | meaning |
/// | --- | --- |
/// | xᵢ, nᵢ | the values and their counts; N = Σ nᵢ |
/// | F(x) = Σ nᵢ over xᵢ ≤ x, /N | distribution |
/// | Q(q) | the value of rank max(1, ⌈q N⌉) in ascending order |
///
/// By inversion of one draw of a rank, uniform without any bias: O(log n) in the number of different values. The table
/// is shared between clones.
///
/// ```
/// use openloop_workload::values::{Empirical, Law};
///
/// let size = Empirical::from_csv("# bytes,requests\n100,3\n500,1\n".as_bytes())?;
/// assert_eq!((size.mean(), size.quantile(0.75), size.quantile(0.76)), (200.0, 100.0, 500.0));
/// # Ok::<(), openloop_workload::values::CsvError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    /// In ascending order.
    table: Arc<[Entry]>,
    mean: f64,
    cv: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    value: f64,
    /// How many values are not above this one.
    rank: u64,
}

impl Empirical {
    /// The law of these values.
    ///
    /// # Errors
    /// When there are none, or one is negative, infinite, NaN, or neither 0 nor between 10⁻³⁰ and 10³⁰.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Result<Self, ValuesError> {
        Self::with_counts(values.into_iter().map(|value| (value, 1)))
    }

    /// The law of these values and their counts. Equal values are added up, and a count of 0 adds nothing.
    ///
    /// # Errors
    /// When all counts are 0 or there are none, when a value is negative, infinite, NaN, or neither 0 nor between
    /// 10⁻³⁰ and 10³⁰, or the counts add up to 2⁶⁴ or more.
    pub fn with_counts(values: impl IntoIterator<Item = (f64, u64)>) -> Result<Self, ValuesError> {
        let mut sorted = Vec::new();
        for (value, count) in values {
            let value = not_negative("a value", value)?;
            if count > 0 {
                sorted.push((value, count));
            }
        }
        sorted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut table: Vec<Entry> = Vec::with_capacity(sorted.len());
        let mut total = 0_u64;
        for (value, count) in sorted {
            total = total.checked_add(count).ok_or(ValuesError::TooMany)?;
            match table.last_mut() {
                Some(last) if last.value == value => last.rank = total,
                _ => table.push(Entry { value, rank: total }),
            }
        }
        if table.is_empty() {
            return Err(ValuesError::Empty);
        }
        let mut law = Empirical {
            table: table.into(),
            mean: 0.0,
            cv: 0.0,
        };
        law.mean = law.average(|value| value);
        // Around the mean, so that nothing cancels.
        let variance = law.average(|value| (value - law.mean) * (value - law.mean));
        law.cv = if law.mean == 0.0 {
            0.0
        } else {
            variance.sqrt() / law.mean
        };
        Ok(law)
    }

    /// The values in ascending order, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut before = 0;
        self.table.iter().map(move |entry| {
            let count = entry.rank - before;
            before = entry.rank;
            (entry.value, count)
        })
    }

    /// How many values there are, equal ones included: N.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.table.last().map_or(0, |entry| entry.rank)
    }

    /// P(X = x).
    pub(super) fn share_of(&self, x: f64) -> f64 {
        let found = self.counts().find(|(value, _)| *value == x);
        found.map_or(0.0, |(_, count)| self.share(count))
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.total() as f64
    }

    fn average(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.counts()
            .map(|(value, count)| self.share(count) * of(value))
            .sum()
    }

    /// The value of a rank in `1..=N`.
    fn ranked(&self, rank: u64) -> f64 {
        let at = self.table.partition_point(|entry| entry.rank < rank);
        self.table[at.min(self.table.len() - 1)].value
    }
}

impl Law for Empirical {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        self.ranked(1 + draws(seed, seq).below(self.total()))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv(&self) -> f64 {
        self.cv
    }

    fn quantile(&self, q: f64) -> f64 {
        if q.is_nan() {
            return q;
        }
        // 0.07 · 100 is 7.000000000000001 in f64: what differs from a whole number by rounding alone is that number.
        let exact = q.clamp(0.0, 1.0) * self.total() as f64;
        let whole = exact.round();
        let rank = if (exact - whole).abs() <= 4.0 * f64::EPSILON * whole {
            whole
        } else {
            exact.ceil()
        };
        self.ranked((rank as u64).max(1))
    }

    fn cdf(&self, x: f64) -> f64 {
        match self.table.partition_point(|entry| entry.value <= x) {
            0 => 0.0,
            above => self.share(self.table[above - 1].rank),
        }
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.average(|value| if value <= x { value } else { 0.0 })
    }

    fn square_below(&self, x: f64) -> f64 {
        self.average(|value| if value <= x { value * value } else { 0.0 })
    }
}
