//! A distribution of keys, by name.

use super::{Drift, KeysError, Law, Scramble};

/// A distribution of keys, by name: what a user chooses. A [`Law`], and where the hot keys lie.
///
/// The law draws a rank. With a [`Drift`] the ranks move over the keys as requests go by; with a [`Scramble`] they are
/// scattered over the keys. In that order: with both, the hot set moves on to keys that lie anywhere.
///
/// As a text: the law with its parameters, then `drift=STEP/EVERY`, then `scrambled` or `scrambled=SEED`, all separated
/// by colons, in the forms of [the catalogue](crate::keys). In a problem file: that text, or a table with the law, its
/// parameters, `drift` and `scrambled`. N may be written as `1e9`.
///
/// ```
/// use openloop_workload::Keys;
///
/// let keys: Keys = "zipf:1e6:0.99:drift=10/5000:scrambled=3".parse()?;
/// assert!((1..=1_000_000).contains(&keys.key(7, 0)));
/// assert_eq!(keys.to_string(), "zipf:1000000:0.99:drift=10/5000:scrambled=3");
/// assert!("zipf:1000:-1".parse::<Keys>().is_err());
///
/// let table = r#"{"law": "zipf", "n": 1000000, "s": 0.99, "drift": {"step": 10, "every": 5000}, "scrambled": 3}"#;
/// assert_eq!(serde_json::from_str::<Keys>(table)?, keys);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keys {
    law: Law,
    drift: Option<Drift>,
    scramble: Option<Scramble>,
}

impl Keys {
    /// The keys of a law, such as of [`Zipf`](super::Zipf).
    #[must_use]
    pub fn new(law: impl Into<Law>) -> Self {
        Keys {
            law: law.into(),
            drift: None,
            scramble: None,
        }
    }

    /// These keys with their hot set moving; in place of an earlier drift.
    ///
    /// # Errors
    /// For [`Latest`](super::Latest), which moves by itself.
    pub fn drifting(self, drift: Drift) -> Result<Self, KeysError> {
        if let Law::Latest(_) = self.law {
            return Err(KeysError::Moving("drift"));
        }
        Ok(Keys {
            drift: Some(drift),
            ..self
        })
    }

    /// These keys scattered by the permutation number `seed`; in place of an earlier one.
    ///
    /// # Errors
    /// For [`Latest`](super::Latest), whose keys are not a fixed set.
    pub fn scrambled(self, seed: u64) -> Result<Self, KeysError> {
        if let Law::Latest(_) = self.law {
            return Err(KeysError::Moving("scrambled"));
        }
        Ok(Keys {
            scramble: Some(Scramble::new(self.count(), seed)?),
            ..self
        })
    }

    /// The key that request number `seq` of a run with this seed asks for: in `1..=n`, except for
    /// [`Latest`](super::Latest) keys, to which new ones are added.
    #[must_use]
    #[inline]
    pub fn key(&self, seed: u64, seq: u64) -> u64 {
        let mut key = self.law.key(seed, seq);
        if let Some(drift) = self.drift {
            key = drift.key(key, self.count(), seq);
        }
        if let Some(scramble) = self.scramble {
            key = scramble.key(key);
        }
        key
    }

    /// How many keys there are, n; of [`Latest`](super::Latest), at a time.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.law.count()
    }

    /// The share of the requests that fall on the `capacity` keys that are hottest at the time: what a cache answers
    /// that always holds just those, and no cache of that size answers more of requests that are drawn at random.
    ///
    /// Of [`Sequential`](super::Sequential) keys, what any `capacity` keys take that stay in the cache for ever.
    ///
    /// ```
    /// use openloop_workload::Keys;
    ///
    /// // How much memory must the server have, so that 90 % of the requests are answered from it?
    /// let keys: Keys = "zipf:1e6:80/20".parse()?;
    /// let needed = (1..100).find(|percent| keys.hit_rate(percent * 10_000) >= 0.9);
    /// assert_eq!(needed, Some(47));
    /// # Ok::<(), openloop_workload::KeysError>(())
    /// ```
    #[must_use]
    pub fn hit_rate(&self, capacity: u64) -> f64 {
        self.law.hit_rate(capacity)
    }

    /// The share of the requests that a warm cache of `capacity` entries answers that evicts the least recently used,
    /// by [Che's approximation](super::Zipf::lru_hit_rate). `None` where keys move, for which it does not hold.
    #[must_use]
    pub fn lru_hit_rate(&self, capacity: u64) -> Option<f64> {
        match self.drift {
            Some(_) => None,
            None => self.law.lru_hit_rate(capacity),
        }
    }

    /// Whether a request's number is also its place in time: for [`Sequential`](super::Sequential) and
    /// [`Latest`](super::Latest) keys, and for those that drift. They are wrong for requests that are not numbered in a
    /// row, as the later ones of sessions are not.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        matches!(self.law, Law::Sequential(_) | Law::Latest(_)) || self.drift.is_some()
    }

    /// The law by which ranks are drawn.
    #[must_use]
    pub const fn law(&self) -> Law {
        self.law
    }

    /// How the hot set moves.
    #[must_use]
    pub const fn drift(&self) -> Option<Drift> {
        self.drift
    }

    /// How the ranks are scattered.
    #[must_use]
    pub const fn scramble(&self) -> Option<Scramble> {
        self.scramble
    }
}

impl From<Law> for Keys {
    fn from(law: Law) -> Self {
        Keys::new(law)
    }
}
