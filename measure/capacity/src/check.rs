//! The checks that parameters share.

use crate::CapacityError;

/// The range of rates and times: what lies outside is a mistake, and products inside stay in the range of `f64`.
const SMALLEST: f64 = 1e-30;
const LARGEST: f64 = 1e30;

/// The largest whole number up to which `f64` has all of them.
const COUNTABLE: f64 = 9_007_199_254_740_992.0;

pub(crate) fn within(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, CapacityError> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(CapacityError::OutOfRange {
            name,
            value,
            expected,
        })
    }
}

pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, CapacityError> {
    within(
        name,
        value,
        SMALLEST..=LARGEST,
        "a number from 1e-30 to 1e30",
    )
}

pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64, CapacityError> {
    if value == 0.0 {
        // Not −0, which would show in results.
        return Ok(0.0);
    }
    within(
        name,
        value,
        SMALLEST..=LARGEST,
        "0, or a number from 1e-30 to 1e30",
    )
}

/// The share of values above a quantile, 1 − q.
pub(crate) fn above(q: f64) -> Result<f64, CapacityError> {
    if (0.0..1.0).contains(&q) {
        Ok(1.0 - q)
    } else {
        Err(CapacityError::OutOfRange {
            name: "the quantile",
            value: q,
            expected: "a share from 0 to below 1, such as 0.99 for the 99th percentile",
        })
    }
}

/// An instant after the start of something: at least 0, or infinite.
pub(crate) fn time(value: f64) -> Result<f64, CapacityError> {
    within("the time", value, 0.0..=f64::INFINITY, "seconds, 0 or more")
}

pub(crate) fn servers(servers: u32) -> Result<f64, CapacityError> {
    within(
        "the number of servers",
        f64::from(servers),
        1.0..=f64::from(u32::MAX),
        "at least 1",
    )
}

/// The offered load a = λ S of servers that keep up with it.
pub(crate) fn stable(load: f64, servers: u32) -> Result<f64, CapacityError> {
    if load < f64::from(servers) {
        Ok(load)
    } else {
        Err(CapacityError::Saturated {
            load,
            servers,
            needed: load.floor() + 1.0,
        })
    }
}

/// The least whole number that is not below `value`, where a hair above a whole number is that number: 3 · 0.1 / 0.1
/// is 3.0000000000000004 in `f64`, and not four nodes.
pub(crate) fn whole(name: &'static str, value: f64) -> Result<u64, CapacityError> {
    let nearest = value.round();
    let up = if (value - nearest).abs() <= 1e-12 * nearest {
        nearest
    } else {
        value.ceil()
    };
    if up < COUNTABLE {
        Ok(up as u64)
    } else {
        Err(CapacityError::TooLarge {
            name,
            value,
            remedy: "check the units, rates per second and times in seconds",
        })
    }
}
