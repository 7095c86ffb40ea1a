//! A limit on the time of a call, as the server is told of it.

use http::HeaderValue;
use std::future::Future;
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Code, Status};

/// What the header holds at most: eight digits.
const MOST: u128 = 99_999_999;

/// Units of the header with their nanoseconds, the finest first.
const UNITS: [(char, u128); 6] = [
    ('n', 1),
    ('u', 1_000),
    ('m', 1_000_000),
    ('S', 1_000_000_000),
    ('M', 60_000_000_000),
    ('H', 3_600_000_000_000),
];

/// The value of `grpc-timeout`, in the finest unit that holds it; rounded down, so that the server is never given more
/// than there is.
pub(crate) fn header(left: Duration) -> HeaderValue {
    let ns = left.as_nanos();
    let (unit, value) = UNITS
        .iter()
        .map(|(unit, size)| (*unit, ns / size))
        .find(|(_, value)| *value <= MOST)
        .unwrap_or(('H', MOST));
    HeaderValue::try_from(format!("{value}{unit}"))
        .unwrap_or_else(|_| HeaderValue::from_static("0n"))
}

/// The limit that a header says; `None` for none that is well-formed.
pub(crate) fn parse(value: &HeaderValue) -> Option<Duration> {
    let text = value.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let (_, size) = UNITS.iter().find(|(name, _)| unit.starts_with(*name))?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ns = digits.parse::<u128>().ok()?.checked_mul(*size)?;
    let nanos = u32::try_from(ns % 1_000_000_000).ok()?;
    Some(Duration::new(
        u64::try_from(ns / 1_000_000_000).ok()?,
        nanos,
    ))
}

/// The instant passed first.
#[derive(Debug)]
pub(crate) struct Passed;

/// How much before a deadline its server may say that it has passed: servers round what they are told.
const ROUNDING: Duration = Duration::from_millis(1);

/// Whether an answer that came now, and says that the deadline is exceeded, speaks of this one. The server's clock runs
/// from when it was told what is left, so it cannot be up before ours; one of the server's own may.
pub(crate) fn is_due(until: Option<Instant>, status: &Status) -> bool {
    status.code() == Code::DeadlineExceeded
        && until.is_some_and(|until| Instant::now() + ROUNDING >= until)
}

/// What comes of a future until an instant, if there is one.
pub(crate) async fn until<T>(
    instant: Option<Instant>,
    future: impl Future<Output = T>,
) -> Result<T, Passed> {
    match instant {
        None => Ok(future.await),
        Some(instant) => tokio::time::timeout_at(instant, future)
            .await
            .map_err(|_| Passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_in_the_finest_unit_that_holds_it() {
        for (limit, told) in [
            (Duration::ZERO, "0n"),
            (Duration::from_nanos(99_999_999), "99999999n"),
            (Duration::from_millis(100), "100000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(100_000), "100000S"),
            (Duration::from_secs(6_000_000_000), "100000000M"),
        ] {
            let header = header(limit);
            let told = if limit.as_secs() == 6_000_000_000 {
                "1666666H"
            } else {
                told
            };
            assert_eq!(header, told);
            assert!(parse(&header).unwrap() <= limit);
        }
        assert_eq!(header(Duration::MAX), "99999999H");
    }

    #[test]
    fn what_is_told_is_understood() {
        for (told, limit) in [
            ("250m", Some(Duration::from_millis(250))),
            ("1H", Some(Duration::from_secs(3600))),
            ("7u", Some(Duration::from_micros(7))),
            ("", None),
            ("m", None),
            ("123456789n", None),
            ("-1S", None),
            ("5x", None),
        ] {
            assert_eq!(parse(&HeaderValue::from_static(told)), limit, "{told:?}");
        }
    }
}
