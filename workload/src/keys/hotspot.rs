//! Some keys are hot and the others are not.

use super::cache::characteristic;
use super::{KeysError, STREAM};
use crate::draws::Draws;

/// Keys in `1..=n` of which the first h take the share q of the requests, equally, and the others the rest, equally:
/// P(k) = q/h for k ≤ h, and (1 − q)/(n − h) for the others.
///
/// A step where Zipf's law is a slope: it makes a cache's answer plain, as h entries fit or do not. Real services
/// look like it where one part of the data is in season: the products on offer, the matches of today. YCSB calls it
/// hotspot.
///
/// O(1) in time and memory.
///
/// ```
/// use openloop_workload::keys::HotSpot;
///
/// let keys = HotSpot::new(1_000, 0.2, 0.8)?;
/// assert_eq!(keys.hot(), 200);
/// assert_eq!(keys.pmf(1), 0.004);
/// assert_eq!(keys.hit_rate(100), 0.4);
/// # Ok::<(), openloop_workload::KeysError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotSpot {
    n: u64,
    hot: u64,
    fraction: f64,
    share: f64,
}

impl HotSpot {
    /// The keys `1..=n`, of which the fraction `hot`, rounded to whole keys, takes the share `share` of the requests.
    ///
    /// # Errors
    /// When `n` is 0, when no key or every key is hot, and when `share` is above 1 or so small that the hot keys would
    /// be asked for less often than the others.
    pub fn new(n: u64, hot: f64, share: f64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        let keys = libm::round(hot * n as f64);
        if !(hot > 0.0 && hot < 1.0 && keys >= 1.0 && keys < n as f64) {
            return Err(KeysError::Hot { fraction: hot, n });
        }
        let fraction = hot;
        let hot = keys as u64;
        // What is written as a decimal may be less than the fraction by its rounding.
        if !(share >= hot as f64 / n as f64 * (1.0 - 1e-14) && share <= 1.0) {
            return Err(KeysError::HotShare { share, hot, n });
        }
        Ok(HotSpot {
            n,
            hot,
            fraction,
            share,
        })
    }

    /// The key that request number `seq` of a run with this seed asks for.
    #[must_use]
    #[inline]
    pub const fn key(&self, seed: u64, seq: u64) -> u64 {
        let mut draws = Draws::of(seed, STREAM, seq);
        if draws.open_unit() < self.share {
            1 + draws.below(self.hot)
        } else {
            1 + self.hot + draws.below(self.n - self.hot)
        }
    }

    /// How many keys there are, n.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.n
    }

    /// How many keys are hot, h.
    #[must_use]
    pub const fn hot(&self) -> u64 {
        self.hot
    }

    /// The fraction of the keys that was asked to be hot; h is its product with n, rounded.
    #[must_use]
    pub const fn fraction(&self) -> f64 {
        self.fraction
    }

    /// The share of the requests that the hot keys take, q.
    #[must_use]
    pub const fn share(&self) -> f64 {
        self.share
    }

    /// The probability of `key`; 0 outside `1..=n`.
    #[must_use]
    pub const fn pmf(&self, key: u64) -> f64 {
        if key == 0 || key > self.n {
            0.0
        } else if key <= self.hot {
            self.share / self.hot as f64
        } else {
            (1.0 - self.share) / (self.n - self.hot) as f64
        }
    }

    /// The share of the requests that a cache answers which holds the `capacity` hottest keys for ever: no cache
    /// of this size answers more.
    #[must_use]
    pub fn hit_rate(&self, capacity: u64) -> f64 {
        if capacity >= self.n {
            return 1.0;
        }
        let hot = capacity.min(self.hot);
        let cold = capacity - hot;
        self.share * (hot as f64 / self.hot as f64)
            + (1.0 - self.share) * (cold as f64 / (self.n - self.hot) as f64)
    }

    /// The share of the requests that a warm cache of `capacity` entries answers that evicts the least recently used,
    /// by Che's approximation: see [`Zipf::lru_hit_rate`](super::Zipf::lru_hit_rate).
    #[must_use]
    pub fn lru_hit_rate(&self, capacity: u64) -> f64 {
        if capacity == 0 || capacity >= self.n {
            return if capacity == 0 { 0.0 } else { 1.0 };
        }
        let cold = self.n - self.hot;
        let present = |key: u64, time: f64| -libm::expm1(-self.pmf(key) * time);
        let resident =
            |time: f64| self.hot as f64 * present(1, time) + cold as f64 * present(self.n, time);
        characteristic(capacity as f64, resident).map_or(1.0, |time| {
            let hits = self.share * present(1, time) + (1.0 - self.share) * present(self.n, time);
            hits.clamp(0.0, self.hit_rate(capacity))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_hot_is_refused() {
        assert_eq!(HotSpot::new(0, 0.2, 0.8), Err(KeysError::Empty));
        for (n, fraction) in [
            (1, 0.5),
            (10, 0.0),
            (10, 0.01),
            (10, 0.99),
            (10, 1.0),
            (10, -1.0),
        ] {
            assert_eq!(
                HotSpot::new(n, fraction, 0.995),
                Err(KeysError::Hot { fraction, n })
            );
        }
        for share in [-0.1, 0.0, 0.19, 1.01, f64::INFINITY] {
            let expected = KeysError::HotShare {
                share,
                hot: 2,
                n: 10,
            };
            assert_eq!(HotSpot::new(10, 0.2, share), Err(expected));
        }
        assert!(HotSpot::new(10, f64::NAN, 0.5).is_err());
        assert!(HotSpot::new(10, 0.2, f64::NAN).is_err());
    }

    #[test]
    fn hit_rates_are_those_of_the_hottest_keys() {
        let keys = HotSpot::new(10, 0.2, 0.8).unwrap();
        let found: Vec<_> = [0, 1, 2, 6, 10, 11].map(|c| keys.hit_rate(c)).into();
        assert_eq!(found[..3], [0.0, 0.4, 0.8]);
        assert!((found[3] - 0.9).abs() < 1e-15);
        assert_eq!(found[4..], [1.0, 1.0]);
        let total: f64 = (0..=11).map(|key| keys.pmf(key)).sum();
        assert!((total - 1.0).abs() < 1e-15);
    }

    #[test]
    fn all_requests_may_be_for_hot_keys() {
        let keys = HotSpot::new(10, 0.2, 1.0).unwrap();
        assert!((0..1_000).all(|seq| keys.key(1, seq) <= 2));
        assert_eq!(keys.hit_rate(2), 1.0);
        assert_eq!(keys.lru_hit_rate(3), 1.0);
        assert!((keys.lru_hit_rate(1) - 0.5).abs() < 1e-12);
    }
}
