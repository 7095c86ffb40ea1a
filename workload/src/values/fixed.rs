//! Always the same value.

use super::Law;
use super::ValuesError;
use super::law::not_negative;

/// Always the same value: C_v = 0.
///
/// Few real services see it. Load of one size hides the half of the waiting that comes of sizes which differ.
///
/// ```
/// use openloop_workload::values::{Fixed, Law};
///
/// let size = Fixed::new(200.0)?;
/// assert_eq!(size.value(1, 41), 200.0);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    value: f64,
}

impl Fixed {
    /// This value, which may be 0.
    ///
    /// # Errors
    /// When it is negative, infinite, NaN, or neither 0 nor between 10⁻³⁰ and 10³⁰.
    pub fn new(value: f64) -> Result<Self, ValuesError> {
        Ok(Fixed {
            value: not_negative("value", value)?,
        })
    }
}

impl Law for Fixed {
    fn value(&self, _seed: u64, _seq: u64) -> f64 {
        self.value
    }

    fn mean(&self) -> f64 {
        self.value
    }

    fn cv(&self) -> f64 {
        0.0
    }

    fn quantile(&self, q: f64) -> f64 {
        if q.is_nan() { q } else { self.value }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x >= self.value { 1.0 } else { 0.0 }
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.cdf(x) * self.value
    }

    fn square_below(&self, x: f64) -> f64 {
        self.cdf(x) * self.value * self.value
    }
}
