//! Little's law, L = λ W, in its three forms.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | L | mean number inside |
//! | λ | arrivals per second that go in |
//! | W | mean stay of each, in seconds |
//!
//! Holds for anything that things enter and leave again, in the long run: no law of arrivals or services, no order of
//! service and no number of servers is assumed. J. D. C. Little, *A Proof for the Queuing Formula L = λW* (1961). It is
//! about means: it does not say what is exceeded now and then, for which see
//! [`Concurrency`](crate::Concurrency).
//!
//! ```
//! use openloop_capacity::little;
//!
//! // Queries that have slowed down from 5 ms to 50 ms need ten times the connections.
//! assert_eq!(little::number(1000.0, 0.005)?, 5.0);
//! assert_eq!(little::number(1000.0, 0.050)?, 50.0);
//! # Ok::<(), openloop_capacity::CapacityError>(())
//! ```

use crate::{CapacityError, check};

/// L = λ W, the mean number inside.
///
/// # Errors
/// When a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰; either may be 0.
pub fn number(arrival_rate: f64, mean_stay: f64) -> Result<f64, CapacityError> {
    Ok(check::not_negative("the arrival rate", arrival_rate)?
        * check::not_negative("the mean stay", mean_stay)?)
}

/// λ = L / W, the rate that keeps a mean of `mean_number` inside: the highest throughput of a pool of that size.
///
/// # Errors
/// As [`number`], and when the stay is 0.
pub fn rate(mean_number: f64, mean_stay: f64) -> Result<f64, CapacityError> {
    Ok(check::not_negative("the mean number inside", mean_number)?
        / check::positive("the mean stay", mean_stay)?)
}

/// W = L / λ, the mean stay: what a gauge of requests in flight says about their latency.
///
/// # Errors
/// As [`number`], and when the rate is 0.
pub fn stay(mean_number: f64, arrival_rate: f64) -> Result<f64, CapacityError> {
    Ok(check::not_negative("the mean number inside", mean_number)?
        / check::positive("the arrival rate", arrival_rate)?)
}
