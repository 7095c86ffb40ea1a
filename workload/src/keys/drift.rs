//! What is hot changes with time.

use super::KeysError;
use std::num::NonZeroU64;

/// A hot set that moves: every m requests the ranks fall on keys that are d further on, round and round.
///
/// Rank j of request number i stands for the key 1 + (j − 1 + d·⌊i/m⌋) mod n. So the law of any one request is as
/// before, and what a cache has learnt goes out of date: with h hot keys the last of one set is gone after m·h/d
/// requests. Real services see it over hours: the news of the day, time zones that wake up.
///
/// ```
/// use openloop_workload::keys::Drift;
///
/// let drift = Drift::new(10, 5_000)?;
/// assert_eq!(drift.key(1, 1_000, 4_999), 1);
/// assert_eq!(drift.key(1, 1_000, 5_000), 11);
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    step: NonZeroU64,
    every: NonZeroU64,
}

impl Drift {
    /// By `step` keys every `every` requests.
    ///
    /// # Errors
    /// When either is 0.
    pub const fn new(step: u64, every: u64) -> Result<Self, KeysError> {
        match (NonZeroU64::new(step), NonZeroU64::new(every)) {
            (Some(step), Some(every)) => Ok(Drift { step, every }),
            _ => Err(KeysError::Drift { step, every }),
        }
    }

    /// The key that `rank` stands for at request number `seq`, of the keys `1..=n`. A rank of 0 is taken for 1, one
    /// above n for n.
    #[must_use]
    #[inline]
    pub const fn key(&self, rank: u64, n: u64, seq: u64) -> u64 {
        let place = place(rank, n) as u128;
        let moved = (seq / self.every.get()) as u128 * self.step.get() as u128;
        1 + ((place + moved) % if n == 0 { 1 } else { n } as u128) as u64
    }

    /// By how many keys, d.
    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step.get()
    }

    /// Every how many requests, m.
    #[must_use]
    pub const fn every(&self) -> u64 {
        self.every.get()
    }
}

/// A rank from 1 as a place from 0 to n − 1.
pub(super) const fn place(rank: u64, n: u64) -> u64 {
    if rank > n { n } else { rank }.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_every_instant_each_rank_has_a_key_of_its_own() {
        for (n, step) in [(1, 1), (7, 3), (10, 10), (10, 25)] {
            let drift = Drift::new(step, 4).unwrap();
            for seq in 0..100 {
                let mut keys: Vec<_> = (1..=n).map(|rank| drift.key(rank, n, seq)).collect();
                keys.sort_unstable();
                assert!(
                    keys.into_iter().eq(1..=n),
                    "n = {n}, step {step}, seq {seq}"
                );
            }
        }
    }

    #[test]
    fn the_widest_drift_is_exact() {
        let drift = Drift::new(u64::MAX, 1).unwrap();
        assert_eq!(drift.key(1, u64::MAX, u64::MAX), 1);
        // (2⁶⁴ − 1)² mod (2⁶⁴ − 2) = 1.
        assert_eq!(drift.key(1, u64::MAX - 1, u64::MAX), 2);
        assert_eq!(drift.key(0, 0, 5), 1);
    }

    #[test]
    fn what_does_not_move_is_refused() {
        for (step, every) in [(0, 1), (1, 0), (0, 0)] {
            assert_eq!(
                Drift::new(step, every),
                Err(KeysError::Drift { step, every })
            );
        }
    }
}
