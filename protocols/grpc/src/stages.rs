//! Where the time of one call went.

use openloop_measurer::Details;
use openloop_net::DialTimings;
use std::time::Duration;
use tokio::time::Instant;

/// Where the time of one call went, and what it did to connections; `None` for a stage that was not reached or not
/// needed. The crate's documentation draws them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// The wait on our side: for a stream behind the server's limit, for another call that opens the connection, for
    /// the server's settings on a new one.
    pub acquire: Duration,
    /// Resolving the name, opening TCP and the TLS handshake, where this call opened a connection.
    pub dial: DialTimings,
    /// From the call's hand-over to the connection until its last message was handed over, where it sends several:
    /// the pace of the request and the wait for the server's flow control are in it.
    pub upload: Option<Duration>,
    /// From the call's hand-over until the first message of the answer was there.
    pub first_message: Option<Duration>,
    /// Between one message of the answer and the next. Messages that came in one piece have a gap of zero.
    pub message_gaps: Vec<Duration>,
    /// From the call's hand-over until the status was there, which ends the answer.
    pub reply: Option<Duration>,
    /// Messages handed over.
    pub messages_sent: u64,
    /// Messages of the answer.
    pub messages_received: u64,
    /// Bytes of the answer's messages.
    pub bytes: u64,
    /// Connections that this call opened.
    pub opened: u32,
    /// Whether the last attempt went over a connection that was open already.
    pub reused: bool,
    /// Times the call was sent again, the server having said that it did not process it.
    pub retries: u32,
}

impl Stages {
    pub(crate) fn details(&self, into: &mut Details<'_>) {
        into.acquire(self.acquire);
        let dial = &self.dial;
        into.durations([
            ("dns", dial.dns),
            ("connect", dial.connect),
            ("tls", dial.tls),
            ("upload", self.upload),
            ("first_message", self.first_message),
            ("reply", self.reply),
        ]);
        for gap in &self.message_gaps {
            into.duration("message_gap", *gap);
        }
        into.counts([
            ("messages_sent", self.messages_sent),
            ("messages_received", self.messages_received),
            ("bytes", self.bytes),
            ("connections_opened", u64::from(self.opened)),
            ("connections_reused", u64::from(self.reused)),
            ("retries", u64::from(self.retries)),
            ("syn_retries", u64::from(dial.syn_retries)),
        ]);
    }

    /// Counts a message of the answer that ended now, `since` the call was handed over; `before` is the one before it.
    pub(crate) fn count_message(
        &mut self,
        length: usize,
        since: Instant,
        before: &mut Option<Instant>,
        now: Instant,
    ) {
        self.messages_received += 1;
        self.bytes += length as u64;
        match before.replace(now) {
            None => self.first_message = Some(now - since),
            Some(before) => self.message_gaps.push(now - before),
        }
    }
}

/// A wait on our side, which counts however it ends: the call's time may be up before what it waits for is there.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    since: Instant,
    acquire: &'a mut Duration,
}

impl<'a> Waiting<'a> {
    pub(crate) fn begin(acquire: &'a mut Duration) -> Self {
        let since = Instant::now();
        Waiting { since, acquire }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        *self.acquire += self.since.elapsed();
    }
}
