//! What became of a request.

use super::request::Request;
use std::time::Duration;

/// A request that has been served. All times run from its arrival, where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// Of the request.
    pub id: u64,
    /// Of the request.
    pub prompt_tokens: u32,
    /// Of the request.
    pub output_tokens: u32,
    /// When it arrived, from the start of the simulation.
    pub arrived: Duration,
    /// Which engine had it first.
    pub engine: u32,
    /// Which engine decoded it.
    pub decoded_by: u32,
    /// Until its first step began.
    pub queue_wait: Duration,
    /// TTFT, until its first token.
    pub time_to_first_token: Duration,
    /// Until its last token.
    pub end_to_end: Duration,
    /// The longest time between two tokens that followed each other; 0 where there was one token.
    pub longest_gap: Duration,
    /// How long its keys and values took from one engine to the other, the wait for the link included.
    pub transfer: Duration,
    /// How often it lost its blocks.
    pub preemptions: u32,
    /// Blocks of its prompt that it found in the cache when it was admitted first.
    pub cached_blocks: u32,
}

impl Completion {
    /// TPOT, the mean time between tokens: (end to end − TTFT) / (tokens − 1); `None` where there was one token.
    #[must_use]
    pub fn time_per_output_token(&self) -> Option<Duration> {
        let gaps = self.output_tokens - 1;
        (gaps > 0).then(|| (self.end_to_end - self.time_to_first_token) / gaps)
    }
}

/// What is known of a request while it is under way.
#[derive(Debug)]
pub(super) struct Record {
    /// Tells apart requests that have had the same id.
    pub(super) serial: u64,
    /// Where it is.
    pub(super) engine: usize,
    started: Option<Duration>,
    last_token: Duration,
    so_far: Completion,
    pub(super) tokens: u32,
}

impl Record {
    pub(super) fn new(serial: u64, request: &Request, arrived: Duration, engine: usize) -> Self {
        Record {
            serial,
            engine,
            started: None,
            last_token: arrived,
            tokens: 0,
            so_far: Completion {
                id: request.id,
                prompt_tokens: request.prompt_tokens,
                output_tokens: request.output_tokens,
                arrived,
                engine: engine as u32,
                decoded_by: engine as u32,
                queue_wait: Duration::ZERO,
                time_to_first_token: Duration::ZERO,
                end_to_end: Duration::ZERO,
                longest_gap: Duration::ZERO,
                transfer: Duration::ZERO,
                preemptions: 0,
                cached_blocks: 0,
            },
        }
    }

    pub(super) fn admitted(&mut self, now: Duration, cached_blocks: u32) {
        if self.started.is_none() {
            self.started = Some(now);
            self.so_far.queue_wait = now - self.so_far.arrived;
            self.so_far.cached_blocks = cached_blocks;
        }
    }

    pub(super) fn token(&mut self, now: Duration) {
        if self.tokens == 0 {
            self.so_far.time_to_first_token = now - self.so_far.arrived;
        } else {
            self.so_far.longest_gap = self.so_far.longest_gap.max(now - self.last_token);
        }
        self.tokens += 1;
        self.last_token = now;
    }

    pub(super) fn prompt_tokens(&self) -> u32 {
        self.so_far.prompt_tokens
    }

    /// Whether there are more tokens to come.
    pub(super) fn has_more(&self) -> bool {
        self.tokens < self.so_far.output_tokens
    }

    pub(super) fn preempted(&mut self) {
        self.so_far.preemptions += 1;
    }

    pub(super) fn handed_over(&mut self, to: usize, transfer: Duration) {
        self.engine = to;
        self.so_far.decoded_by = to as u32;
        self.so_far.transfer = transfer;
    }

    pub(super) fn completed(self, now: Duration) -> Completion {
        Completion {
            end_to_end: now - self.so_far.arrived,
            ..self.so_far
        }
    }
}
