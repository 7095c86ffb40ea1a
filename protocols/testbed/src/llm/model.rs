//! Which token of which answer comes when, on a clock of its own.

use openloop_capacity::CapacityError;
use openloop_capacity::batching::{
    Cluster, ClusterConfig, EngineReport, EventKind, Refused, Request,
};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

/// A stream that is the same for every request, whatever the others do.
///
/// Token 0 comes `ttft` after the request, and token k a k-th of `gap` later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script {
    /// From the arrival of the request to its first token.
    pub ttft: Duration,
    /// From a token to the next.
    pub gap: Duration,
}

/// A request for a model.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) prompt_tokens: u32,
    pub(super) output_tokens: u32,
    pub(super) block_hashes: Vec<u64>,
}

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Did {
    /// It took the request up, and knew so many blocks of its prompt.
    Admitted {
        cached_blocks: u32,
    },
    /// A token is there.
    Token,
    /// The answer is whole.
    Finished,
    Preempted,
}

#[derive(Debug)]
pub(super) enum Model {
    Scripted(Scripted),
    Simulated(Box<Cluster>, ClusterConfig),
}

#[derive(Debug)]
pub(super) struct Scripted {
    script: Script,
    due: BinaryHeap<Reverse<(Duration, u64)>>,
    /// Tokens to come.
    left: HashMap<u64, u32>,
}

impl Model {
    pub(super) fn scripted(script: Script) -> Self {
        Self::Scripted(Scripted {
            script,
            due: BinaryHeap::new(),
            left: HashMap::new(),
        })
    }

    pub(super) fn simulated(config: ClusterConfig) -> Result<Self, CapacityError> {
        Ok(Self::Simulated(Box::new(Cluster::new(config)?), config))
    }

    pub(super) fn block_tokens(&self) -> u32 {
        match self {
            Self::Scripted(_) => 16,
            Self::Simulated(_, config) => config.engine.block_tokens,
        }
    }

    pub(super) fn submit(&mut self, at: Duration, job: Job) -> Result<(), Refused> {
        match self {
            Self::Scripted(scripted) => {
                scripted.left.insert(job.id, job.output_tokens);
                let first = at.saturating_add(scripted.script.ttft);
                scripted.due.push(Reverse((first, job.id)));
                Ok(())
            }
            Self::Simulated(cluster, _) => {
                let request = Request::new(job.id, job.prompt_tokens, job.output_tokens)
                    .with_block_hashes(job.block_hashes);
                cluster.submit(at, request)
            }
        }
    }

    pub(super) fn cancel(&mut self, at: Duration, id: u64) {
        match self {
            Self::Scripted(scripted) => {
                scripted.left.remove(&id);
            }
            Self::Simulated(cluster, _) => {
                cluster.cancel(at, id);
            }
        }
    }

    /// When something happens next.
    pub(super) fn next(&mut self) -> Option<Duration> {
        match self {
            Self::Scripted(scripted) => scripted.next(),
            Self::Simulated(cluster, _) => cluster.next_event(),
        }
    }

    /// What has happened by `to`, in order.
    pub(super) fn advance(&mut self, to: Duration, mut did: impl FnMut(u64, Did)) {
        match self {
            Self::Scripted(scripted) => scripted.advance(to, did),
            Self::Simulated(cluster, _) => {
                for event in cluster.advance(to) {
                    let what = match event.kind {
                        EventKind::Admitted { cached_blocks, .. } => {
                            Did::Admitted { cached_blocks }
                        }
                        EventKind::Token { .. } => Did::Token,
                        EventKind::Preempted => Did::Preempted,
                        EventKind::Finished(_) => Did::Finished,
                        _ => continue,
                    };
                    did(event.id, what);
                }
            }
        }
    }

    pub(super) fn engines(&self) -> Vec<EngineReport> {
        match self {
            Self::Scripted(_) => Vec::new(),
            Self::Simulated(cluster, _) => cluster.engines(),
        }
    }
}

impl Scripted {
    fn next(&mut self) -> Option<Duration> {
        while let Some(Reverse((at, id))) = self.due.peek() {
            if self.left.contains_key(id) {
                return Some(*at);
            }
            self.due.pop();
        }
        None
    }

    fn advance(&mut self, to: Duration, mut did: impl FnMut(u64, Did)) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            let Some(Reverse((_, id))) = self.due.pop() else {
                return;
            };
            let left = self.left.entry(id).or_insert(1);
            *left -= 1;
            did(id, Did::Token);
            if *left == 0 {
                self.left.remove(&id);
                did(id, Did::Finished);
            } else {
                self.due
                    .push(Reverse((at.saturating_add(self.script.gap), id)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripted_stream_keeps_its_instants_whatever_the_others_do() {
        let ms = Duration::from_millis;
        let mut model = Model::scripted(Script {
            ttft: ms(50),
            gap: ms(10),
        });
        let job = |id, output_tokens| Job {
            id,
            prompt_tokens: 1,
            output_tokens,
            block_hashes: Vec::new(),
        };
        model.submit(ms(0), job(1, 3)).unwrap();
        model.submit(ms(5), job(2, 1)).unwrap();
        model.submit(ms(5), job(3, 9)).unwrap();
        let mut told = Vec::new();
        model.cancel(ms(6), 3);
        while let Some(at) = model.next() {
            model.advance(at, |id, did| told.push((at, id, did)));
        }
        assert_eq!(
            told,
            [
                (ms(50), 1, Did::Token),
                (ms(55), 2, Did::Token),
                (ms(55), 2, Did::Finished),
                (ms(60), 1, Did::Token),
                (ms(70), 1, Did::Token),
                (ms(70), 1, Did::Finished),
            ]
        );
    }
}
