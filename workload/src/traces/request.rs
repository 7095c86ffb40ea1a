//! One request of a trace.

use std::sync::Arc;

/// One request of a trace: when it came, and what the trace tells about it.
///
/// What a format does not tell is `None` or empty, never 0.
///
/// ```
/// use openloop_workload::traces::{Trace, TraceRequest};
///
/// // A recording of your own, from wherever it comes.
/// let mut request = TraceRequest::at(1_500_000_000);
/// request.kind = Some("read".into());
/// request.size = Some(512);
/// assert_eq!(Trace::new(vec![request]).len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceRequest {
    /// Nanoseconds since the earliest request of the trace.
    pub offset_ns: u64,
    /// The line of the file, from 1; 0 for a request that comes from no file.
    pub line: u64,
    /// Which kind of request: the model, the service class, the operation.
    pub kind: Option<Arc<str>>,
    /// The length of the prompt in tokens; what is counted depends on the [`Format`](super::Format).
    pub input_tokens: Option<u64>,
    /// The length of the answer in tokens.
    pub output_tokens: Option<u64>,
    /// The size of the request, in the unit of whoever wrote the file.
    pub size: Option<u64>,
    /// The session or conversation that the request is a part of.
    pub session: Option<Arc<str>>,
    /// The request's own number, to which [`parent`](TraceRequest::parent) of another refers.
    pub id: Option<u64>,
    /// The [`id`](TraceRequest::id) of the turn before, in the same conversation; `None` for a first turn.
    pub parent: Option<u64>,
    /// The number of the turn in its conversation, as the file counts.
    pub turn: Option<u64>,
    /// The contents of the prompt, block by block: equal numbers are equal blocks. How many tokens a block has is
    /// [`Format::block_tokens`](super::Format::block_tokens).
    pub hash_ids: Box<[u64]>,
    /// All other columns, by name, as text; of JSON, numbers and structures as they are written.
    pub other: Vec<(Arc<str>, Arc<str>)>,
}

impl TraceRequest {
    /// A request of which only the instant is known, in nanoseconds.
    #[must_use]
    pub fn at(offset_ns: u64) -> Self {
        TraceRequest {
            offset_ns,
            ..TraceRequest::default()
        }
    }

    /// The text of the column called `name`, if the format keeps it under [`other`](TraceRequest::other).
    #[must_use]
    pub fn other(&self, name: &str) -> Option<&str> {
        let (_, text) = self.other.iter().find(|(known, _)| **known == *name)?;
        Some(text)
    }
}
