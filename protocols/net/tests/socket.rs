//! Reading from a socket that others have read from.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_net::{Dialer, Stream};
use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

const HANGS: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

async fn pair() -> (TcpStream, Stream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let dialer = Dialer::builder("127.0.0.1", port).build().unwrap();
    let (accepted, dialed) = tokio::join!(listener.accept(), dialer.dial());
    (accepted.unwrap().0, dialed.unwrap().stream)
}

fn poll(stream: &mut Stream, waker: &Waker) -> Poll<usize> {
    let mut bytes = [0; 16];
    let mut buf = ReadBuf::new(&mut bytes);
    let mut cx = Context::from_waker(waker);
    let polled = Pin::new(stream).poll_read(&mut cx, &mut buf);
    polled.map(|read| {
        read.unwrap();
        buf.filled().len()
    })
}

#[tokio::test]
async fn whoever_polled_last_is_woken() {
    let (mut server, mut stream) = pair().await;
    let first = Arc::new(Wakes::default());
    let waker = Waker::from(first.clone());
    for _ in 0..3 {
        assert_eq!(poll(&mut stream, &waker), Poll::Pending);
    }
    let mut answer = [0; 6];
    let read = tokio::join!(
        tokio::time::timeout(HANGS, stream.read_exact(&mut answer)),
        server.write_all(b"answer"),
    );
    read.0.unwrap().unwrap();
    assert_eq!(&answer, b"answer");
    assert_eq!(first.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn bytes_that_come_after_a_vain_read_wake_and_are_read() {
    let (mut server, mut stream) = pair().await;
    for round in 1..=200_usize {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        for _ in 0..round % 4 {
            assert_eq!(poll(&mut stream, &waker), Poll::Pending);
        }
        server.write_all(&[0; 16][..1 + round % 16]).await.unwrap();
        let mut read = 0;
        while read < 1 + round % 16 {
            let polled = std::future::poll_fn(|cx| poll(&mut stream, cx.waker()));
            read += tokio::time::timeout(HANGS, polled).await.unwrap();
        }
        assert_eq!(read, 1 + round % 16);
    }
}

#[tokio::test]
async fn an_end_is_read_after_a_vain_read() {
    let (server, mut stream) = pair().await;
    assert_eq!(poll(&mut stream, Waker::noop()), Poll::Pending);
    drop(server);
    let read = tokio::time::timeout(HANGS, stream.read(&mut [0; 16])).await;
    assert_eq!(read.unwrap().unwrap(), 0);
}

/// Waits until it is not dry any more: the socket wakes whoever polled it last.
async fn comes(stream: &mut Stream) {
    let readiness = stream.readiness();
    let mut has_polled = false;
    let coming = poll_fn(|cx| {
        if !has_polled {
            has_polled = true;
            assert_eq!(poll(stream, cx.waker()), Poll::Pending);
            assert!(readiness.is_dry());
        }
        match readiness.is_dry() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    });
    tokio::time::timeout(HANGS, coming).await.unwrap();
}

#[tokio::test]
async fn a_socket_is_dry_from_a_read_that_finds_nothing_until_something_comes() {
    let (mut server, mut stream) = pair().await;
    // Nobody has looked.
    assert!(!stream.readiness().is_dry());
    let (_, wrote) = tokio::join!(comes(&mut stream), server.write_all(b"answer"));
    wrote.unwrap();
    assert_eq!(poll(&mut stream, Waker::noop()), Poll::Ready(6));
    // What was read may not have been all.
    assert!(!stream.readiness().is_dry());
    // A farewell is something as well.
    tokio::join!(comes(&mut stream), async { drop(server) });
    assert_eq!(poll(&mut stream, Waker::noop()), Poll::Ready(0));
}
