//! The answer of a call by a generated client, measured as it is read.

use super::{Tracker, Uploading};
use crate::channels::Place;
use crate::exchange::Failure;
use crate::framing::Reader;
use crate::{GrpcErrorKind, exchange};
use bytes::Bytes;
use h2::RecvStream;
use http_body::{Body, Frame};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use tonic::Status;

/// The messages of an answer as a generated client reads them; dropping it before its end resets the stream.
pub struct ReplyBody(Option<Parts>);

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBody").finish_non_exhaustive()
    }
}

pub(crate) struct Parts {
    pub(crate) stream: RecvStream,
    pub(crate) tracker: Tracker,
    pub(crate) reader: Reader,
    pub(crate) handed: Instant,
    /// The head had none.
    pub(crate) needs_status: bool,
    /// When the call's time is up, and how long it was.
    pub(crate) limit: Option<(Pin<Box<Sleep>>, Duration)>,
    pub(crate) place: Place,
    pub(crate) _uploading: Option<Uploading>,
}

impl ReplyBody {
    pub(crate) fn new(parts: Parts) -> Self {
        ReplyBody(Some(parts))
    }
}

impl Parts {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Frame<Bytes>, GrpcErrorKind>> {
        if let Some((sleep, after)) = &mut self.limit
            && sleep.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(GrpcErrorKind::Deadline { after: *after }));
        }
        match ready!(self.stream.poll_data(cx)) {
            Some(Ok(data)) => {
                let now = Instant::now();
                let (tracker, handed) = (&self.tracker, self.handed);
                self.reader.take(data.clone(), |length, _| {
                    tracker.count_message(length, handed, now);
                })?;
                let released = self.stream.flow_control().release_capacity(data.len());
                released.map_err(GrpcErrorKind::of_h2)?;
                Poll::Ready(Ok(Frame::data(data)))
            }
            Some(Err(error)) => Poll::Ready(Err(self.failed(error))),
            None => {
                let trailers = ready!(self.stream.poll_trailers(cx));
                let trailers = match trailers {
                    Ok(trailers) => trailers.unwrap_or_default(),
                    Err(error) => return Poll::Ready(Err(self.failed(error))),
                };
                self.tracker.reply(self.handed.elapsed());
                // What other statuses there are the generated client reads.
                if self.needs_status
                    && let Err(kind @ GrpcErrorKind::Malformed(_)) =
                        exchange::check_status(&trailers)
                {
                    return Poll::Ready(Err(kind));
                }
                Poll::Ready(Ok(Frame::trailers(trailers)))
            }
        }
    }

    fn failed(&self, error: h2::Error) -> GrpcErrorKind {
        let failure = Failure::of_h2(error);
        let connection = &self.place.connection;
        if failure.ends_connection {
            connection.retire();
        }
        connection.explain_now(failure.kind)
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(parts) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let frame = ready!(parts.poll(cx));
        let is_last = match &frame {
            Ok(frame) => frame.is_trailers(),
            Err(_) => true,
        };
        let frame = frame.map_err(|kind| parts.tracker.fail(kind));
        if is_last {
            self.0 = None;
        }
        Poll::Ready(Some(frame))
    }
}
