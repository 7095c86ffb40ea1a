//! What is asked.

/// A prompt, and how many tokens will be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// By which it is known; free again when it has finished.
    pub id: u64,
    /// Tokens of the prompt.
    pub prompt_tokens: u32,
    /// Tokens of the answer.
    pub output_tokens: u32,
    /// What the first blocks hold, of the prompt and, as far as somebody may go on from it, of the answer: equal hashes
    /// mean equal tokens in the block *and in all before it*, as in vLLM and in Mooncake's traces. Blocks without one are
    /// not cached.
    pub block_hashes: Vec<u64>,
}

impl Request {
    /// A prompt that has nothing in common with any other.
    #[must_use]
    pub const fn new(id: u64, prompt_tokens: u32, output_tokens: u32) -> Self {
        Request {
            id,
            prompt_tokens,
            output_tokens,
            block_hashes: Vec::new(),
        }
    }

    /// The same with the hashes of its first blocks.
    #[must_use]
    pub fn with_block_hashes(self, block_hashes: Vec<u64>) -> Self {
        Request {
            block_hashes,
            ..self
        }
    }

    /// Tokens whose keys and values are kept at the end: those of the last one are never needed. `None` where they cannot
    /// be counted.
    pub(super) fn longest(&self) -> Option<u32> {
        Some(self.prompt_tokens.checked_add(self.output_tokens)? - 1)
    }
}

/// Why a request is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// No prompt, or no answer.
    #[error(
        "request {id} has {prompt_tokens} tokens of prompt and {output_tokens} of output: give 1 or more of both"
    )]
    Empty {
        /// Of the request.
        id: u64,
        /// Of the request.
        prompt_tokens: u32,
        /// Of the request.
        output_tokens: u32,
    },
    /// It would never fit.
    #[error(
        "request {id} needs {needed} blocks at its end, and an engine has {blocks}: shorten it, or give more blocks"
    )]
    TooLong {
        /// Of the request.
        id: u64,
        /// Blocks that it takes at its end.
        needed: u32,
        /// Blocks of an engine.
        blocks: u32,
    },
    /// A request of this id is under way.
    #[error("request {id} is under way: give each request an id of its own")]
    Duplicate {
        /// Of both.
        id: u64,
    },
    /// Simulated time has gone on.
    #[error("request {id} would arrive in the past: submit requests in the order of their arrival")]
    Past {
        /// Of the request.
        id: u64,
    },
}
