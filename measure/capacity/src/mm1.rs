//! M/M/1: one server, exponential services.

use crate::{CapacityError, Queue, Station, check};

/// One server with Poisson arrivals and exponential services, first come first served.
///
/// | symbol | meaning |
/// | --- | --- |
/// | W = S / (1 − ρ) | mean response |
/// | P(R > t) = e^(−t/W) | the response is exponential, |
/// | R_q = −W ln(1 − q) | and so are its quantiles: P99 = 4.6 W, at any load |
/// | P(W_q > t) = ρ e^(−t/W) | the wait |
///
/// The model of a single-threaded event loop whose requests differ as much as an exponential law (C_v = 1); for other
/// C_v see [`MG1`](crate::MG1). D. Gross, C. M. Harris, *Fundamentals of Queueing Theory* (1985), chapter 2.
///
/// ```
/// use openloop_capacity::{MM1, Queue};
///
/// // A service of 1 ms at 750/s.
/// let queue = MM1::new(750.0, 0.001)?;
/// assert_eq!(queue.utilisation(), 0.75);
/// assert_eq!(queue.mean_response(), 0.004);
/// assert!((queue.response_quantile(0.99)? - 0.0184).abs() < 1e-4);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MM1 {
    station: Station,
}

impl MM1 {
    /// `arrival_rate` arrivals per second, with a mean service of `mean_service` seconds.
    ///
    /// # Errors
    /// When a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰ (a rate may be 0), or when
    /// the server cannot keep up (ρ ≥ 1).
    pub fn new(arrival_rate: f64, mean_service: f64) -> Result<Self, CapacityError> {
        Ok(MM1 {
            station: Station::stable(arrival_rate, mean_service, 1)?,
        })
    }

    /// P(W_q > t), the share of arrivals that wait longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn wait_tail(&self, t: f64) -> Result<f64, CapacityError> {
        Ok(self.offered_load() * self.response_tail(t)?)
    }

    /// P(R > t), the share of arrivals whose response takes longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn response_tail(&self, t: f64) -> Result<f64, CapacityError> {
        Ok((-check::time(t)? / self.mean_response()).exp())
    }

    /// The wait that a share `q` of the arrivals does not exceed; 0 up to q = 1 − ρ.
    ///
    /// # Errors
    /// When `q` is not from 0 to below 1.
    pub fn wait_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        let above = check::above(q)?;
        if self.offered_load() <= above {
            return Ok(0.0);
        }
        Ok(self.mean_response() * (self.offered_load() / above).ln())
    }
}

impl Queue for MM1 {
    fn station(&self) -> &Station {
        &self.station
    }

    fn wait_probability(&self) -> f64 {
        self.offered_load()
    }

    fn mean_wait(&self) -> f64 {
        self.offered_load() * self.mean_response()
    }

    fn mean_response(&self) -> f64 {
        self.mean_service() / (1.0 - self.offered_load())
    }

    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        check::above(q)?;
        Ok(self.mean_response() * -(-q).ln_1p())
    }
}
