//! Limits on an arrival: how many at once, and for how long.

use std::time::Duration;

/// How many arrivals may be in flight at once, and what happens to one that comes when they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InFlight {
    /// As many as come: an open loop, whatever the service does.
    #[default]
    Unlimited,
    /// At most this many; the others wait their turn, and their wait is part of their response.
    Queue(usize),
    /// At most this many; the others are never sent, and count as `Shed`.
    Shed(usize),
}

impl InFlight {
    pub(crate) fn limit(self) -> Option<usize> {
        match self {
            InFlight::Unlimited => None,
            InFlight::Queue(limit) | InFlight::Shed(limit) => Some(limit),
        }
    }
}

/// From which instant a timeout runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeoutFrom {
    /// From the intended instant, as for a user who gives up: the wait for a permit is part of it.
    #[default]
    Intended,
    /// From the dispatch, as for a client library's own timeout.
    Dispatched,
}

/// A limit on the time of each arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The limit.
    pub after: Duration,
    /// From when it runs.
    pub from: TimeoutFrom,
}
