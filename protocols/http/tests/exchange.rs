//! What is sent, what comes back, and where the time went.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use bytes::Bytes;
use openloop_http::{Builder, Connections, Http, Version};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::{HttpServer, RecordedRequest};
use std::time::Duration;

fn server() -> HttpServer {
    HttpServer::builder().record_requests().start().unwrap()
}

fn builder(server: &HttpServer, path: &str) -> Builder {
    Http::builder(&server.url(path)).connections(Connections::pool(1))
}

async fn sent(server: &HttpServer, builder: Builder) -> RecordedRequest {
    let http = builder.build().unwrap();
    http.call(http.request()).await.unwrap();
    server.last_request().unwrap()
}

#[tokio::test]
async fn the_default_request_goes_out_as_it_was_built() {
    let server = server();
    let request = sent(
        &server,
        builder(&server, "/echo?q=1&r=%20")
            .method("PUT")
            .header("x-a", "1")
            .header("x-a", "2")
            .body("hello"),
    )
    .await;
    assert_eq!(request.method, "PUT");
    assert_eq!(request.path, "/echo?q=1&r=%20");
    assert_eq!(request.body, Bytes::from_static(b"hello"));
    assert_eq!(request.header("content-length"), Some("5"));
    assert_eq!(request.header("host"), Some(&*server.addr().to_string()));
    let values: Vec<_> = request
        .headers
        .iter()
        .filter(|(name, _)| name == "x-a")
        .map(|(_, value)| value.clone())
        .collect();
    assert_eq!(values, ["1", "2"]);
}

#[tokio::test]
async fn a_host_of_the_users_own_stands() {
    let server = server();
    let request = sent(
        &server,
        builder(&server, "/").header("Host", "example.test"),
    )
    .await;
    assert_eq!(request.header("host"), Some("example.test"));
    assert_eq!(
        request
            .headers
            .iter()
            .filter(|(name, _)| name == "host")
            .count(),
        1
    );
}

#[tokio::test]
async fn a_get_has_no_length_and_an_empty_post_has_zero() {
    let server = server();
    let get = sent(&server, builder(&server, "/")).await;
    assert_eq!(get.header("content-length"), None);
    let post = sent(&server, builder(&server, "/").method("POST")).await;
    assert_eq!(post.header("content-length"), Some("0"));
}

#[tokio::test]
async fn requests_may_differ_from_call_to_call() {
    let server = server();
    let http = builder(&server, "/").build().unwrap();
    for seq in 0..3 {
        let request = http::Request::post(format!("/item/{seq}"))
            .header("openloop-seq", seq)
            .body(Bytes::from(format!("item {seq}")))
            .unwrap();
        http.call(http.request_from(request).unwrap())
            .await
            .unwrap();
        let request = server.last_request().unwrap();
        assert_eq!(request.path, format!("/item/{seq}"));
        assert_eq!(request.body, format!("item {seq}"));
        assert_eq!(request.header("host"), Some(&*server.addr().to_string()));
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn bodies_are_read_to_the_end_and_counted() {
    let server = server();
    let cases = [
        ("/bytes/0", 0),
        ("/bytes/1", 1),
        ("/bytes/1000000", 1_000_000),
        ("/chunked/1", 1),
        ("/chunked/300000", 300_000),
    ];
    let http = builder(&server, "/").build().unwrap();
    for (path, bytes) in cases {
        let request = http::Request::get(path).body(Bytes::new()).unwrap();
        let mut seen = 0;
        let reply = http
            .call_with(http.request_from(request).unwrap(), |data| {
                seen += data.len() as u64
            })
            .await
            .unwrap();
        assert_eq!((reply.stages().bytes, seen), (bytes, bytes), "{path}");
    }
    // Each left its connection fit for the next.
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_its_connection() {
    let server = server();
    let http = builder(&server, "/http10").build().unwrap();
    for _ in 0..2 {
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!(reply.verdict(), Verdict::Ok);
        assert_eq!((reply.stages().opened, reply.stages().retries), (1, 0));
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn heads_and_answers_without_a_body_have_none() {
    let server = server();
    let http = builder(&server, "/bytes/1000")
        .method("HEAD")
        .build()
        .unwrap();
    assert_eq!(http.call(http.request()).await.unwrap().stages().bytes, 0);
    for path in ["/status/204", "/status/304"] {
        let http = builder(&server, path).build().unwrap();
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!((reply.verdict(), reply.stages().bytes), (Verdict::Ok, 0));
    }
}

#[tokio::test]
async fn statuses_are_counted_by_the_rule() {
    let server = server();
    let cases = [
        (200, Verdict::Ok),
        (301, Verdict::Ok),
        (404, Verdict::Failed("http_404")),
        (429, Verdict::Rejected("http_429")),
        (500, Verdict::Failed("http_500")),
        (503, Verdict::Rejected("http_503")),
        (599, Verdict::Failed("http_599")),
    ];
    for (status, verdict) in cases {
        let http = builder(&server, &format!("/status/{status}"))
            .build()
            .unwrap();
        let reply = http.call(http.request()).await.unwrap();
        assert_eq!(
            (reply.status().as_u16(), reply.verdict()),
            (status, verdict)
        );
        // An error status is an answer like any other: the connection lives on.
        http.call(http.request()).await.unwrap();
        assert_eq!(http.sockets().opened(), 1);
    }
}

#[tokio::test]
async fn stages_tell_who_opened_and_who_reused() {
    let server = server();
    let http = builder(&server, "/")
        .version(Version::Http1)
        .build()
        .unwrap();
    let first = http.call(http.request()).await.unwrap();
    let second = http.call(http.request()).await.unwrap();
    let (first, second) = (first.stages(), second.stages());
    assert_eq!((first.opened, first.reused), (1, false));
    assert!(first.dial.connect.is_some());
    assert_eq!((second.opened, second.reused), (0, true));
    assert_eq!(second.dial.total(), Duration::ZERO);
    assert!(second.first_byte.is_some() && second.body.is_some());
    assert_eq!((http.sockets().opened(), http.sockets().reused()), (1, 1));
}

#[tokio::test]
async fn stages_add_up_to_no_more_than_the_call() {
    let server = server();
    let http = builder(&server, "/slow/50ms").build().unwrap();
    let started = tokio::time::Instant::now();
    let reply = http.call(http.request()).await.unwrap();
    let took = started.elapsed();
    let stages = reply.stages();
    let sum =
        stages.acquire + stages.dial.total() + stages.first_byte.unwrap() + stages.body.unwrap();
    assert!(sum <= took, "{sum:?} of {took:?}");
    // The answer came byte by byte, its body after its head.
    assert!(stages.body.unwrap() > Duration::ZERO);
}
