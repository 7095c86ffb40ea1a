//! Queueing models and sizing: what a service can carry, as pure functions.
//!
//! | I want … | look at |
//! | --- | --- |
//! | what one thread makes of a load | [`MM1`]; with requests of very different length [`MG1`], of equal length [`MD1`] |
//! | what workers behind one queue make of it | [`MMc`], and [`GGc`] for other laws, approximately |
//! | a connection pool: who waits, who is turned away | [`MMcK`] |
//! | one vocabulary for all of them | [`Queue`] |
//! | what a language-model server makes of it, or several behind a router | [`batching`], by simulation |
//! | Erlang's formulas alone | [`erlang`] |
//! | what so many users who wait for their answers can reach | [`closed`] |
//! | requests in flight from rate and latency, and back | [`little`] |
//! | how busy a server is, from its latency | [`utilisation`] |
//! | nodes, pools, KV caches, timeouts, bounds | [`sizing`] |
//! | all of that for a peak, from what a sweep found | [`Plan`] |
//! | servers and highest rate of a service, from the means of a sweep | [`mmc_curve`] |
//! | what more nodes or more concurrency bring, from a few measured points | [`usl`] |
//!
//! Times are in seconds and rates per second. Every function is pure: same arguments, same answer. What is impossible
//! (a NaN, a negative rate, a queue without a bound that grows for ever) is refused with a [`CapacityError`] that names
//! the parameter and what to do; nothing panics, and nothing returns a negative time, an infinity in place of a wait,
//! or NaN. Rates and times are from 10⁻³⁰ to 10³⁰.
//!
//! ```
//! use openloop_capacity::{MMc, Queue};
//!
//! // Eight workers of 20 ms each. What does the 99th percentile say at 300/s?
//! let service = MMc::new(300.0, 0.020, 8)?;
//! assert_eq!(service.utilisation(), 0.75);
//! let p99 = service.response_quantile(0.99)?;
//! assert!((p99 - 0.1).abs() < 0.01, "{p99}");
//! # Ok::<(), openloop_capacity::CapacityError>(())
//! ```
#![forbid(unsafe_code)]

pub mod batching;
mod check;
pub mod closed;
pub mod erlang;
mod error;
mod ggc;
mod interval;
pub mod little;
mod md1;
mod mg1;
mod mm1;
mod mmc;
pub mod mmc_curve;
mod mmck;
pub mod plan;
mod poisson;
mod queue;
mod roots;
pub mod sizing;
mod station;
mod student;
mod truncated_geometric;
pub mod usl;
pub mod utilisation;

pub use error::CapacityError;
pub use ggc::GGc;
pub use interval::{Goodness, Interval};
pub use md1::MD1;
pub use mg1::MG1;
pub use mm1::MM1;
pub use mmc::MMc;
pub use mmck::MMcK;
pub use plan::Plan;
pub use queue::Queue;
pub use sizing::Concurrency;
pub use station::Station;
