//! How many are under way at once.

use crate::{CapacityError, check, poisson};

/// The largest mean for which the law is summed.
const SUMMABLE: f64 = 1e9;

/// The number of requests, sequences or sessions that are under way at once where nothing holds them up.
///
/// | symbol | meaning |
/// | --- | --- |
/// | λ W | the mean (Little) |
/// | P(N > n) = Σ_{k>n} e^(−λW) (λW)ᵏ / k! | the number is Poisson |
///
/// Poisson arrivals; stays of any law, not only in the mean (M/G/∞; L. Takács, *Introduction to the Theory of Queues*,
/// 1962). Room for the mean alone is too little about half of the time.
///
/// ```
/// use openloop_capacity::sizing::Concurrency;
///
/// // 50 requests a second that each hold their KV cache for 4 s.
/// let sequences = Concurrency::new(50.0, 4.0)?;
/// assert_eq!(sequences.mean(), 200.0);
/// assert!((sequences.exceeds(200) - 0.48).abs() < 0.005);
/// assert_eq!(sequences.room_for(0.01)?, 234);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concurrency {
    mean: f64,
}

impl Concurrency {
    /// `arrival_rate` arrivals per second, each under way for `mean_stay` seconds in the mean.
    ///
    /// # Errors
    /// When a parameter is NaN, infinite, negative or not in the range of 10⁻³⁰ to 10³⁰ (either may be 0), or when
    /// their product is above 10⁹.
    pub fn new(arrival_rate: f64, mean_stay: f64) -> Result<Self, CapacityError> {
        let mean = crate::little::number(arrival_rate, mean_stay)?;
        if mean > SUMMABLE {
            return Err(CapacityError::TooLarge {
                name: "the mean number under way",
                value: mean,
                remedy: "give at most 1e9, and check the units, rates per second and times in seconds",
            });
        }
        Ok(Concurrency { mean })
    }

    /// λ W.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// P(N > n), the share of the time during which more than `n` are under way.
    #[must_use]
    pub fn exceeds(&self, n: u64) -> f64 {
        // Numbers above 2⁵³ are rounded, where the probability is 0 anyway.
        poisson::above(n as f64, self.mean)
    }

    /// The least n that is exceeded a share `probability` of the time at most.
    ///
    /// # Errors
    /// When `probability` is not from 10⁻³⁰⁰ to 1.
    pub fn room_for(&self, probability: f64) -> Result<u64, CapacityError> {
        let p = check::within(
            "the probability of more",
            probability,
            1e-300..=1.0,
            "a share from 1e-300 to 1, such as 0.01",
        )?;
        // Too little room, where there is any such, and enough.
        let (mut little, mut enough) = (0_u64, 1_u64);
        if self.exceeds(little) <= p {
            return Ok(0);
        }
        while self.exceeds(enough) > p {
            (little, enough) = (enough, 2 * enough);
        }
        while enough - little > 1 {
            let middle = little + (enough - little) / 2;
            if self.exceeds(middle) > p {
                little = middle;
            } else {
                enough = middle;
            }
        }
        Ok(enough)
    }
}
