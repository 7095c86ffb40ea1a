//! HTTP/1.1 and HTTP/2 as an operation to be measured, with every wait on our side of the wire in sight.
//!
//! A pool of connections, a limit on streams, a connection that has to be opened first: each makes a request wait
//! before the server sees anything of it. A client that hides these waits measures itself. [`Http`] reports them as
//! stages of the call, so that what the server took (the *exchange*) and what a user waited (the *response*) are
//! both known.
//!
//! # Stages
//!
//! ```text
//! call                                                                                   completed
//!  │                                                                                         │
//!  ├─ acquire ─┬─ dns ─┬─ connect ─┬─ tls ─┬─────────── first_byte ───────────┬──── body ────┤
//!  │  a place  │  only where this call     │ request handed over … head is   │ … last byte  │
//!  │  in the   │  opens a connection       │ there                           │     ▲        │
//!  │  pool, a  │                           │                                 │  received    │
//!  │  stream   │                           │                                 │  (kernel)    │
//!  └───────────┴──────────────────────────── exchange = service − acquire ────┴──────────────┘
//! ```
//!
//! `acquire` is the wait for a connection of the pool or, over HTTP/2, for a stream; it is the only stage that the
//! server has no part in. Opening a connection is work with the server and belongs to the exchange. `received` is the
//! kernel's stamp of the last byte (Linux, HTTP/1.1): what lies between it and the completion is this process's own
//! delay. Counts: `bytes` (of bodies), `connections_opened`, `connections_reused`, `retries`, `syn_retries`.
//!
//! # Connections
//!
//! | mode | connections | what it shows |
//! | --- | --- | --- |
//! | [`Connections::Pool`] | `size` at most, in turn; the line for one is first come, first served | a client with a pool; the default, 50 |
//! | [`Connections::PerRequest`] | one for each request, with `Connection: close` | the accept queue, TLS handshakes |
//! | [`Connections::PerInFlight`] | as many as requests in flight, used again | a client without a limit |
//!
//! Call [`Http::prepare`] before a run: it opens the connections, so that setting up never counts, and reports what
//! cannot be reached before there is any load. A call whose future is dropped closes its connection (HTTP/1.1) or
//! resets its stream (HTTP/2): no later call can get its answer.
//!
//! Over HTTP/1.1 the task that leases a connection drives it. There is no task per connection, whose wakes would be
//! part of every service time.
//!
//! # Retries
//!
//! A server may close an idle connection at the moment at which a request goes out on it. Every HTTP client knows
//! this race and sends again; one that did not would report errors that no user sees. So a request that met it is
//! sent once more, on a fresh connection, and counted under `retries`. The rule, for HTTP/1.1: the connection had
//! been used or opened before, not a byte came back, and either nothing of the request had been written, or its
//! method is idempotent by definition (GET, HEAD, PUT, DELETE, OPTIONS, TRACE). A POST that had been written is not
//! sent again, unless it is said to be [repeatable](Request::repeatable): the server may have done the work. For HTTP/2: the server refused the stream unprocessed
//! (`REFUSED_STREAM`), or the stream met the same race on a connection that was open before. A failure on a fresh
//! connection is an error. A server that crashes under idempotent requests is met by the same rule, so look at
//! `retries` as well as at the errors.
//!
//! # Outcomes
//!
//! | class | meaning |
//! | --- | --- |
//! | (ok) | status 1xx, 2xx or 3xx; a redirect is not followed |
//! | `http_429`, `http_503` | rejected: the server sheds load |
//! | `http_404` … | failed with that status; `http_other` from 600 on |
//! | `dns`, `connect_refused`, `unreachable`, `connect_timeout`, `connect` | no TCP connection |
//! | `tls_certificate`, `tls`, `alpn` | no TLS session: the certificate does not verify, the handshake failed, another version of HTTP |
//! | `client_ports`, `client_descriptors` | this machine is out of local ports or descriptors |
//! | `pool_full` | the line for a connection or stream was full |
//! | `reset` | the server tore the connection down |
//! | `closed` | the connection ended before the whole answer was there |
//! | `malformed` | what came is not HTTP |
//! | `goaway`, `stream_reset`, `stream_refused` | HTTP/2: connection on its way out, stream torn down, stream refused (rejected) |
//! | `io`, `client` | anything else while reading or writing; the HTTP client itself |
//!
//! A class that begins with `client_` says that the machine of the generator failed, not the service: such a call
//! tells nothing of the server, and a run that has them did not offer the load that it was asked for. The prefix is
//! part of the contract, and no other class begins with it (`client` is the HTTP library's own): whoever judges the
//! validity of a run may go by it.
//!
//! `goaway` is reported where the reason is known when the stream ends, and `closed` or `reset` otherwise: no call
//! waits for a better name of its failure.
//!
//! A limit on the time of a call is the measurer's business: it drops the future, and counts `TimedOut`.
#![forbid(unsafe_code)]

mod body;
mod builder;
mod client;
mod engine;
mod error;
mod h1;
mod h2;
mod reply;
mod request;
mod stages;
pub mod status;

pub use body::{BodyReader, Head, Piece};
pub use builder::{BuildError, Builder, Connections, Version};
pub use client::Http;
pub use error::{HttpError, HttpErrorKind};
pub use openloop_net::{SocketCounts, Tls};
pub use reply::Reply;
pub use request::{Request, RequestError};
pub use stages::Stages;
