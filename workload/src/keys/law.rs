//! The laws by which keys are asked for.

use super::{HotSpot, Latest, Sequential, Uniform, Zipf};

/// Which rank a request asks for: one of the samplers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// At random, all equally likely.
    Uniform(Uniform),
    /// In turn.
    Sequential(Sequential),
    /// At random, few hot and many cold.
    Zipf(Zipf),
    /// At random, some hot and the others not.
    HotSpot(HotSpot),
    /// At random, the newest the hottest, while new ones come.
    Latest(Latest),
}

impl Law {
    /// The key that request number `seq` of a run with this seed asks for.
    #[must_use]
    #[inline]
    pub fn key(&self, seed: u64, seq: u64) -> u64 {
        match self {
            Law::Uniform(law) => law.key(seed, seq),
            Law::Sequential(law) => law.key(seq),
            Law::Zipf(law) => law.key(seed, seq),
            Law::HotSpot(law) => law.key(seed, seq),
            Law::Latest(law) => law.key(seed, seq),
        }
    }

    /// How many keys there are; of [`Latest`], at a time.
    #[must_use]
    pub const fn count(&self) -> u64 {
        match self {
            Law::Uniform(law) => law.count(),
            Law::Sequential(law) => law.count(),
            Law::Zipf(law) => law.count(),
            Law::HotSpot(law) => law.count(),
            Law::Latest(law) => law.count(),
        }
    }

    /// How the law is called in texts and tables.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Law::Uniform(_) => "uniform",
            Law::Sequential(_) => "sequential",
            Law::Zipf(_) => "zipf",
            Law::HotSpot(_) => "hotspot",
            Law::Latest(_) => "latest",
        }
    }

    /// The share of the requests that fall on the `capacity` keys that are hottest at the time.
    pub(super) fn hit_rate(&self, capacity: u64) -> f64 {
        match self {
            Law::Zipf(law) => law.hit_rate(capacity),
            Law::HotSpot(law) => law.hit_rate(capacity),
            Law::Latest(law) => law.ages().hit_rate(capacity),
            Law::Uniform(_) | Law::Sequential(_) => part(capacity, self.count()),
        }
    }

    /// The share of the requests that a warm cache answers that evicts the least recently used.
    pub(super) fn lru_hit_rate(&self, capacity: u64) -> Option<f64> {
        match self {
            Law::Uniform(law) => Some(part(capacity, law.count())),
            // A key comes again after all the others have.
            Law::Sequential(law) => Some(if capacity < law.count() { 0.0 } else { 1.0 }),
            Law::Zipf(law) => Some(law.lru_hit_rate(capacity)),
            Law::HotSpot(law) => Some(law.lru_hit_rate(capacity)),
            Law::Latest(_) => None,
        }
    }
}

fn part(capacity: u64, n: u64) -> f64 {
    if capacity >= n {
        1.0
    } else {
        capacity as f64 / n as f64
    }
}

impl From<Uniform> for Law {
    fn from(law: Uniform) -> Self {
        Law::Uniform(law)
    }
}

impl From<Sequential> for Law {
    fn from(law: Sequential) -> Self {
        Law::Sequential(law)
    }
}

impl From<Zipf> for Law {
    fn from(law: Zipf) -> Self {
        Law::Zipf(law)
    }
}

impl From<HotSpot> for Law {
    fn from(law: HotSpot) -> Self {
        Law::HotSpot(law)
    }
}

impl From<Latest> for Law {
    fn from(law: Latest) -> Self {
        Law::Latest(law)
    }
}
