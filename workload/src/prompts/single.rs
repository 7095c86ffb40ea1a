//! Prompts that stand alone.

use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Role, Segment};
use super::{Cache, Nonce, PrefixTree, PromptsError, check_tokens};
use crate::Values;
use crate::seed::{named, numbered};
use crate::sessions::{count, mean_count};

/// Prompts that stand alone: a shared prefix, if there are any, and a text that no other request has.
///
/// Request number `seq` of a run with a seed has the same prompt whoever makes it.
///
/// # How much a prefix cache hits
/// With P tokens of prefix and U of unshared text, the share of the input that a cache hits is, in the mean over many
/// requests,
///
/// h = hits / (E\[P\] + E\[U\])
///
/// with the hits of [`PrefixTree`]. [`hit_share`](Prompts::hit_share) tells it for what there is, and
/// [`with_hit_share`](Prompts::with_hit_share) finds the length of prefix that gives the h that is wanted. If it is
/// the mean T of whole prompts that is known, the unshared text has T·(1 − h·E\[P\]/hits), which is T·(1 − h) where
/// all of every prefix is hit.
///
/// # Examples
/// Prompts of which two thirds of the tokens are known to a warm cache:
/// ```
/// use openloop_workload::prompts::{Cache, Nonce, Prompts};
///
/// let user = "lognormal:mean=500,cv=1.2,max=8192".parse()?;
/// let answer = "lognormal:mean=200,cv=1,max=2048".parse()?;
/// let prompts = Prompts::with_hit_share(2.0 / 3.0, Cache::ENDLESS, 50, 1.0, user, answer)?.nonce(Nonce::Run(17));
/// assert!((prompts.hit_share(Cache::ENDLESS) - 2.0 / 3.0).abs() < 0.004);
/// // The first hundred requests of a run find less: each of the 50 prefixes is new once.
/// assert!(prompts.cold_hit_share(100, 16) < Some(0.5));
///
/// let prompt = prompts.prompt(7, 41);
/// assert_eq!(prompt.text().split(' ').count() as u64, prompt.input_tokens());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a file:
/// ```
/// use openloop_workload::prompts::Prompts;
///
/// let prompts: Prompts = serde_json::from_str(r#"{
///     "unshared": "lognormal:mean=500,cv=1.2,max=8192",
///     "output": "fixed:128",
///     "prefixes": {"levels": [{"nodes": 3, "tokens": 800}, {"nodes": 20, "tokens": 400}], "skew": 1.0},
///     "nonce": {"run": 17}
/// }"#)?;
/// assert_eq!(prompts.prompt(7, 0).shared_tokens, 1200);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table")]
pub struct Prompts {
    unshared: Values,
    output: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefixes: Option<PrefixTree>,
    nonce: Nonce,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    unshared: Values,
    output: Values,
    prefixes: Option<PrefixTree>,
    #[serde(default)]
    nonce: Nonce,
}

impl TryFrom<Table> for Prompts {
    type Error = PromptsError;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        Ok(Prompts {
            prefixes: table.prefixes,
            nonce: table.nonce,
            ..Prompts::new(table.unshared, table.output)?
        })
    }
}

impl Prompts {
    /// Prompts of so many tokens and answers of so many, each to the nearest whole number and at least 1; nothing is
    /// shared, and no prompt has a nonce.
    ///
    /// # Errors
    /// When a prompt or an answer could have more than 2²⁴ tokens, by a chance that is ever drawn: bound the law with
    /// `max`, so that it is you who says what the longest is.
    pub fn new(unshared: Values, output: Values) -> Result<Self, PromptsError> {
        check_tokens("a prompt", &unshared)?;
        check_tokens("an answer", &output)?;
        Ok(Prompts {
            unshared,
            output,
            prefixes: None,
            nonce: Nonce::None,
        })
    }

    /// Prompts that begin with one of `prefixes` shared prefixes, chosen by Zipf's law with the exponent `skew`, each so
    /// long that `cache` hits the share `wanted` of all input tokens.
    ///
    /// The length is the number of whole blocks that comes nearest; [`hit_share`](Prompts::hit_share) tells the share
    /// it gives.
    ///
    /// # Errors
    /// When `wanted` is not in [0, 1), no length within 2²⁴ tokens gives it (a cache that keeps c prefixes hits
    /// F(c) at most), or as for [`new`](Prompts::new) and [`PrefixTree::new`].
    pub fn with_hit_share(
        wanted: f64,
        cache: Cache,
        prefixes: u64,
        skew: f64,
        unshared: Values,
        output: Values,
    ) -> Result<Self, PromptsError> {
        let prompts = Prompts::new(unshared, output)?;
        let block = cache.block.max(1);
        // The chance that a prefix is known: of one block, one block times the chance.
        let chance = PrefixTree::flat(prefixes, block, skew)?.hits(cache) / f64::from(block);
        let own = prompts.mean_unshared_tokens();
        let most = f64::from(super::MOST_TOKENS);
        let most = chance * most / (most + own);
        if !(0.0..1.0).contains(&wanted) || wanted > most {
            return Err(PromptsError::HitShare { wanted, most });
        }
        // wanted = chance·P/(P + own), solved for P and rounded to whole blocks, whichever is nearer.
        let blocks = libm::floor(wanted * own / (chance - wanted) / f64::from(block));
        let share = |blocks: f64| {
            let tokens = blocks * f64::from(block);
            chance * tokens / (tokens + own)
        };
        let up = wanted - share(blocks) > share(blocks + 1.0) - wanted;
        let tokens = (blocks + f64::from(u8::from(up))) as u32 * block;
        match tokens {
            0 => Ok(prompts),
            _ => Ok(prompts.prefixes(PrefixTree::flat(prefixes, tokens, skew)?)),
        }
    }

    /// With these shared prefixes ahead of the unshared text.
    #[must_use]
    pub fn prefixes(self, prefixes: PrefixTree) -> Self {
        Prompts {
            prefixes: Some(prefixes),
            ..self
        }
    }

    /// With this nonce.
    #[must_use]
    pub fn nonce(self, nonce: Nonce) -> Self {
        Prompts { nonce, ..self }
    }

    /// The prompt of request number `seq` of a run with this seed.
    #[must_use]
    pub fn prompt(&self, seed: u64, seq: u64) -> Prompt {
        let mut segments = Vec::with_capacity(4);
        if let Some(tree) = &self.prefixes {
            segments.extend(tree.segments(self.nonce.shared(seed), tree.prefix(seed, seq)));
        }
        let shared_tokens = segments.iter().map(|segment| segment.tokens).sum();
        segments.push(Segment {
            role: Role::User,
            content: numbered(named(self.nonce.unshared(seed), "unshared"), seq),
            tokens: count(&self.unshared, named(seed, "input"), seq),
        });
        Prompt {
            segments,
            output_tokens: count(&self.output, named(seed, "output"), seq),
            shared_tokens,
        }
    }

    /// E\[U\], the mean number of unshared tokens, rounding included.
    #[must_use]
    pub fn mean_unshared_tokens(&self) -> f64 {
        mean_count(&self.unshared)
    }

    /// E\[P\] + E\[U\], the mean length of prompts in tokens.
    #[must_use]
    pub fn mean_input_tokens(&self) -> f64 {
        let prefix = self.prefixes.as_ref().map_or(0, PrefixTree::tokens);
        f64::from(prefix) + self.mean_unshared_tokens()
    }

    /// The mean length of answers in tokens.
    #[must_use]
    pub fn mean_output_tokens(&self) -> f64 {
        mean_count(&self.output)
    }

    /// The share of all input tokens that a warm `cache` hits.
    #[must_use]
    pub fn hit_share(&self, cache: Cache) -> f64 {
        let hits = self.prefixes.as_ref().map_or(0.0, |tree| tree.hits(cache));
        hits / self.mean_input_tokens()
    }

    /// The share of the input tokens of the first `requests` that an endless cache hits which begins empty; see
    /// [`PrefixTree::cold_hits`].
    #[must_use]
    pub fn cold_hit_share(&self, requests: u64, block: u32) -> Option<f64> {
        let hits = match &self.prefixes {
            Some(tree) => tree.cold_hits(requests, block)?,
            None => 0.0,
        };
        Some(hits / self.mean_input_tokens())
    }

    /// The shared prefixes.
    #[must_use]
    pub const fn prefix_tree(&self) -> Option<&PrefixTree> {
        self.prefixes.as_ref()
    }
}
