//! Reading a body while it comes.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use openloop_net::Stamps;
use tokio::time::Instant;

/// Takes an answer as it comes: its head, and then its body piece by piece. See [`Http::stream`](crate::Http::stream).
///
/// A request is sent again only where nothing came back, so there is one head at most.
pub trait BodyReader: Send {
    /// The head is there.
    fn head(&mut self, head: &Head<'_>) {
        let _ = head;
    }

    /// A piece of the body is there.
    fn data(&mut self, data: &Bytes, piece: Piece<'_>);
}

/// The head of an answer, and the instants about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The status code.
    pub status: StatusCode,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// When the request was handed to its connection.
    pub sent: Instant,
    /// When the head was there.
    pub at: Instant,
}

/// When a piece of a body came. Nothing is read from a clock before it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// None on a connection that others share.
    own: Option<(&'a Stamps, u64)>,
}

impl<'a> Piece<'a> {
    pub(crate) fn own(stamps: &'a Stamps, read: u64) -> Self {
        Piece {
            own: Some((stamps, read)),
        }
    }

    pub(crate) fn shared() -> Self {
        Piece { own: None }
    }

    /// Which read of the socket it came with: pieces of equal numbers came at the same instant. `None` over HTTP/2, where
    /// a read need not be of this stream.
    #[must_use]
    pub fn read(&self) -> Option<u64> {
        self.own.map(|(_, read)| read)
    }

    /// When the kernel received it: HTTP/1.1 on Linux only. `now` is as for [`Stamps::last`].
    #[must_use]
    pub fn received(&self, now: Instant) -> Option<Instant> {
        self.own?.0.last(now)
    }
}

/// The reader of [`Http::call_with`](crate::Http::call_with).
pub(crate) struct OnData<F>(pub(crate) F);

impl<F: FnMut(&Bytes) + Send> BodyReader for OnData<F> {
    fn data(&mut self, data: &Bytes, _: Piece<'_>) {
        (self.0)(data);
    }
}
