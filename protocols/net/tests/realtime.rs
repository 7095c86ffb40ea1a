//! Receive stamps on the real clock. Nothing here depends on how fast the machine is: the order of instants is
//! exact, and the one tolerance is 50 ms, a thousand times what is usual.
#![allow(clippy::unwrap_used)] // a test fails by panicking
#![cfg(target_os = "linux")]

use openloop_net::{Dialer, Stream, Tls};
use openloop_testbed::{Certificate, HttpServer};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const TOLERANCE: Duration = Duration::from_millis(50);
/// The wall clock may be slewed between two readings, and two clocks are never read at one instant.
const CLOCKS: Duration = Duration::from_micros(100);

/// A connection on which the kernel has begun to stamp.
async fn pair() -> (TcpStream, Stream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let dialer = Dialer::builder("127.0.0.1", port).build().unwrap();
    let (accepted, dialed) = tokio::join!(listener.accept(), dialer.dial());
    let (mut server, mut stream) = (accepted.unwrap().0, dialed.unwrap().stream);
    assert_eq!(
        stream.stamps().last(Instant::now()),
        None,
        "nothing was read"
    );
    while stream.stamps().last(Instant::now()).is_none() {
        server.write_all(b".").await.unwrap();
        stream.read_exact(&mut [0]).await.unwrap();
    }
    (server, stream)
}

#[tokio::test]
async fn a_stamp_lies_between_the_write_and_the_read_however_late_the_read_is() {
    let (mut server, mut stream) = pair().await;
    let stamps = stream.stamps();
    for round in 0..5 {
        let before = Instant::now();
        server.write_all(b"answer").await.unwrap();
        let after = Instant::now();
        // The reader is busy with something else: this thread cannot read.
        std::thread::sleep(Duration::from_millis(20 * round));
        let mut answer = [0; 6];
        stream.read_exact(&mut answer).await.unwrap();
        let received = stamps.last(Instant::now()).unwrap();
        assert!(received + CLOCKS >= before, "before it was sent");
        assert!(received <= after + TOLERANCE, "{:?} late", received - after);
    }
}

#[tokio::test]
async fn the_last_segment_read_gives_the_stamp() {
    let (mut server, mut stream) = pair().await;
    server.write_all(b"first").await.unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let between = Instant::now();
    server.write_all(b"second").await.unwrap();
    let mut answer = [0; 11];
    stream.read_exact(&mut answer).await.unwrap();
    let received = stream.stamps().last(Instant::now()).unwrap();
    assert!(received + CLOCKS >= between);
}

#[tokio::test]
async fn under_tls_there_are_stamps_as_well() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let dialer = Dialer::builder("127.0.0.1", server.addr().port())
        .tls(Tls::roots_from_pem(server.ca_pem().unwrap()).server_name("localhost"))
        .build()
        .unwrap();
    let mut stream = dialer.dial().await.unwrap().stream;
    let before = Instant::now();
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut answer = [0; 1024];
    loop {
        stream.write_all(request).await.unwrap();
        assert!(stream.read(&mut answer).await.unwrap() > 0);
        let now = Instant::now();
        // The kernel begins to stamp some time after it was asked.
        let Some(received) = stream.stamps().last(now) else {
            continue;
        };
        assert!(before <= received + CLOCKS && received <= now);
        break;
    }
}

/// A reader that lets go of readiness which arrived during its read would hang here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_byte_is_forgotten_when_segments_race_with_reads() {
    let (mut server, mut stream) = pair().await;
    const ROUNDS: usize = 20_000;
    let writer = tokio::spawn(async move {
        for _ in 0..ROUNDS {
            server.write_all(b"x").await.unwrap();
        }
        server
    });
    let mut buffer = vec![0; 4096];
    let mut read = 0;
    while read < ROUNDS {
        read += stream.read(&mut buffer).await.unwrap();
    }
    assert_eq!(read, ROUNDS);
    drop(writer.await.unwrap());
    assert_eq!(
        stream.read(&mut buffer).await.unwrap(),
        0,
        "the end is seen"
    );
}

#[tokio::test]
async fn large_answers_arrive_whole() {
    let (mut server, mut stream) = pair().await;
    let sent: Vec<u8> = (0..3_000_000_u32).map(|i| (i * 7 % 251) as u8).collect();
    let expected = sent.clone();
    let writer = tokio::spawn(async move { server.write_all(&sent).await });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    writer.await.unwrap().unwrap();
    assert!(received == expected);
}
