//! Why no whole answer came back.

use crate::{Stages, sqlstate};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_net::{DialErrorKind, PoolError};
use std::error::Error as StdError;
use std::io;
use std::time::Duration;
use tokio_postgres::error::DbError;

/// A call without a whole answer: why, and where its time went until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct PostgresError {
    /// Why.
    pub kind: PostgresErrorKind,
    /// Where the time went until then.
    pub stages: Box<Stages>,
}

/// Why no whole answer came back. Each has its class, under which a report counts it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresErrorKind {
    /// No connection could be opened; the class is that of [`DialErrorKind::class`].
    #[error(transparent)]
    Dial(Box<DialErrorKind>),
    /// Class `pool_full`: every connection is in use and the line for one is full.
    #[error(transparent)]
    PoolFull(#[from] PoolError),
    /// Class `tls`: the server does not speak TLS.
    #[error("the server does not offer TLS; turn it on there, or ask for sslmode=disable")]
    NoTls,
    /// Class `connect_timeout`: TCP was there, and the server was not ready for queries in time.
    #[error("the server was not ready for queries within {0:?} of the connect")]
    StartupTimedOut(Duration),
    /// Class by the SQLSTATE, see [`sqlstate::class`]: the server answered with an error.
    #[error("{}: {} (SQLSTATE {})", .0.severity(), .0.message(), .0.code().code())]
    Server(Box<DbError>),
    /// Class `authentication`: the server asked for what the connection string does not have.
    #[error("authentication failed: {0}")]
    Authentication(String),
    /// Class `parameter`: the parameters are not those of the statement.
    #[error("{0}")]
    Parameter(String),
    /// Class `request`: a transaction in a pipeline, where other calls' statements would fall into it.
    #[error(
        "a transaction cannot share its connection: leave the pipeline out, or send its statements alone"
    )]
    TransactionInPipeline,
    /// Class `reset`: the connection was torn down (`ECONNRESET`, `EPIPE`).
    #[error("the connection was reset: {0}")]
    Reset(#[source] io::Error),
    /// Class `closed`: the connection ended before the whole answer was there.
    #[error("the server closed the connection before its whole answer was there")]
    Closed,
    /// Class `malformed`: what came is not the protocol.
    #[error("the answer is not PostgreSQL's protocol: {0}")]
    Malformed(String),
    /// Class `io`: reading or writing failed in another way.
    #[error("reading or writing failed: {0}")]
    Io(#[source] io::Error),
    /// Class `client`: the client library itself would not go on; a fault of this side.
    #[error("the PostgreSQL client gave up: {0}")]
    Client(String),
}

impl PostgresErrorKind {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            PostgresErrorKind::Dial(kind) => kind.class(),
            PostgresErrorKind::PoolFull(_) => "pool_full",
            PostgresErrorKind::NoTls => "tls",
            PostgresErrorKind::StartupTimedOut(_) => "connect_timeout",
            PostgresErrorKind::Server(error) => sqlstate::class(error.code().code()),
            PostgresErrorKind::Authentication(_) => "authentication",
            PostgresErrorKind::Parameter(_) => "parameter",
            PostgresErrorKind::TransactionInPipeline => "request",
            PostgresErrorKind::Reset(_) => "reset",
            PostgresErrorKind::Closed => "closed",
            PostgresErrorKind::Malformed(_) => "malformed",
            PostgresErrorKind::Io(_) => "io",
            PostgresErrorKind::Client(_) => "client",
        }
    }

    /// How a report counts it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            PostgresErrorKind::Server(error) => sqlstate::verdict(error.code().code()),
            _ => Verdict::Failed(self.class()),
        }
    }

    /// Whether the same transaction may succeed when it is run again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            PostgresErrorKind::Server(error) => sqlstate::is_retryable(error.code().code()),
            _ => false,
        }
    }
}

impl From<io::Error> for PostgresErrorKind {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => PostgresErrorKind::Reset(error),
            io::ErrorKind::UnexpectedEof => PostgresErrorKind::Closed,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                PostgresErrorKind::Malformed(error.to_string())
            }
            _ => PostgresErrorKind::Io(error),
        }
    }
}

impl From<&tokio_postgres::Error> for PostgresErrorKind {
    fn from(error: &tokio_postgres::Error) -> Self {
        if let Some(server) = error.as_db_error() {
            return PostgresErrorKind::Server(Box::new(server.clone()));
        }
        if error.is_closed() {
            return PostgresErrorKind::Closed;
        }
        let cause = error.source();
        if let Some(io) = cause.and_then(|cause| cause.downcast_ref::<io::Error>()) {
            return Self::from(match io.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(io.kind(), io.to_string()),
            });
        }
        // The library keeps its kinds to itself and shows them in the text alone.
        let what = error.to_string();
        let text = cause.map_or_else(|| what.clone(), |cause| format!("{what}: {cause}"));
        match what.as_str() {
            "authentication error" | "invalid configuration" => {
                PostgresErrorKind::Authentication(text)
            }
            "unexpected message from server" | "error parsing response from server" => {
                PostgresErrorKind::Malformed(text)
            }
            what if what.starts_with("error serializing parameter")
                || what.starts_with("expected") =>
            {
                PostgresErrorKind::Parameter(text)
            }
            _ => PostgresErrorKind::Client(text),
        }
    }
}

impl From<tokio_postgres::Error> for PostgresErrorKind {
    fn from(error: tokio_postgres::Error) -> Self {
        PostgresErrorKind::from(&error)
    }
}

impl PostgresError {
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

impl Describe for PostgresError {
    fn verdict(&self) -> Verdict {
        self.kind.verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}

impl Describe for PostgresErrorKind {
    fn verdict(&self) -> Verdict {
        PostgresErrorKind::verdict(self)
    }
}
