//! G/G/c: arrivals and services of any law, approximately.

use crate::{CapacityError, MMc, Queue, Station, check};

/// Servers that share one queue, with arrivals and services of any law: **an approximation**.
///
/// | symbol | meaning |
/// | --- | --- |
/// | C_a | coefficient of variation of the gaps between arrivals: 1 for Poisson, 0 for clockwork |
/// | C_v | that of the services |
/// | W_q ≈ W_q(M/M/c) · (C_a² + C_v²)/2 | mean wait (Allen–Cunneen) |
///
/// Exact for M/M/c and M/G/1. A. O. Allen, *Probability, Statistics, and Queueing Theory* (1990). Arrivals and services
/// must be independent. It is meant for heavy traffic and for C_a and C_v of about 1. For constant services at several
/// servers it is too low, after G. P. Cosmetatos (1976) by 10 % for 8 servers at ρ = 0.7 and by 22 % for 32, and at
/// ρ = 0.9 by 3 % and 7 %. The probability of waiting is that of M/M/c, which is as approximate.
///
/// ```
/// use openloop_capacity::{GGc, MMc, Queue};
///
/// // Constant services halve the wait of a pool.
/// let varied = MMc::new(90.0, 0.1, 10)?;
/// let constant = GGc::new(90.0, 0.1, 10, 1.0, 0.0)?;
/// assert_eq!(constant.mean_wait(), 0.5 * varied.mean_wait());
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GGc {
    exponential: MMc,
    arrival_cv: f64,
    service_cv: f64,
}

impl GGc {
    /// `arrival_rate` arrivals per second whose gaps have the coefficient of variation `arrival_cv`, with services of
    /// `mean_service` seconds in the mean and of `service_cv`, at `servers` servers.
    ///
    /// # Errors
    /// As [`MMc::new`], and when a coefficient of variation is NaN, infinite, negative or not in the range of 10⁻³⁰ to
    /// 10³⁰; it may be 0.
    pub fn new(
        arrival_rate: f64,
        mean_service: f64,
        servers: u32,
        arrival_cv: f64,
        service_cv: f64,
    ) -> Result<Self, CapacityError> {
        Ok(GGc {
            exponential: MMc::new(arrival_rate, mean_service, servers)?,
            arrival_cv: check::not_negative(
                "the coefficient of variation of the gaps",
                arrival_cv,
            )?,
            service_cv: check::not_negative(
                "the coefficient of variation of the services",
                service_cv,
            )?,
        })
    }

    /// C_a of the gaps between arrivals.
    #[must_use]
    pub const fn arrival_cv(&self) -> f64 {
        self.arrival_cv
    }

    /// C_v of the services.
    #[must_use]
    pub const fn service_cv(&self) -> f64 {
        self.service_cv
    }
}

impl Queue for GGc {
    fn station(&self) -> &Station {
        self.exponential.station()
    }

    fn wait_probability(&self) -> f64 {
        self.exponential.wait_probability()
    }

    fn mean_wait(&self) -> f64 {
        let squares = self.arrival_cv * self.arrival_cv + self.service_cv * self.service_cv;
        self.exponential.mean_wait() * (squares / 2.0)
    }

    /// # Errors
    /// Always: two laws with one C_v have different quantiles.
    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        check::above(q)?;
        Err(CapacityError::NoClosedForm {
            model: "G/G/c",
            remedy: "the approximation is one of means; take MMc for exponential services, or measure",
        })
    }
}
