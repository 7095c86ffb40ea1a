//! How long any future took, from the instant at which it should have started.
//!
//! A [`Recorder`] hands out an [`Arrival`] for each request that is due. The arrival is consumed once: by
//! [`measure`](Arrival::measure), which wraps any future, or by saying that nothing was sent. What comes out are
//! histograms, from the *intended* instant, of every arrival there was.
//!
//! | you have | you write |
//! | --- | --- |
//! | a future that returns `()` or an adapter's reply | `arrival.measure(future)` |
//! | a future of a library we never heard of | `arrival.measure_with(future, ok_err)` |
//! | an opinion on what counts as success | `arrival.measure_with(future, \|output\| Verdict::…)` |
//! | a type of your own with inner timings | `impl Describe for …`, then `arrival.measure(future)` |
//! | a pacer of your own | `recorder.arrive_at(seq, intended)` |
//! | several kinds of request | [`Recorder::with_kinds`], `arrival.of_kind(kind)` |
//! | a protocol to adapt | `impl Operation for …` |
//!
//! # Definitions
//! They stand with [`Sample`] (durations of one arrival), [`Outcome`] (how it ended), [`Counts`] (the identity
//! that always holds) and [`Section`] (the three populations of response).
//!
//! # What panics, what returns
//! Nothing here panics on input. A panic of the measured future is written down as `Failed("panic")` and goes on
//! to whoever polled. Constructors that check ([`Layout::new`], [`Quantile::new`], [`Kinds::new`]) return a `Result`.
#![forbid(unsafe_code)]

mod arrival;
mod buckets;
mod counts;
mod course;
mod describe;
mod details;
mod gamma;
mod grid;
mod histogram;
mod kind;
mod layout;
mod ledger;
mod measured;
mod operation;
mod outcome;
mod population;
mod quantile;
mod recorder;
mod sample;
mod section;
mod slowest;
mod snapshot;
mod store;
mod timeline;
mod verdict;

pub use arrival::Arrival;
pub use buckets::LIMIT_NS;
pub use counts::Counts;
pub use course::{Course, SLICES, Slice};
pub use describe::{Classify, Describe, Described};
pub use details::Details;
pub use histogram::{Exact, Histogram, HistogramError};
pub use kind::{Kind, Kinds, KindsError};
pub use layout::{Layout, LayoutError, Phase, Span};
pub use measured::Measured;
pub use operation::{AnyOperation, AnyOutput, Operation, erase};
pub use outcome::Outcome;
pub use population::{Population, Value};
pub use quantile::{Quantile, QuantileError};
pub use recorder::{Live, Recorder};
pub use sample::Sample;
pub use section::{ClassStats, Section};
pub use slowest::{SLOWEST, Slow};
pub use snapshot::{OfKind, Snapshot};
pub use store::WINDOWS;
pub use timeline::{Interval, Stretch};
pub use verdict::{Verdict, completed, ok_err};
