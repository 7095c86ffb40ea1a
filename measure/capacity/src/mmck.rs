//! M/M/c/K: servers behind a bounded queue.

use crate::truncated_geometric::TruncatedGeometric;
use crate::{CapacityError, Queue, Station, check, erlang, poisson, roots};

/// Up to how many servers and waiting places the quantiles of the response are summed.
const SUMMABLE: u32 = 1_000_000;

/// Servers behind a queue of bounded length: who finds it full is turned away.
///
/// Poisson arrivals, exponential services, first come first served; exists at any load, ρ ≥ 1 included.
///
/// | symbol | meaning |
/// | --- | --- |
/// | K | **waiting places alone**: c + K are in the system at most. (In Kendall's notation the last letter is c + K.) |
/// | r = a / c | offered load per server |
/// | B | Erlang B, the share that is lost where K = 0 |
/// | P(busy) = G / (1/B − 1 + G), G = 1 + r + … + rᴷ | all servers are busy |
/// | π = P(busy) rᴷ / G | the share that is turned away |
/// | L_q = P(busy) Σ j rʲ / G | mean number that wait |
/// | W_q = L_q / (λ (1 − π)) | mean wait of the accepted |
///
/// The model of a connection pool: c connections, K callers that may wait for one. The response of an accepted arrival
/// is a sum of steps at rate c/S: one for each departure that it waits for, and a geometric number of them for its own
/// service; so P(R > t) = Σ_i p(i; c t/S) P(steps > i) with the Poisson law p. D. Gross, C. M. Harris, *Fundamentals of
/// Queueing Theory* (1985), chapter 2.
///
/// ```
/// use openloop_capacity::{MMcK, Queue};
///
/// // 1000/s on a pool of 32 whose queries have become 50 ms long: 50 connections would be needed.
/// let pool = MMcK::new(1000.0, 0.050, 32, 32)?;
/// assert!((pool.offered_load() - 50.0).abs() < 1e-12);
/// assert!((pool.blocking_probability() - 0.36).abs() < 0.001);
/// assert!((pool.throughput() - 640.0).abs() < 0.1);
/// assert!((pool.mean_wait() - 0.047).abs() < 0.001);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MMcK {
    station: Station,
    waiting_places: u32,
    blocked: f64,
    accepted: f64,
    wait_probability: f64,
    mean_wait: f64,
}

impl MMcK {
    /// `arrival_rate` arrivals per second, with a mean service of `mean_service` seconds, at `servers` servers with
    /// `waiting_places` places beside them; with 0 places it is Erlang's loss system.
    ///
    /// # Errors
    /// When there are no servers, or a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰ (a
    /// rate may be 0).
    pub fn new(
        arrival_rate: f64,
        mean_service: f64,
        servers: u32,
        waiting_places: u32,
    ) -> Result<Self, CapacityError> {
        let station = Station::new(arrival_rate, mean_service, servers)?;
        let (c, a) = (f64::from(servers), station.offered_load());
        let waiting = TruncatedGeometric::new(a / c, waiting_places);
        let (full, not_full) = waiting.last_and_others();
        let odds = erlang::not_busy_ratio(c, a) / waiting.sum();
        let (busy, not_busy) = if odds.is_finite() {
            (1.0 / (1.0 + odds), odds / (1.0 + odds))
        } else {
            (0.0, 1.0)
        };
        let accepted = not_busy + busy * not_full;
        let mean_queue = busy * waiting.mean();
        let mean_wait = if mean_queue == 0.0 {
            0.0
        } else {
            mean_queue / (station.arrival_rate() * accepted)
        };
        Ok(MMcK {
            station,
            waiting_places,
            blocked: busy * full,
            accepted,
            wait_probability: busy * not_full / accepted,
            mean_wait,
        })
    }

    /// K, the number of waiting places.
    #[must_use]
    pub const fn waiting_places(&self) -> u32 {
        self.waiting_places
    }
}

impl Queue for MMcK {
    fn station(&self) -> &Station {
        &self.station
    }

    fn wait_probability(&self) -> f64 {
        self.wait_probability
    }

    fn blocking_probability(&self) -> f64 {
        self.blocked
    }

    fn throughput(&self) -> f64 {
        self.arrival_rate() * self.accepted
    }

    fn mean_wait(&self) -> f64 {
        self.mean_wait
    }

    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError> {
        let above = check::above(q)?;
        if self.servers() > SUMMABLE || self.waiting_places > SUMMABLE {
            return Err(CapacityError::NoClosedForm {
                model: "M/M/c/K of more than a million servers or waiting places",
                remedy: "take M/M/c, which it approaches where few are turned away",
            });
        }
        let least = -(-q).ln_1p();
        if least == 0.0 {
            return Ok(0.0);
        }
        let steps = Steps::of(self);
        let x = roots::falls_below_from(|x| steps.tail(x), above, least);
        Ok(self.mean_service() * x)
    }
}

/// The number of steps, at rate c in units of the service, that make up the response of an accepted arrival.
struct Steps {
    servers: f64,
    /// P(steps > i) for i = 0, …, K + 1; beyond, it falls by the factor 1 − 1/c a step.
    exceeded: Vec<f64>,
}

impl Steps {
    fn of(queue: &MMcK) -> Self {
        let c = f64::from(queue.servers());
        let places = queue.waiting_places as usize;
        // P(an arrival waits for i departures): none, or ∝ rʲ for the j before it and one more.
        let r = queue.offered_load() / c;
        let mut departures = vec![0.0; places + 2];
        let scale = f64::max(r, 1.0).ln();
        let mut sum = 0.0;
        for j in 0..places {
            let weight = (j as f64 * r.ln() - places as f64 * scale).exp();
            let weight = if j == 0 && r == 0.0 { 1.0 } else { weight };
            departures[j + 1] = weight;
            sum += weight;
        }
        if sum > 0.0 {
            for share in &mut departures {
                *share *= queue.wait_probability / sum;
            }
        }
        departures[0] = 1.0 - queue.wait_probability;

        let mut exceeded = departures.clone();
        for i in (0..=places).rev() {
            exceeded[i] += exceeded[i + 1];
        }
        let mut in_service = 0.0;
        for (exceeded, share) in exceeded.iter_mut().zip(departures) {
            *exceeded += in_service;
            in_service = (1.0 - 1.0 / c) * (in_service + share);
        }
        Steps {
            servers: c,
            exceeded,
        }
    }

    fn exceeded(&self, i: f64) -> f64 {
        let last = self.exceeded.len() - 1;
        if i <= last as f64 {
            return self.exceeded[i as usize];
        }
        if self.servers == 1.0 {
            return 0.0;
        }
        self.exceeded[last] * ((i - last as f64) * (-1.0 / self.servers).ln_1p()).exp()
    }

    /// P(R > x S), right to 10⁻²⁰ absolute.
    fn tail(&self, x: f64) -> f64 {
        let mean = self.servers * x;
        let margin = 12.0 * mean.sqrt() + 40.0;
        let mut i = (mean - margin).floor().max(0.0);
        let mut weight = poisson::probability(i, mean);
        let mut sum = 0.0;
        while i <= mean + margin {
            sum += weight * self.exceeded(i);
            i += 1.0;
            weight *= mean / i;
        }
        sum
    }
}
