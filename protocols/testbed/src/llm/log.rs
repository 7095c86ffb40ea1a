//! What was served, and when.

use std::time::Instant;

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEnd {
    /// It is still under way.
    Open,
    /// It came whole.
    Complete,
    /// The client closed it: nothing was generated for it from then on.
    ClientGone,
    /// It ended by its fault.
    Fault,
    /// The model did not take it.
    Refused,
}

/// One answer, as the server knows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stream {
    /// The number that the client gave the request by [`SEQUENCE_HEADER`](crate::SEQUENCE_HEADER).
    pub seq: Option<u64>,
    /// When the request had been read.
    pub arrival: Instant,
    /// When each token was written, or, in a chunk of several, was done.
    pub tokens: Vec<Instant>,
    /// How it ended.
    pub end: StreamEnd,
    /// Tokens of its prompt.
    pub prompt_tokens: u32,
    /// Of these, found in the cache when it was first taken up.
    pub cached_tokens: u32,
    /// How often it lost its place.
    pub preemptions: u32,
}
