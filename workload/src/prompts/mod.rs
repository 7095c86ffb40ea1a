//! Prompts for language models, without a tokenizer.
//!
//! | I want … | look at |
//! | --- | --- |
//! | prompts and answers of realistic lengths | [`Prompts::new`] |
//! | a prefix cache to hit so much | [`Prompts::with_hit_share`] |
//! | prompts that share system prompts, tools and documents | [`PrefixTree`] |
//! | to know what a cache will hit before the run | [`Prompts::hit_share`], [`Prompts::cold_hit_share`] |
//! | conversations, with a context that grows | [`Conversations`] |
//! | the prompts of a recorded trace | [`TracePrompts`] |
//! | no help from what an earlier run left in the cache | [`Nonce`] |
//! | text, messages or token ids to send | [`Prompt`], [`Vocabulary`] |
//! | to know what the server made of it | [`Achieved`] |
//!
//! A [`Prompt`] is a list of contents and their lengths, made in less than a microsecond; its text is written when it
//! is sent. What it says has no meaning. A model takes as long for it as for any other text of its length, but where
//! what it says decides how fast it runs: with speculative decoding, whose guesses fail more often on words drawn at
//! random, and with experts chosen by the token.

mod achieved;
mod conversations;
mod error;
mod from_trace;
mod nonce;
mod prompt;
mod single;
mod tree;
mod vocabulary;
mod words;

pub use achieved::{Achieved, AchievedSummary, Agreement, CachedShare, Usage};
pub use conversations::Conversations;
pub use error::PromptsError;
pub use from_trace::TracePrompts;
pub use nonce::Nonce;
pub use prompt::{Message, Prompt, Role, Segment};
pub use single::Prompts;
pub use tree::{Cache, Level, PrefixTree};
pub use vocabulary::Vocabulary;

use crate::Values;
use crate::sessions::largest;

/// The most tokens that a part of a prompt may have, 2²⁴: some times the longest contexts there are.
const MOST_TOKENS: u32 = 1 << 24;

/// Whether all lengths that are ever drawn are within [`MOST_TOKENS`].
fn check_tokens(part: &'static str, law: &Values) -> Result<(), PromptsError> {
    let tokens = largest(law);
    if tokens > f64::from(MOST_TOKENS) {
        return Err(PromptsError::TooLong { part, tokens });
    }
    Ok(())
}
