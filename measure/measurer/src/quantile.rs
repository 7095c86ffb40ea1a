//! An exact quantile.

use std::fmt;
use std::str::FromStr;

/// A quantile as an exact fraction in (0, 1]: 0.999 is 999/1000, never `99.9 / 100.0`.
///
/// In binary floating point 99.9/100 is a little more than 0.999, and ⌈q·n⌉ then names the wrong value: of the
/// thousand values 1, 2, …, 1000 it takes 1000 for the 99.9th percentile instead of 999.
///
/// ```
/// use openloop_measurer::Quantile;
///
/// let q: Quantile = "p99.9".parse()?;
/// assert_eq!(q, "0.999".parse()?);
/// assert_eq!(q.rank(1000), 999);
/// assert_eq!(q.to_string(), "p99.9");
/// # Ok::<(), openloop_measurer::QuantileError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantile {
    numerator: u64,
    denominator: u64,
}

impl Quantile {
    /// The median.
    pub const P50: Quantile = Quantile::of(1, 2);
    /// Nine in ten.
    pub const P90: Quantile = Quantile::of(9, 10);
    /// 19 in 20.
    pub const P95: Quantile = Quantile::of(19, 20);
    /// 99 in 100.
    pub const P99: Quantile = Quantile::of(99, 100);
    /// 999 in 1000.
    pub const P99_9: Quantile = Quantile::of(999, 1000);
    /// 9999 in 10 000.
    pub const P99_99: Quantile = Quantile::of(9999, 10_000);

    /// The quantiles of every report, in order.
    pub const REPORTED: [Quantile; 6] = [
        Quantile::P50,
        Quantile::P90,
        Quantile::P95,
        Quantile::P99,
        Quantile::P99_9,
        Quantile::P99_99,
    ];

    const fn of(numerator: u64, denominator: u64) -> Self {
        Quantile {
            numerator,
            denominator,
        }
    }

    /// The quantile `numerator / denominator`.
    ///
    /// # Errors
    /// When the fraction is not in (0, 1].
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, QuantileError> {
        if numerator == 0 || numerator > denominator {
            return Err(QuantileError::OutOfRange(format!(
                "{numerator}/{denominator}"
            )));
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Ok(Quantile::of(numerator / divisor, denominator / divisor))
    }

    /// The rank of this quantile among `n` values in ascending order, from 1: max(1, ⌈q·n⌉), in integers.
    #[must_use]
    pub fn rank(self, n: u64) -> u64 {
        let product = u128::from(self.numerator) * u128::from(n);
        // At most n, since the fraction is at most 1.
        u64::try_from(product.div_ceil(u128::from(self.denominator)))
            .unwrap_or(n)
            .max(1)
    }

    /// The quantile as a float, for axes and formulas: never for ranks.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// `p99.9`: percent, in decimal digits.
impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.as_f64() * 100.0;
        let mut digits = format!("{percent:.6}");
        while digits.ends_with('0') {
            digits.pop();
        }
        write!(f, "p{}", digits.trim_end_matches('.'))
    }
}

/// Reads `p99.9` (percent) and `0.999` (a share).
impl FromStr for Quantile {
    type Err = QuantileError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || QuantileError::NotAQuantile(text.to_owned());
        let (digits, per) = match text.strip_prefix(['p', 'P']) {
            Some(percent) => (percent, 100),
            None => (text, 1),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty()
            || !(whole.to_owned() + fraction)
                .bytes()
                .all(|b| b.is_ascii_digit())
        {
            return Err(bad());
        }
        let scale = u32::try_from(fraction.len())
            .ok()
            .and_then(|places| 10_u64.checked_pow(places))
            .and_then(|scale| scale.checked_mul(per))
            .ok_or_else(bad)?;
        let numerator: u64 = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
        Quantile::new(numerator, scale).map_err(|_| QuantileError::OutOfRange(text.to_owned()))
    }
}

/// Why a text or a fraction is not a quantile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantileError {
    /// Zero, or above one.
    #[error("the quantile {0} is not above 0 and at most 1: write 0.999 or p99.9")]
    OutOfRange(String),
    /// Not a decimal number.
    #[error("\"{0}\" is not a quantile: write 0.999 or p99.9")]
    NotAQuantile(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_exact_where_floats_are_not() {
        let q: Quantile = "p99.9".parse().unwrap();
        for n in [1_000_u64, 10_000, 100_000, 1_000_000] {
            assert_eq!(q.rank(n), n / 1000 * 999);
            // What 99.9/100 in binary floating point would give.
            assert_eq!((99.9 / 100.0 * n as f64).ceil() as u64, n / 1000 * 999 + 1);
        }
        assert_eq!(Quantile::P50.rank(1), 1);
        assert_eq!(
            Quantile::P99_99.rank(u64::MAX / 2),
            9_222_449_699_651_090_330
        );
    }

    #[test]
    fn text_is_read_exactly_and_printed_as_percent() {
        for (text, q) in [
            ("0.5", Quantile::P50),
            ("p50", Quantile::P50),
            ("p99", Quantile::P99),
            ("P99.99", Quantile::P99_99),
            ("1", Quantile::new(1, 1).unwrap()),
        ] {
            assert_eq!(text.parse::<Quantile>().unwrap(), q, "{text}");
        }
        assert_eq!(Quantile::P99_9.to_string(), "p99.9");
        assert_eq!(Quantile::P50.to_string(), "p50");
    }

    #[test]
    fn what_is_no_quantile_is_refused() {
        for text in [
            "0",
            "p0",
            "p101",
            "1.5",
            "-0.5",
            "p",
            "",
            "p99.",
            "nan",
            "0.99999999999999999999",
        ] {
            if text == "p99." {
                assert_eq!(text.parse::<Quantile>().unwrap(), Quantile::P99);
            } else {
                assert!(text.parse::<Quantile>().is_err(), "{text}");
            }
        }
    }
}
