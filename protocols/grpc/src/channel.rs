//! What a generated client is built on: a service that measures the calls over it.

mod body;

use crate::client::TRIES;
use crate::connection::Connection;
use crate::deadline::{self, Passed};
use crate::exchange::{self, Failure};
use crate::framing::Reader;
use crate::head::TIMEOUT;
use crate::{Grpc, GrpcErrorKind, Stages};
use bytes::Bytes;
use h2::SendStream;
use h2::client::ResponseFuture;
use http::header::{CONTENT_TYPE, TE};
use http_body::Body as _;
use parking_lot::Mutex;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::Status;
use tonic::body::Body;

pub use body::ReplyBody;

/// What a generated client is built on, for one call or a few: `GreeterClient::new(channel)`.
///
/// It is always ready: what a call waits for is inside the call, where it is measured, and not in a buffer before it.
/// [`Grpc::by`] hands it out and collects what it measured.
#[derive(Clone)]
pub struct Channel {
    grpc: Grpc,
    tracker: Tracker,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

/// What the parts of a call have measured so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker(Arc<Mutex<Tracked>>);

#[derive(Debug, Default)]
struct Tracked {
    stages: Stages,
    /// The first failure that no server has said.
    fault: Option<GrpcErrorKind>,
    /// When the last message of the answer came.
    last: Option<Instant>,
    /// When the last call's time is up, and how long it was.
    limit: Option<(Instant, Duration)>,
}

impl Tracker {
    pub(crate) fn finish(&self) -> (Stages, Option<GrpcErrorKind>) {
        let mut tracked = self.0.lock();
        (std::mem::take(&mut tracked.stages), tracked.fault.take())
    }

    /// Notes a failure, and says what the generated client is told of it.
    fn fail(&self, kind: GrpcErrorKind) -> Status {
        let status = kind.to_status();
        if !matches!(kind, GrpcErrorKind::Status(_)) {
            self.0.lock().fault.get_or_insert(kind);
        }
        status
    }

    /// What a status means that the generated client got from the server.
    pub(crate) fn of_status(&self, status: Status) -> GrpcErrorKind {
        match self.0.lock().limit {
            Some((until, after)) if deadline::is_due(Some(until), &status) => {
                GrpcErrorKind::Deadline { after }
            }
            _ => GrpcErrorKind::Status(status),
        }
    }

    fn count_message(&self, length: usize, handed: Instant, now: Instant) {
        let tracked = &mut *self.0.lock();
        tracked
            .stages
            .count_message(length, handed, &mut tracked.last, now);
    }

    fn count_sent(&self) {
        self.0.lock().stages.messages_sent += 1;
    }

    /// What was measured until the call went out; of several calls the waits add up.
    fn add(&self, stages: &Stages) {
        let tracked = &mut *self.0.lock();
        let sum = &mut tracked.stages;
        sum.acquire += stages.acquire;
        if stages.opened > 0 {
            sum.dial = stages.dial;
        }
        sum.opened += stages.opened;
        sum.reused |= stages.reused;
        tracked.last = None;
    }

    fn reply(&self, taken: Duration) {
        let stages = &mut self.0.lock().stages;
        stages.reply = Some(stages.reply.unwrap_or_default() + taken);
    }

    fn upload(&self, taken: Duration) {
        let stages = &mut self.0.lock().stages;
        if stages.messages_sent > 1 {
            stages.upload = Some(taken);
        }
    }
}

impl Channel {
    pub(crate) fn new(grpc: Grpc, tracker: Tracker) -> Self {
        Channel { grpc, tracker }
    }

    async fn call(self, request: http::Request<Body>) -> Result<http::Response<ReplyBody>, Status> {
        let (parts, body) = request.into_parts();
        let begun = Instant::now();
        let told = parts.headers.get(TIMEOUT).and_then(deadline::parse);
        let limit = told.or_else(|| self.grpc.default_deadline());
        let until = limit.and_then(|limit| begun.checked_add(limit));
        let after = limit.unwrap_or_default();
        self.tracker.0.lock().limit = until.map(|until| (until, after));
        let opened = self.open(&parts, until, after).await;
        let (connection, answer, stream, place) = opened.map_err(|kind| self.tracker.fail(kind))?;
        let handed = Instant::now();
        let mut upload: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(upload(body, stream, handed, self.tracker.clone()));
        // Mostly there is one message, which goes at once.
        let is_sent = poll_fn(|cx| Poll::Ready(upload.as_mut().poll(cx).is_ready())).await;
        let uploading = (!is_sent).then(|| Uploading(tokio::spawn(upload).abort_handle()));
        let answered = deadline::until(until, answer).await;
        let response = match answered {
            Err(Passed) => Err(GrpcErrorKind::Deadline { after }),
            Ok(Err(error)) => Err(ended(&connection, error).await),
            Ok(Ok(response)) => Ok(response),
        };
        let response = response.map_err(|kind| self.tracker.fail(kind))?;
        let (head, stream) = response.into_parts();
        match exchange::refusal(&head) {
            // The generated client reads a status from the head.
            None | Some(GrpcErrorKind::Status(_)) => {}
            Some(kind) => return Err(self.tracker.fail(kind)),
        }
        let body = ReplyBody::new(body::Parts {
            stream,
            tracker: self.tracker,
            reader: Reader::default(),
            handed,
            needs_status: Status::from_header_map(&head.headers).is_none(),
            limit: until.map(|until| (Box::pin(tokio::time::sleep_until(until)), after)),
            place,
            _uploading: uploading,
        });
        Ok(http::Response::from_parts(head, body))
    }

    /// Opens a stream for a call.
    async fn open(
        &self,
        parts: &http::request::Parts,
        until: Option<Instant>,
        after: Duration,
    ) -> Result<
        (
            Connection,
            ResponseFuture,
            SendStream<Bytes>,
            crate::channels::Place,
        ),
        GrpcErrorKind,
    > {
        let path = parts.uri.path_and_query().cloned();
        let path = path.unwrap_or_else(|| http::uri::PathAndQuery::from_static("/"));
        // The client's own stand for these.
        let mut metadata = parts.headers.clone();
        for name in [TE, CONTENT_TYPE, TIMEOUT, http::header::USER_AGENT] {
            metadata.remove(name);
        }
        let mut stages = Stages::default();
        let mut tries = 0;
        loop {
            tries += 1;
            let leased = deadline::until(until, self.grpc.channels().lease(&mut stages)).await;
            let leased = leased.unwrap_or(Err(GrpcErrorKind::Deadline { after }));
            let place = match leased {
                Ok(place) => place,
                Err(kind) => {
                    self.tracker.add(&stages);
                    return Err(kind);
                }
            };
            let mut connection = place.connection.clone();
            let head = self.grpc.heads().of(&path, &metadata, until);
            match connection.send(head).await {
                Ok((answer, stream)) => {
                    self.tracker.add(&stages);
                    if stages.reused {
                        self.grpc.sockets().count_reuse();
                    }
                    return Ok((connection, answer, stream, place));
                }
                Err(error) => {
                    connection.retire();
                    if tries == TRIES {
                        self.tracker.add(&stages);
                        return Err(ended(&connection, error).await);
                    }
                }
            }
        }
    }
}

/// Why a stream ended, and what it means for its connection.
async fn ended(connection: &Connection, error: h2::Error) -> GrpcErrorKind {
    let failure = Failure::of_h2(error);
    if failure.ends_connection {
        connection.retire();
    }
    connection.explain(failure.kind).await
}

/// Ends a stream's upload with the call that it belongs to.
#[derive(Debug)]
pub(crate) struct Uploading(AbortHandle);

impl Drop for Uploading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends what the generated client gives, as it gives it and the server's flow control lets it go.
async fn upload(mut body: Body, mut stream: SendStream<Bytes>, handed: Instant, tracker: Tracker) {
    let mut reader = Reader::default();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(frame) = frame else {
            // The generated client knows why it cannot encode.
            stream.send_reset(h2::Reason::CANCEL);
            return;
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        // What it sends is well-formed, or the server will say so.
        let _ = reader.take(data.clone(), |_, _| tracker.count_sent());
        if exchange::send(&mut stream, data).await.is_err() {
            // Why is what the answer tells.
            return;
        }
    }
    let _ = stream.send_data(Bytes::new(), true);
    tracker.upload(handed.elapsed());
}

impl tower_service::Service<http::Request<Body>> for Channel {
    type Response = http::Response<ReplyBody>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.clone().call(request))
    }
}
