//! Servers that refuse, leave, break off and come back: every call has its outcome.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use bytes::Bytes;
use h2::Reason;
use h2::server::SendResponse;
use openloop_grpc::{CallKind, Grpc, Pace, Request};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::grpc::generated::echo::EchoRequest;
use openloop_testbed::{Act, GrpcServer, HttpServer, On, Service, Workers};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::{
    MS, builder, client, load, of_each_kind, server_stream, slow, streamed, unary, until,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tonic::Code;

#[tokio::test]
async fn every_status_of_the_server_has_its_class_in_every_kind_of_call() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    for status in 1..17 {
        let asked = EchoRequest {
            status,
            count: 2,
            ..Default::default()
        };
        let calls = [
            unary(&asked),
            server_stream(&asked),
            streamed(
                CallKind::ClientStreaming,
                std::slice::from_ref(&asked),
                Pace::AtOnce,
            ),
            streamed(CallKind::Bidirectional, &[asked], Pace::AtOnce),
        ];
        for request in calls {
            let kind = request.kind();
            let error = grpc.call(request).await.unwrap_err();
            let code = Code::from_i32(i32::try_from(status).unwrap());
            let said = error.kind.status().unwrap();
            assert_eq!((said.code(), said.message()), (code, "as asked"));
            let class = openloop_grpc::status::class(code);
            let expected = match code {
                Code::ResourceExhausted => Verdict::Rejected(class),
                _ => Verdict::Failed(class),
            };
            assert_eq!(error.verdict(), expected, "{kind}");
            // A stream had its messages before it went wrong.
            let received = error.stages().messages_received;
            assert_eq!(
                received,
                if kind == CallKind::ServerStreaming {
                    2
                } else {
                    0
                }
            );
        }
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn load_beyond_the_waiting_room_is_rejected() {
    let server = GrpcServer::builder()
        .service(Service::fixed(Duration::from_secs(60)))
        .workers(Workers::servers(1).waiting(1))
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let mut running = JoinSet::new();
    for _ in 0..2 {
        let grpc = grpc.clone();
        running.spawn(async move { grpc.call(unary(&EchoRequest::default())).await.is_ok() });
    }
    until(|| server.in_flight() == 2).await;
    let error = grpc.call(unary(&EchoRequest::default())).await.unwrap_err();
    assert_eq!(
        error.verdict(),
        Verdict::Rejected("grpc_resource_exhausted")
    );
}

/// Of each kind a call that takes 20 ms.
fn slow_of_each_kind() -> [Request; 4] {
    let many = EchoRequest {
        count: 3,
        gap_us: 5_000,
        ..slow(10 * MS)
    };
    let twice = [slow(10 * MS), slow(10 * MS)];
    [
        unary(&slow(20 * MS)),
        server_stream(&many),
        streamed(
            CallKind::ClientStreaming,
            &[EchoRequest::default(), slow(20 * MS)],
            Pace::AtOnce,
        ),
        streamed(CallKind::Bidirectional, &twice, Pace::InTurn),
    ]
}

#[tokio::test]
async fn a_goodbye_under_load_loses_no_call_of_any_kind() {
    for request in slow_of_each_kind() {
        let server = GrpcServer::builder().start().unwrap();
        let grpc = client(&server).await;
        let outcomes = load(&grpc, &request, 60, 2 * MS, 30, || server.goaway()).await;
        assert_eq!(outcomes["ok"], 60, "{}: {outcomes:?}", request.kind());
        assert_eq!((server.accepted(), server.calls()), (2, 60));
        assert_eq!(server.cancelled(), 0);
    }
}

#[tokio::test]
async fn connections_that_break_off_take_their_calls_with_them_and_no_others() {
    for request in slow_of_each_kind() {
        let server = GrpcServer::builder().start().unwrap();
        let grpc = client(&server).await;
        // Those that are on their way now.
        let outcomes = load(&grpc, &request, 60, 2 * MS, 30, || server.cut()).await;
        let lost: u64 = ["closed", "reset"]
            .iter()
            .filter_map(|class| outcomes.get(class))
            .sum();
        assert!(lost >= 1, "{}: {outcomes:?}", request.kind());
        assert_eq!(outcomes["ok"] + lost, 60, "{outcomes:?}");
        assert_eq!(server.accepted(), 2);
    }
}

#[tokio::test]
async fn a_restart_is_met_by_back_off_and_every_call_is_accounted() {
    let mut server = GrpcServer::builder().start().unwrap();
    let port = server.addr().port();
    let grpc = client(&server).await;
    let request = unary(&EchoRequest::default());
    grpc.call(request.clone()).await.unwrap();
    server.shutdown();
    let down = load(&grpc, &request, 50, MS, 0, || ()).await;
    // Each of them was refused, found its connection gone, or came while no attempt was due.
    assert!(!down.contains_key("ok"), "{down:?}");
    assert!(down["backing_off"] >= 1, "{down:?}");
    assert!(
        down.keys().all(|class| {
            [
                "backing_off",
                "connect_refused",
                "closed",
                "reset",
                "goaway",
            ]
            .contains(class)
        }),
        "{down:?}"
    );
    let dialled = down.get("connect_refused").copied().unwrap_or(0);
    assert!(dialled <= 10, "{down:?}");

    let server = GrpcServer::builder().port(port).start().unwrap();
    while grpc.call(request.clone()).await.is_err() {}
    let up = load(&grpc, &request, 50, MS, 0, || ()).await;
    assert_eq!(up["ok"], 50, "{up:?}");
    assert_eq!((server.accepted(), server.calls()), (1, 51));
}

#[tokio::test]
async fn a_stalled_server_makes_calls_wait_and_loses_none() {
    for request in of_each_kind(2) {
        let server = GrpcServer::builder()
            .service(Service::fixed(MS))
            .workers(Workers::servers(8))
            .start()
            .unwrap();
        let grpc = client(&server).await;
        let stall = || server.stall_for(100 * MS);
        let outcomes = load(&grpc, &request, 60, MS, 20, stall).await;
        assert_eq!(outcomes["ok"], 60, "{}", request.kind());
        let held = server.log().into_iter();
        let held = held.filter(|served| served.start > served.arrival + 50 * MS);
        assert!(held.count() >= 1);
    }
}

/// What a scripted server does with the n-th stream of a connection, n from 0.
#[derive(Clone, Copy)]
enum Stream {
    /// OK, with one empty message.
    Answer,
    Refuse,
    Reset,
    /// GOAWAY that takes the streams with it.
    Leave,
    /// OK without a message, in the head.
    Nothing,
    /// A message, and no status behind it.
    NoStatus,
    /// A message that ends before its length.
    Short,
    /// OK with two messages.
    Twice,
    /// A message with the flag of compression.
    Compressed,
}

/// A server that follows `script` on each of its connections; the count is of those.
async fn serve(script: fn(u64) -> Stream) -> (Grpc, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let accepted = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(follow(socket, script));
        }
    });
    (Grpc::builder(&url).build().unwrap(), accepted)
}

async fn follow(socket: TcpStream, script: fn(u64) -> Stream) {
    let mut connection: h2::server::Connection<_, Bytes> =
        h2::server::handshake(socket).await.unwrap();
    let mut number = 0;
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        match script(number) {
            Stream::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
            Stream::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
            Stream::Leave => connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM),
            Stream::Nothing => {
                let head = head().header("grpc-status", "0").body(()).unwrap();
                respond.send_response(head, true).unwrap();
            }
            Stream::NoStatus => answer(&mut respond, &[0; 5], true),
            Stream::Short => answer(&mut respond, &[0, 0, 0, 0, 9, 1], false),
            Stream::Twice => answer(&mut respond, &[0; 10], false),
            Stream::Compressed => answer(&mut respond, &[1, 0, 0, 0, 0], false),
            Stream::Answer => answer(&mut respond, &[0; 5], false),
        }
        number += 1;
    }
    let _ = poll_fn(|cx| connection.poll_closed(cx)).await;
}

fn head() -> http::response::Builder {
    http::Response::builder().header("content-type", "application/grpc")
}

fn answer(respond: &mut SendResponse<Bytes>, body: &[u8], is_last: bool) {
    let mut body_stream = respond
        .send_response(head().body(()).unwrap(), false)
        .unwrap();
    body_stream
        .send_data(Bytes::copy_from_slice(body), is_last)
        .unwrap();
    if !is_last {
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
        body_stream.send_trailers(trailers).unwrap();
    }
}

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

#[tokio::test]
async fn what_is_not_well_formed_is_no_success() {
    for script in [
        |_| Stream::NoStatus,
        |_| Stream::Short,
        |_| Stream::Twice,
        |_| Stream::Compressed,
        |_| Stream::Nothing,
    ] as [fn(u64) -> Stream; 5]
    {
        let (grpc, _) = serve(script).await;
        let error = grpc.call(empty()).await.unwrap_err();
        assert_eq!(error.class(), "malformed", "{error}");
    }
    // Of a stream there may be none, or several.
    for (script, messages) in [
        ((|_| Stream::Nothing) as fn(u64) -> Stream, 0),
        (|_| Stream::Twice, 2),
    ] {
        let (grpc, _) = serve(script).await;
        let request = Request::server_streaming("a.B/C", b"").unwrap();
        let reply = grpc.call(request).await.unwrap();
        assert_eq!(reply.stages().messages_received, messages);
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

#[tokio::test]
async fn nobody_at_the_port_is_a_refused_connection() {
    let mut server = GrpcServer::builder().start().unwrap();
    server.shutdown();
    let grpc = builder(&server).build().unwrap();
    let error = grpc.prepare().await.unwrap_err();
    assert_eq!(error.class(), "connect_refused");
    let error = grpc.call(empty()).await.unwrap_err();
    assert_eq!(error.class(), "backing_off");
}
