//! PostgreSQL as an operation to be measured, with every wait on our side of the wire in sight.
//!
//! A pool of connections makes a query wait before the server sees anything of it, and most of what users of a busy
//! database wait is that. A client that hides it measures itself. [`Postgres`] reports it as a stage of the call, so that
//! what the server took (the *exchange*) and what a user waited (the *response*) are both known.
//!
//! # Stages
//!
//! ```text
//! call                                                                                              completed
//!  │                                                                                                    │
//!  ├─ acquire ─┬─ dns ─ connect ─ tls ─ startup ─┬─ prepare ─┬────── first_row ──────┬──── all_rows ────┤
//!  │  a place  │  only where this call opens     │ only where│ handed over …         │ … ready for the  │
//!  │  in the   │  a connection                   │ it is new │ first row is there    │ next     ▲       │
//!  │  pool     │                                 │ to it     │                       │     received     │
//!  │           │                                 │           │                       │     (kernel)     │
//!  └───────────┴────────────────────────────── exchange = service − acquire ─────────┴──────────────────┘
//! ```
//!
//! `acquire` is the wait for a connection of the pool, or for the next attempt to reach a server that is away; it is the
//! only stage that the server has no part in. Opening a connection is work with the server and belongs to the exchange.
//! `received` is the kernel's stamp of the last byte (Linux): what lies between it and the completion is this process's
//! own delay. Counts: `statements`, `rows`, `rows_affected`, `bytes` (of rows), `copied_bytes`, `connections_opened`,
//! `connections_reused`, `retries`, `syn_retries`.
//!
//! # Connections
//!
//! | mode | connections | what it shows |
//! | --- | --- | --- |
//! | [`Connections::Pool`] | `size` at most, in turn; the line for one is first come, first served, and may be bounded | an application with a pool: M/M/c/K; the default, 10 |
//! | … with [`Builder::pipeline`] | the same, with several requests on each | pipelines |
//! | [`Connections::PerRequest`] | one for each request | what a process for each connection costs |
//! | [`Connections::PerInFlight`] | as many as requests in flight, used again | a client without a limit |
//! | [`UserPool`] | those of `deadpool`, `bb8` or another pool | your own pool, its wait timed |
//!
//! Call [`Postgres::prepare`] before a run: it opens the connections and prepares the statements, so that setting up never
//! counts, and reports what cannot be reached before there is any load. The task that leases a connection drives it.
//! There is no task per connection, whose wakes would be part of every service time (in a pipeline there is).
//!
//! # Requests
//!
//! | request | round trips |
//! | --- | --- |
//! | [`Statement::with`] | one; one more for the first on each connection, in the stage `prepare` |
//! | [`Request::typed`] | one, nothing is prepared; parsing and planning are part of it |
//! | [`Request::simple`] | one for all statements of the text |
//! | [`Request::copy_in`] | as for a prepared statement, and one at the end |
//! | [`Request::transaction`] | one for each statement, and two for `BEGIN` and `COMMIT` |
//!
//! No other round trip is made, but for one: a column or parameter of a type that the server did not come with (an
//! enumeration, a domain) is looked up once on each connection, while the statement is prepared or the first
//! [typed](Request::typed) query that returns it is answered. Parameters are [`Value`]s, sent apart from the SQL; make
//! them from a sampler by the number of the request, so that the same seed asks for the same.
//!
//! # A call that is dropped
//!
//! A limit on the time of a call is the measurer's business: it drops the future, and counts `TimedOut`. The server is
//! then asked to cancel the query, over a connection of its own; a transaction that is open is rolled back; and the
//! connection, with its place in the pool, is given to nobody before the server has answered. One that does not answer
//! within [`Builder::recovery_limit`] is closed. So no later call can get its answer, and no query is left running. In a
//! pipeline nothing is cancelled, as what runs may be another call's; the place is free when the answer has come.
//!
//! # A server that goes away
//!
//! A connection that the server closed while it rested is replaced without a word (see `connections_opened`): nothing had
//! been asked. One that closes under a request fails that request, as it may have been done. Of the attempts to come
//! back each failure is that of the call which made it; the next attempt waits a little, twice as long each time
//! ([`Builder::back_off`]), and calls that need a connection wait for it.
//!
//! # Outcomes
//!
//! | class | meaning |
//! | --- | --- |
//! | (ok) | the server did what was asked |
//! | `pg_53300` | rejected: the server has too many connections |
//! | `pg_57014` | failed: cancelled, by `statement_timeout` or somebody else |
//! | `pg_40001`, `pg_40P01` | failed: lost a serialization conflict, a deadlock; may be [run again](Builder::retries) |
//! | `pg_57P01`, `pg_57P03` | failed: terminated by an administrator or a shutdown; starting up or shutting down |
//! | `pg_23505` …, `pg_23xxx` … | failed with that SQLSTATE, or one of that class ([`sqlstate`]) |
//! | `dns`, `connect_refused`, `unreachable`, `connect_timeout`, `connect` | no connection |
//! | `tls_certificate`, `tls` | no TLS session: the certificate does not verify; the handshake failed, or TLS is not offered |
//! | `client_ports`, `client_descriptors` | this machine is out of local ports or descriptors |
//! | `authentication` | the server asks for what the connection string does not have |
//! | `pool_full` | the line for a connection was full |
//! | `pool_get` | a [`UserPool`] gave no connection |
//! | `closed`, `reset` | the connection ended before the whole answer was there |
//! | `parameter`, `request` | the parameters are not those of the statement; a transaction in a pipeline |
//! | `malformed`, `io`, `client` | what came is not the protocol; anything else while reading or writing; the client library itself |
//!
//! A class that begins with `client_` says that the machine of the generator failed, not the service, as for all adapters.
#![forbid(unsafe_code)]

mod back_off;
mod build_error;
mod builder;
mod client;
mod engine;
mod error;
mod line;
mod monitor;
mod opener;
mod pipeline;
mod pool;
mod reply;
mod request;
mod session;
pub mod sqlstate;
mod stages;
mod user_pool;
mod value;

pub use build_error::BuildError;
pub use builder::{Builder, Connections};
pub use client::Postgres;
pub use error::{PostgresError, PostgresErrorKind};
pub use monitor::{Buffers, Monitor};
pub use openloop_net::{SocketCounts, Tls};
pub use reply::{Reply, Row};
pub use request::{Request, Statement};
pub use stages::Stages;
/// The client library underneath: types of columns and rows.
pub use tokio_postgres;
pub use user_pool::{Pooled, UserPool, UserPoolError};
pub use value::Value;
