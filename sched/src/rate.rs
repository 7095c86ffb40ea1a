//! Arrivals per second, exact.

use std::fmt;
use std::str::FromStr;

const NANO: f64 = 1e9;

/// Arrivals per second, as a whole number of nano-hertz.
///
/// 0.29/s is exactly 290 000 000 nHz. In binary floating point it is not 0.29, and of the products
/// rate × seconds that should be whole numbers 3 % then come out one too small.
///
/// ```
/// use openloop_sched::{Rate, RateError};
///
/// assert_eq!(Rate::per_second(0.29)?.as_nanohertz(), 290_000_000);
/// assert_eq!("2000".parse::<Rate>()?, Rate::per_second(2000.0)?);
/// assert_eq!(Rate::per_second(-1.0), Err(RateError::Negative(-1.0)));
/// # Ok::<(), RateError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// No arrivals.
    pub const ZERO: Rate = Rate(0);
    /// The highest rate: ten thousand million a second.
    pub const MAX: Rate = Rate(10_000_000_000_000_000_000);

    /// `rate` arrivals per second, rounded to the nearest nano-hertz.
    ///
    /// # Errors
    /// When `rate` is not finite, negative, above [`Rate::MAX`], or positive but under half a nano-hertz.
    pub fn per_second(rate: f64) -> Result<Self, RateError> {
        if !rate.is_finite() {
            return Err(RateError::NotFinite(rate));
        }
        if rate < 0.0 {
            return Err(RateError::Negative(rate));
        }
        if rate > 1e10 {
            return Err(RateError::TooHigh(rate));
        }
        // In range by the three checks above.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nanohertz = (rate * NANO).round() as u64;
        if nanohertz == 0 && rate > 0.0 {
            return Err(RateError::TooLow(rate));
        }
        Ok(Rate(nanohertz))
    }

    /// Whole nano-hertz: arrivals in a thousand million seconds.
    #[must_use]
    pub const fn as_nanohertz(self) -> u64 {
        self.0
    }

    /// `nanohertz`, or [`Rate::MAX`] where that is less.
    #[must_use]
    pub(crate) const fn from_nanohertz_saturating(nanohertz: u64) -> Self {
        if nanohertz < Rate::MAX.0 {
            Rate(nanohertz)
        } else {
            Rate::MAX
        }
    }

    /// Arrivals per second as a float, for display and formulas.
    #[must_use]
    pub fn as_per_second(self) -> f64 {
        self.0 as f64 / NANO
    }

    /// Whether nothing arrives.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.as_per_second())
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let rate = text.strip_suffix("/s").unwrap_or(text);
        let rate: f64 = rate
            .parse()
            .map_err(|_| RateError::NotANumber(text.to_owned()))?;
        Rate::per_second(rate)
    }
}

/// Why a number is not a rate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RateError {
    /// NaN or infinite.
    #[error("a rate must be finite, not {0}: give arrivals per second, such as 2000")]
    NotFinite(f64),
    /// Below zero.
    #[error(
        "a rate cannot be negative, and this one is {0}: give arrivals per second, such as 2000"
    )]
    Negative(f64),
    /// Above [`Rate::MAX`].
    #[error("a rate of {0:e}/s is above the limit of 1e10/s: no single run can send that")]
    TooHigh(f64),
    /// Positive, but it rounds to nothing.
    #[error("a rate of {0:e}/s is under the limit of 1e-9/s, one arrival in 31 years")]
    TooLow(f64),
    /// Not a number at all.
    #[error("\"{0}\" is not a rate: give arrivals per second, such as 2000 or 0.5")]
    NotANumber(String),
}
