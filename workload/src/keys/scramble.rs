//! Hot keys far from each other.

use super::KeysError;
use super::drift::place;
use crate::draws::{GOLDEN, mix};

/// Rounds of [`Scramble`]: four are enough for many keys; of ten or so, six make the places of the first two ranks alike to
/// some per cent over the seeds.
const ROUNDS: usize = 6;

/// A permutation of `1..=n`, chosen by a seed: which key a rank stands for.
///
/// Ranks that are neighbours become keys far apart, as in real data, where it is not the first rows of a table that are
/// hot. Without it the hot keys share pages, partitions and shards, and a database looks better, or one shard worse,
/// than it would. Every key is reached from exactly one rank, for any n: the law stays the law. (A hash of the rank,
/// as YCSB takes, makes some keys twice as hot and leaves a third of them out.)
///
/// The seed is that of the data and not of the run: runs with different seeds then find the same keys hot.
///
/// Some nanoseconds and 64 bytes, without a table: rounds of addition, multiplication by an odd number and a shift, each
/// a bijection of the ⌈log₂ n⌉ bits, again while the result is not below n (cycle walking: on average less than twice).
///
/// ```
/// use openloop_workload::keys::{Scramble, Zipf};
///
/// let (ranks, scramble) = (Zipf::new(1_000, 0.99)?, Scramble::new(1_000, 1)?);
/// let key = scramble.key(ranks.key(7, 41));
/// assert_eq!(scramble.rank(key), ranks.key(7, 41));
/// let mut keys: Vec<_> = (1..=1_000).map(|rank| scramble.key(rank)).collect();
/// keys.sort();
/// assert!(keys.into_iter().eq(1..=1_000));
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scramble {
    n: u64,
    seed: u64,
    rounds: [u64; ROUNDS],
}

impl Scramble {
    /// The permutation number `seed` of the keys `1..=n`.
    ///
    /// # Errors
    /// When `n` is 0.
    pub const fn new(n: u64, seed: u64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        let mut rounds = [0; ROUNDS];
        let mut i = 0;
        while i < ROUNDS {
            rounds[i] = mix(mix(seed).wrapping_add(GOLDEN.wrapping_mul(i as u64)));
            i += 1;
        }
        Ok(Scramble { n, seed, rounds })
    }

    /// The key that `rank` stands for. A rank of 0 is taken for 1, one above n for n.
    #[must_use]
    #[inline]
    pub const fn key(&self, rank: u64) -> u64 {
        let mut x = place(rank, self.n);
        loop {
            x = self.forwards(x);
            if x < self.n {
                return 1 + x;
            }
        }
    }

    /// The rank that stands for `key`: the inverse of [`key`](Self::key).
    #[must_use]
    pub const fn rank(&self, key: u64) -> u64 {
        let mut x = place(key, self.n);
        loop {
            x = self.backwards(x);
            if x < self.n {
                return 1 + x;
            }
        }
    }

    /// How many keys there are, n.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.n
    }

    /// The number of the permutation.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The bits that n numbers from 0 need, as a mask, and half of them, rounded up.
    const fn bits(&self) -> (u64, u32) {
        let unused = (self.n - 1).leading_zeros();
        if unused == 64 {
            (0, 1)
        } else {
            (u64::MAX >> unused, (65 - unused) / 2)
        }
    }

    const fn forwards(&self, mut x: u64) -> u64 {
        let (mask, half) = self.bits();
        let mut i = 0;
        while i < ROUNDS {
            let round = self.rounds[i];
            x = x
                .wrapping_add(round)
                .wrapping_mul(round.rotate_left(32) | 1)
                & mask;
            x ^= x >> half;
            i += 1;
        }
        x
    }

    const fn backwards(&self, mut x: u64) -> u64 {
        let (mask, half) = self.bits();
        let mut i = ROUNDS;
        while i > 0 {
            i -= 1;
            let round = self.rounds[i];
            x ^= x >> half;
            x = x
                .wrapping_mul(inverse(round.rotate_left(32) | 1))
                .wrapping_sub(round)
                & mask;
        }
        x
    }
}

/// The inverse of an odd number modulo 2⁶⁴ (Newton: the number is right to 3 bits, and each step doubles them).
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut i = 0;
    while i < 5 {
        x = x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
        i += 1;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_times_its_inverse_is_1() {
        for odd in [1, 3, 5, GOLDEN, u64::MAX] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1);
        }
    }

    #[test]
    fn of_no_keys_there_is_no_permutation() {
        assert_eq!(Scramble::new(0, 1), Err(KeysError::Empty));
        assert_eq!(Scramble::new(1, 9).unwrap().key(1), 1);
    }
}
