//! A TCP socket whose received bytes carry the kernel's stamp.

use crate::counts::OpenGuard;
use crate::readiness::Reader;
use crate::{Readiness, SocketCounts, Stamps};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};

/// A connected TCP socket. On Linux each read remembers when the kernel received the bytes (see [`Stamps`]).
#[derive(Debug)]
pub struct Socket {
    tcp: TcpStream,
    stamps: Stamps,
    reader: Reader,
    _open: OpenGuard,
}

impl Socket {
    /// Takes over a connected socket and asks the kernel for receive stamps, where it has them.
    ///
    /// Where it refuses them the socket works without.
    #[must_use]
    pub fn new(tcp: TcpStream, counts: &SocketCounts) -> Self {
        let stamps = if ask_for_stamps(&tcp) {
            Stamps::enabled()
        } else {
            Stamps::default()
        };
        Socket {
            tcp,
            stamps,
            reader: Reader::new(),
            _open: counts.open_one(),
        }
    }

    /// A handle on the stamp of the bytes read last; it outlives the socket.
    #[must_use]
    pub fn stamps(&self) -> Stamps {
        self.stamps.clone()
    }

    /// A handle that tells whether a read is worth a try; it outlives the socket.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.reader.readiness()
    }

    /// The socket itself, for its addresses and options. Reading from it would go past the stamps.
    #[must_use]
    pub fn get_ref(&self) -> &TcpStream {
        &self.tcp
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Socket {
            tcp,
            stamps,
            reader,
            ..
        } = &mut *self;
        reader.poll(cx, |cx| {
            #[cfg(target_os = "linux")]
            if stamps.is_enabled() {
                return linux::poll_read(tcp, stamps, cx, buf);
            }
            Pin::new(tcp).poll_read(cx, buf)
        })
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A request without a body is one piece, and the kernel takes one piece with less ado than a list of one.
        if let [piece] = bufs {
            return Pin::new(&mut self.tcp).poll_write(cx, piece);
        }
        Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

/// Keeps the kernel stamping while no connection is open.
///
/// It stamps packets only while some socket asks for it, and turns that on some time after it was asked: the first
/// answers on the first socket would have no stamp, and so would all answers where every request has a connection
/// of its own. This socket asks and is never connected.
#[derive(Debug)]
pub(crate) struct KeepStamping(#[expect(dead_code, reason = "held open")] Option<TcpSocket>);

impl KeepStamping {
    pub(crate) fn new() -> Self {
        KeepStamping(TcpSocket::new_v4().ok().filter(ask_for_stamps))
    }
}

#[cfg(target_os = "linux")]
fn ask_for_stamps(socket: &impl std::os::fd::AsFd) -> bool {
    use nix::sys::socket::{setsockopt, sockopt::ReceiveTimestampns};
    setsockopt(socket, ReceiveTimestampns, &true).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn ask_for_stamps<S>(_: &S) -> bool {
    false
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Stamps;
    use nix::errno::Errno;
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use nix::sys::time::TimeSpec;
    use std::cell::RefCell;
    use std::io::{self, IoSliceMut};
    use std::os::fd::{AsRawFd, RawFd};
    use std::task::{Context, Poll, ready};
    use std::time::Duration;
    use tokio::io::{Interest, ReadBuf};
    use tokio::net::TcpStream;

    const SCRATCH: usize = 64 * 1024;

    /// Memory that every read of a thread can borrow, as no read lasts longer than its system call.
    struct Scratch {
        bytes: Box<[u8]>,
        control: Vec<u8>,
    }

    thread_local! {
        static THREAD: RefCell<Scratch> = RefCell::new(Scratch {
            bytes: vec![0; SCRATCH].into_boxed_slice(),
            control: nix::cmsg_space!(TimeSpec),
        });
    }

    pub(super) fn poll_read(
        tcp: &TcpStream,
        stamps: &Stamps,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            ready!(tcp.poll_read_ready(cx))?;
            match read_once(tcp, stamps, buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    /// One `recvmsg`, and no second one that would only return `EAGAIN`.
    ///
    /// A read that did not fill its buffer has emptied the socket (epoll is edge-triggered here), so the readiness
    /// must be cleared, as `TcpStream::poll_read` does. From outside tokio that takes a closure that returns
    /// `WouldBlock`. It must be the one that reads: `try_io` notes the driver's tick *before* it runs the closure
    /// and clears the readiness only if the tick is still the same, so bytes that arrive after the system call are
    /// not forgotten. A second `try_io` after the read would note a tick that those bytes had already advanced, and
    /// clear them away for ever.
    fn read_once(tcp: &TcpStream, stamps: &Stamps, buf: &mut ReadBuf<'_>) -> io::Result<()> {
        THREAD.with_borrow_mut(|scratch| {
            let mut outcome = Err(io::ErrorKind::WouldBlock.into());
            let cleared = tcp.try_io(Interest::READABLE, || {
                let (read, asked) = receive_into(tcp.as_raw_fd(), scratch, stamps, buf)?;
                outcome = Ok(());
                if 0 < read && read < asked {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Ok(())
            });
            match cleared {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
                _ => outcome,
            }
        })
    }

    /// Reads into `buf`: straight where its memory is initialised already (under TLS), else by way of the scratch
    /// memory. Zeroing a fresh buffer of 8 KiB for every answer of 100 bytes would cost more than copying these.
    fn receive_into(
        fd: RawFd,
        scratch: &mut Scratch,
        stamps: &Stamps,
        buf: &mut ReadBuf<'_>,
    ) -> io::Result<(usize, usize)> {
        if buf.initialized().len() == buf.capacity() {
            let into = buf.initialize_unfilled();
            let asked = into.len();
            let read = receive(fd, into, &mut scratch.control, stamps)?;
            buf.advance(read);
            return Ok((read, asked));
        }
        let asked = buf.remaining().min(scratch.bytes.len());
        let into = &mut scratch.bytes[..asked];
        let read = receive(fd, into, &mut scratch.control, stamps)?;
        buf.put_slice(&into[..read]);
        Ok((read, asked))
    }

    fn receive(
        fd: RawFd,
        into: &mut [u8],
        control: &mut [u8],
        stamps: &Stamps,
    ) -> io::Result<usize> {
        let mut slices = [IoSliceMut::new(into)];
        let message = loop {
            match recvmsg::<()>(fd, &mut slices, Some(control), MsgFlags::empty()) {
                Err(Errno::EINTR) => {}
                received => break received?,
            }
        };
        if let Ok(mut parts) = message.cmsgs()
            && let Some(ControlMessageOwned::ScmTimestampns(at)) = parts.next()
        {
            stamps.set(Duration::from(at));
        }
        Ok(message.bytes)
    }
}
