//! Each failure has its own class.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_http::{Connections, Http, HttpError, HttpErrorKind};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::{Act, HttpServer, On};
use std::net::TcpListener;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn failure(http: &Http) -> HttpError {
    let error = http.call(http.request()).await.map(|_| ()).unwrap_err();
    assert_eq!(error.verdict(), Verdict::Failed(error.class()));
    assert_eq!(http.sockets().open(), 0, "a broken connection is closed");
    error
}

fn client(url: &str) -> Http {
    Http::builder(url)
        .connections(Connections::pool(1))
        .build()
        .unwrap()
}

#[tokio::test]
async fn faults_of_the_server_are_told_apart() {
    let server = HttpServer::builder().start().unwrap();
    let cases = [
        ("/reset", "reset"),
        ("/reset-mid-body", "reset"),
        ("/close", "closed"),
        ("/bad-status-line", "malformed"),
        ("/bad-chunk", "malformed"),
    ];
    for (path, class) in cases {
        let error = failure(&client(&server.url(path))).await;
        assert_eq!(error.class(), class, "{path}: {error}");
        assert_eq!(
            (error.stages().opened, error.stages().retries),
            (1, 0),
            "{path}"
        );
        assert!(error.stages().dial.connect.is_some(), "{path}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_early_is_closed_and_keeps_its_stages() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let _ = socket.read(&mut head).await.unwrap();
        let half = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf";
        socket.write_all(half).await.unwrap();
    });
    let error = failure(&client(&url)).await;
    server.await.unwrap();
    assert_eq!(error.class(), "closed", "{error}");
    assert_eq!(error.stages().bytes, 4);
    assert!(error.stages().first_byte.is_some());
}

#[tokio::test]
async fn a_head_that_ends_early_is_closed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let _ = socket.read(&mut head).await.unwrap();
        socket.write_all(b"HTTP/1.1 200 O").await.unwrap();
    });
    assert_eq!(failure(&client(&url)).await.class(), "closed");
    server.await.unwrap();
}

#[tokio::test]
async fn nothing_that_listens_is_connect_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let http = client(&url);
    let error = failure(&http).await;
    assert_eq!(error.class(), "connect_refused");
    assert_eq!(error.stages().opened, 0);
    assert_eq!(http.prepare().await.unwrap_err().class(), "connect_refused");
    assert_eq!(http.sockets().opened(), 0);
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_dns() {
    let error = failure(&client("http://no-such-host.invalid/")).await;
    assert_eq!(error.class(), "dns");
    assert!(error.stages().dial.dns.is_some());
}

#[tokio::test]
async fn a_connect_without_an_answer_is_connect_timeout() {
    let server = HttpServer::builder()
        .backlog(0)
        .accepting(false)
        .start()
        .unwrap();
    let _waits_in_the_queue = std::net::TcpStream::connect(server.addr()).unwrap();
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerRequest)
        .connect_timeout(Duration::from_millis(50))
        .build()
        .unwrap();
    assert_eq!(failure(&http).await.class(), "connect_timeout");
}

#[tokio::test]
async fn a_full_line_is_pool_full() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/never"))
        .connections(Connections::Pool {
            size: 1,
            waiting: 0,
        })
        .build()
        .unwrap();
    let own = http.clone();
    let held = tokio::spawn(async move { own.call(own.request()).await.is_ok() });
    while server.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!(error.class(), "pool_full");
    assert!(matches!(error.kind, HttpErrorKind::PoolFull(_)));
    held.abort();
}

#[tokio::test]
async fn after_a_failure_the_next_call_gets_a_new_connection() {
    let server = HttpServer::builder()
        .on(On::Request(0), Act::Reset)
        .start()
        .unwrap();
    let http = client(&server.url("/"));
    assert!(http.call(http.request()).await.is_err());
    assert!(http.call(http.request()).await.is_ok());
    assert_eq!((http.sockets().opened(), server.accepted()), (2, 2));
}
