//! The HTTP/2 connections of a client.

use super::{Connection, Failure};
use crate::engine::check_alpn;
use crate::reply::Answer;
use crate::{BodyReader, Connections, HttpErrorKind, Request, Stages};
use openloop_net::{Dialed, Dialer, Lease, Pool, PoolError, Stream};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Http2(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    dialer: Dialer,
    /// Empty where every request has a connection of its own.
    slots: Vec<Slot>,
    /// Requests that may wait for a stream.
    waiting: usize,
    /// Where the search for the least loaded connection starts, so that equal ones take turns.
    turn: AtomicUsize,
}

/// The place of one connection, which is opened anew when it has ended.
#[derive(Debug)]
struct Slot {
    current: Mutex<Option<Connection>>,
    opening: tokio::sync::Mutex<()>,
    /// A place for each stream that the server allows.
    streams: Pool<()>,
}

impl Slot {
    fn new() -> Self {
        Slot {
            current: Mutex::new(None),
            opening: tokio::sync::Mutex::new(()),
            streams: Pool::new(STREAMS_UNTIL_TOLD, usize::MAX),
        }
    }

    fn load(&self) -> usize {
        self.streams.in_use().saturating_add(self.streams.waiting())
    }

    fn set(&self, connection: Connection) {
        self.streams.resize(connection.streams());
        *self.current.lock() = Some(connection);
    }
}

/// What is assumed of a server that has not told its limit yet (RFC 9113, section 6.5.2, recommends no less).
const STREAMS_UNTIL_TOLD: usize = 100;

impl Http2 {
    pub(crate) fn new(dialer: Dialer, connections: Connections) -> Self {
        let (size, waiting) = match connections {
            Connections::Pool { size, waiting } => (size, waiting),
            Connections::PerRequest | Connections::PerInFlight => (0, usize::MAX),
        };
        Http2(Arc::new(Shared {
            dialer,
            slots: std::iter::repeat_with(Slot::new).take(size).collect(),
            waiting,
            turn: AtomicUsize::new(0),
        }))
    }

    /// Gives the first slot a connection that is open already.
    pub(crate) async fn seed(&self, stream: Stream) -> Result<(), HttpErrorKind> {
        if let Some(slot) = self.0.slots.first() {
            slot.set(Connection::with_settings(stream).await?);
        }
        Ok(())
    }

    /// Opens every connection, or one to see that it can be done.
    pub(crate) async fn prepare(&self) -> Result<(), HttpErrorKind> {
        if self.0.slots.is_empty() {
            return self.open(&mut Stages::default(), false).await.map(drop);
        }
        for slot in &self.0.slots {
            self.connection(slot, &mut Stages::default()).await?;
        }
        Ok(())
    }

    /// One call, its stages filled in as far as it comes.
    pub(crate) async fn call(
        &self,
        request: &Request,
        stages: &mut Stages,
        reader: &mut impl BodyReader,
    ) -> Result<Answer, HttpErrorKind> {
        let slot = self.least_loaded();
        let _stream = match slot {
            Some(slot) => {
                let stream = self.stream(slot).await?;
                stages.acquire += stream.waited();
                Some(stream)
            }
            None => None,
        };
        loop {
            let mut connection = match slot {
                Some(slot) => self.connection(slot, stages).await?,
                None => self.open(stages, false).await?,
            };
            match connection.exchange(request, stages, reader).await {
                Ok(answer) => {
                    if stages.reused {
                        self.0.dialer.counts().count_reuse();
                    }
                    return Ok(answer);
                }
                Err(failure) => {
                    if !matches!(
                        failure.kind,
                        HttpErrorKind::StreamRefused | HttpErrorKind::StreamReset(_)
                    ) {
                        connection.retire();
                    }
                    if !may_retry(&failure, request, stages) {
                        return Err(connection.explain(failure.kind).await);
                    }
                    stages.retries += 1;
                }
            }
        }
    }

    /// The least loaded connection, equal ones in turn; none where each request has its own.
    fn least_loaded(&self) -> Option<&Slot> {
        let slots = &self.0.slots;
        if slots.len() < 2 {
            return slots.first();
        }
        let start = self.0.turn.fetch_add(1, Ordering::Relaxed) % slots.len();
        let (before, after) = slots.split_at(start);
        after.iter().chain(before).min_by_key(|slot| slot.load())
    }

    /// A stream on that connection, waiting in line for one.
    async fn stream(&self, slot: &Slot) -> Result<Lease<()>, PoolError> {
        if let Some(stream) = slot.streams.try_lease() {
            return Ok(stream);
        }
        if self.0.waiting != usize::MAX {
            let slots = &self.0.slots;
            let waiting: usize = slots.iter().map(|slot| slot.streams.waiting()).sum();
            if waiting >= self.0.waiting {
                let size = slots.iter().map(|slot| slot.streams.size()).sum();
                return Err(PoolError::Full { size, waiting });
            }
        }
        slot.streams.lease().await
    }

    /// The slot's connection, opened if there is none. Waiting for another request to open it is `acquire`.
    async fn connection(
        &self,
        slot: &Slot,
        stages: &mut Stages,
    ) -> Result<Connection, HttpErrorKind> {
        let alive = || slot.current.lock().clone().filter(Connection::is_alive);
        if let Some(connection) = alive() {
            // Settings may change at any time.
            slot.streams.resize(connection.streams());
            stages.reused = true;
            return Ok(connection);
        }
        let since = Instant::now();
        let _opening = slot.opening.lock().await;
        stages.acquire += since.elapsed();
        if let Some(connection) = alive() {
            stages.reused = true;
            return Ok(connection);
        }
        stages.reused = false;
        let connection = self.open(stages, true).await?;
        slot.set(connection.clone());
        Ok(connection)
    }

    /// Boxed, so that a call that needs no new connection does not carry the room for opening one.
    async fn open(&self, stages: &mut Stages, shared: bool) -> Result<Connection, HttpErrorKind> {
        Box::pin(async {
            let Dialed { stream, alpn, .. } = stages.dial(&self.0.dialer).await?;
            check_alpn(&stream, alpn.as_deref(), "h2")?;
            if !shared {
                return Connection::for_one(stream).await;
            }
            // The wait for the server's settings is ours: the request could have gone.
            let since = Instant::now();
            let connection = Connection::with_settings(stream).await;
            stages.acquire += since.elapsed();
            connection
        })
        .await
    }
}

/// Once, and only where it can do no harm: the server says that it did not process the stream or never saw it, or
/// nothing came back over a connection that was open before and the method may be repeated by its definition.
fn may_retry(failure: &Failure, request: &Request, stages: &Stages) -> bool {
    if stages.retries > 0 {
        return false;
    }
    match failure.kind {
        HttpErrorKind::StreamRefused => failure.unprocessed,
        HttpErrorKind::Closed(_) | HttpErrorKind::Reset(_) | HttpErrorKind::GoAway(_) => {
            let repeatable = failure.unanswered && request.is_repeatable();
            stages.reused && (failure.unprocessed || repeatable)
        }
        _ => stages.reused && failure.unprocessed,
    }
}
