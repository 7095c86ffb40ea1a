//! What the plan for a peak needs beside what is measured.

use super::{ProblemError, Written};
use openloop_capacity::plan::{Figures, KvFigures};
use openloop_capacity::sizing::{KvCache, KvShape};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the plan for `load.peak` needs beside what a sweep shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SizingStatement {
    /// How long the service keeps a request in its queue before it drops it: clients should have given up by then.
    pub retention: Option<Written<Duration>>,
    /// Of a language model: what a sequence takes of its KV cache.
    pub kv_cache: Option<KvStatement>,
}

/// What a sequence takes of the KV cache of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KvStatement {
    /// Layers with attention.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub layers: u32,
    /// Heads of keys and values in a layer.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub kv_heads: u32,
    /// Numbers in a head.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub head_dimension: u32,
    /// Bits of a number; 16 where it is not said.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(default = "sixteen")]
    pub bits: u32,
    /// Tokens in a block; 16 where it is not said.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(default = "sixteen")]
    pub block_tokens: u32,
    /// Tokens that a sequence holds at its longest, prompt and output.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub sequence_tokens: u64,
    /// Bytes of one node that are left for the cache.
    pub bytes_per_node: Option<u64>,
}

/// bf16, and the blocks of vLLM.
fn sixteen() -> u32 {
    16
}

impl SizingStatement {
    /// The figures with what is said here.
    #[must_use]
    pub fn fill(&self, figures: Figures) -> Figures {
        let retention = self.retention.as_deref().map(Duration::as_secs_f64);
        Figures {
            retention: retention.or(figures.retention),
            kv: self.kv_cache.map(KvStatement::figures).or(figures.kv),
            ..figures
        }
    }

    pub(super) fn check(&self) -> Result<(), ProblemError> {
        let retention = self.retention.as_deref().map(Duration::as_secs_f64);
        super::check::range("sizing.retention", retention, "above 0 s", |s| s > 0.0)?;
        let Some(kv) = self.kv_cache.map(KvStatement::figures) else {
            return Ok(());
        };
        let cache = KvCache::new(kv.shape, kv.block_tokens)?;
        cache.bytes(1, kv.sequence_tokens)?;
        let tokens = Some(kv.sequence_tokens as f64);
        let name = "sizing.kv_cache.sequence_tokens";
        super::check::range(name, tokens, "1 or more", |tokens| tokens >= 1.0)
    }
}

impl KvStatement {
    fn figures(self) -> KvFigures {
        KvFigures {
            shape: KvShape {
                layers: self.layers,
                kv_heads: self.kv_heads,
                head_dimension: self.head_dimension,
                bits: self.bits,
            },
            block_tokens: self.block_tokens,
            sequence_tokens: self.sequence_tokens,
            bytes_per_node: self.bytes_per_node,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::ProblemStatement;
    use openloop_capacity::plan::Figures;

    #[test]
    fn what_is_stated_fills_the_figures_of_a_plan() {
        let llm = ProblemStatement::from_toml(ProblemStatement::LLM).unwrap();
        let figures = llm.sizing.fill(Figures::at_peak(50.0));
        assert_eq!(figures.retention, Some(90.0));
        let kv = figures.kv.unwrap();
        assert_eq!(kv.shape.bits_per_token(), 128 * 1024 * 8);
        let least = "[sizing.kv_cache]\nlayers = 2\nkv_heads = 1\nhead_dimension = 8\nsequence_tokens = 100";
        let least = ProblemStatement::from_toml(least).unwrap();
        let kv = least.sizing.fill(Figures::at_peak(50.0)).kv.unwrap();
        assert_eq!((kv.shape.bits, kv.block_tokens), (16, 16));
        assert_eq!(kv.bytes_per_node, None);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let kv = |layers: u32, tokens: u64| {
            format!(
                "[sizing.kv_cache]\nlayers = {layers}\nkv_heads = 1\nhead_dimension = 8\nsequence_tokens = {tokens}"
            )
        };
        for (text, parts) in [
            (kv(0, 100), ["sizing.kv_cache", "layers"]),
            (kv(2, 0), ["sizing.kv_cache.sequence_tokens", "1 or more"]),
            (
                "[sizing.kv_cache]\nlayers = 2".to_owned(),
                ["kv_heads", "line 1"],
            ),
            (
                "[sizing]\nretention = '0s'".to_owned(),
                ["sizing.retention", "above 0"],
            ),
            ("[sizing]\nretain = '1s'".to_owned(), ["retain", "line 2"]),
        ] {
            let why = ProblemStatement::from_toml(&text).unwrap_err().to_string();
            assert!(parts.iter().all(|part| why.contains(part)), "{text}: {why}");
        }
    }
}
