//! Why no whole answer came back.

use crate::Stages;
use openloop_measurer::{Describe, Details, Verdict};
use openloop_net::{DialErrorKind, PoolError};
use std::error::Error as StdError;
use std::io;

/// A call without a whole answer: why, and where its time went until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct HttpError {
    /// Why.
    pub kind: HttpErrorKind,
    /// Where the time went until then.
    pub stages: Box<Stages>,
}

/// Why no whole answer came back. Each has its class, under which a report counts it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// No connection could be opened; the class is that of [`DialErrorKind::class`].
    #[error(transparent)]
    Dial(Box<DialErrorKind>),
    /// Class `pool_full`: every connection is in use and the line for one is full.
    #[error(transparent)]
    PoolFull(#[from] PoolError),
    /// Class `alpn`: the server does not speak the version of HTTP that was asked for.
    #[error("the server chose {chosen:?} by ALPN, not {wanted:?}")]
    Alpn {
        /// What was asked for.
        wanted: &'static str,
        /// What the server chose; empty for nothing.
        chosen: String,
    },
    /// Class `reset`: the server tore the connection down (`ECONNRESET`, `EPIPE`).
    #[error("the connection was reset: {0}")]
    Reset(#[source] io::Error),
    /// Class `closed`: the connection ended before the whole answer was there.
    #[error("the server closed the connection before its whole answer was there: {0}")]
    Closed(String),
    /// Class `malformed`: what came is not HTTP.
    #[error("the answer is not valid HTTP: {0}")]
    Malformed(String),
    /// Class `goaway`: an HTTP/2 server closed the connection with the stream on it.
    #[error("the server sent GOAWAY: {0}")]
    GoAway(String),
    /// Class `stream_refused`, counted as rejected: an HTTP/2 server refused the stream before any work was done.
    #[error("the server refused the stream")]
    StreamRefused,
    /// Class `stream_reset`: an HTTP/2 server reset the stream.
    #[error("the server reset the stream: {0}")]
    StreamReset(String),
    /// Class `io`: reading or writing failed in another way.
    #[error("reading or writing failed: {0}")]
    Io(#[source] io::Error),
    /// Class `client`: the HTTP client itself would not go on; a fault of this side.
    #[error("the HTTP client gave up: {0}")]
    Client(String),
}

impl HttpErrorKind {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            HttpErrorKind::Dial(kind) => kind.class(),
            HttpErrorKind::PoolFull(_) => "pool_full",
            HttpErrorKind::Alpn { .. } => "alpn",
            HttpErrorKind::Reset(_) => "reset",
            HttpErrorKind::Closed(_) => "closed",
            HttpErrorKind::Malformed(_) => "malformed",
            HttpErrorKind::GoAway(_) => "goaway",
            HttpErrorKind::StreamRefused => "stream_refused",
            HttpErrorKind::StreamReset(_) => "stream_reset",
            HttpErrorKind::Io(_) => "io",
            HttpErrorKind::Client(_) => "client",
        }
    }

    /// What an error of the kernel means.
    pub(crate) fn of_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => HttpErrorKind::Reset(error),
            // TLS without a close_notify, and a body that ended early.
            io::ErrorKind::UnexpectedEof => HttpErrorKind::Closed(error.to_string()),
            // The decoder's word for a bad chunk.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                HttpErrorKind::Malformed(error.to_string())
            }
            _ => HttpErrorKind::Io(error),
        }
    }

    /// What an error of the HTTP/1.1 client means.
    pub(crate) fn of_hyper(error: &hyper::Error) -> Self {
        if let Some(cause) = io_cause(error) {
            return Self::of_io(cause);
        }
        if error.is_parse() {
            return HttpErrorKind::Malformed(with_cause(error));
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return HttpErrorKind::Closed(with_cause(error));
        }
        HttpErrorKind::Client(with_cause(error))
    }

    /// What an error of the HTTP/2 client means.
    pub(crate) fn of_h2(error: h2::Error) -> Self {
        if error.is_io() {
            let text = error.to_string();
            return match error.into_io() {
                // Of what the kernel says `h2` keeps the kind alone; an end of the connection it calls a broken pipe.
                Some(cause)
                    if cause.raw_os_error().is_some()
                        || cause.get_ref().is_none()
                            && cause.kind() != io::ErrorKind::BrokenPipe =>
                {
                    Self::of_io(cause)
                }
                _ => HttpErrorKind::Closed(text),
            };
        }
        if error.is_go_away() && error.is_remote() {
            return HttpErrorKind::GoAway(error.to_string());
        }
        match error.reason() {
            Some(h2::Reason::REFUSED_STREAM) if error.is_remote() => HttpErrorKind::StreamRefused,
            Some(_) if error.is_reset() && error.is_remote() => {
                HttpErrorKind::StreamReset(error.to_string())
            }
            Some(_) => HttpErrorKind::Malformed(error.to_string()),
            None => HttpErrorKind::Closed(error.to_string()),
        }
    }
}

/// The kernel's error under an error of hyper, if there is one. It is made anew, as hyper lends its own only.
fn io_cause(error: &hyper::Error) -> Option<io::Error> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return Some(match io.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(io.kind(), io.to_string()),
            });
        }
        cause = inner.source();
    }
    None
}

fn with_cause(error: &hyper::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

impl HttpError {
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

impl Describe for HttpError {
    fn verdict(&self) -> Verdict {
        match self.kind {
            HttpErrorKind::StreamRefused => Verdict::Rejected(self.class()),
            _ => Verdict::Failed(self.class()),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}
