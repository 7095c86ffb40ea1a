//! Values whose logarithm is normal.

use super::law::{draws, positive, variation};
use super::special::{normal_cdf, normal_quantile};
use super::{Law, ValuesError};

/// Log-normal values: most are small, a few are very large, as sizes of files, rows and prompts are.
///
/// | symbol | meaning |
/// | --- | --- |
/// | μ, σ | mean and standard deviation of ln X |
/// | m = e^(μ + σ²/2) | mean |
/// | C_v = √(e^(σ²) − 1) | coefficient of variation, so σ² = ln(1 + C_v²) |
/// | Q(q) = e^(μ + σ Φ⁻¹(q)) | quantile; the median is e^μ = m/√(1 + C_v²) |
///
/// By inversion of one draw. Φ⁻¹ is Wichura's algorithm AS 241 (1988), exact to 16 digits.
///
/// ```
/// use openloop_workload::values::{Law, LogNormal};
///
/// let tokens = LogNormal::from_quantiles((0.5, 180.0), (0.99, 900.0))?;
/// assert!((tokens.mean() - 228.7).abs() < 0.1);
/// assert!((tokens.cv() - 0.783).abs() < 0.001);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    given: Given,
    mu: f64,
    sigma: f64,
}

/// What the law was made from, so that it can be written as it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Given {
    Moments {
        mean: f64,
        cv: f64,
    },
    /// Each a probability and the value there.
    Quantiles([(f64, f64); 2]),
}

impl LogNormal {
    /// The law with this mean and this coefficient of variation.
    ///
    /// # Errors
    /// When the mean is not from 10⁻³⁰ to 10³⁰ or `cv` not from 10⁻⁶ to 1000.
    pub fn new(mean: f64, cv: f64) -> Result<Self, ValuesError> {
        let (mean, cv) = (positive("mean", mean)?, variation(cv)?);
        let variance = libm::log1p(cv * cv);
        Ok(LogNormal {
            given: Given::Moments { mean, cv },
            mu: libm::log(mean) - 0.5 * variance,
            sigma: variance.sqrt(),
        })
    }

    /// The law with these two quantiles, each a probability and the value there, in either order.
    ///
    /// # Errors
    /// When a probability is not strictly between 0 and 1, a value not from 10⁻³⁰ to 10³⁰, the two do not rise
    /// together, or the coefficient of variation that follows is not from 10⁻⁶ to 1000.
    pub fn from_quantiles(one: (f64, f64), other: (f64, f64)) -> Result<Self, ValuesError> {
        for (q, value) in [one, other] {
            if !(q > 0.0 && q < 1.0) {
                return Err(ValuesError::OutOfRange {
                    name: "the probability of a quantile",
                    value: q,
                    expected: "a number between 0 and 1, such as 0.99 for p99",
                });
            }
            positive("the value of a quantile", value)?;
        }
        let [lower, upper] = if one.0 <= other.0 {
            [one, other]
        } else {
            [other, one]
        };
        let (low, high) = (normal_quantile(lower.0), normal_quantile(upper.0));
        // ln(x₂/x₁), exact also where both are close.
        let apart = libm::log1p((upper.1 - lower.1) / lower.1);
        let sigma = apart / (high - low);
        let mu = libm::log(lower.1) - sigma * low;
        let law = LogNormal {
            given: Given::Quantiles([lower, upper]),
            mu,
            sigma,
        };
        // A σ of NaN, or one that is not positive, has no such C_v; and the mean may be out of range where no value is.
        if sigma > 0.0 && variation(law.cv()).is_ok() && positive("mean", law.mean()).is_ok() {
            Ok(law)
        } else {
            Err(ValuesError::Quantiles {
                lower_q: lower.0,
                lower: lower.1,
                upper_q: upper.0,
                upper: upper.1,
            })
        }
    }

    /// The mean of the logarithm, μ.
    #[must_use]
    pub const fn mu(&self) -> f64 {
        self.mu
    }

    /// The standard deviation of the logarithm, σ.
    #[must_use]
    pub const fn sigma(&self) -> f64 {
        self.sigma
    }

    pub(super) const fn given(&self) -> Given {
        self.given
    }

    fn at(&self, q: f64) -> f64 {
        libm::exp(self.mu + self.sigma * normal_quantile(q))
    }

    /// Φ((ln x − μ)/σ − k σ): F(x) for k = 0, and the share of E\[Xᵏ\] that values up to `x` bring.
    fn share_below(&self, k: f64, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        normal_cdf((libm::log(x) - self.mu) / self.sigma - k * self.sigma)
    }
}

impl Law for LogNormal {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        self.at(draws(seed, seq).open_unit())
    }

    fn mean(&self) -> f64 {
        match self.given {
            Given::Moments { mean, .. } => mean,
            Given::Quantiles(_) => libm::exp(self.mu + 0.5 * self.sigma * self.sigma),
        }
    }

    fn cv(&self) -> f64 {
        match self.given {
            Given::Moments { cv, .. } => cv,
            Given::Quantiles(_) => libm::expm1(self.sigma * self.sigma).sqrt(),
        }
    }

    fn quantile(&self, q: f64) -> f64 {
        self.at(q.clamp(0.0, 1.0))
    }

    fn cdf(&self, x: f64) -> f64 {
        self.share_below(0.0, x)
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.mean() * self.share_below(1.0, x)
    }

    fn square_below(&self, x: f64) -> f64 {
        let (mean, cv) = (self.mean(), self.cv());
        mean * mean * (1.0 + cv * cv) * self.share_below(2.0, x)
    }
}
