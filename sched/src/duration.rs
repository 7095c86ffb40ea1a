//! Durations as people write them.

use std::time::Duration;

/// Units from long to short, in nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Reads a duration: one or more numbers, each with its unit (`d`, `h`, `m`, `s`, `ms`, `us` or `µs`,
/// `ns`), the longer unit first. Fractions are exact in decimal.
///
/// ```
/// use openloop_sched::parse_duration;
/// use std::time::Duration;
///
/// assert_eq!(parse_duration("1m30s")?, Duration::from_secs(90));
/// assert_eq!(parse_duration("500ms")?, Duration::from_millis(500));
/// assert_eq!(parse_duration("0.1s")?, Duration::from_millis(100));
/// assert!(parse_duration("10").is_err());
/// # Ok::<(), openloop_sched::DurationError>(())
/// ```
///
/// # Errors
/// When the text is empty, lacks a unit, names an unknown or misplaced unit, is not a decimal number, is
/// finer than a nanosecond, or is longer than 584 years.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let (mut rest, mut total, mut longest) = (text, 0u128, u128::MAX);
    while !rest.is_empty() {
        let number_end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(|| DurationError::NoUnit(text.to_owned()))?;
        let (number, after) = rest.split_at(number_end);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let nanos = UNITS
            .iter()
            .find(|(name, _)| *name == unit.trim())
            .map(|&(_, nanos)| nanos)
            .ok_or_else(|| DurationError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.trim().to_owned(),
            })?;
        if nanos >= longest {
            return Err(DurationError::Order(text.to_owned()));
        }
        longest = nanos;
        total = total
            .checked_add(scaled(number, nanos, text)?)
            .ok_or_else(|| DurationError::TooLong(text.to_owned()))?;
        rest = after;
    }
    u64::try_from(total)
        .map(Duration::from_nanos)
        .map_err(|_| DurationError::TooLong(text.to_owned()))
}

/// `number` × `unit` in exact decimal.
fn scaled(number: &str, unit: u128, text: &str) -> Result<u128, DurationError> {
    let not_a_number = || DurationError::NotANumber(text.to_owned());
    let too_long = || DurationError::TooLong(text.to_owned());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(not_a_number());
    }
    let mut nanos = 0u128;
    for digit in whole.bytes() {
        nanos = nanos
            .checked_mul(10)
            .and_then(|n| n.checked_add(u128::from(digit - b'0')))
            .ok_or_else(too_long)?;
    }
    nanos = nanos.checked_mul(unit).ok_or_else(too_long)?;
    // Units are not powers of ten (a minute is not), so the fraction is a rational: digits / 10^places.
    let fraction = fraction.trim_end_matches('0');
    let places = u32::try_from(fraction.len()).map_err(|_| not_a_number())?;
    let scale = 10u128
        .checked_pow(places)
        .ok_or_else(|| DurationError::TooFine(text.to_owned()))?;
    let digits = if fraction.is_empty() {
        0
    } else {
        fraction.parse::<u128>().map_err(|_| not_a_number())?
    };
    let part = digits.checked_mul(unit).ok_or_else(too_long)?;
    if part % scale != 0 {
        return Err(DurationError::TooFine(text.to_owned()));
    }
    nanos.checked_add(part / scale).ok_or_else(too_long)
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// Nothing was written.
    #[error("a duration is empty: write a number with its unit, such as 10s, 500ms or 1m30s")]
    Empty,
    /// A number stands without a unit.
    #[error("\"{0}\" lacks a unit: write d, h, m, s, ms, us or ns, such as 10s")]
    NoUnit(String),
    /// A unit that is not one.
    #[error("\"{unit}\" in \"{text}\" is not a unit of time: write d, h, m, s, ms, us or ns")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part that should have been a unit.
        unit: String,
    },
    /// Units repeat, or a shorter one comes first.
    #[error("the units of \"{0}\" must go from long to short, each once, such as 1m30s")]
    Order(String),
    /// Not a decimal number.
    #[error("\"{0}\" is not a duration: write a number with its unit, such as 10s or 1.5s")]
    NotANumber(String),
    /// A part of a nanosecond is left.
    #[error("\"{0}\" is finer than a nanosecond: round it")]
    TooFine(String),
    /// More nanoseconds than 64 bits hold.
    #[error("\"{0}\" is longer than 584 years")]
    TooLong(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_durations_are_read_exactly() {
        for (text, nanos) in [
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("1m", 60_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h0m0.5s", 3_600_500_000_000),
            ("2µs", 2_000),
            ("2us", 2_000),
            ("0.1s", 100_000_000),
            ("0.25m", 15_000_000_000),
            (".5ms", 500_000),
            ("0s", 0),
            (" 7ns ", 7),
            ("1d", 86_400_000_000_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_nanos(nanos)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused_with_the_reason() {
        let own = str::to_owned;
        assert_eq!(parse_duration(" "), Err(DurationError::Empty));
        assert_eq!(parse_duration("10"), Err(DurationError::NoUnit(own("10"))));
        assert_eq!(
            parse_duration("-1s"),
            Err(DurationError::UnknownUnit {
                text: own("-1s"),
                unit: own("-")
            })
        );
        assert_eq!(
            parse_duration("3 weeks"),
            Err(DurationError::UnknownUnit {
                text: own("3 weeks"),
                unit: own("weeks")
            })
        );
        assert_eq!(
            parse_duration("1s1m"),
            Err(DurationError::Order(own("1s1m")))
        );
        assert_eq!(
            parse_duration("1s1s"),
            Err(DurationError::Order(own("1s1s")))
        );
        assert_eq!(
            parse_duration("1.2.3s"),
            Err(DurationError::NotANumber(own("1.2.3s")))
        );
        assert_eq!(
            parse_duration(".s"),
            Err(DurationError::NotANumber(own(".s")))
        );
        assert_eq!(
            parse_duration("0.5ns"),
            Err(DurationError::TooFine(own("0.5ns")))
        );
        assert_eq!(
            parse_duration("585y"),
            Err(DurationError::UnknownUnit {
                text: own("585y"),
                unit: own("y")
            })
        );
        assert_eq!(
            parse_duration("300000d"),
            Err(DurationError::TooLong(own("300000d")))
        );
    }
}
