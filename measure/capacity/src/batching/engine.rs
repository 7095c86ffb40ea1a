//! One engine: a queue, a batch and its blocks.

use super::blocks::Blocks;
use super::config::{EngineConfig, Prefill};
use super::report::Meter;
use super::request::Request;
use super::sequence::{Sequence, Task};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// What a step did for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// Its first step begins, with so many blocks from the cache.
    Admit { cached_blocks: u32 },
    /// A token of the answer.
    Token,
    /// It lost its blocks, and waits.
    Preempt,
    /// It is done here.
    Finish,
}

#[derive(Debug)]
pub(super) struct Engine {
    config: EngineConfig,
    blocks: Blocks,
    waiting: VecDeque<Sequence>,
    /// In the order of admission.
    running: Vec<Sequence>,
    /// Blocks of prompts that are done and not yet fetched.
    held: HashMap<u64, Sequence>,
    /// When the step under way began, and with how many.
    step: Option<(Duration, u32)>,
    pub(super) meter: Meter,
}

impl Engine {
    pub(super) fn new(config: EngineConfig) -> Self {
        Engine {
            config,
            blocks: Blocks::new(config.blocks),
            waiting: VecDeque::new(),
            running: Vec::new(),
            held: HashMap::new(),
            step: None,
            meter: Meter::default(),
        }
    }

    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn submit(&mut self, sequence: Sequence) {
        self.waiting.push_back(sequence);
    }

    /// Gives a request up, wherever it is.
    pub(super) fn cancel(&mut self, now: Duration, id: u64) {
        self.waiting.retain(|sequence| sequence.request.id != id);
        if let Some(at) = self
            .running
            .iter()
            .position(|sequence| sequence.request.id == id)
        {
            let sequence = self.running.remove(at);
            self.blocks.release(&sequence.table);
        }
        self.fetched(now, id);
    }

    /// Lets go of the blocks of a prompt that has been handed over.
    pub(super) fn fetched(&mut self, now: Duration, id: u64) -> Option<Request> {
        let sequence = self.held.remove(&id);
        if let Some(sequence) = &sequence {
            self.blocks.release(&sequence.table);
        }
        self.meter.blocks(now, self.blocks.used());
        sequence.map(|sequence| sequence.request)
    }

    /// Begins a step, where none is under way and there is something to do, and says how long it takes.
    pub(super) fn begin(&mut self, now: Duration, did: &mut Vec<(u64, Did)>) -> Option<Duration> {
        if self.step.is_some() {
            return None;
        }
        let mut budget = self.config.max_step_tokens;
        match self.config.prefill {
            Prefill::Chunked => {
                if !self.extend(&mut budget, did) {
                    self.admit(&mut budget, did);
                }
            }
            Prefill::Whole => {
                self.admit(&mut budget, did);
                let prefills = |sequence: &Sequence| sequence.scheduled > 0 && !sequence.decodes();
                if !self.running.iter().any(prefills) {
                    self.extend(&mut budget, did);
                }
            }
        }
        self.meter.blocks(now, self.blocks.used());
        let cost = self.config.cost;
        let mut seconds = cost.base;
        let mut batch = 0;
        for sequence in self
            .running
            .iter()
            .filter(|sequence| sequence.scheduled > 0)
        {
            batch += 1;
            seconds += if sequence.decodes() {
                cost.per_sequence + cost.per_context_token * f64::from(sequence.known())
            } else {
                cost.per_prompt_token * f64::from(sequence.scheduled)
            };
        }
        if batch == 0 {
            return None;
        }
        self.step = Some((now, batch));
        // A step that took no time would never end.
        let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(length.max(Duration::from_nanos(1)))
    }

    /// Ends the step: what was scheduled is computed.
    pub(super) fn finish(&mut self, now: Duration, did: &mut Vec<(u64, Did)>) {
        if let Some((began, batch)) = self.step.take() {
            self.meter.step(now - began, batch);
        }
        let (config, blocks) = (&self.config, &mut self.blocks);
        for sequence in &mut self.running {
            if sequence.scheduled == 0 {
                continue;
            }
            let full = sequence.computed / config.block_tokens;
            sequence.computed += std::mem::take(&mut sequence.scheduled);
            if config.prefix_cache {
                let newly = full as usize..(sequence.computed / config.block_tokens) as usize;
                let hashes = sequence.request.block_hashes.iter().zip(&sequence.table);
                for (hash, id) in hashes.take(newly.end).skip(newly.start) {
                    blocks.fill(*id, *hash);
                }
            }
            if sequence.remaining() == 0 {
                sequence.generated += 1;
                did.push((sequence.request.id, Did::Token));
            }
        }
        for sequence in self
            .running
            .extract_if(.., |sequence| sequence.is_finished())
        {
            let id = sequence.request.id;
            if sequence.task == Task::Prefill {
                self.held.insert(id, sequence);
            } else {
                self.blocks.release(&sequence.table);
            }
            did.push((id, Did::Finish));
        }
        self.meter.blocks(now, self.blocks.used());
    }

    /// Schedules those that run, each for its next token or the next piece of its prompt; says whether one was preempted.
    fn extend(&mut self, budget: &mut u32, did: &mut Vec<(u64, Did)>) -> bool {
        let mut preempted = false;
        let mut at = 0;
        while *budget > 0
            && let Some(sequence) = self.running.get_mut(at)
        {
            if sequence.scheduled > 0 {
                at += 1;
                continue;
            }
            let tokens = sequence.remaining().min(*budget);
            let needed = self.config.blocks_for(sequence.computed + tokens);
            let missing = needed.saturating_sub(sequence.table.len() as u32);
            if missing <= self.blocks.idle() {
                sequence
                    .table
                    .extend((0..missing).filter_map(|_| self.blocks.take()));
                sequence.scheduled = tokens;
                *budget -= tokens;
                at += 1;
            } else if let Some(last) = self.running.pop() {
                // Who came last has to go; at worst that is the one that needs more.
                preempted = true;
                did.push((last.request.id, Did::Preempt));
                self.preempt(last);
            }
        }
        preempted
    }

    fn preempt(&mut self, mut sequence: Sequence) {
        self.meter.preemptions += 1;
        self.blocks.release(&sequence.table);
        sequence.table.clear();
        sequence.computed = 0;
        sequence.scheduled = 0;
        self.waiting.push_front(sequence);
    }

    /// Takes from the queue what fits.
    fn admit(&mut self, budget: &mut u32, did: &mut Vec<(u64, Did)>) {
        let mut any = false;
        while *budget > 0
            && self.running.len() < self.config.max_sequences as usize
            && let Some(sequence) = self.waiting.front()
        {
            let cached = self.cached(sequence);
            let start = sequence
                .computed
                .max(cached.len() as u32 * self.config.block_tokens);
            let left = sequence.known() - start;
            let tokens = match self.config.prefill {
                Prefill::Whole if left > *budget && any => break,
                Prefill::Whole => left,
                Prefill::Chunked => left.min(*budget),
            };
            let missing = self.config.blocks_for(start + tokens) - cached.len() as u32;
            if missing > self.blocks.idle() - self.blocks.idle_among(&cached) {
                break;
            }
            let Some(mut sequence) = self.waiting.pop_front() else {
                break;
            };
            if sequence.computed == 0 && self.config.prefix_cache {
                self.meter.lookups += u64::from(self.usable(&sequence));
                self.meter.hits += cached.len() as u64;
            }
            cached.iter().for_each(|&id| self.blocks.share(id));
            let cached_blocks = cached.len() as u32;
            sequence.table = cached;
            sequence
                .table
                .extend((0..missing).filter_map(|_| self.blocks.take()));
            sequence.computed = start;
            sequence.scheduled = tokens;
            *budget = budget.saturating_sub(tokens);
            did.push((sequence.request.id, Did::Admit { cached_blocks }));
            self.running.push(sequence);
            any = true;
        }
    }

    /// The blocks of a sequence that could be in the cache: full ones, but not the last token, which has to be computed.
    fn usable(&self, sequence: &Sequence) -> u32 {
        let full = (sequence.known() - 1) / self.config.block_tokens;
        full.min(u32::try_from(sequence.request.block_hashes.len()).unwrap_or(u32::MAX))
    }

    /// Those of them that are.
    fn cached(&self, sequence: &Sequence) -> Vec<u32> {
        if sequence.computed > 0 || !self.config.prefix_cache {
            return Vec::new();
        }
        let usable = self.usable(sequence) as usize;
        self.blocks
            .leading(&sequence.request.block_hashes[..usable])
    }
}
