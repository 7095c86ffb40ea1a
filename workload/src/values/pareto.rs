//! A heavy tail between two bounds.

use super::law::{cv_of_moments, draws, positive, within};
use super::{Law, ValuesError};

/// Pareto values between two bounds: a power law, whose largest values carry much of the work.
///
/// | symbol | meaning |
/// | --- | --- |
/// | α | shape, `shape`: the smaller, the heavier the tail; measured sizes of files have 1 to 1.5 |
/// | L, H | bounds, `lo` and `hi` |
/// | T = 1 − (L/H)^α | what the unbounded law has below H |
/// | F(x) = (1 − (L/x)^α)/T | distribution |
/// | Q(q) = L (1 − q T)^(−1/α) | quantile |
/// | E\[Xᵏ\] = (α/T) Lᵏ ∫₀^ln(H/L) e^((k − α) t) dt | moments |
///
/// Without the upper bound the mean would be infinite for α ≤ 1 and C_v for α ≤ 2, and no run would ever measure
/// either: Harchol-Balter and Downey, "Exploiting process lifetime distributions for dynamic load balancing" (1997).
///
/// By inversion of one draw.
///
/// ```
/// use openloop_workload::values::{Law, Pareto};
///
/// let size = Pareto::new(1.1, 1e3, 1e9)?;
/// // Half the values are below 1.9 kB; those above 1 MB, fewer than 1 in 1000, hold a third of all bytes.
/// assert!((size.quantile(0.5) - 1878.0).abs() < 1.0);
/// assert!(1.0 - size.cdf(1e6) < 0.001 && size.mean_below(1e6) / size.mean() < 0.67);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    shape: f64,
    lo: f64,
    hi: f64,
    /// T.
    below: f64,
}

impl Pareto {
    /// Values from `lo` to `hi` with this shape.
    ///
    /// # Errors
    /// When the shape is not from 0.001 to 1000, a bound not from 10⁻³⁰ to 10³⁰, or `lo` not below `hi`.
    pub fn new(shape: f64, lo: f64, hi: f64) -> Result<Self, ValuesError> {
        let shape = within(
            "shape",
            shape,
            1e-3,
            1e3,
            "a number from 0.001 to 1000, such as 1.1",
        )?;
        let (lo, hi) = (positive("lo", lo)?, positive("hi", hi)?);
        if lo >= hi {
            return Err(ValuesError::Bounds { lo, hi });
        }
        Ok(Pareto {
            shape,
            lo,
            hi,
            below: -libm::expm1(-shape * log_ratio(lo, hi)),
        })
    }

    /// The shape, α.
    #[must_use]
    pub const fn shape(&self) -> f64 {
        self.shape
    }

    /// The lower bound, L.
    #[must_use]
    pub const fn lo(&self) -> f64 {
        self.lo
    }

    /// The upper bound, H.
    #[must_use]
    pub const fn hi(&self) -> f64 {
        self.hi
    }

    fn at(&self, q: f64) -> f64 {
        let x = self.lo * libm::exp(-libm::log1p(-q * self.below) / self.shape);
        x.clamp(self.lo, self.hi)
    }

    /// E\[Xᵏ; X ≤ x\].
    fn moment_below(&self, k: f64, x: f64) -> f64 {
        if x <= self.lo {
            return 0.0;
        }
        let length = log_ratio(self.lo, x.min(self.hi));
        let exponent = k - self.shape;
        let integral = if exponent == 0.0 {
            length
        } else {
            libm::expm1(exponent * length) / exponent
        };
        self.shape / self.below * libm::pow(self.lo, k) * integral
    }
}

/// ln(x/lo), exact also where both are close.
fn log_ratio(lo: f64, x: f64) -> f64 {
    libm::log1p((x - lo) / lo)
}

impl Law for Pareto {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        self.at(draws(seed, seq).open_unit())
    }

    fn mean(&self) -> f64 {
        self.moment_below(1.0, self.hi)
    }

    fn cv(&self) -> f64 {
        cv_of_moments(self.mean(), self.moment_below(2.0, self.hi))
    }

    fn quantile(&self, q: f64) -> f64 {
        if q.is_nan() {
            q
        } else {
            self.at(q.clamp(0.0, 1.0))
        }
    }

    fn cdf(&self, x: f64) -> f64 {
        if x <= self.lo {
            return 0.0;
        }
        if x >= self.hi {
            return 1.0;
        }
        -libm::expm1(-self.shape * log_ratio(self.lo, x)) / self.below
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.moment_below(1.0, x)
    }

    fn square_below(&self, x: f64) -> f64 {
        self.moment_below(2.0, x)
    }
}
