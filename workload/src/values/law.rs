//! What all laws have.

use super::ValuesError;
use crate::draws::Draws;
use std::fmt;

/// Values share no numbers with what is drawn elsewhere from the same seed.
const STREAM: u64 = 0x7661_6c75_6573;

/// The numbers of request `seq`.
pub(super) const fn draws(seed: u64, seq: u64) -> Draws {
    Draws::of(seed, STREAM, seq)
}

/// The law of a random number X ≥ 0: a size, a duration, a count of tokens.
///
/// A law has no unit: what it is given in, it gives back, whether bytes, tokens or seconds.
///
/// | symbol | meaning |
/// | --- | --- |
/// | F(x) = P(X ≤ x) | the share of the values that are at most x |
/// | m = E\[X\] | the mean |
/// | C_v = √Var X / m | the coefficient of variation: how much values differ, in units of their mean |
/// | Q(q) | the quantile: the smallest x with F(x) ≥ q |
pub trait Law: fmt::Debug + Send + Sync {
    /// The value of request number `seq` in a run with this seed: a pure function of both.
    ///
    /// Never negative, never infinite, never NaN. A value nearer to 0 than `f64` can tell is 0.
    fn value(&self, seed: u64, seq: u64) -> f64;

    /// The mean, m.
    fn mean(&self) -> f64;

    /// The coefficient of variation, C_v; 0 where the mean is 0.
    fn cv(&self) -> f64;

    /// The quantile Q(q): a share of `q` of the values is not above it.
    ///
    /// A `q` below 0 counts as 0 and one above 1 as 1. Of a law without an upper bound, Q(1) is infinite. The quantile
    /// of NaN is NaN.
    fn quantile(&self, q: f64) -> f64;

    /// F(x), the share of the values that are not above `x`.
    fn cdf(&self, x: f64) -> f64;

    /// E\[X; X ≤ x\], what the values that are not above `x` add to the mean.
    ///
    /// Over the mean, it is their share of the whole: of the bytes, of the tokens, of the work.
    fn mean_below(&self, x: f64) -> f64;

    /// E\[X²; X ≤ x\], what the values that are not above `x` add to the second moment.
    fn square_below(&self, x: f64) -> f64;
}

/// The range of a number that is not a bound of probability: sizes outside are a mistake, and their squares stay in
/// the range of `f64`.
pub(super) const SMALLEST: f64 = 1e-30;
pub(super) const LARGEST: f64 = 1e30;

/// A positive parameter.
pub(super) fn positive(name: &'static str, value: f64) -> Result<f64, ValuesError> {
    within(
        name,
        value,
        SMALLEST,
        LARGEST,
        "a number from 1e-30 to 1e30",
    )
}

/// A parameter that may be 0.
pub(super) fn not_negative(name: &'static str, value: f64) -> Result<f64, ValuesError> {
    if value == 0.0 {
        // Without the sign of a negative zero.
        return Ok(0.0);
    }
    within(
        name,
        value,
        SMALLEST,
        LARGEST,
        "0, or a number from 1e-30 to 1e30",
    )
}

/// The coefficient of variation of a law that has both sides of 1.
pub(super) fn variation(value: f64) -> Result<f64, ValuesError> {
    within(
        "cv",
        value,
        1e-6,
        1e3,
        "a number from 1e-6 to 1000, or write fixed for values that do not vary",
    )
}

pub(super) fn within(
    name: &'static str,
    value: f64,
    lo: f64,
    hi: f64,
    expected: &'static str,
) -> Result<f64, ValuesError> {
    // NaN is in no range.
    if (lo..=hi).contains(&value) {
        Ok(value)
    } else {
        Err(ValuesError::OutOfRange {
            name,
            value,
            expected,
        })
    }
}

/// C_v of the first and the second moment.
///
/// The subtraction leaves an error of some 10⁻¹⁶ in C_v², which is 3·10⁻⁸ in a C_v near 0.
pub(super) fn cv_of_moments(mean: f64, square: f64) -> f64 {
    if mean == 0.0 {
        return 0.0;
    }
    (square / mean / mean - 1.0).max(0.0).sqrt()
}
