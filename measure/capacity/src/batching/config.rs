//! What is simulated.

use crate::{CapacityError, check};

/// How prompts share steps with the sequences that decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefill {
    /// In pieces: every step decodes, and what is left of its tokens goes to prompts. A long prompt takes several steps,
    /// and lengthens each a little.
    Chunked,
    /// Whole prompts, in steps of their own, before anything decodes: a long one makes everybody wait for it.
    Whole,
}

/// How long a step takes, in seconds.
///
/// base + prompt tokens · per_prompt_token + decoding sequences · per_sequence + their tokens · per_context_token
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCost {
    /// Of every step: reading the weights, launching kernels.
    pub base: f64,
    /// Of each token of a prompt, computed in that step; those found in the cache cost nothing.
    pub per_prompt_token: f64,
    /// Of each sequence that decodes.
    pub per_sequence: f64,
    /// Of each token whose keys and values are read for a sequence that decodes.
    pub per_context_token: f64,
}

/// One engine: its memory, its batch and the cost of its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineConfig {
    /// Blocks of KV cache.
    pub blocks: u32,
    /// Tokens in a block.
    pub block_tokens: u32,
    /// Sequences in a step at most.
    pub max_sequences: u32,
    /// Tokens computed in a step at most, of prompts and of sequences that decode. With [`Prefill::Whole`] a prompt that
    /// is longer has a step of its own.
    pub max_step_tokens: u32,
    /// How prompts share steps with the sequences that decode.
    pub prefill: Prefill,
    /// Whether full blocks are kept for prompts that begin alike.
    pub prefix_cache: bool,
    /// How long a step takes.
    pub cost: StepCost,
}

impl Default for EngineConfig {
    /// 8192 blocks of 16 tokens, 256 sequences and 2048 tokens a step, chunked prefill and a prefix cache; 8 ms a step,
    /// 60 µs a token of a prompt, 50 µs a sequence and 40 ns a token of context: about a model of eight billion
    /// parameters on one GPU of a data centre. Measure your own.
    fn default() -> Self {
        EngineConfig {
            blocks: 8192,
            block_tokens: 16,
            max_sequences: 256,
            max_step_tokens: 2048,
            prefill: Prefill::Chunked,
            prefix_cache: true,
            cost: StepCost {
                base: 8e-3,
                per_prompt_token: 60e-6,
                per_sequence: 50e-6,
                per_context_token: 40e-9,
            },
        }
    }
}

impl EngineConfig {
    /// The blocks of a sequence of so many tokens.
    pub(super) fn blocks_for(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.block_tokens)
    }

    fn check(&self) -> Result<(), CapacityError> {
        for (name, value) in [
            ("the number of blocks", self.blocks),
            ("the number of tokens in a block", self.block_tokens),
            ("the most sequences in a step", self.max_sequences),
            ("the most tokens in a step", self.max_step_tokens),
        ] {
            at_least_one(name, value)?;
        }
        if self.max_step_tokens < self.max_sequences {
            return Err(CapacityError::Contradiction {
                larger: "the most tokens in a step",
                larger_value: f64::from(self.max_step_tokens),
                smaller: "the most sequences in it",
                smaller_value: f64::from(self.max_sequences),
                remedy: "each sequence that decodes takes a token of the step",
            });
        }
        for (name, seconds) in [
            ("the cost of a step", self.cost.base),
            ("the cost of a prompt token", self.cost.per_prompt_token),
            ("the cost of a sequence", self.cost.per_sequence),
            ("the cost of a context token", self.cost.per_context_token),
        ] {
            check::within(name, seconds, 0.0..=1e6, "seconds, from 0 to 1e6")?;
        }
        Ok(())
    }
}

/// Who prefills and who decodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// Every engine does both.
    Mixed {
        /// How many.
        engines: u32,
    },
    /// Some prefill and hand over; the others decode, and are chosen by the fewest requests under way.
    Disaggregated {
        /// How many prefill.
        prefill: u32,
        /// How many decode.
        decode: u32,
        /// What handing over takes.
        transfer: Transfer,
    },
}

/// What it takes to send the keys and values of a prompt to another engine, over a link that each prefilling engine has
/// for itself: one prompt after the other. Its blocks stay taken until all has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Seconds that each transfer takes at least.
    pub latency: f64,
    /// Seconds for each block: its bytes over the bandwidth.
    pub per_block: f64,
}

/// Who gets a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// One after the other.
    RoundRobin,
    /// Who has the fewest requests under way.
    LeastLoaded,
    /// Who has the longest part of the prompt in its prefix cache; among equals, who has the fewest requests under way.
    ///
    /// Popular prefixes then pile up on the engine that has them, which `most_ahead` bounds: no engine is given a request
    /// while it has more than this many under way above the one with the fewest. `None` lets them pile up.
    PrefixAware {
        /// The bound.
        most_ahead: Option<u32>,
    },
}

/// Engines and who gets which request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterConfig {
    /// What each engine is.
    pub engine: EngineConfig,
    /// How many there are, and who does what.
    pub layout: Layout,
    /// Who gets a request.
    pub routing: Routing,
}

impl ClusterConfig {
    /// One engine alone.
    #[must_use]
    pub const fn single(engine: EngineConfig) -> Self {
        ClusterConfig {
            engine,
            layout: Layout::Mixed { engines: 1 },
            routing: Routing::RoundRobin,
        }
    }

    pub(super) fn check(&self) -> Result<(), CapacityError> {
        self.engine.check()?;
        match self.layout {
            Layout::Mixed { engines } => at_least_one("the number of engines", engines),
            Layout::Disaggregated {
                prefill,
                decode,
                transfer,
            } => {
                at_least_one("the number of engines that prefill", prefill)?;
                at_least_one("the number of engines that decode", decode)?;
                for (name, seconds) in [
                    ("the latency of a transfer", transfer.latency),
                    ("the transfer of a block", transfer.per_block),
                ] {
                    check::within(name, seconds, 0.0..=1e6, "seconds, from 0 to 1e6")?;
                }
                Ok(())
            }
        }
    }
}

fn at_least_one(name: &'static str, value: u32) -> Result<(), CapacityError> {
    check::within(
        name,
        f64::from(value),
        1.0..=f64::from(u32::MAX),
        "at least 1",
    )
    .map(drop)
}
