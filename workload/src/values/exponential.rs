//! Values without memory.

use super::law::{draws, positive};
use super::special::gamma_p;
use super::{Law, ValuesError};

/// Exponential values: C_v = 1, the service time of M/M/1.
///
/// | symbol | meaning |
/// | --- | --- |
/// | m | mean |
/// | F(x) = 1 − e^(−x/m) | distribution |
/// | Q(q) = −m ln(1 − q) | quantile: half the values are below 0.69 m, one in a hundred above 4.6 m |
///
/// By inversion of one draw.
///
/// ```
/// use openloop_workload::values::{Exponential, Law};
///
/// let think = Exponential::new(3.0)?;
/// assert!((think.quantile(0.5) - 2.079).abs() < 1e-3);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    mean: f64,
}

impl Exponential {
    /// Values with this mean.
    ///
    /// # Errors
    /// When it is not a number from 10⁻³⁰ to 10³⁰.
    pub fn new(mean: f64) -> Result<Self, ValuesError> {
        Ok(Exponential {
            mean: positive("mean", mean)?,
        })
    }
}

impl Law for Exponential {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        -self.mean * libm::log1p(-draws(seed, seq).open_unit())
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv(&self) -> f64 {
        1.0
    }

    fn quantile(&self, q: f64) -> f64 {
        // Not −m·0, which is a negative zero.
        self.mean * -libm::log1p(-q.clamp(0.0, 1.0))
    }

    fn cdf(&self, x: f64) -> f64 {
        -libm::expm1(-x.max(0.0) / self.mean)
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.mean * gamma_p(2.0, x.max(0.0) / self.mean)
    }

    fn square_below(&self, x: f64) -> f64 {
        2.0 * self.mean * self.mean * gamma_p(3.0, x.max(0.0) / self.mean)
    }
}
