//! Values of any spread, without a heavy tail.

use super::law::{draws, positive, variation};
use super::special::{gamma_p, gamma_quantile, normal_quantile};
use super::{Law, ValuesError};

/// Gamma values: from nearly constant to wildly varying, with a tail no heavier than an exponential one.
///
/// | symbol | meaning |
/// | --- | --- |
/// | m, c | mean and coefficient of variation |
/// | k = 1/c², θ = m c² | shape and scale; c = 1 is exponential, k = n the sum of n exponential stages (Erlang) |
/// | F(x) = P(k, x/θ) | distribution, by the regularised incomplete gamma function |
///
/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000): a cubed normal variable, drawn again
/// in fewer than 5 % of cases; for k < 1 that of shape k + 1 times U^(1/k). So a value takes two draws, or three, and
/// rarely more. The quantile is found by Newton's method, in some microseconds. With c far above 1 most values are so
/// near 0 that they are 0.
///
/// ```
/// use openloop_workload::values::{Gamma, Law};
///
/// let service = Gamma::new(10.0, 0.5)?;
/// assert!((service.quantile(0.99) - 25.11).abs() < 0.01);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    mean: f64,
    cv: f64,
    /// k − 1/3, or k + 2/3 where k < 1.
    d: f64,
    /// 1/√(9 d).
    c: f64,
}

impl Gamma {
    /// Values with this mean and this coefficient of variation.
    ///
    /// # Errors
    /// When the mean is not from 10⁻³⁰ to 10³⁰ or `cv` not from 10⁻⁶ to 1000.
    pub fn new(mean: f64, cv: f64) -> Result<Self, ValuesError> {
        let (mean, cv) = (positive("mean", mean)?, variation(cv)?);
        let shape = 1.0 / (cv * cv);
        let boost = if shape < 1.0 { 1.0 } else { 0.0 };
        let d = shape + boost - 1.0 / 3.0;
        Ok(Gamma {
            mean,
            cv,
            d,
            c: 1.0 / (9.0 * d).sqrt(),
        })
    }

    /// The shape, k = 1/c².
    #[must_use]
    pub fn shape(&self) -> f64 {
        1.0 / (self.cv * self.cv)
    }

    /// The scale, θ = m c².
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.mean * self.cv * self.cv
    }

    fn scaled(&self, x: f64) -> f64 {
        x.max(0.0) / self.scale()
    }
}

impl Law for Gamma {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        let mut draws = draws(seed, seq);
        let gamma = loop {
            let x = normal_quantile(draws.open_unit());
            let u = draws.open_unit();
            let t = self.c * x;
            if t <= -1.0 {
                continue;
            }
            let square = x * x;
            // ½ x² + d (1 − v + ln v) of v = (1 + t)³, written so that nothing cancels where t is small.
            let slack = || 0.5 * square + self.d * (3.0 * (libm::log1p(t) - t) - t * t * (3.0 + t));
            if u < 1.0 - 0.0331 * square * square || libm::log(u) < slack() {
                break self.d * (1.0 + t) * (1.0 + t) * (1.0 + t);
            }
        };
        if self.cv <= 1.0 {
            return self.scale() * gamma;
        }
        // U^(1/k) = e^(c² ln U).
        self.scale() * gamma * libm::exp(self.cv * self.cv * libm::log(draws.open_unit()))
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv(&self) -> f64 {
        self.cv
    }

    fn quantile(&self, q: f64) -> f64 {
        self.scale() * gamma_quantile(self.shape(), q)
    }

    fn cdf(&self, x: f64) -> f64 {
        gamma_p(self.shape(), self.scaled(x))
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.mean * gamma_p(self.shape() + 1.0, self.scaled(x))
    }

    fn square_below(&self, x: f64) -> f64 {
        self.mean
            * self.mean
            * (1.0 + self.cv * self.cv)
            * gamma_p(self.shape() + 2.0, self.scaled(x))
    }
}
