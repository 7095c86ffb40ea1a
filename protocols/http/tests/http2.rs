//! HTTP/2: shared connections, and the wait for a stream.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_http::{Connections, Http, Tls, Version};
use openloop_measurer::Operation;
use openloop_testbed::{Act, Certificate, HttpServer, On};
use std::time::Duration;
use tokio::task::JoinSet;

fn client(server: &HttpServer, path: &str, connections: Connections) -> Http {
    Http::builder(&server.url(path))
        .connections(connections)
        .http2()
        .build()
        .unwrap()
}

#[tokio::test]
async fn prior_knowledge_carries_many_requests_on_one_connection() {
    let server = HttpServer::builder()
        .http2()
        .record_requests()
        .start()
        .unwrap();
    let http = client(&server, "/delay/20ms", Connections::pool(1));
    http.prepare().await.unwrap();
    let mut running = JoinSet::new();
    for _ in 0..20 {
        let http = http.clone();
        running.spawn(async move { http.call(http.request()).await.unwrap() });
    }
    for reply in running.join_all().await {
        assert!(reply.stages().reused);
        assert_eq!(reply.stages().acquire, Duration::ZERO);
    }
    assert_eq!((server.accepted(), server.in_flight_peak()), (1, 20));
    let request = server.last_request().unwrap();
    assert!(request.version.contains('2'), "{}", request.version);
    assert_eq!(request.header("connection"), None);
}

#[tokio::test]
async fn requests_are_spread_over_the_connections() {
    let server = HttpServer::builder().http2().start().unwrap();
    let http = client(&server, "/delay/20ms", Connections::pool(4));
    http.prepare().await.unwrap();
    let mut running = JoinSet::new();
    for _ in 0..40 {
        let http = http.clone();
        running.spawn(async move { http.call(http.request()).await.unwrap() });
    }
    running.join_all().await;
    let mut on_each = [0; 4];
    let log = server.log();
    let mut connections: Vec<_> = log.iter().map(|served| served.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    assert_eq!(connections.len(), 4);
    for served in &log {
        on_each[connections.binary_search(&served.connection).unwrap()] += 1;
    }
    assert_eq!(on_each, [10; 4]);
}

#[tokio::test]
async fn the_wait_for_a_stream_is_on_our_side() {
    let server = HttpServer::builder()
        .http2()
        .max_concurrent_streams(4)
        .start()
        .unwrap();
    let http = client(&server, "/delay/50ms", Connections::pool(1));
    http.prepare().await.unwrap();
    let mut running = JoinSet::new();
    for _ in 0..12 {
        let http = http.clone();
        running.spawn(async move { *http.call(http.request()).await.unwrap().stages() });
    }
    let mut waits: Vec<_> = running
        .join_all()
        .await
        .iter()
        .map(|stages| stages.acquire)
        .collect();
    waits.sort();
    let turn = Duration::from_millis(50);
    assert_eq!(waits[..4], [Duration::ZERO; 4]);
    assert!(waits[4] >= turn.mul_f64(0.9), "{waits:?}");
    assert!(waits[8] >= turn.mul_f64(1.9), "{waits:?}");
    assert_eq!(server.in_flight_peak(), 4);
}

#[tokio::test]
async fn a_full_line_for_streams_is_pool_full() {
    let server = HttpServer::builder()
        .http2()
        .max_concurrent_streams(1)
        .on(On::Request(0), Act::Never)
        .start()
        .unwrap();
    let http = client(
        &server,
        "/",
        Connections::Pool {
            size: 1,
            waiting: 0,
        },
    );
    http.prepare().await.unwrap();
    let own = http.clone();
    let held = tokio::spawn(async move { own.call(own.request()).await.is_ok() });
    while server.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        http.call(http.request()).await.unwrap_err().class(),
        "pool_full"
    );
    // A dropped call gives its stream back, and the connection lives on.
    held.abort();
    assert!(held.await.is_err());
    http.call(http.request()).await.unwrap();
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn bodies_go_both_ways() {
    let server = HttpServer::builder().http2().start().unwrap();
    let body = vec![7_u8; 300_000];
    let http = Http::builder(&server.url("/echo"))
        .connections(Connections::pool(1))
        .http2()
        .method("POST")
        .body(body)
        .build()
        .unwrap();
    for _ in 0..3 {
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!(reply.stages().bytes, 300_000);
        assert_eq!(reply.stages().received, None);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_connection_for_each_request_is_opened_and_closed() {
    let server = HttpServer::builder().http2().start().unwrap();
    let http = client(&server, "/", Connections::PerRequest);
    for _ in 0..3 {
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!((reply.stages().opened, reply.stages().reused), (1, false));
    }
    assert_eq!((server.accepted(), http.sockets().opened()), (3, 3));
    while http.sockets().open() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let mut server = HttpServer::builder().http2().start().unwrap();
    let port = server.addr().port();
    let http = client(&server, "/", Connections::pool(1));
    http.prepare().await.unwrap();
    http.call(http.request()).await.unwrap();
    server.shutdown();
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!(error.class(), "connect_refused", "{error}");
    let server = HttpServer::builder().http2().port(port).start().unwrap();
    http.call(http.request()).await.unwrap();
    assert_eq!((server.accepted(), http.sockets().opened()), (1, 2));
}

#[tokio::test]
async fn alpn_chooses_the_version() {
    for (http2, version) in [(true, "2"), (false, "1.1")] {
        let builder = HttpServer::builder()
            .tls(Certificate::Trusted)
            .record_requests();
        let builder = if http2 { builder.http2() } else { builder };
        let server = builder.start().unwrap();
        let http = Http::builder(&server.url("/"))
            .connections(Connections::pool(3))
            .tls(Tls::roots_from_pem(server.ca_pem().unwrap()))
            .build()
            .unwrap();
        http.prepare().await.unwrap();
        let reply = http.call(http.request()).await.unwrap();
        assert!(reply.stages().reused);
        let spoken = server.last_request().unwrap().version;
        assert!(spoken.contains(version), "{spoken}");
        assert_eq!((server.accepted(), http.sockets().opened()), (3, 3));
    }
}

#[tokio::test]
async fn a_version_that_the_server_does_not_speak_is_named() {
    let server = HttpServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let http = Http::builder(&server.url("/"))
        .version(Version::Http2)
        .tls(Tls::roots_from_pem(server.ca_pem().unwrap()))
        .build()
        .unwrap();
    // The server either ends the handshake or chooses nothing; both are known before any load.
    let class = http.prepare().await.unwrap_err().class();
    assert!(["alpn", "tls"].contains(&class), "{class}");
}

#[tokio::test]
async fn a_server_of_http1_is_malformed_http2() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/", Connections::pool(1));
    let class = http.call(http.request()).await.unwrap_err().class();
    assert!(["malformed", "closed", "reset"].contains(&class), "{class}");
}
