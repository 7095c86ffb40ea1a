//! How busy a server is, told by how much longer than its service the response takes.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | S | mean response at next to no load |
//! | W | mean response under load |
//! | W/S = 1 / (1 − ρ) | the stretch of M/M/1, and of M/G/1 that shares its processor |
//!
//! **One server is assumed.** A pool looks idle through this glass: at ρ = 0.90 it says 0.66 of 4 servers, 0.47 of 8
//! and 0.13 of 32, and 0.82 of one server with constant services. For a pool compare the rate with its highest.

use crate::{CapacityError, check};

/// ρ = 1 − S/W, the utilisation of one exponential server that stretches its service of `mean_service` seconds to a
/// response of `mean_response` seconds.
///
/// ```
/// use openloop_capacity::utilisation;
///
/// // A limit of 50 ms on a service of 2 ms lets 96 % load pass.
/// assert_eq!(utilisation::from_response(0.050, 0.002)?, 0.96);
/// // On a service of 30 ms the same limit is broken from 40 % on.
/// assert!((utilisation::from_response(0.050, 0.030)? - 0.4).abs() < 1e-12);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When a time is not in the range of 10⁻³⁰ to 10³⁰, or the response is shorter than the service.
pub fn from_response(mean_response: f64, mean_service: f64) -> Result<f64, CapacityError> {
    let w = check::positive("the mean response", mean_response)?;
    let s = check::positive("the mean service", mean_service)?;
    if w < s {
        return Err(CapacityError::Contradiction {
            larger: "the mean response",
            larger_value: w,
            smaller: "the mean service",
            smaller_value: s,
            remedy: "measure the service again at next to no load, or take the limit for what it is, impossible",
        });
    }
    Ok((w - s) / w)
}

/// W/S = 1 / (1 − ρ), by how much one exponential server at `utilisation` stretches its service.
///
/// ```
/// use openloop_capacity::utilisation;
///
/// assert_eq!(utilisation::stretch(0.75)?, 4.0);
/// assert!((utilisation::stretch(0.96)? - 25.0).abs() < 1e-12);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When `utilisation` is not from 0 to below 1.
pub fn stretch(utilisation: f64) -> Result<f64, CapacityError> {
    if (0.0..1.0).contains(&utilisation) {
        Ok(1.0 / (1.0 - utilisation))
    } else {
        Err(CapacityError::OutOfRange {
            name: "the utilisation",
            value: utilisation,
            expected: "a share from 0 to below 1; at 1 the queue grows for ever",
        })
    }
}

/// (1 + C_v²)/2, what the variance of services multiplies every wait by, beside exponential ones (Pollaczek–Khinchine).
///
/// ```
/// use openloop_capacity::utilisation;
///
/// // Constant requests halve the waits that a benchmark reports; C_v = 2 makes them two and a half times as long.
/// assert_eq!(utilisation::pollaczek_khinchine_factor(0.0)?, 0.5);
/// assert_eq!(utilisation::pollaczek_khinchine_factor(2.0)?, 2.5);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When `service_cv` is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰; it may be 0.
pub fn pollaczek_khinchine_factor(service_cv: f64) -> Result<f64, CapacityError> {
    check::not_negative("the coefficient of variation of the services", service_cv)
        .map(variance_factor)
}

pub(crate) fn variance_factor(cv: f64) -> f64 {
    (1.0 + cv * cv) / 2.0
}
