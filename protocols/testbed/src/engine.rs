//! The queue itself: who starts when, in nanoseconds, without a clock.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::Workers;

/// The three instants of a request inside the server, as computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) arrival_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) finish_ns: u64,
}

/// A FIFO queue before c workers that computes its instants exactly.
///
/// start = max(arrival, the instant at which a worker became free), moved to the end of a stall when
/// it falls into one; finish = start + service. How late the engine is asked to [`advance`] does not
/// move them: an error of the timer is never carried into the next request.
///
/// [`advance`]: Engine::advance
#[derive(Debug)]
pub(crate) struct Engine<T> {
    workers: Workers,
    stalls: Stalls,
    running: BinaryHeap<Running<T>>,
    waiting: VecDeque<Job<T>>,
    /// The last instant at which anything happened.
    clock_ns: u64,
    peak: usize,
}

#[derive(Debug)]
struct Job<T> {
    arrival_ns: u64,
    service_ns: u64,
    payload: T,
}

#[derive(Debug)]
struct Running<T> {
    span: Span,
    payload: T,
}

impl<T> Engine<T> {
    pub(crate) fn new(workers: Workers, stalls: Stalls) -> Self {
        Self {
            workers,
            stalls,
            running: BinaryHeap::new(),
            waiting: VecDeque::new(),
            clock_ns: 0,
            peak: 0,
        }
    }

    /// Serves a request that takes no time and finds everything idle, without queueing it.
    pub(crate) fn serve_at_once(&mut self, now_ns: u64, service_ns: u64) -> Option<Span> {
        self.stalls.begin(now_ns);
        let idle = self.running.is_empty() && self.waiting.is_empty() && self.workers.servers > 0;
        if service_ns > 0 || !idle || self.stalls.clear_of(now_ns) != now_ns {
            return None;
        }
        self.peak = self.peak.max(1);
        Some(Span {
            arrival_ns: now_ns,
            start_ns: now_ns,
            finish_ns: now_ns,
        })
    }

    /// Takes in a request that arrives now, or gives its payload back when there is no place left.
    ///
    /// Completions up to now are handed to `done` first: they make room.
    pub(crate) fn arrive(
        &mut self,
        now_ns: u64,
        service_ns: u64,
        payload: T,
        done: impl FnMut(Span, T),
    ) -> Result<(), T> {
        self.stalls.begin(now_ns);
        self.advance(now_ns, done);
        let idle = self.running.len() < self.workers.servers;
        let starts_now = idle && self.waiting.is_empty() && self.stalls.clear_of(now_ns) == now_ns;
        if !starts_now && self.waiting.len() >= self.workers.waiting {
            return Err(payload);
        }
        self.clock_ns = self.clock_ns.max(now_ns);
        self.waiting.push_back(Job {
            arrival_ns: now_ns,
            service_ns,
            payload,
        });
        if starts_now {
            self.start_head(now_ns);
        }
        Ok(())
    }

    /// Lets everything happen that is due up to now, in order.
    pub(crate) fn advance(&mut self, now_ns: u64, mut done: impl FnMut(Span, T)) {
        loop {
            let finish = self.running.peek().map(|running| running.span.finish_ns);
            let start = self.next_start_ns();
            match (finish, start) {
                // A worker that finishes at the very instant of a start has finished first.
                (Some(finish), start)
                    if start.is_none_or(|start| finish <= start) && finish <= now_ns =>
                {
                    self.clock_ns = self.clock_ns.max(finish);
                    if let Some(Running { span, payload }) = self.running.pop() {
                        done(span, payload);
                    }
                }
                (_, Some(start))
                    if start <= now_ns && finish.is_none_or(|finish| start < finish) =>
                {
                    self.clock_ns = self.clock_ns.max(start);
                    self.start_head(start);
                }
                _ => return,
            }
        }
    }

    /// The next instant at which [`advance`](Self::advance) has something to do.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let finish = self.running.peek().map(|running| running.span.finish_ns);
        match (finish, self.next_start_ns()) {
            (Some(finish), Some(start)) => Some(finish.min(start)),
            (finish, start) => finish.or(start),
        }
    }

    /// Lets nothing start in [from, until).
    pub(crate) fn stall(&mut self, from_ns: u64, until_ns: u64) {
        self.stalls.windows.push((from_ns, until_ns));
    }

    /// The most requests that were in the hands of workers at one time.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    fn next_start_ns(&self) -> Option<u64> {
        let head = self.waiting.front()?;
        (self.running.len() < self.workers.servers)
            .then(|| self.stalls.clear_of(head.arrival_ns.max(self.clock_ns)))
    }

    fn start_head(&mut self, start_ns: u64) {
        if let Some(Job {
            arrival_ns,
            service_ns,
            payload,
        }) = self.waiting.pop_front()
        {
            let finish_ns = start_ns.saturating_add(service_ns);
            self.running.push(Running {
                span: Span {
                    arrival_ns,
                    start_ns,
                    finish_ns,
                },
                payload,
            });
            self.peak = self.peak.max(self.running.len());
        }
    }
}

/// Windows in which nothing starts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Stalls {
    /// (from, length) since the first request, until that one has come.
    planned: Vec<(u64, u64)>,
    windows: Vec<(u64, u64)>,
}

impl Stalls {
    /// Stalls at (from, length), in nanoseconds since the first request.
    pub(crate) fn since_first_request(planned: Vec<(u64, u64)>) -> Self {
        Self {
            planned,
            windows: Vec::new(),
        }
    }

    fn begin(&mut self, first_ns: u64) {
        for (at, length) in self.planned.drain(..) {
            let from = first_ns.saturating_add(at);
            self.windows.push((from, from.saturating_add(length)));
        }
    }

    /// The first instant from `at` on that lies in no window.
    fn clear_of(&self, mut at_ns: u64) -> u64 {
        // Windows may touch or overlap: leaving one can mean entering another.
        while let Some(&(_, until)) = self
            .windows
            .iter()
            .find(|(from, until)| (*from..*until).contains(&at_ns))
        {
            at_ns = until;
        }
        at_ns
    }
}

impl<T> Ord for Running<T> {
    /// The earliest finish is the greatest, for a heap that pops the greatest; then the earliest start.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |running: &Self| {
            (
                running.span.finish_ns,
                running.span.start_ns,
                running.span.arrival_ns,
            )
        };
        key(other).cmp(&key(self))
    }
}

impl<T> PartialOrd for Running<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Running<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Running<T> {}

#[cfg(test)]
mod tests;
