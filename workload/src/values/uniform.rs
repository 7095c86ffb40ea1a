//! All values between two bounds alike.

use super::law::{draws, not_negative, positive};
use super::{Law, ValuesError};

/// Values between two bounds, all equally likely.
///
/// | symbol | meaning |
/// | --- | --- |
/// | a ≥ 0, b > a | the bounds, `lo` and `hi` |
/// | m = (a + b)/2 | mean |
/// | C_v = (b − a)/(m √12) | at most 1/√3 = 0.577, where a = 0 |
/// | Q(q) = a + (b − a) q | quantile |
///
/// By inversion of one draw.
///
/// ```
/// use openloop_workload::values::{Law, Uniform};
///
/// let size = Uniform::new(100.0, 300.0)?;
/// assert_eq!((size.mean(), size.quantile(0.25)), (200.0, 150.0));
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    lo: f64,
    hi: f64,
}

impl Uniform {
    /// Values from `lo` to `hi`.
    ///
    /// # Errors
    /// When `lo` is negative or not below `hi`, or one is infinite, NaN, or (0 apart) not between 10⁻³⁰ and 10³⁰.
    pub fn new(lo: f64, hi: f64) -> Result<Self, ValuesError> {
        let (lo, hi) = (not_negative("lo", lo)?, positive("hi", hi)?);
        if lo < hi {
            Ok(Uniform { lo, hi })
        } else {
            Err(ValuesError::Bounds { lo, hi })
        }
    }

    /// The lower bound, a.
    #[must_use]
    pub const fn lo(&self) -> f64 {
        self.lo
    }

    /// The upper bound, b.
    #[must_use]
    pub const fn hi(&self) -> f64 {
        self.hi
    }

    fn at(&self, q: f64) -> f64 {
        // Rounding must not carry it over the bound.
        (self.lo + (self.hi - self.lo) * q).min(self.hi)
    }
}

impl Law for Uniform {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        self.at(draws(seed, seq).open_unit())
    }

    fn mean(&self) -> f64 {
        0.5 * (self.lo + self.hi)
    }

    fn cv(&self) -> f64 {
        (self.hi - self.lo) / (self.mean() * 12_f64.sqrt())
    }

    fn quantile(&self, q: f64) -> f64 {
        if q.is_nan() {
            q
        } else {
            self.at(q.clamp(0.0, 1.0))
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        ((x - self.lo) / (self.hi - self.lo)).clamp(0.0, 1.0)
    }

    fn mean_below(&self, x: f64) -> f64 {
        // The share below, times the middle of its values.
        self.cdf(x) * 0.5 * (self.lo + x.clamp(self.lo, self.hi))
    }

    fn square_below(&self, x: f64) -> f64 {
        let (a, x) = (self.lo, x.clamp(self.lo, self.hi));
        self.cdf(x) * (a * a + a * x + x * x) / 3.0
    }
}
