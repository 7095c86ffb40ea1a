//! What the server counted.

use serde::Deserialize;
use serde::de::Deserializer;

/// What the server says that it counted: `usage`, wherever in the answer it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the prompt: `prompt_tokens`.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, those of reasoning included: `completion_tokens`.
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that its cache knew: `prompt_tokens_details.cached_tokens`, or llama-server's
    /// `timings.cache_n`.
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer that were reasoning: `completion_tokens_details.reasoning_tokens`.
    pub reasoning_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Raw {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// SGLang's place for them.
    reasoning_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl<'de> Deserialize<'de> for Usage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let of_answer = raw.completion_tokens_details;
        Ok(Usage {
            input_tokens: raw.prompt_tokens,
            output_tokens: raw.completion_tokens,
            cached_tokens: raw
                .prompt_tokens_details
                .and_then(|details| details.cached_tokens),
            reasoning_tokens: of_answer
                .and_then(|details| details.reasoning_tokens)
                .or(raw.reasoning_tokens),
        })
    }
}

/// Where the number of output tokens of an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenSource {
    /// The server's `usage`.
    Usage,
    /// The chunks, each of which told how many it had.
    Chunks,
    /// One for each chunk, which is what most servers send; nothing says that it is so.
    Assumed,
}

impl TokenSource {
    /// The name of the count of answers with it: `tokens_from_usage`, `tokens_from_chunks` or `tokens_assumed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TokenSource::Usage => "tokens_from_usage",
            TokenSource::Chunks => "tokens_from_chunks",
            TokenSource::Assumed => "tokens_assumed",
        }
    }
}
