//! A connection, with TLS or without.

use crate::{Readiness, Socket, Stamps};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

/// An open connection, ready for a protocol's client.
#[derive(Debug)]
pub enum Stream {
    /// Bytes go as they are.
    Plain(Socket),
    /// Bytes go through TLS.
    Tls(Box<TlsStream<Socket>>),
}

impl Stream {
    /// The socket under it.
    #[must_use]
    pub fn socket(&self) -> &Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(tls) => tls.get_ref().0,
        }
    }

    /// A handle on the stamp of the bytes read last; it outlives the stream.
    #[must_use]
    pub fn stamps(&self) -> Stamps {
        self.socket().stamps()
    }

    /// A handle that tells whether a read of the socket is worth a try; it outlives the stream. Under TLS what has been
    /// read and not yet deciphered is not seen by it: ask when the stream itself has been read dry.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.socket().readiness()
    }
}

macro_rules! either {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self.get_mut() {
            Stream::Plain(socket) => {
                let $inner = Pin::new(socket);
                $call
            }
            Stream::Tls(tls) => {
                let $inner = Pin::new(tls.as_mut());
                $call
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => inner.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => inner.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(socket) => socket.is_write_vectored(),
            Stream::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_shutdown(cx))
    }
}
