//! Prefixes that prompts share.

use serde::{Deserialize, Serialize};

use super::prompt::{Role, Segment};
use super::{MOST_TOKENS, PromptsError};
use crate::keys::Zipf;
use crate::seed::{named, numbered};

/// One level of a [`PrefixTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// How many nodes there are below each node of the level above.
    pub nodes: u64,
    /// How many tokens each node has.
    pub tokens: u32,
}

/// A tree of prefixes: a few system prompts, below each its tools or templates, below each its documents.
///
/// A prompt begins with the nodes on the way from the root to a leaf. Leaves are chosen by Zipf's law: the leaf of rank
/// k with the probability P(k) = k⁻ˢ/H(n, s). Ranks are handed out from left to right, so that the hot leaves lie next
/// to each other, as the documents of a much used tool do; an inner node is as likely as its leaves together.
///
/// # What a cache hits
/// A cache that keeps whole blocks of B tokens and the c likeliest prefixes (and with each all nodes above it) has, of a
/// prompt, in the mean
///
/// hits = Σ over levels ℓ of (⌊e_ℓ/B⌋ − ⌊e_(ℓ−1)/B⌋)·B · F(⌈c/w_ℓ⌉·w_ℓ)
///
/// | symbol | meaning |
/// | --- | --- |
/// | e_ℓ | tokens from the start to the end of level ℓ; e₋₁ = 0 |
/// | w_ℓ | leaves below one node of level ℓ |
/// | F(k) | P(1) + … + P(k), 1 from n on |
///
/// To keep the likeliest is the best that a cache can do; one that evicts the least recently used does a little worse.
/// In an endless cache every prefix is known once it has come, and hits = ⌊e/B⌋·B; on the way there
/// [`cold_hits`](PrefixTree::cold_hits) tells.
///
/// In a file: `{"levels": [{"nodes": 3, "tokens": 1000}], "skew": 1.0}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table", into = "Table")]
pub struct PrefixTree {
    levels: Vec<Level>,
    leaves: Zipf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    levels: Vec<Level>,
    skew: f64,
}

impl TryFrom<Table> for PrefixTree {
    type Error = PromptsError;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        PrefixTree::new(&table.levels, table.skew)
    }
}

impl From<PrefixTree> for Table {
    fn from(tree: PrefixTree) -> Self {
        Table {
            skew: tree.skew(),
            levels: tree.levels,
        }
    }
}

/// What a server remembers of prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// How many prefixes it keeps, the likeliest ones; `None` for all.
    pub prefixes: Option<u64>,
    /// How many tokens one block has: it keeps whole blocks. 16 with vLLM, 1 with SGLang, by default.
    pub block: u32,
}

impl Cache {
    /// A cache that is never full, of blocks of 16 tokens.
    pub const ENDLESS: Cache = Cache {
        prefixes: None,
        block: 16,
    };
}

impl PrefixTree {
    /// The most leaves that [`cold_hits`](PrefixTree::cold_hits) adds up, 2²⁰.
    pub const MOST_SUMMED: u64 = 1 << 20;

    /// A tree with these levels, from the root on, whose leaves are chosen with the exponent `skew`, s: 0 for all
    /// alike.
    ///
    /// # Errors
    /// When there is no level or there are more than 8, one has no nodes or no tokens, a prefix is longer than 2²⁴
    /// tokens, there are more than 2⁶⁴ leaves, or the skew is negative or not finite.
    pub fn new(levels: &[Level], skew: f64) -> Result<Self, PromptsError> {
        if !(1..=8).contains(&levels.len()) {
            return Err(PromptsError::Levels(levels.len()));
        }
        let (mut leaves, mut all) = (1_u64, 0_u64);
        for (level, &Level { nodes, tokens }) in levels.iter().enumerate() {
            if nodes == 0 || tokens == 0 {
                return Err(PromptsError::Level {
                    level,
                    nodes,
                    tokens,
                });
            }
            leaves = (leaves.checked_mul(nodes)).ok_or(PromptsError::TooManyPrefixes)?;
            all += u64::from(tokens);
        }
        if all > u64::from(MOST_TOKENS) {
            return Err(PromptsError::TooLong {
                part: "a shared prefix",
                tokens: all as f64,
            });
        }
        Ok(PrefixTree {
            levels: levels.to_vec(),
            leaves: Zipf::new(leaves, skew).map_err(PromptsError::Skew)?,
        })
    }

    /// So many prefixes of so many tokens, without anything in common.
    ///
    /// # Errors
    /// As for [`new`](PrefixTree::new).
    pub fn flat(prefixes: u64, tokens: u32, skew: f64) -> Result<Self, PromptsError> {
        let nodes = prefixes;
        PrefixTree::new(&[Level { nodes, tokens }], skew)
    }

    /// The levels, from the root on.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// How many prefixes there are: the leaves.
    #[must_use]
    pub const fn prefixes(&self) -> u64 {
        self.leaves.count()
    }

    /// The exponent of Zipf's law, s.
    #[must_use]
    pub const fn skew(&self) -> f64 {
        self.leaves.exponent()
    }

    /// How many tokens a prefix has: all levels together.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.levels.iter().map(|level| level.tokens).sum()
    }

    /// Which prefix request number `seq` has, from 1, the likeliest first.
    #[must_use]
    pub fn prefix(&self, seed: u64, seq: u64) -> u64 {
        self.leaves.key(named(seed, "prefix"), seq)
    }

    /// The parts of a prefix, its contents by `seed`.
    pub(super) fn segments(&self, seed: u64, prefix: u64) -> impl Iterator<Item = Segment> {
        let seed = named(seed, "prefix");
        let mut below = self.prefixes();
        self.levels.iter().enumerate().map(move |(depth, level)| {
            below /= level.nodes;
            let node = (prefix - 1) / below;
            Segment {
                role: Role::System,
                content: numbered(numbered(seed, depth as u64), node),
                tokens: level.tokens,
            }
        })
    }

    /// How many tokens of a prompt `cache` knows in the mean, once it is warm.
    #[must_use]
    pub fn hits(&self, cache: Cache) -> f64 {
        let n = self.prefixes();
        self.sum(cache.block, |below| match cache.prefixes {
            None => 1.0,
            Some(0) => 0.0,
            Some(kept) => {
                // Whole nodes, of which the last may have leaves that are not kept.
                let covered = kept.min(n).div_ceil(below).saturating_mul(below);
                self.leaves.hit_rate(covered.min(n))
            }
        })
    }

    /// How many tokens of a prompt an endless cache of blocks of `block` tokens knows in the mean over the first
    /// `requests` of a run, when it begins empty.
    ///
    /// Of r requests a node of probability p misses once if it comes at all: 1 − (1 − p)ʳ. `None` for a tree with more
    /// than [`MOST_SUMMED`](PrefixTree::MOST_SUMMED) leaves, or without requests.
    #[must_use]
    pub fn cold_hits(&self, requests: u64, block: u32) -> Option<f64> {
        let n = self.prefixes();
        if n > Self::MOST_SUMMED || requests == 0 {
            return None;
        }
        let requests = requests as f64;
        Some(self.sum(block, |below| {
            let misses = (0..n / below).map(|node| {
                let before = self.leaves.hit_rate(node * below);
                let share = match below {
                    1 => self.leaves.pmf(node + 1),
                    _ => self.leaves.hit_rate((node + 1) * below) - before,
                };
                // A difference of sums may be rounded past either end.
                -libm::expm1(requests * libm::log1p(-share.clamp(0.0, 1.0)))
            });
            1.0 - misses.sum::<f64>() / requests
        }))
    }

    /// Σ over levels of the whole blocks that end in the level, in tokens, times their chance of a hit, which depends on
    /// how many leaves there are below a node.
    fn sum(&self, block: u32, chance: impl Fn(u64) -> f64) -> f64 {
        let block = u64::from(block.max(1));
        let (mut end, mut whole, mut below, mut sum) = (0, 0, self.prefixes(), 0.0);
        for level in &self.levels {
            below /= level.nodes;
            end += u64::from(level.tokens);
            let blocks = end / block * block - whole;
            whole += blocks;
            if blocks > 0 {
                sum += blocks as f64 * chance(below);
            }
        }
        sum
    }
}
