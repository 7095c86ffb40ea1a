//! One finished arrival, and the definitions of its durations.

use crate::{Kind, Outcome};
use openloop_sched::{Offset, Ticket};
use std::time::Duration;

/// One finished arrival: its instants, from which every duration follows.
///
/// ```text
/// intended ──lag──► fired ──admission──► dispatched ───────service───────► ended
///     └───────── schedule delay ─────────────┘   └acquire┘└────exchange────┘
///     └───────────────────────────── response ─────────────────────────────┘
///                                                        received ──pickup──┘
/// ```
///
/// For every dispatched arrival `response = schedule delay + service`, in whole nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// Place in the whole schedule.
    pub seq: u64,
    /// When it should have started.
    pub intended: Offset,
    /// When the pacer released it; for an unsent arrival, the instant at which the run gave it up.
    pub fired: Offset,
    /// When its future was first polled; `None` if it never was.
    pub dispatched: Option<Offset>,
    /// When its future returned, or when its end was decided without one.
    pub ended: Offset,
    /// The kernel's receive stamp of the last byte of the answer, where the adapter has it.
    pub received: Option<Offset>,
    /// The wait on our side of the wire inside the service time: for a connection, a stream slot.
    pub acquire: Duration,
    /// The kind of request that it was; `None` without a label.
    pub kind: Option<Kind>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Sample {
    /// A dispatched arrival that was measured elsewhere: in a simulation, or in another tool's log.
    ///
    /// Instants out of order are moved up to the one before them, as the clock of a run would have had them.
    #[must_use]
    pub fn new(
        ticket: Ticket,
        fired: Offset,
        dispatched: Offset,
        ended: Offset,
        outcome: Outcome,
    ) -> Self {
        let fired = fired.max(ticket.intended);
        let dispatched = dispatched.max(fired);
        Sample {
            seq: ticket.seq,
            intended: ticket.intended,
            fired,
            dispatched: Some(dispatched),
            ended: ended.max(dispatched),
            received: None,
            acquire: Duration::ZERO,
            kind: None,
            outcome,
        }
    }

    /// An arrival that was due and that the generator never released, given up at `gave_up`.
    #[must_use]
    pub fn unsent(ticket: Ticket, gave_up: Offset) -> Self {
        let ended = gave_up.max(ticket.intended);
        Sample {
            seq: ticket.seq,
            intended: ticket.intended,
            fired: ended,
            dispatched: None,
            ended,
            received: None,
            acquire: Duration::ZERO,
            kind: None,
            outcome: Outcome::Unsent,
        }
    }

    /// The same with a label.
    #[must_use]
    pub fn of_kind(mut self, kind: impl Into<Option<Kind>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// `fired − intended`: the generator's own lateness.
    #[must_use]
    pub fn lag(&self) -> Duration {
        self.fired.saturating_since(self.intended)
    }

    /// `dispatched − fired`: waiting for a permit, and the executor's hand-over. `None` if never dispatched.
    #[must_use]
    pub fn admission(&self) -> Option<Duration> {
        Some(self.dispatched?.saturating_since(self.fired))
    }

    /// `dispatched − intended`. `None` if never dispatched.
    #[must_use]
    pub fn schedule_delay(&self) -> Option<Duration> {
        Some(self.dispatched?.saturating_since(self.intended))
    }

    /// `ended − dispatched`: the time inside the user's future. `None` if never dispatched.
    #[must_use]
    pub fn service(&self) -> Option<Duration> {
        Some(self.ended.saturating_since(self.dispatched?))
    }

    /// `service − acquire`: what a naive tool calls latency. `None` if never dispatched.
    #[must_use]
    pub fn exchange(&self) -> Option<Duration> {
        Some(self.service()?.saturating_sub(self.acquire))
    }

    /// `ended − received`: the generator's own delay on the way back. `None` without a receive stamp.
    #[must_use]
    pub fn pickup(&self) -> Option<Duration> {
        Some(self.ended.saturating_since(self.received?))
    }

    /// `ended − intended`: what a user waits, or for an arrival without an end the age it had reached.
    #[must_use]
    pub fn response(&self) -> Duration {
        self.ended.saturating_since(self.intended)
    }
}
