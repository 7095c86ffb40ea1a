//! One HTTP/2 connection, shared by the calls on it, with a task of its own that moves its bytes.

use crate::GrpcErrorKind;
use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Ping, PingPong, SendStream};
use openloop_net::{Lease, Pool, PoolError, Stream};
use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// Room for answers in flight before the server must wait for us to read: 2 MiB a stream, 5 MiB a connection.
const STREAM_WINDOW: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 5 * 1024 * 1024;

/// How long a new connection waits for the server's settings before it goes by the protocol's defaults.
const SETTINGS_LIMIT: Duration = Duration::from_secs(1);

/// A handle on an open connection; it ends when the last handle and the last stream are gone.
///
/// This is the `h2` crate rather than a client over it, whose sender is always ready: a call beyond the server's limit
/// on streams then waits unseen in a buffer. `h2` tells the limit, so that the call can be held back here and its wait
/// be seen.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Bytes>,
    life: Arc<Life>,
}

/// What the handles on a connection share.
#[derive(Debug)]
struct Life {
    /// New streams can be opened.
    alive: AtomicBool,
    /// Set when it has ended: by what, if not in order.
    ended: OnceLock<Option<h2::Error>>,
    /// A place for each stream that the server allows.
    streams: Pool<()>,
    ping: tokio::sync::Mutex<Option<PingPong>>,
}

impl Life {
    /// No new stream from now on; whoever waits for one goes on to another connection.
    fn retire(&self) {
        self.alive.store(false, Ordering::Release);
        self.streams.resize(usize::MAX);
    }
}

impl Connection {
    /// Opens a connection and waits until the server's settings are there, its limit on streams among them: they come
    /// before its answer to a ping.
    pub(crate) async fn open(stream: Stream) -> Result<Self, GrpcErrorKind> {
        let (sender, mut connection) = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .enable_push(false)
            .handshake::<_, Bytes>(stream)
            .await
            .map_err(GrpcErrorKind::of_h2)?;
        let mut ping = connection.ping_pong();
        let life = Arc::new(Life {
            alive: AtomicBool::new(true),
            ended: OnceLock::new(),
            streams: Pool::new(0, usize::MAX),
            ping: tokio::sync::Mutex::new(None),
        });
        let ends = Arc::clone(&life);
        tokio::spawn(async move {
            let ended = connection.await.err();
            // Nobody else sets it.
            let _ = ends.ended.set(ended);
            ends.retire();
        });
        if let Some(ping) = &mut ping {
            let answered = tokio::time::timeout(SETTINGS_LIMIT, ping.ping(Ping::opaque())).await;
            if let Ok(Err(error)) = answered {
                return Err(GrpcErrorKind::of_h2(error));
            }
        }
        *life.ping.lock().await = ping;
        let connection = Connection { sender, life };
        connection.follow_settings();
        Ok(connection)
    }

    /// As many places as the server allows streams now; it may change its mind at any time.
    fn follow_settings(&self) {
        let streams = &self.life.streams;
        streams.resize(self.sender.current_max_send_streams());
        // It may have ended meanwhile, and then nobody is to stand in line for it.
        if !self.is_alive() {
            self.retire();
        }
    }

    /// Whether new streams can be opened on it. A GOAWAY is seen at once, though the streams before it go on.
    pub(crate) async fn takes_streams(&mut self) -> bool {
        if !self.is_alive() {
            return false;
        }
        // A handle without an unopened stream of its own is ready or has failed.
        if poll_fn(|cx| self.sender.poll_ready(cx)).await.is_err() {
            self.retire();
            return false;
        }
        self.follow_settings();
        true
    }

    /// The same, as far as is known.
    pub(crate) fn is_alive(&self) -> bool {
        self.life.alive.load(Ordering::Acquire)
    }

    /// No new stream can be opened on it any more.
    pub(crate) fn retire(&self) {
        self.life.retire();
    }

    /// Calls on it and in line for it.
    pub(crate) fn load(&self) -> usize {
        let streams = &self.life.streams;
        streams.in_use().saturating_add(streams.waiting())
    }

    pub(crate) fn waiting(&self) -> usize {
        self.life.streams.waiting()
    }

    /// Streams that the server allows at once.
    pub(crate) fn streams(&self) -> usize {
        self.life.streams.size()
    }

    pub(crate) fn try_lease(&self) -> Option<Lease<()>> {
        self.life.streams.try_lease()
    }

    /// A place for a stream, first come, first served.
    pub(crate) async fn lease(&self) -> Result<Lease<()>, PoolError> {
        self.life.streams.lease().await
    }

    /// Opens a stream. Whatever fails here, the server has seen nothing of it.
    pub(crate) async fn send(
        &mut self,
        head: http::Request<()>,
    ) -> Result<(ResponseFuture, SendStream<Bytes>), h2::Error> {
        poll_fn(|cx| self.sender.poll_ready(cx)).await?;
        self.sender.send_request(head, false)
    }

    /// One round trip of HTTP/2 itself, after those that others asked for.
    pub(crate) async fn ping(&self) -> Result<Duration, GrpcErrorKind> {
        let mut ping = self.life.ping.lock().await;
        let Some(ping) = ping.as_mut() else {
            return Err(GrpcErrorKind::Closed("it answers no pings".to_owned()));
        };
        let since = Instant::now();
        ping.ping(Ping::opaque())
            .await
            .map_err(GrpcErrorKind::of_h2)?;
        Ok(since.elapsed())
    }

    /// The streams of a connection hear that it has ended, but not always that a GOAWAY or a reset was the reason.
    ///
    /// Its task mostly ends in the poll in which it tells them, so one turn for it is enough to know. There is no
    /// wait beyond that: the call goes on being timed, and would report our wait as the server's time.
    pub(crate) async fn explain(&self, kind: GrpcErrorKind) -> GrpcErrorKind {
        let is_told = !matches!(kind, GrpcErrorKind::Closed(_) | GrpcErrorKind::Reset(_));
        if !is_told && self.life.ended.get().is_none() {
            tokio::task::yield_now().await;
        }
        self.explain_now(kind)
    }

    /// The same, as far as is known.
    pub(crate) fn explain_now(&self, kind: GrpcErrorKind) -> GrpcErrorKind {
        if !matches!(kind, GrpcErrorKind::Closed(_) | GrpcErrorKind::Reset(_)) {
            return kind;
        }
        let is_reset = |cause: &io::Error| cause.kind() == io::ErrorKind::ConnectionReset;
        match self.life.ended.get() {
            Some(Some(error)) if error.is_go_away() && error.is_remote() => {
                GrpcErrorKind::GoAway(error.to_string())
            }
            Some(Some(error)) if error.get_io().is_some_and(is_reset) => {
                GrpcErrorKind::Reset(io::ErrorKind::ConnectionReset.into())
            }
            _ => kind,
        }
    }
}
