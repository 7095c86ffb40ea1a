//! What a client has received, while it receives it.

use openloop_workload::prompts::{Achieved, AchievedSummary, Prompt};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What one or several clients have received so far. A cheap handle: clones count together.
///
/// Tokens count when they come, not when their answer is whole: those of an answer that was given up as well. So the
/// difference of two looks over the time between them is the rate of tokens in that time.
#[derive(Clone, Debug, Default)]
pub struct Totals(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    given_up: AtomicU64,
    given_up_tokens: AtomicU64,
    achieved: Mutex<Achieved>,
}

impl Totals {
    /// Tokens of the prompts whose answers are whole, as the server counted them.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.0.input_tokens.load(Relaxed)
    }

    /// Tokens that came. A chunk that does not tell how many it has counts as one until its answer is whole, and the
    /// rest then.
    #[must_use]
    pub fn output_tokens(&self) -> u64 {
        self.0.output_tokens.load(Relaxed)
    }

    /// Calls that were dropped before their end, by a limit on their time: their streams were closed.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.0.given_up.load(Relaxed)
    }

    /// Tokens that these had received.
    #[must_use]
    pub fn given_up_tokens(&self) -> u64 {
        self.0.given_up_tokens.load(Relaxed)
    }

    /// Lengths asked for beside lengths achieved, of the answers that are whole.
    #[must_use]
    pub fn achieved(&self) -> AchievedSummary {
        self.0.achieved.lock().summary()
    }

    pub(crate) fn came(&self, tokens: u64) {
        self.0.output_tokens.fetch_add(tokens, Relaxed);
    }

    pub(crate) fn gave_up(&self, tokens: u64) {
        self.0.given_up.fetch_add(1, Relaxed);
        self.0.given_up_tokens.fetch_add(tokens, Relaxed);
    }

    pub(crate) fn asked(&self, tokens: u64) {
        self.0.input_tokens.fetch_add(tokens, Relaxed);
    }

    pub(crate) fn achieve(&self, prompt: &Prompt, usage: openloop_workload::prompts::Usage) {
        self.0.achieved.lock().record(prompt, usage);
    }
}
