//! One arrival: planned by the schedule, released by the pacer.

use crate::Offset;

/// One arrival of a schedule: which one it is, and when it should start.
///
/// `seq` is the arrival's place in the *whole* schedule, whatever the shard: with the seed it names the
/// request, so that request 41 is the same whoever sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Place in the whole schedule, from 0.
    pub seq: u64,
    /// The instant at which the arrival should start.
    pub intended: Offset,
}

/// An arrival that the pacer has released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The arrival.
    pub ticket: Ticket,
    /// The instant of its release: never before `ticket.intended`.
    pub fired: Offset,
}
