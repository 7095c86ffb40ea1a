//! What stands under every protocol adapter: a connection that is opened with each of its parts timed, bytes whose
//! arrival the kernel has stamped, and a pool whose wait is visible.
//!
//! ```text
//!   Dialer ──► dns ──► connect ──► tls ──►  Stream ──────────► the protocol's own client
//!              │        │           │         │
//!              └────────┴───────────┘         └─ Stamps: when the kernel received the last bytes read
//!                    DialTimings                 SocketCounts: opened, reused, closed
//!
//!   Pool<T>    at most `size` in use, at most `waiting` in line, first come first served; the wait is in the lease
//!   Limits     descriptors and ports this machine has, against what a run needs
//! ```
//!
//! | I want to … | look at |
//! | --- | --- |
//! | open a connection and know what each part of it took | [`Dialer`], [`Dialed`], [`DialTimings`] |
//! | know whether a full accept queue made a connect slow | [`SynBackoff::retries`] |
//! | know when the kernel had the answer, not when we read it | [`Stamps`] |
//! | share a fixed number of connections fairly | [`Pool`] |
//! | space attempts to reach a server that is down | [`Backoff`] |
//! | know whether a server has said anything on a connection at rest | [`Readiness`] |
//! | drive a connection in the task that has leased it | [`Relay`] |
//! | count sockets | [`SocketCounts`] |
//! | learn before a run that descriptors or ports will not do | [`Limits`] |
//!
//! A failure whose class ([`DialErrorKind::class`]) begins with `client_` is one of the machine that runs this
//! process, out of descriptors or of local ports, and not one of the service that it dials. Adapters hand the class
//! on as it is, and name nothing else so: whether a run was valid is judged by that prefix.
#![forbid(unsafe_code)]

mod backoff;
mod counts;
mod dial_error;
mod dialer;
mod limits;
mod pool;
mod readiness;
mod relay;
mod socket;
mod stamps;
mod stream;
mod syn;
mod timings;
mod tls;

pub use backoff::{Attempt, Backoff};
pub use counts::SocketCounts;
pub use dial_error::{DialError, DialErrorKind};
pub use dialer::{Dialed, Dialer, DialerBuilder, DialerError};
pub use limits::{Limits, LimitsError, Needs, Shortage};
pub use pool::{Lease, Pool, PoolError};
pub use readiness::Readiness;
pub use relay::Relay;
pub use socket::Socket;
pub use stamps::Stamps;
pub use stream::Stream;
pub use syn::SynBackoff;
pub use timings::DialTimings;
pub use tls::{Tls, TlsError};
