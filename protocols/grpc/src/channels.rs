//! The connections of a client, and the line for a stream on one of them.

use crate::connection::Connection;
use crate::stages::Waiting;
use crate::{GrpcErrorKind, Stages};
use openloop_net::{Backoff, Dialed, Dialer, Lease, PoolError, Stream};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A new connection may be on its way out before the call that waited for it gets to run; so often it looks for
/// another one.
const TRIES: usize = 5;

#[derive(Debug)]
pub(crate) struct Channels {
    pub(crate) dialer: Dialer,
    backoff: Backoff,
    slots: Vec<Slot>,
    /// Calls that may wait for a stream.
    waiting: usize,
    /// Where the search for the least loaded connection starts, so that equal ones take turns.
    turn: AtomicUsize,
}

/// The place of one connection, which is opened anew when it takes no more streams.
#[derive(Debug, Default)]
struct Slot {
    current: Mutex<Option<Connection>>,
    opening: tokio::sync::Mutex<()>,
}

impl Slot {
    fn current(&self) -> Option<Connection> {
        self.current.lock().clone()
    }

    fn load(&self) -> usize {
        self.current.lock().as_ref().map_or(0, Connection::load)
    }
}

/// A place for one stream on a connection.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) connection: Connection,
    _stream: Lease<()>,
}

impl Channels {
    pub(crate) fn new(dialer: Dialer, count: usize, waiting: usize) -> Self {
        Channels {
            dialer,
            backoff: Backoff::default(),
            slots: std::iter::repeat_with(Slot::default).take(count).collect(),
            waiting,
            turn: AtomicUsize::new(0),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// Opens every connection.
    pub(crate) async fn prepare(&self) -> Result<(), GrpcErrorKind> {
        for slot in &self.slots {
            self.connection(slot, &mut Stages::default()).await?;
        }
        Ok(())
    }

    /// Streams that the server allows at once on each connection, as far as they are open.
    pub(crate) fn streams(&self) -> Option<usize> {
        let current = self.slots.iter().filter_map(Slot::current);
        current.map(|connection| connection.streams()).min()
    }

    /// One round trip of HTTP/2 on one of the connections.
    pub(crate) async fn ping(&self) -> Result<Duration, GrpcErrorKind> {
        let slot = self.least_loaded()?;
        let connection = self.connection(slot, &mut Stages::default()).await?;
        connection.ping().await
    }

    /// A place for a stream on the least loaded connection.
    pub(crate) async fn lease(&self, stages: &mut Stages) -> Result<Place, GrpcErrorKind> {
        for _ in 0..TRIES {
            let slot = self.least_loaded()?;
            let connection = self.connection(slot, stages).await?;
            let stream = self.stream(&connection, stages).await?;
            if connection.is_alive() {
                return Ok(Place {
                    connection,
                    _stream: stream,
                });
            }
        }
        Err(GrpcErrorKind::Closed(format!(
            "{TRIES} connections, one after the other, took no stream"
        )))
    }

    /// The least loaded connection, equal ones in turn.
    fn least_loaded(&self) -> Result<&Slot, PoolError> {
        let slots = &self.slots;
        let slot = if slots.len() < 2 {
            slots.first()
        } else {
            let start = self.turn.fetch_add(1, Ordering::Relaxed) % slots.len();
            let (before, after) = slots.split_at(start);
            after.iter().chain(before).min_by_key(|slot| slot.load())
        };
        // The builder has seen to it that there is one.
        slot.ok_or(PoolError::Full {
            size: 0,
            waiting: 0,
        })
    }

    /// A stream on that connection, waiting in line for one.
    async fn stream(
        &self,
        connection: &Connection,
        stages: &mut Stages,
    ) -> Result<Lease<()>, PoolError> {
        if let Some(stream) = connection.try_lease() {
            return Ok(stream);
        }
        if self.waiting != usize::MAX {
            let open = || self.slots.iter().filter_map(Slot::current);
            let waiting: usize = open().map(|connection| connection.waiting()).sum();
            if waiting >= self.waiting {
                let size = open().map(|connection| connection.streams()).sum();
                return Err(PoolError::Full { size, waiting });
            }
        }
        let _waiting = Waiting::begin(&mut stages.acquire);
        connection.lease().await
    }

    /// The slot's connection, opened if there is none. Waiting for another call to open it is `acquire`.
    async fn connection(
        &self,
        slot: &Slot,
        stages: &mut Stages,
    ) -> Result<Connection, GrpcErrorKind> {
        if let Some(mut connection) = slot.current()
            && connection.takes_streams().await
        {
            stages.reused = true;
            return Ok(connection);
        }
        // Boxed, so that a call that needs no new connection does not carry the room for opening one.
        Box::pin(async {
            let waiting = Waiting::begin(&mut stages.acquire);
            let _opening = slot.opening.lock().await;
            drop(waiting);
            if let Some(mut connection) = slot.current()
                && connection.takes_streams().await
            {
                stages.reused = true;
                return Ok(connection);
            }
            stages.reused = false;
            let connection = self.open(stages).await?;
            *slot.current.lock() = Some(connection.clone());
            Ok(connection)
        })
        .await
    }

    /// Opens a connection, unless the last attempt failed so lately that it is too early.
    async fn open(&self, stages: &mut Stages) -> Result<Connection, GrpcErrorKind> {
        let attempt = self
            .backoff
            .attempt()
            .map_err(|left| GrpcErrorKind::BackingOff { left })?;
        let opened = self.dial(stages).await;
        match &opened {
            Ok(_) => attempt.succeeded(),
            Err(_) => attempt.failed(),
        }
        opened
    }

    async fn dial(&self, stages: &mut Stages) -> Result<Connection, GrpcErrorKind> {
        let Dialed {
            stream,
            alpn,
            timings,
            ..
        } = match self.dialer.dial().await {
            Ok(dialed) => dialed,
            Err(error) => {
                stages.dial = error.timings;
                // Where TLS failed, TCP had been opened.
                stages.opened += u32::from(error.timings.tls.is_some());
                return Err(GrpcErrorKind::Dial(error.kind));
            }
        };
        stages.dial = timings;
        stages.opened += 1;
        if matches!(stream, Stream::Tls(_)) && alpn.as_deref() != Some(b"h2") {
            return Err(GrpcErrorKind::Alpn {
                chosen: String::from_utf8_lossy(&alpn.unwrap_or_default()).into_owned(),
            });
        }
        // The wait for the server's settings is ours: the call could have gone.
        let _waiting = Waiting::begin(&mut stages.acquire);
        Connection::open(stream).await
    }
}
