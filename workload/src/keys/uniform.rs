//! Every key equally likely.

use super::{KeysError, STREAM};
use crate::draws::Draws;

/// Keys in `1..=n` at random, each with the probability 1/n exactly: no bias towards any.
///
/// O(1) in time, without a table: some nanoseconds a key for every n.
///
/// It is what a cache likes least. Few real services see it; take it for a floor of what caching can do.
///
/// ```
/// use openloop_workload::keys::Uniform;
///
/// let keys = Uniform::new(6)?;
/// let dice: Vec<_> = (0..8).map(|seq| keys.key(1, seq)).collect();
/// assert!(dice.iter().all(|key| (1..=6).contains(key)));
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    n: u64,
}

impl Uniform {
    /// The keys `1..=n`.
    ///
    /// # Errors
    /// When `n` is 0.
    pub const fn new(n: u64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        Ok(Uniform { n })
    }

    /// The key that request number `seq` of a run with this seed asks for.
    #[must_use]
    #[inline]
    pub const fn key(&self, seed: u64, seq: u64) -> u64 {
        1 + Draws::of(seed, STREAM, seq).below(self.n)
    }

    /// How many keys there are, n.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.n
    }

    /// The probability of `key`: 1/n, and 0 outside `1..=n`.
    #[must_use]
    pub const fn pmf(&self, key: u64) -> f64 {
        if key == 0 || key > self.n {
            0.0
        } else {
            1.0 / self.n as f64
        }
    }
}
