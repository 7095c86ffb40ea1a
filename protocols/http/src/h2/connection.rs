//! One HTTP/2 connection, shared by the requests on it, with a task of its own that moves its bytes.

use crate::reply::Answer;
use crate::{BodyReader, Head, HttpErrorKind, Piece, Request, Stages};
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Ping, PingPong};
use openloop_net::Stream;
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
/// This is the `h2` crate rather than hyper's client over it, whose sender is always ready: a request beyond the
/// server's limit on streams then waits unseen in its connection task. `h2` tells the limit, so that the pool can
/// hold the request back and show the wait.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    sender: SendRequest<Bytes>,
    life: Arc<Life>,
}

/// What the handles on a connection know of its end.
#[derive(Debug)]
struct Life {
    /// New streams can be opened.
    alive: AtomicBool,
    /// Set when it has ended: by what, if not in order.
    ended: OnceLock<Option<h2::Error>>,
}

/// A failed exchange, and whether it may be tried again.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: HttpErrorKind,
    /// The server did not process the stream, and says so or never saw it.
    pub(crate) unprocessed: bool,
    /// Nothing of an answer came back.
    pub(crate) unanswered: bool,
}

impl Connection {
    async fn start(stream: Stream) -> Result<(Self, Option<PingPong>), HttpErrorKind> {
        let (sender, mut connection) = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .enable_push(false)
            .handshake::<_, Bytes>(stream)
            .await
            .map_err(HttpErrorKind::of_h2)?;
        let ping = connection.ping_pong();
        let life = Arc::new(Life {
            alive: AtomicBool::new(true),
            ended: OnceLock::new(),
        });
        let ends = Arc::clone(&life);
        tokio::spawn(async move {
            let ended = connection.await.err();
            ends.alive.store(false, Ordering::Release);
            // Nobody else sets it.
            let _ = ends.ended.set(ended);
        });
        Ok((Connection { sender, life }, ping))
    }

    /// Opens a connection and waits until the server's settings are there, its limit on streams among them: they
    /// come before its answer to a ping.
    pub(crate) async fn with_settings(stream: Stream) -> Result<Self, HttpErrorKind> {
        let (connection, ping) = Connection::start(stream).await?;
        if let Some(mut ping) = ping {
            let answered = tokio::time::timeout(SETTINGS_LIMIT, ping.ping(Ping::opaque())).await;
            if let Ok(Err(error)) = answered {
                return Err(HttpErrorKind::of_h2(error));
            }
        }
        Ok(connection)
    }

    /// Opens a connection for one request.
    pub(crate) async fn for_one(stream: Stream) -> Result<Self, HttpErrorKind> {
        Ok(Connection::start(stream).await?.0)
    }

    /// Whether new streams can be opened on it, as far as is known.
    pub(crate) fn is_alive(&self) -> bool {
        self.life.alive.load(Ordering::Acquire)
    }

    /// No new stream can be opened on it any more.
    pub(crate) fn retire(&self) {
        self.life.alive.store(false, Ordering::Release);
    }

    /// Streams that the server lets us have open at once, as far as its settings have arrived.
    pub(crate) fn streams(&self) -> usize {
        self.sender.current_max_send_streams()
    }

    /// The streams of a connection hear that it has ended, but not always that a GOAWAY or a reset was the reason.
    ///
    /// Its task mostly ends in the poll in which it tells them, so one turn for it is enough to know. There is no
    /// wait beyond that: the call goes on being timed, and would report our wait as the server's time.
    pub(crate) async fn explain(&self, kind: HttpErrorKind) -> HttpErrorKind {
        if !matches!(kind, HttpErrorKind::Closed(_) | HttpErrorKind::Reset(_)) {
            return kind;
        }
        if self.life.ended.get().is_none() {
            tokio::task::yield_now().await;
        }
        let is_reset = |cause: &io::Error| cause.kind() == io::ErrorKind::ConnectionReset;
        match self.life.ended.get() {
            Some(Some(error)) if error.is_go_away() && error.is_remote() => {
                HttpErrorKind::GoAway(error.to_string())
            }
            Some(Some(error)) if error.get_io().is_some_and(is_reset) => {
                HttpErrorKind::Reset(io::ErrorKind::ConnectionReset.into())
            }
            _ => kind,
        }
    }

    /// Sends a request and reads its answer to the end, showing it to `reader` as it comes.
    pub(crate) async fn exchange(
        &mut self,
        request: &Request,
        stages: &mut Stages,
        reader: &mut impl BodyReader,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        let body = request.body().clone();
        let unopened = |error: h2::Error| Failure {
            kind: HttpErrorKind::of_h2(error),
            unprocessed: true,
            unanswered: true,
        };
        poll_fn(|cx| self.sender.poll_ready(cx))
            .await
            .map_err(unopened)?;
        let (answer, mut upload) = self
            .sender
            .send_request(request.to_http2(), body.is_empty())
            .map_err(unopened)?;
        if !body.is_empty() {
            upload.send_data(body, true).map_err(unanswered)?;
        }
        let (head, mut body) = answer.await.map_err(unanswered)?.into_parts();
        let first = Instant::now();
        stages.first_byte = Some(first - started);
        reader.head(&Head {
            status: head.status,
            headers: &head.headers,
            sent: started,
            at: first,
        });
        while let Some(data) = body.data().await {
            let data = data.map_err(failed)?;
            stages.bytes += data.len() as u64;
            reader.data(&data, Piece::shared());
            body.flow_control()
                .release_capacity(data.len())
                .map_err(failed)?;
        }
        body.trailers().await.map_err(failed)?;
        stages.body = Some(first.elapsed());
        Ok(Answer {
            status: head.status,
            headers: head.headers,
        })
    }
}

fn unanswered(error: h2::Error) -> Failure {
    let refused = error.is_remote() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    Failure {
        kind: HttpErrorKind::of_h2(error),
        unprocessed: refused,
        unanswered: true,
    }
}

fn failed(error: h2::Error) -> Failure {
    Failure {
        kind: HttpErrorKind::of_h2(error),
        unprocessed: false,
        unanswered: false,
    }
}
