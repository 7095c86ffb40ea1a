//! Requests as they were recorded: loaders for public traces of services.
//!
//! | I want … | look at |
//! | --- | --- |
//! | to read a trace, of whichever format | [`Trace::read`], [`Format`] |
//! | to know whether it may be replayed as it is | [`Trace::quality`] |
//! | to know its rate, its bursts and its lengths | [`Trace::describe`] |
//! | an hour of it, one model of it, no failed requests | [`Trace::window`], [`Trace::of_kind`], [`Trace::without_empty_output`] |
//! | its arrivals, faster or slower | [`Trace::offsets`] |
//! | its sizes and lengths, row by row | [`Trace::column`] |
//! | its conversations | [`Trace::sessions`] |
//! | prompts of its lengths that repeat what its prompts repeated | [`TracePrompts`](crate::prompts::TracePrompts) |
//!
//! A trace tells when requests came and how large they were, never what they said.

mod conversations;
mod describe;
mod error;
mod format;
mod load;
mod quality;
mod record;
mod request;
mod time;
mod trace;

pub use describe::{Description, Lengths, Spread};
pub use error::{ColumnError, OffsetsError, TraceError};
pub use format::Format;
pub use quality::{Gap, Quality};
pub use request::TraceRequest;
pub use trace::{LeftOut, Trace};
