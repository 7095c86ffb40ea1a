//! Measured values in their order.

use super::law::not_negative;
use super::{Empirical, Law, ValuesError};
use std::sync::Arc;

/// Measured values in the order in which they were measured: request number k has the k-th, and after the last one the
/// first comes again.
///
/// What a trace needs whose large requests come together. Mean, C_v, quantiles and distribution are those of
/// [`Empirical`]; nothing is drawn, so the seed makes no difference. The table is shared between clones.
///
/// The number of a request is its place in the sequence: requests whose numbers are not 0, 1, 2, …, such as the later
/// ones of sessions, have values from anywhere in it.
///
/// ```
/// use openloop_workload::values::{Law, Sequence};
///
/// let sizes = Sequence::new([100.0, 500.0, 100.0])?;
/// let drawn: Vec<_> = (0..4).map(|seq| sizes.value(7, seq)).collect();
/// assert_eq!(drawn, [100.0, 500.0, 100.0, 100.0]);
/// assert_eq!(sizes.quantile(0.5), 100.0);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    values: Arc<[f64]>,
    law: Empirical,
}

impl Sequence {
    /// These values, in this order.
    ///
    /// # Errors
    /// When there are none, or one is negative, infinite, NaN, or neither 0 nor between 10⁻³⁰ and 10³⁰.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Result<Self, ValuesError> {
        let checked = values
            .into_iter()
            .map(|value| not_negative("a value", value));
        let values: Arc<[f64]> = checked.collect::<Result<_, _>>()?;
        let law = Empirical::new(values.iter().copied())?;
        Ok(Sequence { values, law })
    }

    /// The values in their order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same values in any order.
    #[must_use]
    pub const fn unordered(&self) -> &Empirical {
        &self.law
    }
}

impl Law for Sequence {
    fn value(&self, _seed: u64, seq: u64) -> f64 {
        // There is one at least, and a place below their number fits.
        self.values[(seq % self.values.len() as u64) as usize]
    }

    fn mean(&self) -> f64 {
        self.law.mean()
    }

    fn cv(&self) -> f64 {
        self.law.cv()
    }

    fn quantile(&self, q: f64) -> f64 {
        self.law.quantile(q)
    }

    fn cdf(&self, x: f64) -> f64 {
        self.law.cdf(x)
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.law.mean_below(x)
    }

    fn square_below(&self, x: f64) -> f64 {
        self.law.square_below(x)
    }
}
