//! One HTTP/1.1 connection, driven by the task that has leased it.

use crate::reply::Answer;
use crate::request::Payload;
use crate::{BodyReader, Head, HttpErrorKind, Piece, Request, Stages};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use openloop_net::{Relay, Stamps, Stream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

type Driver = http1::Connection<TokioIo<Counted>, Payload>;

/// An open connection: the half that takes requests, and the half that moves bytes. No task of its own stands
/// behind it: whoever leases it polls both.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: http1::SendRequest<Payload>,
    driver: Driving,
    relay: Arc<Relay>,
    waker: Waker,
    stamps: Stamps,
    received: Arc<AtomicU64>,
}

/// The driver, dropped once it has ended: that closes the socket and gives back a request that was not sent.
#[derive(Debug)]
struct Driving {
    driver: Option<Driver>,
    /// What ended it, where it could not tell the request itself.
    error: Option<hyper::Error>,
}

impl Driving {
    fn advance(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(ended) = Pin::new(driver).poll(cx)
        {
            self.driver = None;
            self.error = ended.err();
        }
    }
}

/// A failed exchange, and whether it may be tried again.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: HttpErrorKind,
    /// Nothing of the request was written.
    pub(crate) unsent: bool,
    /// Not one byte came back.
    pub(crate) unanswered: bool,
}

impl Connection {
    pub(crate) async fn handshake(stream: Stream) -> Result<Self, HttpErrorKind> {
        let stamps = stream.stamps();
        let received = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            stream,
            received: Arc::clone(&received),
        };
        let (sender, driver) = http1::Builder::new()
            .handshake(TokioIo::new(counted))
            .await
            .map_err(|error| HttpErrorKind::of_hyper(&error))?;
        let relay = Relay::new();
        let mut connection = Connection {
            sender,
            driver: Driving {
                driver: Some(driver),
                error: None,
            },
            waker: Waker::from(Arc::clone(&relay)),
            relay,
            stamps,
            received,
        };
        // Its first poll makes it ready.
        connection.settle();
        Ok(connection)
    }

    /// Whether the connection can take another request.
    pub(crate) fn is_ready(&self) -> bool {
        self.driver.driver.is_some() && self.sender.is_ready()
    }

    /// Sends a request and reads its answer to the end, showing it to `reader` as it comes.
    pub(crate) async fn exchange(
        &mut self,
        request: &Request,
        stages: &mut Stages,
        reader: &mut impl BodyReader,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        let before = self.received.load(Ordering::Relaxed);
        let Connection {
            sender,
            driver,
            relay,
            waker,
            stamps,
            received,
        } = self;
        let mut answer = pin!(async {
            let response = sender.try_send_request(request.to_http1()).await;
            let response = response.map_err(|mut error| Broken {
                unsent: error.take_message().is_some(),
                error: error.into_error(),
            })?;
            let head = Instant::now();
            stages.first_byte = Some(head - started);
            let (parts, mut body) = response.into_parts();
            reader.head(&Head {
                status: parts.status,
                headers: &parts.headers,
                sent: started,
                at: head,
            });
            let read = || Piece::own(stamps, received.load(Ordering::Relaxed));
            drain(&mut body, &mut stages.bytes, reader, read)
                .await
                .map_err(|error| Broken {
                    unsent: false,
                    error,
                })?;
            // Read anew, though the whole answer may have come with its head: what `reader` took is part of `body`,
            // and an instant from before it would put the stamp as much too early.
            let end = Instant::now();
            stages.body = Some(end - head);
            stages.received = stamps.last(end).filter(|at| *at >= started);
            Ok(Answer {
                status: parts.status,
                headers: parts.headers,
            })
        });
        let advance = |cx: &mut Context<'_>| driver.advance(cx);
        let done = relay.drive(waker, answer.as_mut(), advance).await;
        done.map_err(|broken: Broken| Failure {
            kind: broken.kind(driver.error.as_ref()),
            unsent: broken.unsent,
            unanswered: received.load(Ordering::Relaxed) == before,
        })
    }

    /// Lets the connection finish what an answered request left to do: reads a close that came with the answer.
    pub(crate) fn settle(&mut self) {
        for _ in 0..2 {
            if self.driver.driver.is_none() || self.sender.is_ready() {
                return;
            }
            let mut cx = Context::from_waker(&self.waker);
            self.relay.quietly(|| self.driver.advance(&mut cx));
        }
    }
}

/// What the exchange itself saw of a failure.
struct Broken {
    error: hyper::Error,
    unsent: bool,
}

impl Broken {
    /// The driver's own error says more where there is one: the request may have heard no more than that it ended.
    fn kind(&self, driver: Option<&hyper::Error>) -> HttpErrorKind {
        match HttpErrorKind::of_hyper(&self.error) {
            HttpErrorKind::Client(text) => {
                driver.map_or(HttpErrorKind::Client(text), HttpErrorKind::of_hyper)
            }
            known => known,
        }
    }
}

/// Reads the body to its end.
///
/// A piece is taken before anything more is read: what was read last is what it came with.
async fn drain<'a>(
    body: &mut Incoming,
    bytes: &mut u64,
    reader: &mut impl BodyReader,
    piece: impl Fn() -> Piece<'a> + Send,
) -> Result<(), hyper::Error> {
    while !body.is_end_stream() {
        let Some(frame) = body.frame().await else {
            break;
        };
        if let Some(data) = frame?.data_ref() {
            *bytes += data.len() as u64;
            reader.data(data, piece());
        }
    }
    Ok(())
}

/// Counts the bytes that reach HTTP; under TLS these are not those of the wire, where a farewell is bytes as well.
#[derive(Debug)]
struct Counted {
    stream: Stream,
    received: Arc<AtomicU64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let read = buf.filled().len() - before;
        if read > 0 {
            // Nobody else writes it.
            let received = self.received.load(Ordering::Relaxed) + read as u64;
            self.received.store(received, Ordering::Relaxed);
        }
        polled
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
