//! Arrivals more or less regular than Poisson.

use std::fmt;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Process, uniform, unit_exponential};
use crate::OpTime;

/// A renewal process with Gamma-distributed gaps of mean 1 and a given coefficient of variation.
///
/// | symbol | meaning |
/// | --- | --- |
/// | c | coefficient of variation of a gap, standard deviation / mean |
/// | k = 1/c² | shape; the scale is c², so the mean is 1 |
///
/// c = 1 is Poisson (in distribution, from other draws), below it arrivals are more regular, above it they
/// come in clumps: the variance of counts over long windows is c² times Poisson's. The first point is a full
/// gap after 0.
///
/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000): for k ≥ 1 a cubed normal
/// variable with a rejection of under 5 %; for k < 1 that of k + 1 times U^(1/k). The normal comes from
/// Marsaglia's polar method. All functions are `libm`'s, so the values are the same on every platform.
#[derive(Clone, Debug)]
pub struct Gamma {
    rng: Xoshiro256PlusPlus,
    at: OpTime,
    /// 1/k where k < 1, else 0: the exponent of the boost.
    boost: f64,
    /// Scale × d.
    scale: f64,
    d: f64,
    c: f64,
    spare: Option<f64>,
}

impl Gamma {
    /// Gaps with this coefficient of variation; seeded as given.
    #[must_use]
    pub fn new(cv: CoefficientOfVariation, seed: u64) -> Self {
        let squared = cv.get() * cv.get();
        let shape = 1.0 / squared;
        let (shape, boost) = if shape < 1.0 {
            (shape + 1.0, squared)
        } else {
            (shape, 0.0)
        };
        let d = shape - 1.0 / 3.0;
        Gamma {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            at: OpTime::ZERO,
            boost,
            scale: squared * d,
            d,
            c: 1.0 / (9.0 * d).sqrt(),
            spare: None,
        }
    }

    fn gap(&mut self) -> f64 {
        let gap = loop {
            let x = self.normal();
            let t = self.c * x;
            if t <= -1.0 {
                continue;
            }
            let u = uniform(&mut self.rng);
            let x2 = x * x;
            let v = (1.0 + t) * (1.0 + t) * (1.0 + t);
            // d·(1 − v + ln v), in the form that does not cancel for a small c.
            let squeeze = u < 1.0 - 0.0331 * x2 * x2;
            if squeeze
                || libm::log(u)
                    < 0.5 * x2 + self.d * (3.0 * (libm::log1p(t) - t) - t * t * (3.0 + t))
            {
                break self.scale * v;
            }
        };
        if self.boost == 0.0 {
            return gap;
        }
        // U^(1/k) = exp(−E/k).
        gap * libm::exp(-self.boost * unit_exponential(&mut self.rng))
    }

    /// A standard normal variable: Marsaglia's polar method, which makes them in pairs.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let a = 2.0 * uniform(&mut self.rng) - 1.0;
            let b = 2.0 * uniform(&mut self.rng) - 1.0;
            let s = a * a + b * b;
            if s < 1.0 && s > 0.0 {
                let factor = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(b * factor);
                return a * factor;
            }
        }
    }
}

impl Process for Gamma {
    #[inline]
    fn next_point(&mut self) -> Option<OpTime> {
        let gap = self.gap();
        self.at = self.at.after(gap);
        Some(self.at)
    }
}

/// Standard deviation of a gap over its mean, from 10⁻⁶ (as good as constant) to 1000.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct CoefficientOfVariation(f64);

impl CoefficientOfVariation {
    /// Checks a value.
    ///
    /// # Errors
    /// When it is not a number from 10⁻⁶ to 1000. Below, the process is constant; above, a run would need
    /// more than a million arrivals to see one gap of any length.
    pub fn new(cv: f64) -> Result<Self, CoefficientOfVariationError> {
        if (1e-6..=1e3).contains(&cv) {
            Ok(CoefficientOfVariation(cv))
        } else {
            Err(CoefficientOfVariationError(cv))
        }
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for CoefficientOfVariation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that is not a coefficient of variation of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "a coefficient of variation of {0} is not between 1e-6 and 1000: for evenly spaced arrivals use constant"
)]
pub struct CoefficientOfVariationError(pub f64);
