//! Engines, requests and virtual time.

use super::config::{ClusterConfig, Layout, Routing, Transfer};
use super::engine::{Did, Engine};
use super::event::{Event, EventKind};
use super::link::Link;
use super::record::{Completion, Record};
use super::report::{EngineReport, Outcome};
use super::request::{Refused, Request};
use super::routing::{Candidate, Router};
use super::sequence::{Sequence, Task};
use crate::CapacityError;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

/// Engines, and the requests that are under way in them.
///
/// For a whole simulation there is [`Cluster::run`]. Step by step: [`submit`](Cluster::submit) requests as they arrive,
/// wait until [`next_event`](Cluster::next_event) on whatever clock there is, and [`advance`](Cluster::advance) to it.
///
/// ```
/// use openloop_capacity::batching::{Cluster, ClusterConfig, EngineConfig, EventKind, Request};
/// use std::time::Duration;
///
/// let mut cluster = Cluster::new(ClusterConfig::single(EngineConfig::default()))?;
/// cluster.submit(Duration::ZERO, Request::new(1, 1000, 2))?;
/// let mut tokens = 0;
/// while let Some(at) = cluster.next_event() {
///     // A server would sleep until `at` here, and take requests meanwhile.
///     for event in cluster.advance(at) {
///         tokens += u32::from(matches!(event.kind, EventKind::Token { .. }));
///     }
/// }
/// assert_eq!(tokens, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cluster {
    config: ClusterConfig,
    /// Those that prefill first.
    engines: Vec<Engine>,
    under_way: Vec<u32>,
    /// Of each engine that hands over.
    links: Vec<Link>,
    router: Router,
    decoders: Router,
    records: HashMap<u64, Record>,
    agenda: BinaryHeap<Reverse<(Duration, u64, What)>>,
    serial: u64,
    now: Duration,
    happened: Vec<Event>,
}

/// What is going to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    StepEnds {
        engine: usize,
    },
    KvArrives {
        id: u64,
        serial: u64,
        from: usize,
        to: usize,
    },
}

impl Cluster {
    /// Idle engines, at time 0.
    ///
    /// # Errors
    /// When something of which there has to be one is 0, when a cost is NaN, negative or above 10⁶ seconds, or when a step
    /// has fewer tokens than sequences.
    pub fn new(config: ClusterConfig) -> Result<Self, CapacityError> {
        config.check()?;
        let (count, links) = match config.layout {
            Layout::Mixed { engines } => (engines, 0),
            Layout::Disaggregated {
                prefill, decode, ..
            } => (prefill.saturating_add(decode), prefill),
        };
        Ok(Cluster {
            config,
            engines: (0..count).map(|_| Engine::new(config.engine)).collect(),
            under_way: vec![0; count as usize],
            links: vec![Link::default(); links as usize],
            router: Router::new(config.routing),
            decoders: Router::new(Routing::LeastLoaded),
            records: HashMap::new(),
            agenda: BinaryHeap::new(),
            serial: 0,
            now: Duration::ZERO,
            happened: Vec::new(),
        })
    }

    /// The time up to which has been simulated.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Serves all of these, each at its time, which must not go back, and then waits for the last of them.
    ///
    /// What had been submitted before is served as well. Requests that are not taken are in [`Outcome::refused`].
    pub fn run(&mut self, requests: impl IntoIterator<Item = (Duration, Request)>) -> Outcome {
        let mut outcome = Outcome::default();
        for (at, request) in requests {
            if let Err(refused) = self.submit(at, request) {
                outcome.refused.push(refused);
            }
            self.collect(&mut outcome);
        }
        while let Some(at) = self.next_event() {
            self.run_to(at);
            self.collect(&mut outcome);
        }
        outcome.engines = self.engines();
        outcome.elapsed = self.now;
        outcome
    }

    fn collect(&mut self, outcome: &mut Outcome) {
        let finished = self
            .happened
            .drain(..)
            .filter_map(|event| match event.kind {
                EventKind::Finished(completion) => Some(completion),
                _ => None,
            });
        outcome.completions.extend(finished);
    }

    /// A request arrives. Time goes on until then; what happens meanwhile is told by the next [`Cluster::advance`].
    ///
    /// # Errors
    /// When it is empty, would never fit, has the id of one that is under way, or arrives in the past.
    pub fn submit(&mut self, at: Duration, request: Request) -> Result<(), Refused> {
        let id = request.id;
        if request.prompt_tokens == 0 || request.output_tokens == 0 {
            let Request {
                prompt_tokens,
                output_tokens,
                ..
            } = request;
            return Err(Refused::Empty {
                id,
                prompt_tokens,
                output_tokens,
            });
        }
        let engine = &self.config.engine;
        let needed = request
            .longest()
            .map_or(u32::MAX, |tokens| engine.blocks_for(tokens));
        let blocks = engine.blocks;
        if needed > blocks || needed == u32::MAX {
            return Err(Refused::TooLong { id, needed, blocks });
        }
        if at < self.now {
            return Err(Refused::Past { id });
        }
        self.run_to(at);
        if self.records.contains_key(&id) {
            return Err(Refused::Duplicate { id });
        }
        let (first, task) = match self.links.len() {
            0 => (&self.engines[..], Task::Whole),
            prefill => (&self.engines[..prefill], Task::Prefill),
        };
        let candidates: Vec<_> = first
            .iter()
            .zip(&self.under_way)
            .map(|(engine, &under_way)| Candidate {
                under_way,
                cached: engine.blocks().leading(&request.block_hashes).len(),
            })
            .collect();
        let engine = self.router.choose(&candidates);
        self.serial += 1;
        self.records
            .insert(id, Record::new(self.serial, &request, at, engine));
        self.give(engine, Sequence::new(request, task));
        Ok(())
    }

    /// Its client has gone: a request is given up, and its blocks are free at once. Says whether it was under way.
    ///
    /// A time in the past is taken for now.
    pub fn cancel(&mut self, at: Duration, id: u64) -> bool {
        self.run_to(at);
        let Some(record) = self.records.remove(&id) else {
            return false;
        };
        self.under_way[record.engine] -= 1;
        for engine in &mut self.engines {
            engine.cancel(self.now, id);
        }
        true
    }

    /// When something happens next, if no request arrives before; `None` when there is nothing to do.
    pub fn next_event(&mut self) -> Option<Duration> {
        self.begin_steps();
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    /// Lets time go on, and tells what has happened since this was last asked, in order.
    ///
    /// A time in the past is taken for now.
    pub fn advance(&mut self, to: Duration) -> Vec<Event> {
        self.run_to(to);
        std::mem::take(&mut self.happened)
    }

    /// What every engine is doing and has done: of a disaggregated cluster first those that prefill.
    #[must_use]
    pub fn engines(&self) -> Vec<EngineReport> {
        let report = |engine: &Engine| EngineReport {
            running: engine.running(),
            waiting: engine.waiting(),
            blocks: self.config.engine.blocks,
            cached_blocks: engine.blocks().cached(),
            ..engine.meter.report(self.now)
        };
        self.engines.iter().map(report).collect()
    }

    fn give(&mut self, engine: usize, sequence: Sequence) {
        self.under_way[engine] += 1;
        self.engines[engine].meter.requests += 1;
        self.engines[engine].submit(sequence);
    }

    fn run_to(&mut self, to: Duration) {
        loop {
            // Steps begin when time is about to go on, so that they have all that arrives at one instant.
            if self.now < to {
                self.begin_steps();
            }
            match self.agenda.peek() {
                Some(Reverse((at, ..))) if *at <= to => self.now = *at,
                _ => break,
            }
            while let Some(Reverse((at, _, what))) = self.agenda.peek().copied()
                && at == self.now
            {
                self.agenda.pop();
                self.happens(what);
            }
        }
        self.now = self.now.max(to);
    }

    fn plan(&mut self, at: Duration, what: What) {
        self.serial += 1;
        self.agenda.push(Reverse((at, self.serial, what)));
    }

    fn begin_steps(&mut self) {
        let mut did = Vec::new();
        for at in 0..self.engines.len() {
            if let Some(length) = self.engines[at].begin(self.now, &mut did) {
                let ends = self.now.saturating_add(length);
                self.plan(ends, What::StepEnds { engine: at });
            }
            self.note(at, &mut did);
        }
    }

    fn happens(&mut self, what: What) {
        match what {
            What::StepEnds { engine } => {
                let mut did = Vec::new();
                self.engines[engine].finish(self.now, &mut did);
                self.note(engine, &mut did);
            }
            What::KvArrives {
                id,
                serial,
                from,
                to,
            } => {
                if self
                    .records
                    .get(&id)
                    .is_none_or(|record| record.serial != serial)
                {
                    // Given up on the way.
                    return;
                }
                if let Some(request) = self.engines[from].fetched(self.now, id) {
                    self.engines[to].meter.requests += 1;
                    self.engines[to].submit(Sequence::new(request, Task::Decode));
                }
            }
        }
    }

    fn note(&mut self, engine: usize, did: &mut Vec<(u64, Did)>) {
        for (id, did) in did.drain(..) {
            let Some(record) = self.records.get_mut(&id) else {
                continue;
            };
            let kind = match did {
                Did::Admit { cached_blocks } => {
                    record.admitted(self.now, cached_blocks);
                    EventKind::Admitted {
                        engine: engine as u32,
                        cached_blocks,
                    }
                }
                Did::Token => {
                    record.token(self.now);
                    EventKind::Token {
                        number: record.tokens - 1,
                    }
                }
                Did::Preempt => {
                    record.preempted();
                    EventKind::Preempted
                }
                Did::Finish => match self.finish(engine, id) {
                    Some(completion) => EventKind::Finished(completion),
                    None => continue,
                },
            };
            self.happened.push(Event {
                at: self.now,
                id,
                kind,
            });
        }
    }

    /// An engine is done with a request: hands it over, or says what became of it.
    fn finish(&mut self, engine: usize, id: u64) -> Option<Completion> {
        self.under_way[engine] -= 1;
        if let Layout::Disaggregated { transfer, .. } = self.config.layout
            && engine < self.links.len()
        {
            if self.records.get(&id).is_some_and(Record::has_more) {
                self.hand_over(engine, id, transfer);
                return None;
            }
            self.engines[engine].fetched(self.now, id);
        }
        Some(self.records.remove(&id)?.completed(self.now))
    }

    fn hand_over(&mut self, from: usize, id: u64, transfer: Transfer) {
        let first = self.links.len();
        let candidates: Vec<_> = self.under_way[first..]
            .iter()
            .map(|&under_way| Candidate {
                under_way,
                cached: 0,
            })
            .collect();
        let to = first + self.decoders.choose(&candidates);
        let Some(record) = self.records.get_mut(&id) else {
            return;
        };
        let blocks = self.config.engine.blocks_for(record.prompt_tokens());
        let arrives = self.links[from].send(self.now, transfer, blocks);
        record.handed_over(to, arrives - self.now);
        let serial = record.serial;
        self.under_way[to] += 1;
        self.plan(
            arrives,
            What::KvArrives {
                id,
                serial,
                from,
                to,
            },
        );
    }
}
