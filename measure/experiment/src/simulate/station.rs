//! Servers behind one queue.

use super::{Served, Simulated, seconds};
use openloop_measurer::Outcome;
use openloop_sched::{Offset, Ticket};
use openloop_workload::{Values, named};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

/// Servers behind one queue, first come first served: G/G/c, or G/G/c/K with a limited queue.
///
/// Service times in seconds are drawn from a law by the number of the request, so that the same seed gives the same
/// ones at every rate.
#[derive(Clone, Debug)]
pub struct Station {
    servers: NonZeroU32,
    service: Values,
    waiting: Option<usize>,
    pauses: Option<Pauses>,
    seed: u64,
    /// When each server is free.
    free: BinaryHeap<Reverse<Offset>>,
    /// When those who wait are served, in order; only kept where their number is limited.
    queue: VecDeque<Offset>,
}

/// Times at which a service does nothing at all, whatever its load: garbage collection, checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    /// From the beginning of one to that of the next.
    pub every: Duration,
    /// How long each is.
    pub length: Duration,
}

/// Why a station cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StationError {
    /// No server.
    #[error("a station of 0 servers serves nobody: give at least 1")]
    NoServers,
    /// Pauses that leave no time to serve.
    #[error(
        "pauses of {length:?} every {every:?} leave no time to serve: make them shorter or rarer"
    )]
    AlwaysPaused {
        /// From one to the next.
        every: Duration,
        /// How long.
        length: Duration,
    },
}

impl Station {
    /// `servers` servers, each of which serves in a time from `service`, in seconds.
    ///
    /// # Errors
    /// When there is no server.
    pub fn new(servers: u32, service: Values) -> Result<Self, StationError> {
        let servers = NonZeroU32::new(servers).ok_or(StationError::NoServers)?;
        let mut station = Station {
            servers,
            service,
            waiting: None,
            pauses: None,
            seed: 0,
            free: BinaryHeap::new(),
            queue: VecDeque::new(),
        };
        station.begin(0);
        Ok(station)
    }

    /// Lets at most `places` requests wait; one that finds them all taken is rejected at once, with the class
    /// `queue_full`.
    #[must_use]
    pub fn waiting(mut self, places: usize) -> Self {
        self.waiting = Some(places);
        self
    }

    /// Stops all servers from time to time. What is being served goes on after the pause; nothing else begins in it.
    ///
    /// # Errors
    /// When a pause is as long as the time from one to the next.
    pub fn pauses(mut self, pauses: Pauses) -> Result<Self, StationError> {
        if pauses.length >= pauses.every {
            let Pauses { every, length } = pauses;
            return Err(StationError::AlwaysPaused { every, length });
        }
        self.pauses = Some(pauses);
        Ok(self)
    }
}

/// `8 servers, lognormal:mean=0.002,cv=1 seconds each, 100 places to wait`.
impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.servers.get() {
            1 => f.write_str("1 server")?,
            n => write!(f, "{n} servers")?,
        }
        write!(f, ", {} seconds each", self.service)?;
        if let Some(places) = self.waiting {
            write!(f, ", {places} places to wait")?;
        }
        match self.pauses {
            Some(Pauses { every, length }) => {
                write!(f, ", pauses of {length:?} every {every:?}")
            }
            None => Ok(()),
        }
    }
}

impl Pauses {
    /// When `work`, begun at `at`, is done, if nothing is done in the pauses [k·every, k·every + length), k from 1.
    fn done(self, at: Offset, work: Duration) -> Offset {
        let (every, length) = (self.every.as_nanos(), self.length.as_nanos());
        let open = every - length;
        let at = u128::from(at.as_nanos());
        // Working time until `at`: a whole period, and in each later one what lies behind the pause.
        let worked = match at < every {
            true => at,
            false => every + (at / every - 1) * open + (at % every).saturating_sub(length),
        };
        let done = worked + work.as_nanos();
        let later = done.saturating_sub(every);
        let done = match later {
            0 => done,
            later => {
                let full = (later - 1) / open;
                (1 + full) * every + length + (later - full * open)
            }
        };
        Offset::from_nanos(u64::try_from(done).unwrap_or(u64::MAX))
    }
}

impl Simulated for Station {
    fn begin(&mut self, seed: u64) {
        self.seed = named(seed, "service");
        self.free = (0..self.servers.get())
            .map(|_| Reverse(Offset::ZERO))
            .collect();
        self.queue.clear();
    }

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        if let Some(places) = self.waiting {
            while self.queue.front().is_some_and(|begins| *begins <= at) {
                self.queue.pop_front();
            }
            let next_free = self.free.peek().map_or(Offset::ZERO, |Reverse(free)| *free);
            if next_free > at && self.queue.len() >= places {
                return Served {
                    outcome: Outcome::Rejected("queue_full"),
                    ..Served::at(at)
                };
            }
        }
        let free = self.free.pop().map_or(Offset::ZERO, |Reverse(free)| free);
        let begins = free.max(at);
        let work = seconds(self.service.value(self.seed, ticket.seq));
        let ended = match self.pauses {
            Some(pauses) => pauses.done(begins, work),
            None => begins.saturating_add(work),
        };
        self.free.push(Reverse(ended));
        if self.waiting.is_some() && begins > at {
            self.queue.push_back(begins);
        }
        Served::at(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_done_in_a_pause() {
        let ms = Duration::from_millis;
        let pauses = Pauses {
            every: ms(100),
            length: ms(10),
        };
        let done = |at, work| pauses.done(Offset::from(ms(at)), ms(work)).as_nanos() / 1_000_000;
        assert_eq!(done(0, 5), 5);
        assert_eq!(done(95, 5), 100, "done as the pause begins");
        assert_eq!(done(95, 6), 111);
        assert_eq!(done(100, 1), 111);
        assert_eq!(done(105, 1), 111);
        assert_eq!(done(110, 90), 200);
        assert_eq!(done(110, 91), 211);
        assert_eq!(done(0, 100 + 90 + 90 + 1), 311);
        assert_eq!(done(311, 0), 311);
    }
}
