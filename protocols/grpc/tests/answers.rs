//! Answers that no server should give: each has its class, and none is taken for a success.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::{Grpc, Request};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::{Act, HttpServer, On};
use std::sync::atomic::Ordering;
use std::time::Duration;
use support::scripted::{Stream, serve};
use support::{load, of_each_kind};

fn empty() -> Request {
    Request::unary("a.B/C", b"").unwrap()
}

#[tokio::test]
async fn a_refused_stream_is_tried_once_more_and_then_rejected() {
    let (grpc, accepted) = serve(|_| Stream::Refuse).await;
    let error = grpc.call(empty()).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Rejected("stream_refused"));
    assert_eq!(error.stages().retries, 1);
    // The connection is as good as before.
    assert_eq!(accepted.load(Ordering::Relaxed), 1);

    let (grpc, _) = serve(|number| match number {
        0 => Stream::Refuse,
        _ => Stream::Answer,
    })
    .await;
    let reply = grpc.call(empty()).await.unwrap();
    assert_eq!(reply.stages().retries, 1);
}

#[tokio::test]
async fn a_stream_that_is_reset_leaves_its_connection_alone_and_is_not_repeated() {
    let (grpc, accepted) = serve(|number| match number {
        0 => Stream::Reset,
        _ => Stream::Answer,
    })
    .await;
    let error = grpc.call(empty()).await.unwrap_err();
    assert_eq!((error.class(), error.stages().retries), ("stream_reset", 0));
    grpc.call(empty()).await.unwrap();
    assert_eq!(accepted.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_goodbye_with_an_error_fails_the_call_and_the_next_has_a_new_connection() {
    let (grpc, accepted) = serve(|_| Stream::Leave).await;
    for number in 1..=3 {
        let error = grpc.call(empty()).await.unwrap_err();
        assert_eq!(
            (error.class(), error.stages().retries),
            ("goaway", 0),
            "{error}"
        );
        assert_eq!(accepted.load(Ordering::Relaxed), number);
    }
}

/// How each kind of call ends under each of these answers; `None`: well.
#[tokio::test]
async fn what_no_server_should_answer_has_its_class_in_every_kind_of_call() {
    for (script, class) in [
        (Stream::Answer, None),
        (Stream::Refuse, Some("stream_refused")),
        (Stream::Reset, Some("stream_reset")),
        (Stream::ResetLate, Some("stream_reset")),
        (Stream::Leave, Some("goaway")),
        (Stream::Nothing, Some("malformed")),
        (Stream::NoStatus, Some("malformed")),
        (Stream::BadStatus, Some("grpc_unknown")),
        (Stream::Short, Some("malformed")),
        (Stream::Twice, Some("malformed")),
        (Stream::Compressed, Some("malformed")),
        (Stream::Page, Some("not_grpc")),
    ] {
        for request in of_each_kind(3) {
            let kind = request.kind();
            let (grpc, _) = serve(move |_| script).await;
            let outcomes = load(&grpc, &request, 30, Duration::ZERO, 0, || ()).await;
            // Of a stream there may be no message, or several.
            let is_free =
                kind.server_streams() && [Stream::Nothing, Stream::Twice].contains(&script);
            let class = class.filter(|_| !is_free).unwrap_or("ok");
            let as_due = outcomes.get(class).copied().unwrap_or(0);
            let case = format!("{script:?}, {kind}: {outcomes:?}");
            match script {
                // Those behind the one that it left under may find the connection closing.
                Stream::Leave => {
                    assert!(as_due >= 1, "{case}");
                    let others = ["goaway", "closed", "reset"];
                    assert!(
                        outcomes.keys().all(|class| others.contains(class)),
                        "{case}"
                    );
                }
                _ => assert_eq!(as_due, 30, "{case}"),
            }
        }
    }
}

#[tokio::test]
async fn a_web_server_is_not_taken_for_one_of_grpc() {
    let server = HttpServer::builder()
        .http2()
        .on(On::Request(0), Act::Status(503))
        .on(On::Request(1), Act::Status(404))
        .start()
        .unwrap();
    let grpc = Grpc::builder(server.url("").trim_end_matches('/'))
        .build()
        .unwrap();
    let shed = grpc.call(empty()).await.unwrap_err();
    assert_eq!(shed.verdict(), Verdict::Rejected("not_grpc"));
    for status in ["404", "200"] {
        let error = grpc.call(empty()).await.unwrap_err();
        assert_eq!(error.verdict(), Verdict::Failed("not_grpc"));
        assert!(error.to_string().contains(status), "{error}");
    }
    // One of HTTP/1.1 does not even speak HTTP/2.
    let old = HttpServer::builder().start().unwrap();
    let grpc = Grpc::builder(old.url("").trim_end_matches('/'))
        .build()
        .unwrap();
    let error = grpc.prepare().await.unwrap_err();
    assert!(
        ["malformed", "closed", "reset"].contains(&error.class()),
        "{error}"
    );
}
