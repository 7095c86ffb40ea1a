//! One call over one stream.

use crate::connection::Connection;
use crate::deadline::{self, Passed};
use crate::framing::Reader;
use crate::reply::Answer;
use crate::request::Pace;
use crate::{GrpcErrorKind, Request, Stages};
use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, SendStream};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tonic::{Code, Status};

/// What is shown each message of an answer.
pub(crate) type OnMessage<'a> = &'a mut (dyn FnMut(Bytes) + Send);

/// A failed exchange, and what follows from it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: GrpcErrorKind,
    /// The server did not process the stream, and says so.
    pub(crate) refused: bool,
    /// It did not even see it.
    pub(crate) unsent: bool,
    /// The connection takes no more streams.
    pub(crate) ends_connection: bool,
}

impl Failure {
    pub(crate) fn of_h2(error: h2::Error) -> Self {
        let is_refused = error.is_remote()
            && match error.reason() {
                Some(Reason::REFUSED_STREAM) => error.is_reset(),
                // A GOAWAY that takes away a stream, with no error, tells that it was beyond the last one processed:
                // the others go on.
                Some(Reason::NO_ERROR) => error.is_go_away(),
                _ => false,
            };
        let is_streams_own = error.is_reset() && error.is_remote();
        Failure {
            refused: is_refused,
            unsent: false,
            ends_connection: !is_streams_own,
            kind: GrpcErrorKind::of_h2(error),
        }
    }

    pub(crate) fn unsent(error: h2::Error) -> Self {
        Failure {
            unsent: true,
            ..Failure::of_h2(error)
        }
    }
}

impl From<GrpcErrorKind> for Failure {
    fn from(kind: GrpcErrorKind) -> Self {
        Failure {
            kind,
            refused: false,
            unsent: false,
            ends_connection: false,
        }
    }
}

impl From<h2::Error> for Failure {
    fn from(error: h2::Error) -> Self {
        Failure::of_h2(error)
    }
}

/// How far the two directions of a call have come.
#[derive(Debug, Default)]
struct Progress {
    state: Mutex<State>,
    received: Notify,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    sent: u64,
    received: u64,
    uploaded: Option<Duration>,
}

/// Sends a request and reads its answer to the end, showing each message to `on_message`.
///
/// Dropping it resets the stream, so that the server hears that nobody waits any more; so does a deadline.
pub(crate) async fn exchange(
    connection: &mut Connection,
    head: http::Request<()>,
    request: &Request,
    until: Option<Instant>,
    stages: &mut Stages,
    on_message: Option<OnMessage<'_>>,
) -> Result<Answer, Failure> {
    let handed = Instant::now();
    let (answer, stream) = connection.send(head).await.map_err(Failure::unsent)?;
    if let [frame] = request.frames() {
        let mut stream = stream;
        stream.send_data(frame.clone(), true)?;
        stages.messages_sent = 1;
        let download = download(answer, handed, None, request, stages, on_message);
        return ended(deadline::until(until, download).await);
    }
    let progress = Progress::default();
    let finished = {
        let mut upload = pin!(upload(stream, request, handed, &progress));
        let mut download = pin!(download(
            answer,
            handed,
            Some(&progress),
            request,
            stages,
            on_message
        ));
        let mut is_uploading = true;
        let both = poll_fn(|cx| {
            // Why an upload failed is what the answer tells.
            if is_uploading && upload.as_mut().poll(cx).is_ready() {
                is_uploading = false;
            }
            download.as_mut().poll(cx)
        });
        deadline::until(until, both).await
    };
    let state = *progress.state.lock();
    stages.messages_sent = state.sent;
    stages.upload = state.uploaded;
    ended(finished)
}

fn ended(finished: Result<Result<Answer, Failure>, Passed>) -> Result<Answer, Failure> {
    match finished {
        Ok(result) => result,
        // The caller knows how long it was.
        Err(Passed) => Err(GrpcErrorKind::Deadline {
            after: Duration::ZERO,
        }
        .into()),
    }
}

/// Sends the messages of a stream at their pace.
async fn upload(
    mut stream: SendStream<Bytes>,
    request: &Request,
    handed: Instant,
    progress: &Progress,
) -> Result<(), h2::Error> {
    let mut number: u64 = 0;
    for frame in request.frames() {
        match request.own_pace() {
            Pace::AtOnce => {}
            Pace::Every(gap) => {
                let after = u32::try_from(number).unwrap_or(u32::MAX);
                match handed.checked_add(gap.saturating_mul(after)) {
                    Some(at) => tokio::time::sleep_until(at).await,
                    // Not in this world.
                    None => std::future::pending().await,
                }
            }
            Pace::InTurn => wait_for_answers(progress, number).await,
        }
        send(&mut stream, frame.clone()).await?;
        number += 1;
        progress.state.lock().sent = number;
    }
    stream.send_data(Bytes::new(), true)?;
    progress.state.lock().uploaded = Some(handed.elapsed());
    Ok(())
}

async fn wait_for_answers(progress: &Progress, count: u64) {
    loop {
        let more = progress.received.notified();
        if progress.state.lock().received >= count {
            return;
        }
        more.await;
    }
}

/// Hands bytes over as the server's flow control lets them go.
pub(crate) async fn send(stream: &mut SendStream<Bytes>, mut data: Bytes) -> Result<(), h2::Error> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        while stream.capacity() == 0 {
            match poll_fn(|cx| stream.poll_capacity(cx)).await {
                Some(capacity) => drop(capacity?),
                // The stream is over: sending says why.
                None => return stream.send_data(data, false),
            }
        }
        let part = data.split_to(stream.capacity().min(data.len()));
        stream.send_data(part, false)?;
    }
    Ok(())
}

/// Reads the answer to the end.
async fn download(
    answer: ResponseFuture,
    handed: Instant,
    progress: Option<&Progress>,
    request: &Request,
    stages: &mut Stages,
    mut on_message: Option<OnMessage<'_>>,
) -> Result<Answer, Failure> {
    let (head, mut body) = answer.await?.into_parts();
    if let Some(failure) = refusal(&head) {
        return Err(failure.into());
    }
    let mut reader = Reader::keeping(on_message.is_some());
    let mut before = None;
    while let Some(data) = body.data().await {
        let data = data?;
        let size = data.len();
        let now = Instant::now();
        reader.take(data, |length, message| {
            stages.count_message(length, handed, &mut before, now);
            if let Some(on_message) = &mut on_message {
                on_message(message);
            }
        })?;
        body.flow_control().release_capacity(size)?;
        if let Some(progress) = progress {
            progress.state.lock().received = stages.messages_received;
            progress.received.notify_one();
        }
    }
    let trailers = body.trailers().await?;
    stages.reply = Some(handed.elapsed());
    // An answer without messages may have its status in the head.
    check_status(trailers.as_ref().unwrap_or(&head.headers))?;
    if !reader.is_between() {
        return Err(GrpcErrorKind::Malformed("it ends within a message".into()).into());
    }
    let count = stages.messages_received;
    if !request.kind().server_streams() && count != 1 {
        let kind = request.kind();
        let why = format!("{count} messages came with OK, and a {kind} call is answered by one");
        return Err(GrpcErrorKind::Malformed(why).into());
    }
    Ok(Answer {
        headers: head.headers,
        trailers: trailers.unwrap_or_default(),
    })
}

/// What a head says that ends the call: a status without messages, or that no gRPC server answered.
pub(crate) fn refusal(head: &http::response::Parts) -> Option<GrpcErrorKind> {
    if let Some(status) = Status::from_header_map(&head.headers) {
        if status.code() == Code::Ok {
            return None;
        }
        return Some(GrpcErrorKind::Status(status));
    }
    let content_type = head.headers.get(CONTENT_TYPE);
    let content_type = content_type.map_or("", |value| value.to_str().unwrap_or("?"));
    if head.status == http::StatusCode::OK && content_type.starts_with("application/grpc") {
        return None;
    }
    Some(GrpcErrorKind::NotGrpc {
        status: head.status.as_u16(),
        content_type: content_type.to_owned(),
    })
}

/// Whether the trailers say `OK`.
pub(crate) fn check_status(trailers: &HeaderMap) -> Result<(), GrpcErrorKind> {
    match Status::from_header_map(trailers) {
        Some(status) if status.code() == Code::Ok => Ok(()),
        Some(status) => Err(GrpcErrorKind::Status(status)),
        None => Err(GrpcErrorKind::Malformed("it ends without a status".into())),
    }
}
