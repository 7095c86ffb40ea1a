//! The model against the real clock: each token is written at its instant.

use super::ask::Ask;
use super::frame::error;
use super::log::{Stream, StreamEnd};
use super::metrics::Tally;
use super::model::{Did, Job, Model};
use super::open::{Open, Then};
use super::style::{RoleChunk, StreamFault, Style};
use super::time::ModelTime;
use crate::Clock;
use crate::timer::Timer;
use openloop_capacity::batching::EngineReport;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};

/// The last part of a wait is spent yielding: a timerfd fires up to 50 µs late.
const SPIN_NS: u64 = 100_000;
/// How soon a stream is tried again whose client did not read.
const RETRY_NS: u64 = 1_000_000;

#[derive(Debug)]
pub(super) struct Driver {
    pub(super) clock: Clock,
    style: Style,
    state: Mutex<State>,
    sooner: Notify,
}

#[derive(Debug)]
struct State {
    model: Model,
    time: ModelTime,
    begun: bool,
    numbers: u64,
    streams: HashMap<u64, Open>,
    log: Vec<Stream>,
    tally: Tally,
    /// Streams with bytes that their client has not taken.
    behind: Vec<u64>,
}

impl Driver {
    pub(super) fn new(clock: Clock, model: Model, style: Style, stalls: Vec<(u64, u64)>) -> Self {
        let time = ModelTime::new(clock.now_ns(), stalls);
        Self {
            clock,
            style,
            state: Mutex::new(State {
                model,
                time,
                begun: false,
                numbers: 0,
                streams: HashMap::new(),
                log: Vec::new(),
                tally: Tally::default(),
                behind: Vec::new(),
            }),
            sooner: Notify::new(),
        }
    }

    pub(super) fn block_tokens(&self) -> u32 {
        self.state.lock().model.block_tokens()
    }

    pub(super) fn log(&self) -> Vec<Stream> {
        self.state.lock().log.clone()
    }

    pub(super) fn under_way(&self) -> usize {
        self.state.lock().streams.len()
    }

    /// Every engine at this instant.
    pub(super) fn engines(&self) -> Vec<EngineReport> {
        let mut state = self.state.lock();
        self.catch_up(&mut state);
        state.model.engines()
    }

    pub(super) fn metrics(&self) -> String {
        let mut state = self.state.lock();
        self.catch_up(&mut state);
        let engines = state.model.engines();
        state.tally.text(&engines, state.streams.len())
    }

    /// Lets the model's time stand still from now on.
    pub(super) fn stall_for(&self, length: Duration) {
        let mut state = self.state.lock();
        self.catch_up(&mut state);
        let length = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        state.time.stall(self.clock.now_ns(), length);
        drop(state);
        self.sooner.notify_one();
    }

    /// Takes a request: the number of its stream, and word of its end. What it cannot take it answers at once.
    pub(super) fn begin(
        &self,
        socket: &Arc<TcpStream>,
        seq: Option<u64>,
        path: &str,
        ask: Ask,
    ) -> Result<(u64, oneshot::Receiver<Then>), Vec<u8>> {
        let mut state = self.state.lock();
        self.catch_up(&mut state);
        // Not before: the model must not have gone on meanwhile.
        let now_ns = self.clock.now_ns();
        let state = &mut *state;
        if !std::mem::replace(&mut state.begun, true) {
            state.time.begin(now_ns);
        }
        let id = state.numbers;
        state.numbers += 1;
        let mut faults = self.style.faults.iter();
        let fault = faults.find(|(on, _)| on.matches(id, path));
        let fault = fault.map(|(_, fault)| fault.clone());
        let place = state.log.len();
        state.log.push(Stream {
            seq,
            arrival: self.clock.instant(now_ns),
            tokens: Vec::new(),
            end: StreamEnd::Open,
            prompt_tokens: ask.prompt_tokens,
            cached_tokens: 0,
            preemptions: 0,
        });
        if let Some(StreamFault::Status(status)) = fault {
            state.log[place].end = StreamEnd::Fault;
            return Err(error(status, "scripted"));
        }
        let stops = self.style.stops_after.filter(|_| !ask.ignore_eos);
        let output_tokens = stops.map_or(ask.max_tokens, |stops| stops.min(ask.max_tokens));
        let job = Job {
            id,
            prompt_tokens: ask.prompt_tokens,
            output_tokens,
            block_hashes: ask.block_hashes.clone(),
        };
        if let Err(refused) = state.model.submit(state.time.of(now_ns), job) {
            state.log[place].end = StreamEnd::Refused;
            return Err(error(400, &refused.to_string()));
        }
        let (ended, end) = oneshot::channel();
        let mut open = Open::new(id, socket, ask, output_tokens, fault, ended);
        open.place = place;
        if open.streams() && self.style.role == RoleChunk::AtOnce {
            open.head(&self.style);
            open.flush();
        }
        state.streams.insert(id, open);
        self.sooner.notify_one();
        Ok((id, end))
    }

    /// The client has gone: nothing more is generated for it.
    pub(super) fn cancel(&self, id: u64) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if let Some(open) = state.streams.remove(&id) {
            let at = state.time.of(self.clock.now_ns());
            state.model.cancel(at, id);
            state.log[open.place].end = StreamEnd::ClientGone;
        }
    }

    /// Writes every token at its instant. Runs until it is dropped.
    pub(super) async fn run(&self, mut timer: Timer) -> io::Result<()> {
        loop {
            let (now_ns, next_ns) = {
                let mut state = self.state.lock();
                let wrote = self.catch_up(&mut state);
                if wrote {
                    (0, Some(0))
                } else {
                    (
                        self.clock.now_ns(),
                        next_ns(&mut state, self.clock.now_ns()),
                    )
                }
            };
            match next_ns {
                None => self.sooner.notified().await,
                Some(next_ns) if next_ns <= now_ns + SPIN_NS => tokio::task::yield_now().await,
                Some(next_ns) => {
                    tokio::select! {
                        fired = timer.until(next_ns - SPIN_NS) => fired?,
                        () = self.sooner.notified() => (),
                    }
                }
            }
        }
    }

    /// Lets everything happen that is due, and says whether anything was.
    fn catch_up(&self, state: &mut State) -> bool {
        let now_ns = self.clock.now_ns();
        for id in std::mem::take(&mut state.behind) {
            if let Some(open) = state.streams.get_mut(&id) {
                open.flush();
                if open.is_behind() {
                    state.behind.push(id);
                }
            }
        }
        if state.time.stalled_until(now_ns).is_some() {
            return false;
        }
        let to = state.time.of(now_ns);
        if state.model.next().is_none_or(|next| next > to) {
            return false;
        }
        let mut happened = Vec::new();
        state.model.advance(to, |id, did| happened.push((id, did)));
        for (id, did) in happened {
            self.did(state, id, did);
        }
        true
    }

    fn did(&self, state: &mut State, id: u64, did: Did) {
        let Some(open) = state.streams.get_mut(&id) else {
            return;
        };
        let log = &mut state.log[open.place];
        match did {
            Did::Admitted { cached_blocks } => {
                // Taken up again after a preemption, it finds its own blocks.
                if log.preemptions == 0 && open.tokens == 0 {
                    log.cached_tokens = cached_blocks * state.model.block_tokens();
                    state.tally.admitted(log.prompt_tokens, log.cached_tokens);
                }
            }
            Did::Preempted => log.preemptions += 1,
            Did::Token => {
                state.tally.token();
                open.token(&self.style, log);
                log.tokens.push(self.clock.instant(self.clock.now_ns()));
                open.flush();
                if open.is_behind() {
                    state.behind.push(id);
                }
                self.break_off(state, id);
            }
            Did::Finished => {
                open.finish(&self.style, log);
                log.end = StreamEnd::Complete;
                state.tally.finished();
                let then = match self.style.closes {
                    true => Then::Close,
                    false => Then::Keep,
                };
                end(state, id, then);
            }
        }
    }

    /// Does what is wrong with the stream, where it is due.
    fn break_off(&self, state: &mut State, id: u64) {
        let Some(open) = state.streams.get_mut(&id) else {
            return;
        };
        let Some(then) = open.break_off(&self.style) else {
            open.flush();
            return;
        };
        state.log[open.place].end = StreamEnd::Fault;
        state.model.cancel(state.time.of(self.clock.now_ns()), id);
        if let Some(then) = then {
            end(state, id, then);
        }
    }
}

/// Writes what is left of a stream, and tells its connection.
fn end(state: &mut State, id: u64, then: Then) {
    if let Some(mut open) = state.streams.remove(&id) {
        open.flush();
        if let Some(ended) = open.ended.take() {
            // A connection that has gone does not mind.
            let _ = ended.send(then);
        }
    }
}

fn next_ns(state: &mut State, now_ns: u64) -> Option<u64> {
    let next = state.model.next().map(|next| state.time.instant(next));
    let next = match state.time.stalled_until(now_ns) {
        Some(until) => next.map(|next| next.max(until)),
        None => next,
    };
    match state.behind.is_empty() {
        true => next,
        false => Some(next.map_or(now_ns + RETRY_NS, |next| next.min(now_ns + RETRY_NS))),
    }
}
