//! Arrivals that the schedule did not know of.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Offset, Ticket};

/// Inserted arrivals, the earliest first; of those at one instant the one with the lowest number.
#[derive(Debug, Default)]
pub(super) struct Inserted(BinaryHeap<Reverse<(Offset, u64)>>);

impl Inserted {
    pub(super) fn push(&mut self, ticket: Ticket) {
        self.0.push(Reverse((ticket.intended, ticket.seq)));
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<Ticket> {
        self.0.peek().copied().map(ticket)
    }

    pub(super) fn pop(&mut self) -> Option<Ticket> {
        self.0.pop().map(ticket)
    }

    /// The earlier of the first inserted arrival and `scheduled`, and whether it is the inserted one. At one instant
    /// the scheduled one comes first.
    #[inline]
    pub(super) fn or_earlier(&self, scheduled: Option<Ticket>) -> (Option<Ticket>, bool) {
        match (self.peek(), scheduled) {
            (Some(inserted), Some(scheduled)) if scheduled.intended <= inserted.intended => {
                (Some(scheduled), false)
            }
            (Some(inserted), _) => (Some(inserted), true),
            (None, scheduled) => (scheduled, false),
        }
    }
}

fn ticket(Reverse((intended, seq)): Reverse<(Offset, u64)>) -> Ticket {
    Ticket { seq, intended }
}
