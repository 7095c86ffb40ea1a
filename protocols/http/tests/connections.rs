//! How many connections there are, who waits for one, and what becomes of it.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_http::{Connections, Http};
use openloop_measurer::Operation;
use openloop_testbed::{Act, HttpServer, On};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

fn client(server: &HttpServer, path: &str, connections: Connections) -> Http {
    Http::builder(&server.url(path))
        .connections(connections)
        .build()
        .unwrap()
}

async fn calls_at_once(http: &Http, calls: usize) {
    let mut running = JoinSet::new();
    for _ in 0..calls {
        let http = http.clone();
        running.spawn(async move { http.call(http.request()).await.map(|_| ()) });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap().unwrap();
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_pool_opens_its_connections_before_the_run_and_no_others() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/", Connections::pool(50));
    http.prepare().await.unwrap();
    assert_eq!(http.sockets().opened(), 50);
    until(|| server.accepted() == 50).await;
    calls_at_once(&http, 200).await;
    http.prepare().await.unwrap();
    assert_eq!((http.sockets().opened(), server.accepted()), (50, 50));
    assert_eq!(http.sockets().reused(), 200);
    drop(http);
    until(|| server.open() == 0).await;
}

#[tokio::test]
async fn calls_beyond_the_pool_wait_and_say_so() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/delay/50ms", Connections::pool(2));
    http.prepare().await.unwrap();
    let mut running = JoinSet::new();
    for _ in 0..6 {
        let http = http.clone();
        running.spawn(async move { http.call(http.request()).await.unwrap().stages().acquire });
    }
    let mut waits = running.join_all().await;
    waits.sort();
    let turn = Duration::from_millis(50);
    assert_eq!(waits[..2], [Duration::ZERO; 2]);
    assert!(waits[2] >= turn.mul_f64(0.9), "{waits:?}");
    assert!(waits[4] >= turn.mul_f64(1.9), "{waits:?}");
    assert_eq!((server.accepted(), server.in_flight_peak()), (2, 2));
}

#[tokio::test]
async fn one_connection_for_each_request_says_that_it_closes() {
    let server = HttpServer::builder().record_requests().start().unwrap();
    let http = client(&server, "/", Connections::PerRequest);
    for _ in 0..5 {
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!((reply.stages().opened, reply.stages().reused), (1, false));
    }
    let request = server.last_request().unwrap();
    assert_eq!(request.header("connection"), Some("close"));
    assert_eq!((server.accepted(), http.sockets().open()), (5, 0));
    assert_eq!((http.sockets().opened(), http.sockets().reused()), (5, 0));
}

#[tokio::test]
async fn one_connection_for_each_request_in_flight() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/delay/20ms", Connections::PerInFlight);
    calls_at_once(&http, 30).await;
    assert_eq!((server.accepted(), http.sockets().opened()), (30, 30));
    for _ in 0..3 {
        http.call(http.request()).await.unwrap();
    }
    assert_eq!((server.accepted(), http.sockets().reused()), (30, 3));
}

#[tokio::test]
async fn a_connection_that_closes_under_a_request_is_replaced_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Closes the first connection idle and answers on the second: whether the close is seen before the request is
    // written, or after, is left to chance.
    let server = tokio::spawn(async move {
        drop(listener.accept().await.unwrap());
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let _ = socket.read(&mut head).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(answer).await.unwrap();
        (listener, socket)
    });
    let pool = Connections::pool(1);
    let http = Http::builder(&url).connections(pool).build().unwrap();
    http.prepare().await.unwrap();
    let reply = http.call(http.request()).await.unwrap();
    let stages = reply.stages();
    assert_eq!(
        (stages.retries, stages.opened, stages.reused),
        (1, 1, false)
    );
    assert_eq!((http.sockets().opened(), http.sockets().open()), (2, 1));
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_closes_after_every_answer_causes_no_error() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/close-after", Connections::pool(1));
    for calls in 1..50 {
        let reply = http.call(http.request()).await.unwrap();
        // Where the close came with the answer there is nothing to retry.
        assert!(reply.stages().retries <= 1);
        assert_eq!((reply.stages().opened, reply.stages().reused), (1, false));
        assert_eq!(http.sockets().opened(), calls);
    }
    assert_eq!((server.accepted(), server.served()), (49, 49));
}

#[tokio::test]
async fn a_request_that_may_not_be_repeated_is_repeated_only_unsent() {
    // The server reads the second request and closes instead of answering: it may have done the work.
    let server = HttpServer::builder()
        .on(On::Request(1), Act::Close)
        .start()
        .unwrap();
    let http = Http::builder(&server.url("/"))
        .connections(Connections::pool(1))
        .method("POST")
        .build()
        .unwrap();
    http.call(http.request()).await.unwrap();
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!((error.class(), error.stages().retries), ("closed", 0));
    assert_eq!(server.served(), 2);

    let server = HttpServer::builder()
        .on(On::Request(1), Act::Close)
        .start()
        .unwrap();
    let http = client(&server, "/", Connections::pool(1));
    http.call(http.request()).await.unwrap();
    let reply = http.call(http.request()).await.unwrap();
    assert_eq!(reply.stages().retries, 1);
    assert_eq!(server.served(), 3);
}

#[tokio::test]
async fn a_fresh_connection_that_fails_is_an_error_and_no_retry() {
    let server = HttpServer::builder()
        .on(On::Always, Act::Close)
        .start()
        .unwrap();
    let http = client(&server, "/", Connections::PerRequest);
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!((error.class(), error.stages().retries), ("closed", 0));
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_retry_that_fails_is_an_error_and_says_that_it_was_one() {
    let server = HttpServer::builder()
        .on(On::Request(1), Act::Close)
        .on(On::Request(2), Act::Reset)
        .start()
        .unwrap();
    let http = client(&server, "/", Connections::pool(1));
    http.call(http.request()).await.unwrap();
    let error = http.call(http.request()).await.unwrap_err();
    assert_eq!((error.class(), error.stages().retries), ("reset", 1));
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn connection_close_is_obeyed_without_a_retry() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/connection-close", Connections::pool(1));
    for _ in 0..5 {
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!((reply.stages().retries, reply.stages().opened), (0, 1));
    }
    assert_eq!(server.accepted(), 5);
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let server = HttpServer::builder()
        .on(On::Request(0), Act::Never)
        .start()
        .unwrap();
    let http = client(&server, "/", Connections::pool(1));
    http.prepare().await.unwrap();
    let limit = Duration::from_millis(20);
    let timed_out = tokio::time::timeout(limit, http.call(http.request())).await;
    assert!(timed_out.is_err());
    let sockets = http.sockets();
    assert_eq!((sockets.opened(), sockets.closed()), (1, 1));
    until(|| server.open() == 0).await;
    // The place is free, and the next answer is that of the next request.
    let reply = http.call(http.request()).await.unwrap();
    assert_eq!((reply.stages().opened, reply.stages().retries), (1, 0));
    assert_eq!((sockets.opened(), sockets.open()), (2, 1));
}

#[tokio::test]
async fn answers_never_go_to_another_call() {
    let server = HttpServer::builder().start().unwrap();
    let http = Http::builder(&server.url("/echo"))
        .connections(Connections::pool(4))
        .build()
        .unwrap();
    let mut running = JoinSet::new();
    for number in 0..400_usize {
        let http = http.clone();
        running.spawn(async move {
            // Every third is dropped at some point of its exchange.
            let body = "x".repeat(number);
            let request = http::Request::post("/echo").body(body.into()).unwrap();
            let call = http.call(http.request_from(request).unwrap());
            if number % 3 == 0 {
                let limit = Duration::from_micros(number as u64);
                let _ = tokio::time::timeout(limit, call).await;
                return;
            }
            let reply = call.await.unwrap();
            assert_eq!(reply.stages().bytes, number as u64);
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    assert!(http.sockets().open() <= 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_on_several_threads_share_a_pool() {
    let server = HttpServer::builder().start().unwrap();
    let http = client(&server, "/", Connections::pool(8));
    http.prepare().await.unwrap();
    calls_at_once(&http, 2_000).await;
    assert_eq!((server.served(), server.accepted()), (2_000, 8));
}
