//! Operational time: expected arrivals since the start, exact.

use std::fmt;
use std::time::Duration;

use crate::Rate;

/// Operational time: the number of arrivals expected since the start of the run, as an exact integer.
///
/// The unit is half of rate unit × time unit, 0.5 nHz·ns = 0.5·10⁻¹⁸ arrivals: the half makes the area
/// of a ramp, (from + to)·length/2, a whole number. One arrival is 2·10¹⁸ units, and a `u128` of them
/// holds 1.7·10²⁰ arrivals.
///
/// A [`Process`](crate::Process) puts its points on this axis, at one per arrival on average; a
/// [`Profile`](crate::Profile) maps the axis to instants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpTime(u128);

/// Units of one arrival.
const ARRIVAL: u128 = 2_000_000_000_000_000_000;

impl OpTime {
    /// The start of the run.
    pub const ZERO: OpTime = OpTime(0);
    /// One expected arrival.
    pub const ONE: OpTime = OpTime(ARRIVAL);
    /// The last point: later than the end of every profile.
    pub const MAX: OpTime = OpTime(u128::MAX);

    /// Exactly `n` arrivals: 2·10¹⁸·n units, which fits for every `n`.
    #[must_use]
    pub const fn from_arrivals(n: u64) -> Self {
        OpTime(n as u128 * ARRIVAL)
    }

    /// `gap` arrivals later, or [`OpTime::MAX`]. The gap is cut to whole units (10⁻¹⁸ relative to the mean
    /// gap), and a gap that is negative or not a number counts as none.
    #[inline]
    #[must_use]
    pub fn after(self, gap: f64) -> Self {
        let units = gap * ARRIVAL as f64;
        // `as` saturates. The 64-bit conversion is several times faster and holds all gaps below 9.2.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let units = if units < 1.8e19 {
            u128::from(units as u64)
        } else {
            units as u128
        };
        OpTime(self.0.saturating_add(units))
    }

    /// Arrivals, as a float: for display and statistics.
    #[must_use]
    pub fn as_arrivals(self) -> f64 {
        // In two parts, so that a whole number of arrivals comes out whole.
        (self.0 / ARRIVAL) as f64 + (self.0 % ARRIVAL) as f64 / ARRIVAL as f64
    }

    /// Units of half a nano-hertz nanosecond.
    #[must_use]
    pub const fn as_units(self) -> u128 {
        self.0
    }

    /// The point `units` half nano-hertz nanoseconds after the start.
    #[must_use]
    pub const fn from_units(units: u128) -> Self {
        OpTime(units)
    }

    /// What `rate` held for `time` amounts to, or [`OpTime::MAX`].
    #[must_use]
    pub fn of(rate: Rate, time: Duration) -> Self {
        OpTime(
            time.as_nanos()
                .saturating_mul(2 * u128::from(rate.as_nanohertz())),
        )
    }
}

impl fmt::Display for OpTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} arrivals", self.as_arrivals())
    }
}
