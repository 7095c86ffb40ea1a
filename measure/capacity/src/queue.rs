//! What every queueing model answers.

use crate::{CapacityError, Station};

/// A service with a queue, in its steady state: what every model of this crate answers.
///
/// Times are in seconds and rates per second; in another unit, if all are in that one.
///
/// | symbol | meaning |
/// | --- | --- |
/// | λ | arrivals per second |
/// | S | mean time that a server spends on one, the floor of the response |
/// | c | servers that share the queue |
/// | a = λ S | the offered load: servers that the work would keep busy |
/// | ρ = a / c | utilisation, where nothing is turned away |
/// | W_q, W = W_q + S | mean wait and mean response |
/// | L_q, L | mean number that wait, and that wait or are served |
///
/// Where a bounded queue turns arrivals away, waits and responses are those of the accepted.
///
/// ```
/// use openloop_capacity::{MG1, MM1, Queue};
///
/// let models: [&dyn Queue; 2] = [&MM1::new(75.0, 0.010)?, &MG1::new(75.0, 0.010, 0.0)?];
/// let waits = models.map(|model| model.mean_wait());
/// assert!((waits[0] - 0.030).abs() < 1e-12);
/// assert!((waits[1] - 0.015).abs() < 1e-12);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
pub trait Queue: std::fmt::Debug {
    /// What arrives at how many servers.
    fn station(&self) -> &Station;

    /// The probability that an accepted arrival has to wait.
    fn wait_probability(&self) -> f64;

    /// W_q, the mean wait of an accepted arrival in seconds; those that do not wait count as 0.
    fn mean_wait(&self) -> f64;

    /// The response in seconds that a share `q` of the accepted arrivals does not exceed.
    ///
    /// # Errors
    /// When `q` is not from 0 to below 1, or when the model has no formula for it.
    fn response_quantile(&self, q: f64) -> Result<f64, CapacityError>;

    /// λ, arrivals per second, those that are turned away included.
    fn arrival_rate(&self) -> f64 {
        self.station().arrival_rate()
    }

    /// S, the mean service in seconds.
    fn mean_service(&self) -> f64 {
        self.station().mean_service()
    }

    /// c, the number of servers.
    fn servers(&self) -> u32 {
        self.station().servers()
    }

    /// The probability that an arrival is turned away; 0 where the queue has no bound.
    fn blocking_probability(&self) -> f64 {
        0.0
    }

    /// Served per second: λ (1 − blocking probability).
    fn throughput(&self) -> f64 {
        self.arrival_rate()
    }

    /// a = λ S, the servers that all arrivals would keep busy.
    fn offered_load(&self) -> f64 {
        self.station().offered_load()
    }

    /// ρ, the share of the servers that is busy: throughput · S / c.
    fn utilisation(&self) -> f64 {
        self.throughput() * self.mean_service() / f64::from(self.servers())
    }

    /// W = W_q + S, the mean response of an accepted arrival in seconds.
    fn mean_response(&self) -> f64 {
        self.mean_wait() + self.mean_service()
    }

    /// L_q, the mean number that wait; by Little's law throughput · W_q.
    fn mean_queue(&self) -> f64 {
        self.throughput() * self.mean_wait()
    }

    /// L, the mean number that wait or are served; by Little's law throughput · W.
    fn mean_in_system(&self) -> f64 {
        self.throughput() * self.mean_response()
    }
}
