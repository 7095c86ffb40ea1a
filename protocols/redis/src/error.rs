//! Why no whole reply came back.

use crate::{Stages, code};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_net::{DialErrorKind, PoolError};
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A call without a whole reply: why, and where its time went until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct RedisError {
    /// Why.
    pub kind: RedisErrorKind,
    /// Where the time went until then.
    pub stages: Box<Stages>,
}

/// Why no whole reply came back. Each has its class, under which a report counts it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedisErrorKind {
    /// No connection could be opened; the class is that of [`DialErrorKind::class`].
    #[error(transparent)]
    Dial(Box<DialErrorKind>),
    /// Class `backing_off`: the last attempt to open a connection failed, and the next is not due yet.
    #[error("the server could not be reached, and is not tried again for another {left:?}")]
    BackingOff {
        /// Until the next attempt.
        left: Duration,
    },
    /// Class `pool_full`: every connection is in use and the line for one is full.
    #[error(transparent)]
    PoolFull(#[from] PoolError),
    /// The server refused a new connection, in its own words: a wrong password, a database that is not there. The
    /// class is that of the error reply, as of any other; see [`verdict`](crate::verdict).
    #[error("the server refused the connection: {code} {said}")]
    Refused {
        /// The code of its error reply.
        code: String,
        /// What stands behind the code.
        said: String,
    },
    /// Class `reset`: the server tore the connection down (`ECONNRESET`, `EPIPE`).
    #[error("the connection was reset: {0}")]
    Reset(#[source] io::Error),
    /// Class `closed`: the connection ended before the whole reply was there.
    #[error("the server closed the connection before its whole reply was there")]
    Closed,
    /// Class `malformed`: what came is not Redis's protocol.
    #[error("the reply is not that of a Redis server: {0}")]
    Malformed(String),
    /// Class `io`: reading or writing failed in another way.
    #[error("reading or writing failed: {0}")]
    Io(#[source] io::Error),
    /// Class `client`: the Redis client itself would not go on; a fault of this side.
    #[error("the Redis client gave up: {0}")]
    Client(String),
    /// Class `no_node`: no node of the cluster could be found for the request.
    #[error("no node of the cluster is known for the request: {0}")]
    NoNode(String),
}

impl RedisErrorKind {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            RedisErrorKind::Dial(kind) => kind.class(),
            RedisErrorKind::BackingOff { .. } => "backing_off",
            RedisErrorKind::PoolFull(_) => "pool_full",
            RedisErrorKind::Refused { .. } => match self.verdict() {
                Verdict::Failed(class) | Verdict::Rejected(class) => class,
                _ => "redis_other",
            },
            RedisErrorKind::Reset(_) => "reset",
            RedisErrorKind::Closed => "closed",
            RedisErrorKind::Malformed(_) => "malformed",
            RedisErrorKind::Io(_) => "io",
            RedisErrorKind::Client(_) => "client",
            RedisErrorKind::NoNode(_) => "no_node",
        }
    }

    fn verdict(&self) -> Verdict {
        match self {
            RedisErrorKind::Refused { code, said } => code::of(code, Some(said)),
            other => Verdict::Failed(other.class()),
        }
    }

    /// What an error of the client library means.
    pub(crate) fn of_library(error: &redis::RedisError) -> Self {
        if let Some(cause) = io_cause(error) {
            return Self::of_io(cause);
        }
        if let Some(code) = error.code() {
            return RedisErrorKind::Refused {
                code: code.to_owned(),
                said: error.detail().unwrap_or_default().to_owned(),
            };
        }
        match error.kind() {
            redis::ErrorKind::Parse => RedisErrorKind::Malformed(error.to_string()),
            // The library names a refused password so, and leaves the code out.
            redis::ErrorKind::AuthenticationFailed => RedisErrorKind::Refused {
                code: "WRONGPASS".to_owned(),
                said: error.to_string(),
            },
            // So it names a database that the server does not have.
            redis::ErrorKind::UnexpectedReturnType => RedisErrorKind::Refused {
                code: "ERR".to_owned(),
                said: error.to_string(),
            },
            _ => RedisErrorKind::Client(error.to_string()),
        }
    }

    /// The library lends its error only, so it is made anew.
    fn of_io(cause: &io::Error) -> Self {
        let Some(number) = cause.raw_os_error() else {
            return match cause.kind() {
                // Without a number it is not the kernel's: so the library names an end of the connection.
                io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => RedisErrorKind::Closed,
                kind => RedisErrorKind::Io(io::Error::new(kind, cause.to_string())),
            };
        };
        let error = io::Error::from_raw_os_error(number);
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => RedisErrorKind::Reset(error),
            _ => RedisErrorKind::Io(error),
        }
    }
}

/// The kernel's error under an error of the library, if there is one: it lies in an `Arc`, which is an error itself.
fn io_cause(error: &redis::RedisError) -> Option<&io::Error> {
    let cause = error.source()?;
    let shared = cause.downcast_ref::<Arc<dyn StdError + Send + Sync>>();
    match shared {
        Some(shared) => shared.downcast_ref(),
        None => cause.downcast_ref(),
    }
}

impl RedisError {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        self.kind.class()
    }

    /// Where the time went until then.
    #[must_use]
    pub fn stages(&self) -> &Stages {
        &self.stages
    }
}

impl Describe for RedisError {
    fn verdict(&self) -> Verdict {
        self.kind.verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}
