//! Timestamps to nanoseconds, digit by digit.

/// A decimal such as `61.114` or `1e-05`, times 10^`exponent`, as the nearest whole number, and whether it was whole.
///
/// No f64 on the way: 19440110.1 seconds are exactly 19440110100000000 ns. Half a unit is rounded up.
pub(super) fn decimal(text: &str, exponent: i32) -> Option<(u64, bool)> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, power) = match text.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, power.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut exponent = exponent + i32::from(power);
    let (mut value, mut exact) = (0_u128, true);
    for (digit, is_fraction) in (whole.bytes().map(|digit| (digit, false)))
        .chain(fraction.bytes().map(|digit| (digit, true)))
    {
        if !digit.is_ascii_digit() {
            return None;
        }
        // What is past 36 digits moves the result by less than one unit, or makes it too large anyway.
        if value < 10_u128.pow(36) {
            value = value * 10 + u128::from(digit - b'0');
            exponent -= i32::from(is_fraction);
        } else {
            exact &= digit == b'0';
            exponent = exponent.checked_add(i32::from(!is_fraction))?;
        }
    }
    if value == 0 {
        return Some((0, exact));
    }
    if exponent >= 0 {
        let factor = 10_u128.checked_pow(exponent.unsigned_abs())?;
        return Some((value.checked_mul(factor)?.try_into().ok()?, exact));
    }
    let Some(divisor) = 10_u128.checked_pow(exponent.unsigned_abs()) else {
        return Some((0, false));
    };
    let (quotient, rest) = (value / divisor, value % divisor);
    let rounded = quotient + u128::from(rest >= divisor - rest);
    Some((rounded.try_into().ok()?, exact && rest == 0))
}

/// A civil time such as `2023-11-16 18:17:03.9799600`, perhaps with `T`, `Z` or `+00:00`, in nanoseconds since 1970.
/// Without a zone it is UTC.
pub(super) fn civil(text: &str) -> Option<(i64, bool)> {
    let number = |from: usize, len: usize| {
        let digits = text.get(from..from + len)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok())?
    };
    let mark = |at: usize, marks: &[u8]| marks.contains(text.as_bytes().get(at)?).then_some(());
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    mark(4, b"-")?;
    mark(7, b"-")?;
    mark(10, b" T")?;
    mark(13, b":")?;
    mark(16, b":")?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=last).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = text.get(19..)?;
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at_checked(zone_at)?;
    let (nanos, exact) = match fraction.strip_prefix('.') {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            decimal(fraction, 9)?
        }
        None if fraction.is_empty() => (0, true),
        _ => return None,
    };
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        - zone_seconds(zone)?;
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Some((nanos.try_into().ok()?, exact))
}

/// The distance of a zone from UTC: nothing, `Z`, or `+hh:mm`.
fn zone_seconds(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.split_at_checked(1) {
        None => return Some(0),
        Some(("Z", "")) => return Some(0),
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        Some(_) => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let two = |text: &str| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i64>().ok())?
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// H. Hinnant, "chrono-compatible low-level date algorithms" (2013): years begin in March, so that the leap day is
/// the last, in eras of 400 years of 146 097 days.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_to_the_nanosecond() {
        for (text, nanos, exact) in [
            ("0", 0, true),
            ("61.114", 61_114_000_000, true),
            // As an f64 this number of nanoseconds would end in …04.
            ("19440110.1", 19_440_110_100_000_000, true),
            ("9007199.254740993", 9_007_199_254_740_993, true),
            (".5", 500_000_000, true),
            ("5.", 5_000_000_000, true),
            ("+1", 1_000_000_000, true),
            ("1e-05", 10_000, true),
            ("1.5E+2", 150_000_000_000, true),
            ("0.0000000005", 1, false),
            ("0.00000000049999", 0, false),
            ("61.113999999999997", 61_114_000_000, false),
            ("18446744073.709551615", u64::MAX, true),
            ("1e-30000", 0, false),
            ("0e30000", 0, true),
        ] {
            assert_eq!(decimal(text, 9), Some((nanos, exact)), "{text}");
        }
        let long = format!("0.5{}", "0".repeat(500));
        assert_eq!(decimal(&long, 9), Some((500_000_000, true)));
        let long = format!("{}1", "0".repeat(500));
        assert_eq!(decimal(&long, 0), Some((1, true)));
    }

    #[test]
    fn what_is_no_decimal_in_range_is_refused() {
        for text in [
            "",
            ".",
            "-1",
            "1,5",
            "1.2.3",
            "x",
            "1e",
            "e5",
            "nan",
            "inf",
            "0x10",
            " 1",
            "18446744073.709551616",
            "1e30000",
            "1e99999",
        ] {
            assert_eq!(decimal(text, 9), None, "{text}");
        }
        assert_eq!(decimal(&"9".repeat(500), 0), None);
    }

    #[test]
    fn civil_times_are_nanoseconds_since_1970() {
        for (text, seconds, nanos) in [
            ("1970-01-01 00:00:00", 0, 0),
            ("1969-12-31 23:59:59.5", -1, 500_000_000),
            // date -u -d '…' +%s
            ("2023-11-16 18:17:03.9799600", 1_700_158_623, 979_960_000),
            ("2024-05-10 00:00:00.009930+00:00", 1_715_299_200, 9_930_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199, 0),
            ("2000-03-01 01:30:00+01:30", 951_868_800, 0),
            ("1900-03-01 00:00:00-05:00", -2_203_873_200, 0),
        ] {
            assert_eq!(
                civil(text),
                Some((seconds * 1_000_000_000 + nanos, true)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_civil_time_is_refused() {
        for text in [
            "",
            "2023-11-16",
            "2023-11-16 18:17",
            "2023-02-29 00:00:00",
            "1900-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-00-01 00:00:00",
            "2023-01-00 00:00:00",
            "2023-01-01 24:00:00",
            "2023-01-01 00:60:00",
            "2023-01-01 00:00:60",
            "2023-01-01 00:00:00.",
            "2023-01-01 00:00:00.x",
            "2023-01-01 00:00:00 UTC",
            "2023-01-01 00:00:00+0100",
            "2023-01-01 00:00:00+24:00",
            "2023/01/01 00:00:00",
            "+023-01-01 00:00:00",
            "2023-01-01 00:00:0é",
            // Past what 64 bits of nanoseconds hold.
            "2263-01-01 00:00:00",
            "0001-01-01 00:00:00",
        ] {
            assert_eq!(civil(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut expected = days_since_1970(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!("{year:04}-{month:02}-{day:02} 00:00:00");
                    if civil(&text).is_none() && (1700..2200).contains(&year) {
                        continue;
                    }
                    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                    let short = [4, 6, 9, 11].contains(&month) && day == 31
                        || month == 2 && day > 28 + i64::from(leap);
                    if !short {
                        assert_eq!(days_since_1970(year, month, day), expected, "{text}");
                        expected += 1;
                    }
                }
            }
        }
    }
}
