//! A request in the form in which it is sent.

use crate::MetadataError;
use crate::framing::framed;
use crate::metadata::append;
use bytes::Bytes;
use http::HeaderMap;
use http::uri::PathAndQuery;
use std::sync::Arc;
use std::time::Duration;

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The path does not name a method.
    #[error("{path:?} names no method; write it as package.Service/Method")]
    Path {
        /// What was given.
        path: String,
    },
    /// The number of messages is not that of the kind of call.
    #[error("a {kind} call sends one message, and {count} were given")]
    Messages {
        /// The kind of call.
        kind: CallKind,
        /// How many were given.
        count: usize,
    },
    /// The message is longer than its length can say.
    #[error("a message of {length} bytes is too long; the protocol holds 4 GiB")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The answer to each message is waited for, and there is only one, after the last.
    #[error(
        "the messages of a {kind} call cannot be sent in turn: its answer comes after the last of them; take another pace"
    )]
    InTurn {
        /// The kind of call.
        kind: CallKind,
    },
    /// A deadline that no call can meet.
    #[error("a deadline of zero fails every call; leave it out for none")]
    ZeroDeadline,
    /// The metadata cannot be sent.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}

/// Which sides of a call are streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// One message each way.
    Unary,
    /// One message there, a stream back.
    ServerStreaming,
    /// A stream there, one message back.
    ClientStreaming,
    /// A stream each way.
    Bidirectional,
}

impl CallKind {
    /// Of a method whose request and reply are streams or not.
    #[must_use]
    pub fn of(client_streams: bool, server_streams: bool) -> Self {
        match (client_streams, server_streams) {
            (false, false) => CallKind::Unary,
            (false, true) => CallKind::ServerStreaming,
            (true, false) => CallKind::ClientStreaming,
            (true, true) => CallKind::Bidirectional,
        }
    }

    /// Whether the request is a stream.
    #[must_use]
    pub fn client_streams(self) -> bool {
        matches!(self, CallKind::ClientStreaming | CallKind::Bidirectional)
    }

    /// Whether the answer is a stream.
    #[must_use]
    pub fn server_streams(self) -> bool {
        matches!(self, CallKind::ServerStreaming | CallKind::Bidirectional)
    }
}

impl std::fmt::Display for CallKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CallKind::Unary => "unary",
            CallKind::ServerStreaming => "server-streaming",
            CallKind::ClientStreaming => "client-streaming",
            CallKind::Bidirectional => "bidirectional",
        })
    }
}

/// When the messages of a stream are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pace {
    /// As fast as the server's flow control lets them go.
    #[default]
    AtOnce,
    /// Message k at k times this after the call was handed over, as of a source that produces them in time; one that
    /// flow control held up does not delay those after it by more than it must.
    Every(Duration),
    /// Each after an answer to the one before: a conversation. For bidirectional calls whose server answers every
    /// message; where it does not, the next message waits until the deadline of the call.
    InTurn,
}

/// A call that is checked and ready to be made any number of times; cloning it is cheap.
///
/// ```
/// # use openloop_grpc::Request;
/// # use std::time::Duration;
/// let request = Request::unary("shop.Cart/Get", b"\x08\x2a")?   // the message as it is encoded: field 1 is 42
///     .metadata("authorization", "Bearer 1")?
///     .deadline(Duration::from_millis(250))?;
/// # Ok::<(), openloop_grpc::RequestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request(Arc<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    path: PathAndQuery,
    kind: CallKind,
    /// Each with its prefix.
    messages: Vec<Bytes>,
    metadata: HeaderMap,
    deadline: Option<Duration>,
    pace: Pace,
}

impl Request {
    /// A call of `method`, such as `package.Service/Method`, with these messages as they are encoded.
    ///
    /// # Errors
    ///
    /// [`RequestError`] where the method is none, or the number of messages is not that of the kind of call.
    pub fn new<M: AsRef<[u8]>>(
        kind: CallKind,
        method: &str,
        messages: impl IntoIterator<Item = M>,
    ) -> Result<Self, RequestError> {
        let path = path(method)?;
        let mut frames = Vec::new();
        for message in messages {
            let message = message.as_ref();
            let frame = framed(message).ok_or(RequestError::TooLong {
                length: message.len(),
            })?;
            frames.push(frame);
        }
        if !kind.client_streams() && frames.len() != 1 {
            let count = frames.len();
            return Err(RequestError::Messages { kind, count });
        }
        Ok(Request(Arc::new(Parts {
            path,
            kind,
            messages: frames,
            metadata: HeaderMap::new(),
            deadline: None,
            pace: Pace::AtOnce,
        })))
    }

    /// A call with one message each way.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn unary(method: &str, message: impl AsRef<[u8]>) -> Result<Self, RequestError> {
        Request::new(CallKind::Unary, method, [message])
    }

    /// A call with a stream back.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn server_streaming(method: &str, message: impl AsRef<[u8]>) -> Result<Self, RequestError> {
        Request::new(CallKind::ServerStreaming, method, [message])
    }

    /// A call with a stream there.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn client_streaming<M: AsRef<[u8]>>(
        method: &str,
        messages: impl IntoIterator<Item = M>,
    ) -> Result<Self, RequestError> {
        Request::new(CallKind::ClientStreaming, method, messages)
    }

    /// A call with a stream each way.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn bidirectional<M: AsRef<[u8]>>(
        method: &str,
        messages: impl IntoIterator<Item = M>,
    ) -> Result<Self, RequestError> {
        Request::new(CallKind::Bidirectional, method, messages)
    }

    /// Adds metadata to that of the client. The value of a name that ends in `-bin` is written in base64.
    ///
    /// # Errors
    ///
    /// [`RequestError::Metadata`] where it cannot be sent or is the client's own.
    pub fn metadata(mut self, name: &str, value: &str) -> Result<Self, RequestError> {
        append(&mut Arc::make_mut(&mut self.0).metadata, name, value)?;
        Ok(self)
    }

    /// The time that the whole call may take, from the moment at which it is made; in place of the client's
    /// [deadline](crate::Builder::deadline). The server is told what is left of it when the call goes out.
    ///
    /// # Errors
    ///
    /// [`RequestError::ZeroDeadline`].
    pub fn deadline(mut self, limit: Duration) -> Result<Self, RequestError> {
        if limit.is_zero() {
            return Err(RequestError::ZeroDeadline);
        }
        Arc::make_mut(&mut self.0).deadline = Some(limit);
        Ok(self)
    }

    /// When the messages of a stream are sent; [`Pace::AtOnce`] by default.
    ///
    /// # Errors
    ///
    /// [`RequestError::InTurn`] where no answer comes before the last message.
    pub fn pace(mut self, pace: Pace) -> Result<Self, RequestError> {
        let kind = self.kind();
        if pace == Pace::InTurn && kind.client_streams() && !kind.server_streams() {
            return Err(RequestError::InTurn { kind });
        }
        Arc::make_mut(&mut self.0).pace = pace;
        Ok(self)
    }

    /// The method, as `package.Service/Method`.
    #[must_use]
    pub fn method(&self) -> &str {
        self.0.path.path().trim_start_matches('/')
    }

    /// The kind of call.
    #[must_use]
    pub fn kind(&self) -> CallKind {
        self.0.kind
    }

    /// How many messages it sends.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.0.messages.len()
    }

    pub(crate) fn path(&self) -> &PathAndQuery {
        &self.0.path
    }

    pub(crate) fn frames(&self) -> &[Bytes] {
        &self.0.messages
    }

    pub(crate) fn own_metadata(&self) -> &HeaderMap {
        &self.0.metadata
    }

    pub(crate) fn own_deadline(&self) -> Option<Duration> {
        self.0.deadline
    }

    pub(crate) fn own_pace(&self) -> Pace {
        self.0.pace
    }
}

/// The path of a method.
fn path(method: &str) -> Result<PathAndQuery, RequestError> {
    let wrong = || RequestError::Path {
        path: method.to_owned(),
    };
    let name = method.strip_prefix('/').unwrap_or(method);
    let (service, call) = name.split_once('/').ok_or_else(wrong)?;
    let is_name = |text: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
        !text.is_empty() && text.chars().all(is_part)
    };
    if !is_name(service) || !is_name(call) {
        return Err(wrong());
    }
    PathAndQuery::try_from(format!("/{name}")).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_call_is_refused() {
        for method in ["", "/", "Echo", "/Echo/", "a/b/c", "a b/c", "a/b?c"] {
            let error = Request::unary(method, b"").unwrap_err();
            assert!(matches!(error, RequestError::Path { .. }), "{method}");
        }
        for method in ["a.B/C", "/a.B/C"] {
            assert_eq!(Request::unary(method, b"").unwrap().method(), "a.B/C");
        }
        let none: [&[u8]; 0] = [];
        let error = Request::new(CallKind::Unary, "a/b", none).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a unary call sends one message, and 0 were given"
        );
        assert!(Request::client_streaming("a/b", none).is_ok());
        let unary = Request::unary("a/b", b"").unwrap();
        assert!(unary.clone().deadline(Duration::ZERO).is_err());
        assert!(unary.metadata("grpc-status", "0").is_err());
        let stream = Request::client_streaming("a/b", [b"", b""]).unwrap();
        let error = stream.pace(Pace::InTurn).unwrap_err().to_string();
        assert!(error.contains("client-streaming"), "{error}");
        let both = Request::bidirectional("a/b", [b"", b""]).unwrap();
        assert!(both.pace(Pace::InTurn).is_ok());
    }
}
