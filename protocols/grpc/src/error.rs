//! Why a call has no good answer.

use crate::{Stages, status};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_net::{DialErrorKind, PoolError};
use std::io;
use std::time::Duration;
use tonic::Status;

/// A call without a good answer: why, and where its time went until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct GrpcError {
    /// Why.
    pub kind: GrpcErrorKind,
    /// Where the time went until then.
    pub stages: Box<Stages>,
}

/// Why a call has no good answer. Each has its class, under which a report counts it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrpcErrorKind {
    /// The server answered with a status other than `OK`; the class is that of [`status::class`].
    #[error("the server answered {:?}: {}", .0.code(), .0.message())]
    Status(Status),
    /// Counted as timed out: the call's own deadline passed on this side.
    #[error("the deadline of {after:?} passed")]
    Deadline {
        /// The deadline of the call.
        after: Duration,
    },
    /// No connection could be opened; the class is that of [`DialErrorKind::class`].
    #[error(transparent)]
    Dial(Box<DialErrorKind>),
    /// Class `backing_off`: the last attempt to open a connection failed, and the next is not due yet.
    #[error("the server could not be reached, and is not tried again for another {left:?}")]
    BackingOff {
        /// Until the next attempt.
        left: Duration,
    },
    /// Class `pool_full`: every stream that the server allows is in use and the line for one is full.
    #[error(transparent)]
    PoolFull(#[from] PoolError),
    /// Class `alpn`: the server does not speak HTTP/2.
    #[error("the server chose {chosen:?} by ALPN, not \"h2\", which gRPC needs")]
    Alpn {
        /// What the server chose; empty for nothing.
        chosen: String,
    },
    /// Class `reset`: the server tore the connection down (`ECONNRESET`, `EPIPE`).
    #[error("the connection was reset: {0}")]
    Reset(#[source] io::Error),
    /// Class `closed`: the connection ended before the whole answer was there.
    #[error("the server closed the connection before its whole answer was there: {0}")]
    Closed(String),
    /// Class `goaway`: the server closed the connection with the stream on it.
    #[error("the server sent GOAWAY: {0}")]
    GoAway(String),
    /// Class `stream_refused`, counted as rejected: the server refused the stream before any work was done.
    #[error("the server refused the stream")]
    StreamRefused,
    /// Class `stream_reset`: the server reset the stream, without a status.
    #[error("the server reset the stream: {0}")]
    StreamReset(String),
    /// Class `not_grpc`: what answered is no gRPC server, but a proxy or a web server. Of the statuses 429 and 503 it
    /// is counted as rejected.
    #[error("the answer is not gRPC: HTTP status {status}, content type {content_type:?}")]
    NotGrpc {
        /// The status of HTTP.
        status: u16,
        /// The content type; empty for none.
        content_type: String,
    },
    /// Class `malformed`: what came is not well-formed HTTP/2 or gRPC.
    #[error("the answer is not well-formed: {0}")]
    Malformed(String),
    /// Class `io`: reading or writing failed in another way.
    #[error("reading or writing failed: {0}")]
    Io(#[source] io::Error),
}

impl GrpcErrorKind {
    /// The class under which a report counts it.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            GrpcErrorKind::Status(status) => status::class(status.code()),
            GrpcErrorKind::Deadline { .. } => "deadline",
            GrpcErrorKind::Dial(kind) => kind.class(),
            GrpcErrorKind::BackingOff { .. } => "backing_off",
            GrpcErrorKind::PoolFull(_) => "pool_full",
            GrpcErrorKind::Alpn { .. } => "alpn",
            GrpcErrorKind::Reset(_) => "reset",
            GrpcErrorKind::Closed(_) => "closed",
            GrpcErrorKind::GoAway(_) => "goaway",
            GrpcErrorKind::StreamRefused => "stream_refused",
            GrpcErrorKind::StreamReset(_) => "stream_reset",
            GrpcErrorKind::NotGrpc { .. } => "not_grpc",
            GrpcErrorKind::Malformed(_) => "malformed",
            GrpcErrorKind::Io(_) => "io",
        }
    }

    fn verdict(&self) -> Verdict {
        match self {
            GrpcErrorKind::Status(status) => status::verdict(status.code()),
            GrpcErrorKind::Deadline { .. } => Verdict::TimedOut,
            GrpcErrorKind::StreamRefused
            | GrpcErrorKind::NotGrpc {
                status: 429 | 503, ..
            } => Verdict::Rejected(self.class()),
            _ => Verdict::Failed(self.class()),
        }
    }

    /// The status code, where the server sent one.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        match self {
            GrpcErrorKind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// What an error of the kernel means.
    fn of_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => GrpcErrorKind::Reset(error),
            // TLS without a close_notify.
            io::ErrorKind::UnexpectedEof => GrpcErrorKind::Closed(error.to_string()),
            _ => GrpcErrorKind::Io(error),
        }
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
                _ => GrpcErrorKind::Closed(text),
            };
        }
        if error.is_go_away() && error.is_remote() {
            return GrpcErrorKind::GoAway(error.to_string());
        }
        match error.reason() {
            Some(h2::Reason::REFUSED_STREAM) if error.is_remote() => GrpcErrorKind::StreamRefused,
            Some(_) if error.is_reset() && error.is_remote() => {
                GrpcErrorKind::StreamReset(error.to_string())
            }
            Some(_) => GrpcErrorKind::Malformed(error.to_string()),
            None => GrpcErrorKind::Closed(error.to_string()),
        }
    }

    /// What a generated client is told: by the rules of gRPC for what no server has said.
    pub(crate) fn to_status(&self) -> Status {
        match self {
            GrpcErrorKind::Status(status) => status.clone(),
            GrpcErrorKind::Deadline { .. } => Status::deadline_exceeded(self.to_string()),
            GrpcErrorKind::PoolFull(_) => Status::resource_exhausted(self.to_string()),
            GrpcErrorKind::Malformed(_) => Status::internal(self.to_string()),
            GrpcErrorKind::NotGrpc { .. } => Status::unknown(self.to_string()),
            _ => Status::unavailable(self.to_string()),
        }
    }
}

impl GrpcError {
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

impl Describe for GrpcError {
    fn verdict(&self) -> Verdict {
        self.kind.verdict()
    }

    fn details(&self, into: &mut Details<'_>) {
        self.stages.details(into);
    }
}
