//! Scripted servers that know the truth they served, for the tests and examples of openloop.
//!
//! A load generator can only be trusted where the answer is known. [`HttpServer`] computes when each
//! request starts and finishes, sends the answer at that instant to within microseconds, and logs
//! both ends on the clock that the client reads as well:
//!
//! | question | how to ask it |
//! | --- | --- |
//! | Is an M/M/1 queue measured as one? | [`Service::exponential`] behind [`Workers::one`] |
//! | Is load that was shed counted? | [`Workers::servers`] with a [`waiting`](Workers::waiting) room: 503 beyond it |
//! | Does a pause show in the tail? | [`stall`](HttpServerBuilder::stall), or [`stall_for`](HttpServer::stall_for) on command |
//! | Do hot keys make the service fast? | [`cache`](HttpServerBuilder::cache) with a [`Cache`] of a known size |
//! | Are failures told apart? | [`Act`], for the requests chosen by [`On`], or by path |
//! | Is a full accept queue named? | [`backlog`](HttpServerBuilder::backlog) and [`set_accepting`](HttpServer::set_accepting) |
//! | Is a bad certificate refused? | [`tls`](HttpServerBuilder::tls) with a [`Certificate`] |
//! | Was sent what was asked? | [`record_requests`](HttpServerBuilder::record_requests) |
//!
//! [`LlmServer`] is the same for language models: a scripted stream, or a simulated engine that batches continuously.
//!
//! With the feature `grpc` there is [`GrpcServer`] beside it, by tonic: the four kinds of call, KServe v2, health and
//! reflection.
//!
//! On Linux, `control` is the opposite: a bare generator, to see what the machine itself makes of a
//! schedule.
//!
//! What no script can stand for is real: [`Postgres`], [`PgBouncer`], [`Redis`] and [`RedisCluster`], Node.js, nginx
//! and Gunicorn by [`Web`], [`Slurm`] and [`Chrony`] are the programs of the system's packages, private to whoever starts them.
//! So are the servers of [`LanguageModel`], which come from PyPI by the scripts in the folder `install`.
//!
//! The same scripted servers run in a process of their own: `testbed-http` and `testbed-llm`. `testbed` is the test command of
//! the whole repository (`cargo testbed`).
#![cfg(feature = "servers")]
#![forbid(unsafe_code)]

mod act;
mod answer;
mod builder;
mod cache;
mod certificate;
#[cfg(unix)]
mod chrony;
mod clock;
mod connection;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(unix)]
mod daemon;
mod driver;
mod duration;
mod engine;
#[cfg(feature = "grpc")]
pub mod grpc;
mod hyper_flavour;
#[cfg(unix)]
mod installed;
#[cfg(unix)]
mod language_model;
mod llm;
mod log;
#[cfg(unix)]
mod pgbouncer;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod redis;
mod request;
mod server;
mod service;
mod shared;
#[cfg(target_os = "linux")]
mod slurm;
mod timer;
#[cfg(unix)]
mod web;
mod workers;

pub use act::{Act, On};
pub use builder::HttpServerBuilder;
pub use cache::Cache;
pub use certificate::Certificate;
#[cfg(unix)]
pub use chrony::Chrony;
pub use clock::Clock;
pub use duration::{DurationError, parse_duration};
#[cfg(feature = "grpc")]
pub use grpc::{GrpcServer, GrpcServerBuilder};
#[cfg(unix)]
pub use language_model::{LanguageModel, vllm_client};
pub use llm::{
    LineEnd, LlmServer, LlmServerBuilder, RoleChunk, Script, Stream, StreamEnd, StreamFault,
    UsageIn,
};
pub use log::Served;
/// The simulator behind [`LlmServer::simulated`].
pub use openloop_capacity::batching;
#[cfg(unix)]
pub use pgbouncer::PgBouncer;
#[cfg(unix)]
pub use postgres::{Postgres, PostgresBuilder};
#[cfg(unix)]
pub use redis::{Redis, RedisCluster};
pub use request::{RecordedRequest, SEQUENCE_HEADER};
pub use server::HttpServer;
pub use service::Service;
#[cfg(target_os = "linux")]
pub use slurm::Slurm;
#[cfg(unix)]
pub use web::Web;
pub use workers::Workers;
