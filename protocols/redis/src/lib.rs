//! Redis as an operation to be measured, with every wait on our side of the wire in sight.
//!
//! Redis carries out one command at a time. A slow one, `KEYS *` over a million keys, holds up every request behind it,
//! and so does a client that shares one connection: [`Redis`] reports what a request waited for a connection apart from
//! what the server took, so that what the server took (the *exchange*) and what a user waited (the *response*) are both
//! known.
//!
//! # Stages
//!
//! ```text
//! call                                                                          completed
//!  │                                                                                │
//!  ├─ acquire ─┬─ dns ─┬─ connect ─┬─ tls ─┬─ setup ─┬──────────── reply ───────────┤
//!  │  a place  │    only where this call opens a     │ request handed over … whole  │
//!  │  in the   │    connection; AUTH and SELECT are  │ reply there         ▲        │
//!  │  pool     │    its setup                        │              received        │
//!  └───────────┴───────────────── exchange = service − acquire ─────────────────────┘
//! ```
//!
//! `received` is the kernel's stamp of the last byte (Linux, and only where no other request shares the connection).
//! Counts: `bytes` and `nils` of replies (a benchmark of keys that are not there is seen as one), `connections_opened`,
//! `connections_reused`, `moved`, `asked`, `scripts_loaded`, `syn_retries`.
//!
//! # Connections
//!
//! | mode | connections | what it shows |
//! | --- | --- | --- |
//! | [`Connections::Pool`] | `size` at most, one request at a time on each; the line for one is first come, first served | a client with a pool; the default, 50 |
//! | [`Connections::Pipelined`] | `size`, up to `depth` requests on each | a pipelining client; [`Connections::multiplexed`] is one without a limit |
//! | [`Connections::PerRequest`] | one for each request | the accept queue, `AUTH`, TLS handshakes |
//! | [`Connections::PerInFlight`] | as many as requests in flight, used again | a client without a limit |
//!
//! Call [`Redis::prepare`] before a run: it opens the connections, so that setting up never counts, and reports what
//! cannot be reached before there is any load. A call whose future is dropped closes its connection or, on a shared
//! one, leaves its reply to be read by nobody: no later call can get it.
//!
//! A connection of a pool is driven by the task that leases it, a shared one by a task of its own.
//!
//! The client library's own timeouts (500 ms for a reply by default) are off: they would cut the tail off. A limit on the
//! time of a call is the measurer's business: it drops the future, and counts `TimedOut`.
//!
//! # Reconnecting
//!
//! Nothing is sent twice: a request whose connection breaks has failed, for the server may have done the work. A
//! connection that broke while it rested is replaced before anything is sent over it. Where the server cannot be
//! reached, the next attempt comes 10 ms later, then 20 ms, up to 1 s; requests that need a connection meanwhile fail at
//! once with the class `backing_off`. So each arrival has its outcome, and a server that restarts is not met by a storm.
//!
//! # Clusters
//!
//! [`Builder::cluster`] sends each request to the node that has its first key, and follows `MOVED` and `ASK`, up to five
//! of them; each is counted, and the time it takes is in `reply`. The commands of a pipeline go each to its node, all nodes
//! at once; of their waits the longest is in `acquire`, and of their replies the last in `reply`. A transaction goes to the
//! node of its first key, and is not sent again where it is redirected. A command, script or transaction with keys of
//! several slots is one that no cluster carries out: [`Redis::check`] tells before a run. A node that cannot be reached
//! makes the map doubtful: the next request asks for it anew, and that wait is in `acquire`. Replicas are not asked: every
//! request goes to the primary, as replicas answer it with `MOVED`.
//!
//! # Outcomes
//!
//! | class | meaning |
//! | --- | --- |
//! | (ok) | any reply without an error in it; nil is one |
//! | `redis_wrongtype`, `redis_err` … | an error reply, by its code; `redis_other` for codes that Redis 7 does not have |
//! | `redis_busy`, `redis_loading`, `redis_oom`, `redis_max_clients` … | rejected: the server sheds load or is not ready, see [`verdict`] |
//! | `dns`, `connect_refused`, `unreachable`, `connect_timeout`, `connect` | no TCP connection |
//! | `tls_certificate`, `tls` | no TLS session |
//! | `backing_off` | the server could not be reached a moment ago, and is not tried again yet |
//! | `client_ports`, `client_descriptors` | this machine is out of local ports or descriptors |
//! | `pool_full` | the line for a connection was full |
//! | `reset`, `closed` | the connection broke before the whole reply was there |
//! | `malformed` | what came is not Redis's protocol |
//! | `no_node` | no node of the cluster is known for the request |
//! | `io`, `client` | anything else while reading or writing; the client library itself |
//!
//! A class that begins with `client_` says that the machine of the generator failed, not the service; no other class
//! begins with it (`client` is the Redis library's own), and the validity of a run is judged by that prefix.
#![forbid(unsafe_code)]

mod builder;
mod client;
mod cluster;
mod code;
mod connection;
mod error;
mod node;
mod opener;
mod pool;
mod reply;
mod request;
mod shared;
mod slot;
mod stages;

pub use builder::{BuildError, Builder, Connections};
pub use client::Redis;
pub use code::verdict;
pub use error::{RedisError, RedisErrorKind};
pub use openloop_net::{SocketCounts, Tls};
pub use redis::{ServerError, Value};
pub use reply::Reply;
pub use request::{Request, RequestError, Script};
pub use stages::Stages;
