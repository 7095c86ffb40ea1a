//! What is new is hot.

use super::{KeysError, Zipf};

/// One key per request, in the unit of [`Latest`]'s rate.
const WHOLE: u64 = 1_000_000_000;

/// Keys by their age: the newest key is the hottest, and the end at which it stands moves on.
///
/// There are n keys at first. While requests come, others insert r keys per request, so that the newest key at request
/// number i is e(i) = n + ⌊i·r⌋, and request i asks for the key e(i) − a with the probability
/// P(a) = (a + 1)⁻ˢ / H(n, s) for the ages a = 0, …, n − 1: [`Zipf`]'s law over the latest n. With n = 10⁶ and s = 0.99
/// every fifteenth request is for the newest key and a third for the latest hundred.
///
/// It is what time lines, news, logs and queues of orders look like. YCSB's workload D, "read latest", has s = 0.99 and
/// r = 0.05; there all keys ever inserted are in the law and not the latest n.
///
/// Keys beyond n are asked for only as the end passes them: a server that inserts no keys must be given all up to
/// [`newest`](Self::newest) of the last request, or r = 0. The end is a function of the sequence number alone, r kept
/// to nine decimals and the product exact: sharded and repeated runs agree.
///
/// ```
/// use openloop_workload::keys::Latest;
///
/// let keys = Latest::new(1_000, 0.99, 0.05)?;
/// assert_eq!([keys.newest(0), keys.newest(19), keys.newest(20)], [1_000, 1_000, 1_001]);
/// assert!((2..=1_001).contains(&keys.key(7, 20)));
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latest {
    ages: Zipf,
    /// In 10⁻⁹ keys per request.
    inserts: u64,
}

impl Latest {
    /// The latest `n` keys, with the exponent `s` and with `inserts` new keys per request, from 0 to a million,
    /// rounded to 10⁻⁹.
    ///
    /// # Errors
    /// When `n` is 0, or `s` is negative, infinite or not a number, or `inserts` is not between 0 and a million.
    pub fn new(n: u64, s: f64, inserts: f64) -> Result<Self, KeysError> {
        if !(0.0..=1e6).contains(&inserts) {
            return Err(KeysError::Inserts(inserts));
        }
        Ok(Latest {
            ages: Zipf::new(n, s)?,
            inserts: libm::round(inserts * WHOLE as f64) as u64,
        })
    }

    /// The key that request number `seq` of a run with this seed asks for, one of the n up to
    /// [`newest`](Self::newest).
    #[must_use]
    #[inline]
    pub fn key(&self, seed: u64, seq: u64) -> u64 {
        self.newest(seq) - (self.ages.key(seed, seq) - 1)
    }

    /// The newest key when request number `seq` is sent, e(seq); u64::MAX where it would be above that.
    #[must_use]
    #[inline]
    pub const fn newest(&self, seq: u64) -> u64 {
        let inserted = seq as u128 * self.inserts as u128 / WHOLE as u128;
        let newest = inserted + self.ages.count() as u128;
        if newest > u64::MAX as u128 {
            u64::MAX
        } else {
            newest as u64
        }
    }

    /// How many keys can be asked for at a time, n.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.ages.count()
    }

    /// New keys per request, r.
    #[must_use]
    pub const fn inserts(&self) -> f64 {
        self.inserts as f64 / WHOLE as f64
    }

    /// The law of the ages: age a has the probability that key a + 1 has there.
    #[must_use]
    pub const fn ages(&self) -> Zipf {
        self.ages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_moves_by_exactly_the_rate() {
        let keys = Latest::new(10, 1.0, 0.29).unwrap();
        // In floating point, 0.29 · 100 is below 29.
        assert_eq!(keys.newest(100), 39);
        assert_eq!(keys.newest(99), 38);
        assert_eq!(keys.newest(1_000_000_000_000), 290_000_000_010);
        assert_eq!(keys.inserts(), 0.29);
        let still = Latest::new(10, 1.0, 0.0).unwrap();
        assert_eq!(still.newest(u64::MAX), 10);
        let fast = Latest::new(u64::MAX, 1.0, 1e6).unwrap();
        assert_eq!(fast.newest(u64::MAX), u64::MAX);
        assert!((0..100).all(|seq| fast.key(1, u64::MAX - seq) >= 1));
    }

    #[test]
    fn a_rate_that_is_none_is_refused() {
        for inserts in [-0.1, 1.1e6, f64::INFINITY] {
            assert_eq!(
                Latest::new(10, 1.0, inserts),
                Err(KeysError::Inserts(inserts))
            );
        }
        assert!(Latest::new(10, 1.0, f64::NAN).is_err());
        assert_eq!(Latest::new(0, 1.0, 0.1), Err(KeysError::Empty));
        assert_eq!(Latest::new(5, -1.0, 0.1), Err(KeysError::Exponent(-1.0)));
    }
}
