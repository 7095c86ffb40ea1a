//! Durations in words: `250us`, `1.5s`.

use std::time::Duration;

use thiserror::Error;

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error(
    "{text:?} is no duration: write a number and a unit (ns, us, ms, s, m or h), such as 250us or 1.5s"
)]
pub struct DurationError {
    text: String,
}

/// Reads a duration: a number of zero or more, and one of the units ns, us, ms, s, m and h.
///
/// # Errors
///
/// When the number or the unit is missing or unknown, or the duration is too long to be held.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use openloop_testbed::parse_duration;
///
/// assert_eq!(parse_duration("1.5ms"), Ok(Duration::from_micros(1500)));
/// assert!(parse_duration("5").is_err());
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let error = || DurationError {
        text: text.to_owned(),
    };
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(error)?;
    let (number, unit) = text.split_at(unit_at);
    let seconds_per_unit = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(error()),
    };
    let number: f64 = number.parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_understood() {
        let cases = [
            ("7ns", Duration::from_nanos(7)),
            ("250us", Duration::from_micros(250)),
            ("1ms", Duration::from_millis(1)),
            ("0.5s", Duration::from_millis(500)),
            ("2m", Duration::from_secs(120)),
            ("1h", Duration::from_secs(3600)),
            ("0s", Duration::ZERO),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_named_in_the_error() {
        for text in ["", "5", "ms", "-1s", "1 h", "1e400s", "nans"] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
