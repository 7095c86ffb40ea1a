//! Where the time of one call went.

use openloop_measurer::Details;
use openloop_net::DialTimings;
use std::time::Duration;
use tokio::time::Instant;

/// Where the time of one call went, and what it did; `None` for a stage that was not reached or not needed. The
/// crate's documentation draws them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// The wait on our side: for a connection of the pool, for the next attempt to reach a server that is away.
    pub acquire: Duration,
    /// Resolving the name, opening TCP and the TLS handshake, where this call opened a connection.
    pub dial: DialTimings,
    /// From the first word to the server until it is ready for queries: asking for TLS, authentication, the start of a
    /// backend; the TLS handshake is not in it.
    pub startup: Option<Duration>,
    /// Preparing statements that this connection did not know yet.
    pub prepare: Option<Duration>,
    /// From the first statement's hand-over to the connection until its first row, or its end where it has none.
    pub first_row: Option<Duration>,
    /// From then until the server was ready for the next request: what `on_row` of
    /// [`call_with`](crate::Postgres::call_with) takes is in it, and so are the other statements of a transaction.
    pub all_rows: Option<Duration>,
    /// Statements that were sent; `BEGIN`, `COMMIT` and `ROLLBACK` are not counted.
    pub statements: u32,
    /// Rows that came back.
    pub rows: u64,
    /// Rows that statements without a result changed.
    pub affected: u64,
    /// Bytes of the rows that came back.
    pub bytes: u64,
    /// Bytes that were copied in.
    pub copied_bytes: u64,
    /// Connections that this call opened.
    pub opened: u32,
    /// Whether it went over a connection that was open already.
    pub reused: bool,
    /// Times it was run again after a serialization failure or a deadlock.
    pub retries: u32,
    /// Whether there was a place: a call that was refused one has waited for nothing.
    pub(crate) has_place: bool,
    /// When the kernel received the last byte of the answer; on Linux, and not in a pipeline, where the last segment
    /// read need not be this call's.
    pub received: Option<Instant>,
}

impl Stages {
    pub(crate) fn details(&self, into: &mut Details<'_>) {
        if self.has_place {
            into.acquire(self.acquire);
        }
        let dial = &self.dial;
        into.durations([
            ("dns", dial.dns),
            ("connect", dial.connect),
            ("tls", dial.tls),
            ("startup", self.startup),
            ("prepare", self.prepare),
            ("first_row", self.first_row),
            ("all_rows", self.all_rows),
        ]);
        into.counts([
            ("statements", u64::from(self.statements)),
            ("rows", self.rows),
            ("rows_affected", self.affected),
            ("bytes", self.bytes),
            ("copied_bytes", self.copied_bytes),
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
