//! What came out, and what engines were doing.

use super::record::Completion;
use super::request::Refused;
use std::time::Duration;

/// What an engine is doing, and what it has done so far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EngineReport {
    /// Sequences in the batch.
    pub running: usize,
    /// Sequences in the queue.
    pub waiting: usize,
    /// Blocks of KV cache.
    pub blocks: u32,
    /// Of these, used by sequences, or by prompts that have not been handed over yet.
    pub used_blocks: u32,
    /// Blocks that a prompt could find, used or not.
    pub cached_blocks: u32,
    /// Requests that were routed here.
    pub requests: u64,
    /// Steps that have ended.
    pub steps: u64,
    /// Time spent in them.
    pub busy: Duration,
    /// ρ, the share of all time that was spent in them; `None` before time has gone on.
    pub utilisation: Option<f64>,
    /// Sequences in a step, in the mean over steps.
    pub mean_batch: Option<f64>,
    /// Sequences in the largest step.
    pub largest_batch: u32,
    /// Used blocks, in the mean over time.
    pub mean_used_blocks: Option<f64>,
    /// Used blocks at most.
    pub most_used_blocks: u32,
    /// How often a sequence lost its blocks.
    pub preemptions: u64,
    /// Blocks of prompts that were looked up in the prefix cache.
    pub looked_up_blocks: u64,
    /// Of these, found.
    pub found_blocks: u64,
}

/// What came of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Every request that was served, in the order in which they finished.
    pub completions: Vec<Completion>,
    /// Every request that was not taken, and why.
    pub refused: Vec<Refused>,
    /// Every engine: of a disaggregated cluster first those that prefill.
    pub engines: Vec<EngineReport>,
    /// When the last request had finished.
    pub elapsed: Duration,
}

/// What an engine counts.
#[derive(Debug, Default)]
pub(super) struct Meter {
    pub(super) requests: u64,
    pub(super) preemptions: u64,
    pub(super) lookups: u64,
    pub(super) hits: u64,
    steps: u64,
    busy: Duration,
    sequences: u64,
    largest_batch: u32,
    used_blocks: u32,
    since: Duration,
    block_seconds: f64,
    most_used_blocks: u32,
}

impl Meter {
    /// A step has ended.
    pub(super) fn step(&mut self, length: Duration, batch: u32) {
        self.steps += 1;
        self.busy += length;
        self.sequences += u64::from(batch);
        self.largest_batch = self.largest_batch.max(batch);
    }

    /// So many blocks are used from now on.
    pub(super) fn blocks(&mut self, now: Duration, used: u32) {
        self.block_seconds += f64::from(self.used_blocks) * (now - self.since).as_secs_f64();
        self.since = now;
        self.used_blocks = used;
        self.most_used_blocks = self.most_used_blocks.max(used);
    }

    /// What was counted; the state of the engine is to be filled in.
    pub(super) fn report(&self, now: Duration) -> EngineReport {
        let elapsed = now.as_secs_f64();
        let over_time = |sum: f64| (elapsed > 0.0).then(|| sum / elapsed);
        let last = f64::from(self.used_blocks) * (now - self.since).as_secs_f64();
        EngineReport {
            running: 0,
            waiting: 0,
            blocks: 0,
            used_blocks: self.used_blocks,
            cached_blocks: 0,
            requests: self.requests,
            steps: self.steps,
            busy: self.busy,
            utilisation: over_time(self.busy.as_secs_f64()),
            mean_batch: (self.steps > 0).then(|| self.sequences as f64 / self.steps as f64),
            largest_batch: self.largest_batch,
            mean_used_blocks: over_time(self.block_seconds + last),
            most_used_blocks: self.most_used_blocks,
            preemptions: self.preemptions,
            looked_up_blocks: self.lookups,
            found_blocks: self.hits,
        }
    }
}
