//! The engine against the real clock: who finishes is told so within microseconds.

use std::io;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::Workers;
use crate::clock::{Clock, nanos};
use crate::engine::{Engine, Span, Stalls};
use crate::timer::Timer;

/// The last part of a wait is spent yielding, because a timerfd fires up to 50 µs late on an idle
/// core. Twice that is about a tenth of a core at 1000 answers a second.
const SPIN_NS: u64 = 100_000;

type Waiter = oneshot::Sender<Span>;

/// Everything in a server that waits for an instant: requests in the queue, and plain delays.
#[derive(Debug)]
pub(crate) struct Driver {
    clock: Clock,
    state: Mutex<State>,
    sooner: Notify,
}

#[derive(Debug)]
struct State {
    queue: Engine<Waiter>,
    delays: Engine<Waiter>,
}

impl State {
    fn next_ns(&self) -> Option<u64> {
        match (self.queue.next_ns(), self.delays.next_ns()) {
            (Some(queue), Some(delay)) => Some(queue.min(delay)),
            (queue, delay) => queue.or(delay),
        }
    }
}

/// The waiting room was full.
#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) arrival_ns: u64,
}

impl Driver {
    pub(crate) fn new(clock: Clock, workers: Workers, stalls: Stalls) -> Self {
        let state = State {
            queue: Engine::new(workers, stalls),
            delays: Engine::new(Workers::unlimited(), Stalls::default()),
        };
        Self {
            clock,
            state: Mutex::new(state),
            sooner: Notify::new(),
        }
    }

    /// Queues a request that has just been read; resolves at the instant at which its answer is due.
    pub(crate) async fn serve(&self, service: Duration) -> Result<Span, Full> {
        let service_ns = nanos(service);
        let (arrival_ns, finished) = {
            let mut state = self.state.lock();
            // Read under the lock, so that the queue sees arrivals in the order of their instants.
            let now_ns = self.clock.now_ns();
            if let Some(span) = state.queue.serve_at_once(now_ns, service_ns) {
                return Ok(span);
            }
            let before = state.next_ns();
            let (waiter, finished) = oneshot::channel();
            if state
                .queue
                .arrive(now_ns, service_ns, waiter, tell)
                .is_err()
            {
                return Err(Full { arrival_ns: now_ns });
            }
            self.notify_if_sooner(before, state.next_ns());
            (now_ns, finished)
        };
        match finished.await {
            Ok(span) => Ok(span),
            // The driver has stopped, and with it the runtime that would poll this.
            Err(_) => Err(Full { arrival_ns }),
        }
    }

    /// Waits for a time, whatever the workers do.
    pub(crate) async fn delay(&self, time: Duration) {
        let finished = {
            let mut state = self.state.lock();
            let before = state.next_ns();
            let (waiter, finished) = oneshot::channel();
            // Without limits, there is a place for everyone.
            let _ = state
                .delays
                .arrive(self.clock.now_ns(), nanos(time), waiter, tell);
            self.notify_if_sooner(before, state.next_ns());
            finished
        };
        let _ = finished.await;
    }

    /// Lets no request start from now on for a time.
    pub(crate) fn stall_for(&self, time: Duration) {
        let mut state = self.state.lock();
        let now_ns = self.clock.now_ns();
        state.queue.advance(now_ns, tell);
        state
            .queue
            .stall(now_ns, now_ns.saturating_add(nanos(time)));
        drop(state);
        self.sooner.notify_one();
    }

    pub(crate) fn in_service_peak(&self) -> usize {
        self.state.lock().queue.peak()
    }

    /// Tells every waiter at its instant. Runs until it is dropped.
    pub(crate) async fn run(&self, mut timer: Timer) -> io::Result<()> {
        loop {
            let mut told = false;
            let (now_ns, next_ns) = {
                let mut state = self.state.lock();
                let now_ns = self.clock.now_ns();
                let mut done = |span, waiter| {
                    told = true;
                    tell(span, waiter);
                };
                state.queue.advance(now_ns, &mut done);
                state.delays.advance(now_ns, &mut done);
                (now_ns, state.next_ns())
            };
            if told {
                // Answers go out before the timer is set again.
                tokio::task::yield_now().await;
                continue;
            }
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

    fn notify_if_sooner(&self, before: Option<u64>, after: Option<u64>) {
        if after.is_some_and(|after| before.is_none_or(|before| after < before)) {
            self.sooner.notify_one();
        }
    }
}

/// A waiter that has gone away does not mind; its worker was busy all the same.
fn tell(span: Span, waiter: Waiter) {
    let _ = waiter.send(span);
}
