//! Where the time of one call went.

use openloop_measurer::Details;
use openloop_net::DialTimings;
use std::time::Duration;
use tokio::time::Instant;

/// Where the time of one call went, and what it did to connections; `None` for a stage that was not reached or not
/// needed. The crate's documentation draws them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// The wait on our side: for a connection of the pool, for a stream of HTTP/2.
    pub acquire: Duration,
    /// Resolving the name, opening TCP and the TLS handshake, where this call opened a connection.
    pub dial: DialTimings,
    /// From the request's hand-over to the connection until the head of its answer.
    pub first_byte: Option<Duration>,
    /// From the head of the answer until its last byte was handled: what `on_data` of
    /// [`call_with`](crate::Http::call_with) takes is in it.
    pub body: Option<Duration>,
    /// Bytes of the answer's body.
    pub bytes: u64,
    /// Connections that this call opened.
    pub opened: u32,
    /// Whether the last attempt went over a connection that was open already.
    pub reused: bool,
    /// Times the request was sent again, its connection having been closed by the server before it could answer.
    pub retries: u32,
    /// When the kernel received the last byte of the answer. HTTP/1.1 on Linux only: on a shared HTTP/2 connection
    /// the last segment read need not be this stream's.
    pub received: Option<Instant>,
}

impl Stages {
    pub(crate) fn details(&self, into: &mut Details<'_>) {
        into.acquire(self.acquire);
        let dial = &self.dial;
        into.durations([
            ("dns", dial.dns),
            ("connect", dial.connect),
            ("tls", dial.tls),
            ("first_byte", self.first_byte),
            ("body", self.body),
        ]);
        into.counts([
            ("bytes", self.bytes),
            ("connections_opened", u64::from(self.opened)),
            ("connections_reused", u64::from(self.reused)),
            ("retries", u64::from(self.retries)),
            ("syn_retries", u64::from(dial.syn_retries)),
        ]);
        if let Some(at) = self.received {
            into.received(at);
        }
    }
}
