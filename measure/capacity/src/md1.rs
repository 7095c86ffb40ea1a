//! M/D/1: one server, constant services.

use crate::{CapacityError, Queue, Station, check, poisson, roots};

/// Up to how many services of waiting the exact sum is taken; beyond, one exponential is left of the law.
const EXACT: usize = 32;

/// One server with Poisson arrivals and services that all take the same time, first come first served.
///
/// | symbol | meaning |
/// | --- | --- |
/// | W_q = S ρ / (2 (1 − ρ)) | mean wait, half of that with exponential services |
/// | P(W_q ≤ t) = Σ_{j<k} Q_{k−1−j} p(j; λ (kS − t)) | for t in \[(k−1) S, k S): p the Poisson law, Q_m = P(at most m wait) |
/// | P(W_q > t) → A e^(−θ t/S) | for large t, with e^θ − 1 = θ/ρ and A = (1 − ρ)/(θ − (1 − ρ)) |
///
/// The law of the wait in the form of G. J. Franx, *A simple solution for the M/D/c waiting time distribution* (2001):
/// all its terms are positive, while those of Erlang's form alternate and cancel. The queue lengths by V. Ramaswami's
/// recursion (1988), without subtractions either. Beyond 32 services the limiting form has taken over, to 10⁻¹¹ of it
/// for ρ ≥ 0.1, and for lower loads nothing is left there. Quantiles are right to 10⁻⁹ up to q = 1 − 10⁻⁶.
///
/// ```
/// use openloop_capacity::{MD1, Queue};
///
/// // A constant 2 ms: the P99 is 4 S at 46 % load already, though W is 1.4 S.
/// let queue = MD1::new(231.4, 0.002)?;
/// assert!((queue.response_quantile(0.99)? / 0.002 - 4.0).abs() < 0.02);
/// assert!((queue.mean_response() / 0.002 - 1.4).abs() < 0.05);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MD1 {
    station: Station,
    /// Q_m for m = 0, …, EXACT − 1.
    waiting_at_most: [f64; EXACT],
    /// θ.
    decay: f64,
    /// A.
    amplitude: f64,
}

impl MD1 {
    /// `arrival_rate` arrivals per second, with services of exactly `service` seconds.
    ///
    /// # Errors
    /// When a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰ (a rate may be 0), or when
    /// the server cannot keep up (ρ ≥ 1).
    pub fn new(arrival_rate: f64, service: f64) -> Result<Self, CapacityError> {
        let station = Station::stable(arrival_rate, service, 1)?;
        let load = station.offered_load();
        let decay = decay(load);
        Ok(MD1 {
            station,
            waiting_at_most: waiting_at_most(load),
            decay,
            amplitude: (1.0 - load) / (decay - (1.0 - load)),
        })
    }

    /// P(W_q > x S).
    fn tail_in_services(&self, x: f64) -> f64 {
        if x >= EXACT as f64 {
            return self.amplitude * (-self.decay * x).exp();
        }
        let whole = x.floor();
        let mean = self.offered_load() * (whole + 1.0 - x);
        let lengths = self.waiting_at_most[..=whole as usize].iter().rev();
        let mut weight = (-mean).exp();
        let mut sum = 0.0;
        for (length, j) in lengths.zip(1_u32..) {
            sum += length * weight;
            weight *= mean / f64::from(j);
        }
        (1.0 - sum).max(0.0)
    }

    /// P(W_q > t), the share of arrivals that wait longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn wait_tail(&self, t: f64) -> Result<f64, CapacityError> {
        let x = check::time(t)? / self.mean_service();
        if self.offered_load() == 0.0 {
            return Ok(0.0);
        }
        Ok(self.tail_in_services(x))
    }

    /// P(R > t), the share of arrivals whose response takes longer than `t` seconds.
    ///
    /// # Errors
    /// When `t` is negative or NaN.
    pub fn response_tail(&self, t: f64) -> Result<f64, CapacityError> {
        if check::time(t)? < self.mean_service() {
            return Ok(1.0);
        }
        self.wait_tail(t - self.mean_service())
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
        let limit = EXACT as f64;
        let x = if self.tail_in_services(limit) > above {
            (self.amplitude / above).ln() / self.decay
        } else {
            roots::falls_below(|x| self.tail_in_services(x), above, 0.0, limit)
        };
        Ok(self.mean_service() * x)
    }
}

/// Q_m, the probability that at most m wait: p₀ + … + p_{m+1} of the number in the system.
fn waiting_at_most(load: f64) -> [f64; EXACT] {
    // Crossings of the line between fewer than n and n or more in the system, by departures downwards and, over one
    // service, by arrivals upwards: p_n e^(−ρ) = p₀ P(N ≥ n) + Σ_{0<j<n} p_j P(N > n − j), N of the Poisson law.
    let mut in_system = [0.0; EXACT + 1];
    let mut above = [0.0; EXACT + 1];
    for (above, n) in above.iter_mut().zip(0_u32..) {
        *above = poisson::above(f64::from(n), load);
    }
    in_system[0] = 1.0 - load;
    for n in 1..=EXACT {
        let from_below: f64 = (1..n).map(|j| in_system[j] * above[n - j]).sum();
        in_system[n] = load.exp() * (in_system[0] * above[n - 1] + from_below);
    }
    let mut sum = in_system[0];
    let mut at_most = [0.0; EXACT];
    for (at_most, of_one) in at_most.iter_mut().zip(&in_system[1..]) {
        sum += of_one;
        *at_most = sum;
    }
    at_most
}

/// θ > 0 with e^θ − 1 = θ/ρ; infinite for ρ = 0.
fn decay(load: f64) -> f64 {
    if load == 0.0 {
        return f64::INFINITY;
    }
    // (e^θ − 1 − θ)/θ = (1 − ρ)/ρ, which keeps its digits as ρ goes to 1; the left side is at least θ/2.
    let target = (1.0 - load) / load;
    let short_of = |theta: f64| target - excess(theta);
    roots::falls_below(short_of, 0.0, 0.0, f64::min(2.0 * target, 800.0))
}

/// (e^x − 1 − x)/x.
fn excess(x: f64) -> f64 {
    if x > 0.5 {
        return (x.exp_m1() - x) / x;
    }
    let (mut sum, mut term) = (0.0, 1.0);
    for n in 2..22 {
        term *= x / f64::from(n);
        sum += term;
    }
    sum
}

impl Queue for MD1 {
    fn station(&self) -> &Station {
        &self.station
    }

    fn wait_probability(&self) -> f64 {
        self.offered_load()
    }

    fn mean_wait(&self) -> f64 {
        self.mean_service() * self.offered_load() / (2.0 * (1.0 - self.offered_load()))
    }

    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        Ok(self.mean_service() + self.wait_quantile(q)?)
    }
}
