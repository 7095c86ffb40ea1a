//! Erlang's two formulas.

use crate::{CapacityError, check, poisson};

/// Erlang B: the probability that all of `servers` are busy where nothing waits, the share of arrivals that is lost.
///
/// | symbol | meaning |
/// | --- | --- |
/// | B(c, a) = (aᶜ/c!) / Σ_{n=0}^{c} aⁿ/n! | the share that is lost |
/// | c | servers |
/// | a = λ S | offered load, in servers (erlang) |
///
/// Poisson arrivals; services of any law. A. K. Erlang (1917). Computed from the tail of the Poisson law in about √c
/// steps, to 10⁻¹² relative for c up to 10 000 and beyond; a probability smaller than `f64` can tell is 0.
///
/// ```
/// use openloop_capacity::erlang;
///
/// // 1000/s of 50 ms each on 32 connections without a queue.
/// let lost = erlang::b(32, 50.0)?;
/// assert!((lost - 0.38).abs() < 0.01);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When there are no servers, or `load` is negative, NaN, infinite, or not in the range of 10⁻³⁰ to 10³⁰.
pub fn b(servers: u32, load: f64) -> Result<f64, CapacityError> {
    let c = check::servers(servers)?;
    let a = check::not_negative("the offered load", load)?;
    Ok(1.0 / (1.0 + not_busy_ratio(c, a)))
}

/// Erlang C: the probability that an arrival waits for one of `servers` that share a queue without a bound.
///
/// | symbol | meaning |
/// | --- | --- |
/// | C(c, a) = B(c, a) / (1 − ρ (1 − B(c, a))) | the probability of waiting |
/// | ρ = a / c | utilisation |
///
/// Poisson arrivals, exponential services, first come first served. A. K. Erlang (1917).
///
/// ```
/// use openloop_capacity::erlang;
///
/// // At 75 %, one server makes three arrivals in four wait, and 32 that share a queue one in twelve.
/// assert_eq!(erlang::c(1, 0.75)?, 0.75);
/// assert!(erlang::c(32, 24.0)? < 0.083);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// As [`b`], and when `load` is not below `servers`.
pub fn c(servers: u32, load: f64) -> Result<f64, CapacityError> {
    let c = check::servers(servers)?;
    let a = check::stable(check::not_negative("the offered load", load)?, servers)?;
    Ok(wait_probability(c, a))
}

/// (1 − B) / B: what it weighs that not all servers are busy, beside that all are and nobody waits.
pub(crate) fn not_busy_ratio(c: f64, a: f64) -> f64 {
    if a == 0.0 {
        f64::INFINITY
    } else {
        poisson::below_to_equal(c, a)
    }
}

/// Erlang C, for a < c.
pub(crate) fn wait_probability(c: f64, a: f64) -> f64 {
    1.0 / (1.0 + not_busy_ratio(c, a) * ((c - a) / c))
}
