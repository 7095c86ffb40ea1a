//! The size of a pool.

use crate::{CapacityError, check};

/// ⌈λ W_P99⌉, the size of a pool of connections, workers or permits at a peak.
///
/// | symbol | meaning |
/// | --- | --- |
/// | λ | arrivals per second at the peak |
/// | W_P99 | 99th percentile of the **service** in seconds: from check-out to return, without the wait for the pool |
///
/// By Little's law λ times the *mean* service is what is in use in the mean; taking the P99 in its place leaves room
/// for bursts and slow spells. That is a rule of thumb and no probability: [`MMcK`](crate::MMcK) tells who waits and
/// who is turned away at the size found. A percentile that includes the wait for the pool would size the pool by its
/// own queue.
///
/// ```
/// use openloop_capacity::sizing::pool_size;
///
/// assert_eq!(pool_size(2000.0, 0.040)?, 80);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When a parameter is not in the range of 10⁻³⁰ to 10³⁰, or the size reaches 2⁵³.
pub fn pool_size(peak: f64, service_p99: f64) -> Result<u64, CapacityError> {
    let peak = check::positive("the peak rate", peak)?;
    let service = check::positive("the P99 of the service", service_p99)?;
    check::whole("the size of the pool", peak * service)
}
