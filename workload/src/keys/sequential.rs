//! Every key in turn.

use super::KeysError;

/// The keys 1, 2, …, n, 1, 2, … in the order of the requests: each as far apart from itself as can be.
///
/// A scan; with n above the number of requests, keys that never come twice.
///
/// ```
/// use openloop_workload::keys::Sequential;
///
/// let keys = Sequential::new(3)?;
/// let turn: Vec<_> = (0..5).map(|seq| keys.key(seq)).collect();
/// assert_eq!(turn, [1, 2, 3, 1, 2]);
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequential {
    n: u64,
}

impl Sequential {
    /// The keys `1..=n`.
    ///
    /// # Errors
    /// When `n` is 0.
    pub const fn new(n: u64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        Ok(Sequential { n })
    }

    /// The key that request number `seq` asks for.
    #[must_use]
    #[inline]
    pub const fn key(&self, seq: u64) -> u64 {
        1 + seq % self.n
    }

    /// How many keys there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.n
    }
}
