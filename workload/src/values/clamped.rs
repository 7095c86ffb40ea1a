//! Values held between bounds.

use super::law::{cv_of_moments, within};
use super::{Law, Values, ValuesError};

/// The values of another law, with what lies outside two bounds moved to the nearer one.
///
/// What prompts, pages and buffers do to sizes: none is empty, and none larger than what fits. Values pile up at a
/// bound with the probability of all that lay beyond it, so mean and C_v are not those of the law within:
///
/// | symbol | meaning |
/// | --- | --- |
/// | X, F | the law within and its distribution |
/// | a, b | bounds |
/// | E\[Yᵏ\] = aᵏ F(a) + E\[Xᵏ; a < X ≤ b\] + bᵏ (1 − F(b)) | moments of Y = min(max(X, a), b) |
///
/// All are from closed forms, nothing is estimated. C_v comes of the difference of two moments and is right to 10⁻⁷.
#[derive(Clone, Debug, PartialEq)]
pub struct Clamped {
    law: Box<Values>,
    lo: f64,
    hi: f64,
}

impl Clamped {
    /// The values of `law`, none below `lo` and none above `hi`; `hi` may be infinite and `lo` 0.
    ///
    /// Bounds around bounds become one pair.
    ///
    /// # Errors
    /// When `lo` is negative or not below `hi`, or one is NaN, or not in the range of sizes, 10⁻³⁰ to 10³⁰.
    pub fn new(law: Values, lo: f64, hi: f64) -> Result<Self, ValuesError> {
        let lo = super::law::not_negative("min", lo)?;
        if hi != f64::INFINITY {
            let (least, most) = (super::law::SMALLEST, super::law::LARGEST);
            within(
                "max",
                hi,
                least,
                most,
                "a number from 1e-30 to 1e30, or none",
            )?;
        }
        if lo >= hi {
            return Err(ValuesError::Bounds { lo, hi });
        }
        match law {
            Values::Clamped(inner) => {
                let (within_lo, within_hi) = (inner.lo.clamp(lo, hi), inner.hi.clamp(lo, hi));
                if within_lo >= within_hi {
                    return Err(ValuesError::Bounds {
                        lo: within_lo,
                        hi: within_hi,
                    });
                }
                Ok(Clamped {
                    law: inner.law,
                    lo: within_lo,
                    hi: within_hi,
                })
            }
            law => Ok(Clamped {
                law: Box::new(law),
                lo,
                hi,
            }),
        }
    }

    /// The law within.
    #[must_use]
    pub const fn law(&self) -> &Values {
        &self.law
    }

    /// The lower bound; 0 is none.
    #[must_use]
    pub const fn lo(&self) -> f64 {
        self.lo
    }

    /// The upper bound; infinite is none.
    #[must_use]
    pub const fn hi(&self) -> f64 {
        self.hi
    }

    /// The share of the values that the bounds have moved.
    ///
    /// ```
    /// use openloop_workload::Values;
    /// use openloop_workload::values::Clamped;
    ///
    /// let tokens = Clamped::new("exponential:100".parse()?, 0.0, 300.0)?;
    /// assert!((tokens.moved() - (-3_f64).exp()).abs() < 1e-15);
    /// # Ok::<(), openloop_workload::ValuesError>(())
    /// ```
    #[must_use]
    pub fn moved(&self) -> f64 {
        // A value that is the bound itself is not moved, and only laws of single values have such a one.
        let at_lo = match &*self.law {
            Values::Fixed(fixed) if fixed.mean() == self.lo => 1.0,
            Values::Empirical(values) => values.share_of(self.lo),
            Values::Sequence(values) => values.unordered().share_of(self.lo),
            _ => 0.0,
        };
        self.law.cdf(self.lo) - at_lo + self.above()
    }

    /// 1 − F(b).
    fn above(&self) -> f64 {
        if self.hi == f64::INFINITY {
            0.0
        } else {
            1.0 - self.law.cdf(self.hi)
        }
    }

    fn moment(&self, k: i32, below: impl Fn(f64) -> f64) -> f64 {
        let at_hi = match self.above() {
            // Not ∞ · 0.
            0.0 => 0.0,
            above => self.hi.powi(k) * above,
        };
        // Rounding may leave the difference of two equal moments below 0.
        let between = (below(self.hi) - below(self.lo)).max(0.0);
        self.lo.powi(k) * self.law.cdf(self.lo) + between + at_hi
    }
}

impl Law for Clamped {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        self.law.value(seed, seq).clamp(self.lo, self.hi)
    }

    fn mean(&self) -> f64 {
        self.moment(1, |x| self.law.law().mean_below(x))
            .clamp(self.lo, self.hi)
    }

    fn cv(&self) -> f64 {
        cv_of_moments(
            self.mean(),
            self.moment(2, |x| self.law.law().square_below(x)),
        )
    }

    fn quantile(&self, q: f64) -> f64 {
        // NaN stays NaN.
        self.law.quantile(q).clamp(self.lo, self.hi)
    }

    fn cdf(&self, x: f64) -> f64 {
        if x < self.lo {
            0.0
        } else if x >= self.hi {
            1.0
        } else {
            self.law.cdf(x)
        }
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.part_below(1, x, |x| self.law.law().mean_below(x))
    }

    fn square_below(&self, x: f64) -> f64 {
        self.part_below(2, x, |x| self.law.law().square_below(x))
    }
}

impl Clamped {
    fn part_below(&self, k: i32, x: f64, below: impl Fn(f64) -> f64) -> f64 {
        if x < self.lo {
            0.0
        } else if x >= self.hi {
            self.moment(k, below)
        } else {
            self.lo.powi(k) * self.law.cdf(self.lo) + (below(x) - below(self.lo)).max(0.0)
        }
    }
}
