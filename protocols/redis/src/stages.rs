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
    /// The wait on our side: for a connection of the pool, for a place in a pipeline, for a shared connection that
    /// another call is opening, for the map of a cluster.
    pub acquire: Duration,
    /// Resolving the name, opening TCP and the TLS handshake, where this call opened a connection.
    pub dial: DialTimings,
    /// What had to be said on a new connection before a request: `AUTH`, `HELLO`, `SELECT`.
    pub setup: Option<Duration>,
    /// From the request's hand-over to the connection until the whole of its reply; redirections and the loading of a
    /// script are in it.
    pub reply: Option<Duration>,
    /// Bytes of the values in the reply, without the protocol's own.
    pub bytes: u64,
    /// Values in the reply that are nil: keys that are not there.
    pub nils: u64,
    /// Connections that this call opened.
    pub opened: u32,
    /// Whether the request went over a connection that was open already.
    pub reused: bool,
    /// Times a cluster's node said that the slot of the key is another node's for good.
    pub moved: u32,
    /// Times a cluster's node said that the slot of the key is on its way to another node.
    pub asked: u32,
    /// Times a script had to be sent to a server that did not know it.
    pub scripts_loaded: u32,
    /// When the kernel received the last byte of the reply; only where no other request shares the connection, and on
    /// Linux.
    pub received: Option<Instant>,
}

impl Stages {
    /// Those of a part that ran at the same time as others: its waits were not behind theirs.
    pub(crate) fn join(&mut self, part: &Stages) {
        if part.acquire > self.acquire {
            self.acquire = part.acquire;
        }
        if part.opened > 0 {
            (self.dial, self.setup) = (part.dial, part.setup);
        }
        self.reply = self.reply.max(part.reply);
        self.opened += part.opened;
        self.reused |= part.reused;
        self.scripts_loaded += part.scripts_loaded;
        self.received = self.received.max(part.received);
    }

    pub(crate) fn details(&self, into: &mut Details<'_>) {
        into.acquire(self.acquire);
        let dial = &self.dial;
        into.durations([
            ("dns", dial.dns),
            ("connect", dial.connect),
            ("tls", dial.tls),
            ("setup", self.setup),
            ("reply", self.reply),
        ]);
        into.counts([
            ("bytes", self.bytes),
            ("nils", self.nils),
            ("connections_opened", u64::from(self.opened)),
            ("connections_reused", u64::from(self.reused)),
            ("moved", u64::from(self.moved)),
            ("asked", u64::from(self.asked)),
            ("scripts_loaded", u64::from(self.scripts_loaded)),
            ("syn_retries", u64::from(dial.syn_retries)),
        ]);
        if let Some(at) = self.received {
            into.received(at);
        }
    }
}
