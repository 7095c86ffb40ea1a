//! M/M/c: servers that share one queue.

use crate::{CapacityError, Queue, Station, check, erlang, roots};

/// Servers that share one queue, with Poisson arrivals and exponential services, first come first served.
///
/// | symbol | meaning |
/// | --- | --- |
/// | C | Erlang C, the probability of waiting ([`erlang::c`]) |
/// | W_q = C S / (c − a) | mean wait |
/// | P(W_q > t) = C e^(−(c − a) t/S) | the wait |
/// | P(R > t) = e⁻ˣ + C e⁻ˣ (1 − e^(−δx)) / δ | the response, with x = t/S and δ = c − 1 − a (C x e⁻ˣ where δ = 0) |
///
/// The model of a pool of workers behind one queue: pooling shortens waits far more than the same number of workers
/// with a queue each. D. Gross, C. M. Harris, *Fundamentals of Queueing Theory* (1985), chapter 2. Quantiles of the
/// response are those of the formula above, inverted to the last digits.
///
/// ```
/// use openloop_capacity::{MM1, MMc, Queue};
///
/// // 32 workers at 90 %: together they make a request wait for 7 ms, each for itself for 450 ms.
/// let pooled = MMc::new(576.0, 0.050, 32)?;
/// let isolated = MM1::new(576.0 / 32.0, 0.050)?;
/// assert!(pooled.mean_wait() < 0.0072);
/// assert!((isolated.mean_wait() - 0.450).abs() < 1e-9);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MMc {
    station: Station,
    wait_probability: f64,
}

impl MMc {
    /// `arrival_rate` arrivals per second, with a mean service of `mean_service` seconds, at `servers` servers.
    ///
    /// # Errors
    /// When there are no servers, when a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰
    /// (a rate may be 0), or when the servers cannot keep up (ρ ≥ 1).
    pub fn new(arrival_rate: f64, mean_service: f64, servers: u32) -> Result<Self, CapacityError> {
        let station = Station::stable(arrival_rate, mean_service, servers)?;
        let load = station.offered_load();
        Ok(MMc {
            station,
            wait_probability: erlang::wait_probability(f64::from(servers), load),
        })
    }

    /// c − a, the servers that are idle in the mean.
    fn idle(&self) -> f64 {
        f64::from(self.servers()) - self.offered_load()
    }

    /// P(R > x S).
    fn tail_in_services(&self, x: f64) -> f64 {
        let alone = (-x).exp();
        let delta = self.idle() - 1.0;
        // Both exponents are negative in either form, so nothing overflows.
        let waited = if delta > 0.0 {
            alone * -(-delta * x).exp_m1() / delta
        } else if delta < 0.0 {
            (-self.idle() * x).exp() * (delta * x).exp_m1() / delta
        } else {
            x * alone
        };
        alone + self.wait_probability * waited
    }

    /// P(W_q > t), the share of arrivals that wait longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn wait_tail(&self, t: f64) -> Result<f64, CapacityError> {
        let x = check::time(t)? / self.mean_service();
        Ok(self.wait_probability * (-self.idle() * x).exp())
    }

    /// P(R > t), the share of arrivals whose response takes longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn response_tail(&self, t: f64) -> Result<f64, CapacityError> {
        let x = check::time(t)? / self.mean_service();
        Ok(if x.is_finite() {
            self.tail_in_services(x)
        } else {
            0.0
        })
    }

    /// The wait that a share `q` of the arrivals does not exceed; 0 up to q = 1 − C.
    ///
    /// # Errors
    /// When `q` is not from 0 to below 1.
    pub fn wait_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        let above = check::above(q)?;
        if self.wait_probability <= above {
            return Ok(0.0);
        }
        Ok(self.mean_service() * (self.wait_probability / above).ln() / self.idle())
    }
}

impl Queue for MMc {
    fn station(&self) -> &Station {
        &self.station
    }

    fn wait_probability(&self) -> f64 {
        self.wait_probability
    }

    fn mean_wait(&self) -> f64 {
        self.wait_probability * self.mean_service() / self.idle()
    }

    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        let above = check::above(q)?;
        // The service alone takes at least this.
        let least = -(-q).ln_1p();
        if least == 0.0 {
            return Ok(0.0);
        }
        let x = roots::falls_below_from(|x| self.tail_in_services(x), above, least);
        Ok(self.mean_service() * x)
    }
}
