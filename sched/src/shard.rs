//! Every n-th arrival of a schedule.

/// Arrivals with seq ≡ `index` (mod `count`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Shard {
    pub(crate) const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Part `index` of `count` of this shard: of what is left, not of the whole.
    pub(crate) fn split(self, index: u64, count: u64) -> Result<Shard, ShardError> {
        if count == 0 {
            return Err(ShardError::NoShards);
        }
        if index >= count {
            return Err(ShardError::Index { index, count });
        }
        let overflow = ShardError::TooMany {
            outer: self.count,
            inner: count,
        };
        let whole = self.count.checked_mul(count).ok_or(overflow)?;
        // Below `whole`, so it fits.
        Ok(Shard {
            index: self.index + self.count * index,
            count: whole,
        })
    }

    /// The first number at or after `seq` in this shard, `None` past the last number.
    #[inline]
    pub(crate) fn at_or_after(self, seq: u64) -> Option<u64> {
        if self.count == 1 {
            return Some(seq);
        }
        let place = seq % self.count;
        let ahead = if place <= self.index {
            self.index - place
        } else {
            self.count - place + self.index
        };
        seq.checked_add(ahead)
    }
}

/// Why a schedule has no such shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// Split into none.
    #[error("a schedule cannot be split into 0 shards: 1 is the whole")]
    NoShards,
    /// Past the last shard.
    #[error("there is no shard {index} of {count}: they are numbered from 0")]
    Index {
        /// The shard asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// Shards of shards of shards.
    #[error("{outer} shards of {inner} each are more than 64 bits can number")]
    TooMany {
        /// Shards so far.
        outer: u64,
        /// Shards of each.
        inner: u64,
    },
}
