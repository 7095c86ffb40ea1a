//! Bounds of latency as multiples of the floor.

use crate::{CapacityError, check};

/// Bounds for the percentiles of a response, as multiples of what the service takes at next to no load.
///
/// | symbol | meaning |
/// | --- | --- |
/// | S | service floor in seconds |
/// | P50 ≤ 1.5 S | more than half of the requests start at once |
/// | P95 ≤ 3 S | bursts and variance; one exponential server stretches its service so at ρ = 0.67 |
/// | P99 ≤ max(4 S, t) | the knee, ρ = 0.75 |
/// | t = 2 ms | what schedulers and interrupts add to the tail of the fastest service |
///
/// Each is meant against a floor whose own tail is short. Where the P99 of the idle service is above 1.5 S already,
/// put the same quantile of the idle service in the place of S: an exponential one has P99 = 4.6 S at no load at all.
///
/// ```
/// use openloop_capacity::sizing::LatencyBounds;
///
/// // A cache that answers in 0.2 ms: 0.8 ms would be an alarm at every interrupt.
/// assert_eq!(LatencyBounds::new(0.0002)?.p99(), 0.002);
/// assert_eq!(LatencyBounds::new(0.030)?.p99(), 0.120);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyBounds {
    floor: f64,
}

impl LatencyBounds {
    /// What the tail is allowed at least, in seconds.
    pub const NOISE: f64 = 0.002;

    /// The bounds for a service that takes `floor` seconds at next to no load.
    ///
    /// # Errors
    /// When `floor` is not in the range of 10⁻³⁰ to 10³⁰.
    pub fn new(floor: f64) -> Result<Self, CapacityError> {
        Ok(LatencyBounds {
            floor: check::positive("the service floor", floor)?,
        })
    }

    /// 1.5 S, in seconds.
    #[must_use]
    pub fn p50(&self) -> f64 {
        1.5 * self.floor
    }

    /// 3 S, in seconds.
    #[must_use]
    pub fn p95(&self) -> f64 {
        3.0 * self.floor
    }

    /// max(4 S, 2 ms), in seconds.
    #[must_use]
    pub fn p99(&self) -> f64 {
        f64::max(4.0 * self.floor, Self::NOISE)
    }
}
