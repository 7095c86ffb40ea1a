//! What is told of requests while time goes on.

use super::record::Completion;
use std::time::Duration;

/// Something that happened to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// When, from the start of the simulation.
    pub at: Duration,
    /// To which request.
    pub id: u64,
    /// What.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A step took it in, again where it was preempted or handed over.
    Admitted {
        /// Of which engine.
        engine: u32,
        /// Blocks that it found in the cache.
        cached_blocks: u32,
    },
    /// A token of the answer; the first has number 0.
    Token {
        /// Its number.
        number: u32,
    },
    /// It lost its blocks and waits.
    Preempted,
    /// The last token was its last.
    Finished(Completion),
}
