//! Opening connections: what each part took, and what each failure is called.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_net::{DialError, DialErrorKind, Dialer, DialerError, Stream, Tls};
use openloop_testbed::{Certificate, HttpServer};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn failure(dialer: Dialer) -> DialError {
    let error = dialer.dial().await.map(|_| ()).unwrap_err();
    assert_eq!(dialer.counts().open(), 0);
    error
}

fn trusting(server: &HttpServer) -> Tls {
    Tls::roots_from_pem(server.ca_pem().unwrap())
}

#[tokio::test]
async fn an_address_is_connected_to_without_being_resolved() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .build()
        .unwrap();
    let dialed = dialer.dial().await.unwrap();
    assert_eq!((dialed.timings.dns, dialed.timings.tls), (None, None));
    assert!(dialed.timings.connect.unwrap() > Duration::ZERO);
    assert_eq!(dialed.timings.syn_retries, 0);
    assert!(matches!(dialed.stream, Stream::Plain(_)));
}

#[tokio::test]
async fn a_name_is_resolved_and_the_time_is_told() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("localhost", address.port())
        .build()
        .unwrap();
    let dialed = dialer.dial().await.unwrap();
    assert!(dialed.timings.dns.is_some());
}

#[tokio::test]
async fn nagle_is_off() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .build()
        .unwrap();
    let dialed = dialer.dial().await.unwrap();
    // getsockopt(TCP_NODELAY)
    assert!(dialed.stream.socket().get_ref().nodelay().unwrap());
}

#[tokio::test]
async fn the_local_address_is_the_one_asked_for() {
    let (_listener, address) = listener().await;
    let own = Ipv4Addr::new(127, 0, 0, 9);
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .local_address(own.into())
        .build()
        .unwrap();
    let dialed = dialer.dial().await.unwrap();
    let local = dialed.stream.socket().get_ref().local_addr().unwrap();
    assert_eq!(local.ip(), own);
}

#[tokio::test]
async fn a_given_address_stands_instead_of_the_name() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("no-such-host.invalid", 1)
        .address(address)
        .build()
        .unwrap();
    assert_eq!(dialer.dial().await.unwrap().timings.dns, None);
}

#[tokio::test]
async fn sockets_are_counted_by_their_ownership() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .build()
        .unwrap();
    let first = dialer.dial().await.unwrap();
    let second = dialer.clone().dial().await.unwrap();
    let counts = dialer.counts();
    assert_eq!((counts.opened(), counts.open()), (2, 2));
    drop(first);
    assert_eq!((counts.opened(), counts.closed()), (2, 1));
    drop(second.stream);
    assert_eq!(counts.open(), 0);
}

#[tokio::test]
async fn a_port_without_a_listener_refuses() {
    let (listener, address) = listener().await;
    drop(listener);
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .build()
        .unwrap();
    let error = failure(dialer).await;
    assert!(matches!(*error.kind, DialErrorKind::Refused { address: at } if at == address));
    assert_eq!(error.kind.class(), "connect_refused");
    assert!(error.timings.connect.is_some());
}

#[tokio::test]
async fn a_name_that_does_not_exist_fails_in_dns() {
    let dialer = Dialer::builder("no-such-host.invalid", 80).build().unwrap();
    let error = failure(dialer).await;
    assert_eq!(error.kind.class(), "dns");
    assert!(error.timings.dns.is_some());
    assert_eq!(error.timings.connect, None);
}

#[tokio::test]
async fn a_multicast_address_is_no_way_to_go() {
    let dialer = Dialer::builder("224.0.0.1", 80).build().unwrap();
    assert_eq!(failure(dialer).await.kind.class(), "unreachable");
}

#[tokio::test]
async fn a_full_accept_queue_runs_into_the_limit() {
    // One waits in the queue of a backlog of 0; the next SYN gets no answer.
    let server = HttpServer::builder()
        .backlog(0)
        .accepting(false)
        .start()
        .unwrap();
    let build = |builder: openloop_net::DialerBuilder| builder.build().unwrap();
    let in_queue = build(Dialer::builder("127.0.0.1", server.addr().port()));
    let _waits = in_queue.dial().await.unwrap();
    let limit = Duration::from_millis(100);
    let dialer = build(Dialer::builder("127.0.0.1", server.addr().port()).connect_timeout(limit));
    let error = failure(dialer).await;
    assert_eq!(error.kind.class(), "connect_timeout");
    assert!(error.timings.connect.unwrap() >= limit);
}

#[tokio::test]
async fn tls_is_timed_and_carries_bytes() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let dialer = Dialer::builder("127.0.0.1", server.addr().port())
        .tls(
            trusting(&server)
                .server_name("localhost")
                .alpn(["http/1.1"]),
        )
        .build()
        .unwrap();
    let mut dialed = dialer.dial().await.unwrap();
    assert!(dialed.timings.tls.unwrap() > Duration::ZERO);
    assert_eq!(dialed.alpn.as_deref(), Some(&b"http/1.1"[..]));
    dialed
        .stream
        .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    dialed.stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
}

#[tokio::test]
async fn certificates_that_do_not_verify_say_why() {
    let cases = [
        (Certificate::WrongHost, "not valid for name"),
        (Certificate::Expired, "expired"),
        (Certificate::UnknownAuthority, "UnknownIssuer"),
    ];
    for (certificate, why) in cases {
        let server = HttpServer::builder().tls(certificate).start().unwrap();
        let dialer = Dialer::builder("localhost", server.addr().port())
            .address(server.addr())
            .tls(trusting(&server))
            .build()
            .unwrap();
        let error = dialer.dial().await.map(|_| ()).unwrap_err();
        assert_eq!(error.kind.class(), "tls_certificate", "{certificate:?}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.to_string().contains("localhost"), "{error}");
        assert!(error.timings.tls.is_some());
        // TCP was established, so a socket was opened; it is closed by now.
        let counts = dialer.counts();
        assert_eq!((counts.opened(), counts.open()), (1, 0));
    }
}

#[tokio::test]
async fn any_certificate_will_do_where_that_was_said_aloud() {
    let server = HttpServer::builder()
        .tls(Certificate::UnknownAuthority)
        .start()
        .unwrap();
    let dialer = Dialer::builder("127.0.0.1", server.addr().port())
        .tls(Tls::insecure_accept_any_certificate())
        .build()
        .unwrap();
    assert!(dialer.dial().await.is_ok());
}

#[tokio::test]
async fn tls_to_a_plain_port_is_a_failed_handshake() {
    let server = HttpServer::builder().start().unwrap();
    let dialer = Dialer::builder("127.0.0.1", server.addr().port())
        .tls(Tls::insecure_accept_any_certificate())
        .build()
        .unwrap();
    assert_eq!(failure(dialer).await.kind.class(), "tls");
}

#[tokio::test]
async fn a_handshake_without_an_answer_runs_into_the_limit() {
    let (_listener, address) = listener().await;
    let dialer = Dialer::builder("127.0.0.1", address.port())
        .tls(Tls::insecure_accept_any_certificate())
        .connect_timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    let error = failure(dialer).await;
    assert!(matches!(
        *error.kind,
        DialErrorKind::HandshakeTimedOut { .. }
    ));
    assert_eq!(error.kind.class(), "tls");
}

#[test]
fn what_cannot_be_dialled_is_refused_before() {
    let build = |host: &str, port| Dialer::builder(host, port).build().map(|_| ());
    assert!(matches!(build("", 80), Err(DialerError::EmptyHost)));
    assert!(matches!(build("a b", 80), Err(DialerError::Host { .. })));
    assert!(matches!(
        build("host:80", 80),
        Err(DialerError::Host { .. })
    ));
    assert!(matches!(build("host", 0), Err(DialerError::Port)));
    assert!(build("[::1]", 80).is_ok());
    assert!(build("::1", 80).is_ok());
    let zero = Dialer::builder("host", 80).connect_timeout(Duration::ZERO);
    assert!(matches!(zero.build(), Err(DialerError::ZeroTimeout)));
}
