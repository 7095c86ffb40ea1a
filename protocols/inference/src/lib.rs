//! Language-model servers as an operation to be measured: when each token of an answer came, from the instant at which
//! the request should have started.
//!
//! What a user of a chat waits for is the first token, and then each next one. Tools disagree on both: some take the
//! role that a server sends ahead for the first token, some count chunks for tokens, some give an empty answer a TTFT of
//! 0, and nearly all begin to count when the request is sent, which leaves out what it waited before that. Here every
//! metric has one formula ([`Course`]), its instants are the kernel's, and the figures from the intended instant stand
//! beside those from the sending.
//!
//! | I want to … | look at |
//! | --- | --- |
//! | ask a server | [`Inference`], [`Builder`], [`Api`] |
//! | know what `ttft`, `tpot`, `itl` and `e2e` are | [`Course`] |
//! | know what is counted | [`Answer`] |
//! | say which answers are good enough | [`Goodput`] |
//! | know the rate of tokens while it runs | [`Totals`] |
//! | know what the server says of itself meanwhile | [`Observed`] |
//! | put the figures beside those of another tool | [`MetricNames`] |
//! | read a stream of events by itself | [`EventParser`] |
//! | go on from what the model said | [`Inference::request_after`] |
//! | know what other tools get wrong, and the test of each | `FAULTS.md` of this crate |
//!
//! # Stages
//!
//! ```text
//! intended   sent                                                           completed
//!  │          │                                                                 │
//!  ├─ delay ──┼── prefill ──┬─ itl ─┬─ itl ─┬─ … ─┬─ itl ─┬── usage, [DONE] ────┤
//!  │  acquire │  role first │       │       │     │       │                     │
//!  └──────────┴─────────── ttft     └───── tpot · (n − 1) ┘ e2e            response
//! ```
//!
//! The stages of the HTTP call (`acquire`, `dns`, `connect`, `tls`, `first_byte`, `body`) are those of
//! [`openloop_http`].
//!
//! # What to look at beside them
//!
//! - An arrival that was not served ranks above all that were, in `ttft` and `tpot` as in the response: where more than one
//!   in a hundred failed, their p99 is a lower bound, printed as one, and keeps no objective.
//! - `chunks_coalesced` counts chunks that came in one read with the one before. Between a server that writes token by
//!   token and a client that keeps up it is rare; where it is not, one of both, or the network, was late, and the small
//!   gaps of `itl_chunk` are not the server's.
//! - `tokens_assumed` counts answers whose tokens nobody counted, `itl_not_observable` those whose chunks held several.
//! - Of one request at a time `ttft` is S_prefill and `tpot` is S_decode: the floor that other figures are held against.
//!
//! # Outcomes
//!
//! | class | meaning |
//! | --- | --- |
//! | (ok) | a whole answer with a token at least, whatever its finish reason but `abort` |
//! | `http_400`, `http_404`, `http_500` … | the server refused or failed; what it said is in the error |
//! | `http_429`, `http_503` | rejected: the server sheds load |
//! | `cut_off` | the stream ended before the answer did; its tokens are counted |
//! | `empty_answer` | an answer without a token: it has no TTFT, and is none of 0 |
//! | `malformed_event` | an event that is no piece of an answer |
//! | `stream_error` | the server told of an error inside the stream |
//! | `aborted` | the server gave the answer up |
//! | `connect_refused`, `reset`, `closed`, … | no answer began: the classes of [`openloop_http`] |
//!
//! A call whose future is dropped, by a limit on its time, closes its stream, so that the server stops to generate; what
//! had come is in [`Totals::given_up_tokens`].
#![forbid(unsafe_code)]

mod answer;
mod builder;
mod chunk;
mod client;
mod course;
mod error;
mod goodput;
mod names;
mod observed;
mod reading;
#[cfg(test)]
mod recorded;
mod request;
mod sse;
mod totals;
mod usage;

pub use answer::Answer;
pub use builder::{BuildError, Builder};
pub use chunk::{Content, Finish, ServerTimes};
pub use client::Inference;
pub use course::{Course, FORMULAS, Gap};
pub use error::{InferenceError, InferenceErrorKind};
pub use goodput::{Goodput, GoodputError};
pub use names::{MetricNames, NoSuchTool};
pub use observed::{Engine, Observed};
pub use openloop_http::{Connections, SocketCounts, Tls};
pub use request::{Api, ParameterError, Request};
pub use sse::{Event, EventParser, TooLong};
pub use totals::Totals;
pub use usage::{TokenSource, Usage};
