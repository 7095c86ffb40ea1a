//! Prompts with the lengths and the repetitions of a recorded trace.

use std::collections::HashSet;
use std::sync::Arc;

use super::prompt::{Prompt, Role, Segment};
use super::{MOST_TOKENS, Nonce, PromptsError};
use crate::seed::{named, numbered};
use crate::traces::{Trace, TraceRequest};

/// Prompts with the lengths and the repetitions of a recorded trace.
///
/// Request number k has the input and output length of the trace's request k. Where the trace has hash ids, each stands
/// for a block of tokens (512 for Mooncake, 16 for Bailian): the same id is the same block in every prompt, so that a
/// server's prefix cache finds what the recorded one could find. Tokens past the last id, and all tokens of traces
/// without ids, are the request's own.
///
/// A block of the trace is a block of the server only where the blocks of both begin at the same tokens: send token
/// ids, or expect the chat template and the first word to shift text by a few tokens.
///
/// ```
/// use openloop_workload::prompts::{Nonce, TracePrompts};
/// use openloop_workload::traces::Trace;
///
/// let file = r#"{"timestamp": 0, "input_length": 1300, "output_length": 52, "hash_ids": [46, 47, 48]}
/// {"timestamp": 3000, "input_length": 1100, "output_length": 26, "hash_ids": [46, 47, 99]}"#;
/// let prompts = TracePrompts::new(Trace::read(file.as_bytes())?, Nonce::None)?;
/// let (one, two) = (prompts.prompt(7, 0).ok_or("first")?, prompts.prompt(7, 1).ok_or("second")?);
/// assert_eq!((two.input_tokens(), two.output_tokens, two.shared_tokens), (1100, 26, 1024));
/// let words = |prompt: &str| prompt.split(' ').take(1024).collect::<Vec<_>>().join(" ");
/// assert_eq!(words(&one.text()), words(&two.text()));
/// assert!(prompts.prompt(7, 2).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TracePrompts {
    trace: Arc<Trace>,
    nonce: Nonce,
    /// How many tokens a hash id stands for.
    block: u32,
    /// Of each request, how many tokens at its start were in whole blocks of earlier ones.
    shared: Arc<[u32]>,
}

impl TracePrompts {
    /// Prompts of this trace.
    ///
    /// # Errors
    /// When a request has no input or output length, one of 0 or above 2²⁴ tokens, or more hash ids than its input has
    /// blocks. Requests without an answer are left out by
    /// [`without_empty_output`](Trace::without_empty_output).
    pub fn new(trace: impl Into<Arc<Trace>>, nonce: Nonce) -> Result<Self, PromptsError> {
        let trace = trace.into();
        let block = trace.format().block_tokens();
        Self::checked(trace, block, nonce)
    }

    /// Prompts of this trace, whose hash ids stand for `block` tokens each, whatever its format says: 0 counts as 1.
    ///
    /// # Errors
    /// As for [`new`](TracePrompts::new).
    pub fn with_blocks(
        trace: impl Into<Arc<Trace>>,
        block: u32,
        nonce: Nonce,
    ) -> Result<Self, PromptsError> {
        Self::checked(trace.into(), Some(block.max(1)), nonce)
    }

    fn checked(trace: Arc<Trace>, block: Option<u32>, nonce: Nonce) -> Result<Self, PromptsError> {
        let (mut seen, mut shared) = (HashSet::<u64>::new(), Vec::with_capacity(trace.len()));
        for (index, request) in trace.requests().iter().enumerate() {
            check(request, block).map_err(|problem| PromptsError::Request {
                index,
                line: request.line,
                problem,
            })?;
            let (input, block) = (tokens(request.input_tokens), block.unwrap_or(1));
            let whole = request.hash_ids.iter().take((input / block) as usize);
            let known = whole.take_while(|id| seen.contains(*id)).count();
            // Whole blocks of the input, and so not more than it.
            shared.push(known as u32 * block);
            seen.extend(&request.hash_ids);
        }
        Ok(TracePrompts {
            trace,
            nonce,
            // Without ids it is never asked for.
            block: block.unwrap_or(1),
            shared: shared.into(),
        })
    }

    /// The prompt of request number `seq`; `None` past the end of the trace.
    #[must_use]
    pub fn prompt(&self, seed: u64, seq: u64) -> Option<Prompt> {
        let index = usize::try_from(seq).ok()?;
        let request = self.trace.requests().get(index)?;
        let blocks = named(self.nonce.shared(seed), "block");
        let mut left = tokens(request.input_tokens);
        let mut segments = Vec::with_capacity(request.hash_ids.len() + 1);
        for &id in &request.hash_ids {
            let taken = self.block.min(left);
            left -= taken;
            segments.push(Segment {
                role: Role::User,
                content: numbered(blocks, id),
                tokens: taken,
            });
        }
        if left > 0 {
            segments.push(Segment {
                role: Role::User,
                content: numbered(named(self.nonce.unshared(seed), "unshared"), seq),
                tokens: left,
            });
        }
        Some(Prompt {
            segments,
            output_tokens: tokens(request.output_tokens),
            shared_tokens: self.shared[index],
        })
    }

    /// How many prompts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.trace.len()
    }

    /// Whether there is no prompt.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trace.is_empty()
    }

    /// The share of all input tokens that an endless cache hits when the trace is sent in its order, in blocks of the
    /// trace; 0 for an empty one.
    #[must_use]
    pub fn hit_share(&self) -> f64 {
        let hits: u64 = self.shared.iter().map(|&tokens| u64::from(tokens)).sum();
        let input = self.trace.requests().iter();
        let input: u64 = input.filter_map(|request| request.input_tokens).sum();
        if input == 0 {
            return 0.0;
        }
        hits as f64 / input as f64
    }

    /// The trace.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

/// A length that has been checked.
fn tokens(length: Option<u64>) -> u32 {
    length
        .and_then(|tokens| u32::try_from(tokens).ok())
        .unwrap_or_default()
}

/// What is wrong with a request.
fn check(request: &TraceRequest, block: Option<u32>) -> Result<(), &'static str> {
    let most = u64::from(MOST_TOKENS);
    let input = request.input_tokens.ok_or("no input length")?;
    let output = request.output_tokens.ok_or("no output length")?;
    if input == 0 {
        return Err("an input of 0 tokens");
    }
    if output == 0 {
        return Err("an answer of 0 tokens");
    }
    if input > most || output > most {
        return Err("more than 16777216 tokens");
    }
    let ids = request.hash_ids.len() as u64;
    match block {
        None if ids > 0 => Err("hash ids, of blocks whose length its format does not tell"),
        Some(block) if ids > input.div_ceil(u64::from(block)) => {
            Err("more hash ids than its input has blocks")
        }
        _ => Ok(()),
    }
}
