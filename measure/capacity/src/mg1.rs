//! M/G/1: one server, services of any law.

use crate::{CapacityError, Queue, Station, check, utilisation};

/// One server with Poisson arrivals and services of any law, first come first served.
///
/// | symbol | meaning |
/// | --- | --- |
/// | C_v = √Var / S | coefficient of variation of the services: 0 constant, 1 exponential |
/// | W_q = S ρ/(1 − ρ) · (1 + C_v²)/2 | mean wait (Pollaczek–Khinchine) |
/// | (1 + C_v²)/2 | what the variance of the services does to every wait |
///
/// The model of head-of-line blocking: one long request makes all behind it wait, so the wait grows with the square of
/// C_v. F. Pollaczek (1930), A. Khinchine (1932). The means need no more of the law than C_v; quantiles do. For
/// constant services there is [`MD1`](crate::MD1).
///
/// ```
/// use openloop_capacity::{MG1, Queue};
///
/// // 90 % of requests take 1 ms and 10 % take 20 ms: S = 2.9 ms, E[S²] = 40.9 ms².
/// let queue = MG1::from_second_moment(200.0, 0.0029, 40.9e-6)?;
/// assert!((queue.service_cv() - 1.966).abs() < 0.001);
/// // A request of 1 ms waits 9.7 ms in the mean, at 58 % load.
/// assert!((queue.mean_wait() - 0.00974).abs() < 0.00001);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MG1 {
    station: Station,
    cv: f64,
}

impl MG1 {
    /// `arrival_rate` arrivals per second, with services of `mean_service` seconds in the mean and the coefficient of
    /// variation `service_cv`.
    ///
    /// # Errors
    /// When a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰ (rate and C_v may be 0), or
    /// when the server cannot keep up (ρ ≥ 1).
    pub fn new(
        arrival_rate: f64,
        mean_service: f64,
        service_cv: f64,
    ) -> Result<Self, CapacityError> {
        let cv = check::not_negative("the coefficient of variation of the services", service_cv)?;
        Ok(MG1 {
            station: Station::stable(arrival_rate, mean_service, 1)?,
            cv,
        })
    }

    /// The same, from the second moment E\[S²\] in square seconds.
    ///
    /// # Errors
    /// As [`MG1::new`], and when the second moment is below the square of the mean, which no law has.
    pub fn from_second_moment(
        arrival_rate: f64,
        mean_service: f64,
        second_moment: f64,
    ) -> Result<Self, CapacityError> {
        let service = check::positive("the mean service", mean_service)?;
        let square = service * service;
        let variance = second_moment - square;
        // What constant services miss by rounding alone.
        let rounding = 4.0 * f64::EPSILON * square;
        if variance.is_nan() {
            check::positive("the second moment of the services", second_moment)?;
        }
        if variance < -rounding {
            return Err(CapacityError::Contradiction {
                larger: "the second moment of the services",
                larger_value: second_moment,
                smaller: "the square of their mean",
                smaller_value: square,
                remedy: "give both in the same unit, seconds and square seconds",
            });
        }
        let cv = if variance <= rounding {
            0.0
        } else {
            variance.sqrt() / service
        };
        MG1::new(arrival_rate, service, cv)
    }

    /// C_v of the services.
    #[must_use]
    pub const fn service_cv(&self) -> f64 {
        self.cv
    }
}

impl Queue for MG1 {
    fn station(&self) -> &Station {
        &self.station
    }

    fn wait_probability(&self) -> f64 {
        self.offered_load()
    }

    fn mean_wait(&self) -> f64 {
        let factor = utilisation::variance_factor(self.cv);
        let load = self.offered_load();
        self.mean_service() * factor * load / (1.0 - load)
    }

    /// # Errors
    /// Always: two laws with one C_v have different quantiles.
    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        check::above(q)?;
        Err(CapacityError::NoClosedForm {
            model: "M/G/1",
            remedy: "they need more of the services than their C_v; take MM1 for exponential or MD1 for constant ones, \
                     or measure",
        })
    }
}
