//! Limits on the time of a call, and calls that nobody waits for any more.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::{CallKind, Grpc, Pace};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::grpc::generated::echo::EchoRequest;
use openloop_testbed::{GrpcServer, HttpServer};
use std::time::Duration;
use support::{MS, builder, client, of_each_kind, server_stream, slow, streamed, unary, until};
use tokio::time::Instant;

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_server_is_told_what_is_left_and_hears_that_nobody_waits() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let never = slow(LONG);
    let stream = EchoRequest {
        count: 3,
        gap_us: 60_000_000,
        ..Default::default()
    };
    let calls = [
        unary(&never),
        server_stream(&never),
        server_stream(&stream),
        streamed(CallKind::ClientStreaming, &[slow(LONG)], Pace::AtOnce),
        streamed(CallKind::Bidirectional, &[slow(LONG)], Pace::InTurn),
    ];
    for (number, request) in (1..).zip(calls) {
        let begun = Instant::now();
        let request = request.deadline(60 * MS).unwrap();
        let error = grpc.call(request).await.unwrap_err();
        assert!(begun.elapsed() >= 60 * MS);
        assert_eq!(error.verdict(), Verdict::TimedOut, "{error}");
        assert!(error.to_string().contains("60ms"), "{error}");
        let told = server.last_told().unwrap().timeout.unwrap();
        assert!(told <= 60 * MS && told > Duration::ZERO, "{told:?}");
        until(|| server.in_flight() == 0).await;
        assert_eq!(server.calls(), number);
    }
    // Two of the messages of the stream had come.
    assert_eq!(server.accepted(), 1);
    // Either side may have been the first to look at its clock.
    let gave_up = server
        .log()
        .iter()
        .filter(|served| served.status.is_none())
        .count();
    let ended = server
        .log()
        .iter()
        .filter(|served| served.status == Some(4))
        .count();
    assert_eq!(gave_up + ended, 5);
}

#[tokio::test]
async fn the_clients_deadline_holds_unless_a_call_has_its_own() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = builder(&server).deadline(30 * MS).build().unwrap();
    grpc.prepare().await.unwrap();
    let error = grpc.call(unary(&slow(LONG))).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TimedOut);
    let request = unary(&slow(50 * MS)).deadline(LONG).unwrap();
    grpc.call(request).await.unwrap();
}

#[tokio::test]
async fn a_call_whose_time_is_up_in_line_waited_for_a_stream_all_of_it() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(1)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let own = grpc.clone();
    let held = tokio::spawn(async move { own.call(unary(&slow(LONG))).await.is_ok() });
    until(|| server.in_flight() == 1).await;
    let request = unary(&slow(LONG)).deadline(40 * MS).unwrap();
    let error = grpc.call(request).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TimedOut);
    assert!(error.stages().acquire >= 40 * MS);
    assert_eq!((error.stages().messages_sent, server.calls()), (0, 1));
    held.abort();
}

/// To open a connection is work with the server, also where nothing comes of it in time: no wait on our side.
#[tokio::test]
async fn a_call_whose_time_is_up_while_it_connects_waited_for_nobody_here() {
    let server = HttpServer::builder()
        .backlog(0)
        .accepting(false)
        .start()
        .unwrap();
    let _waits_in_the_queue = std::net::TcpStream::connect(server.addr()).unwrap();
    let grpc = Grpc::builder(server.url("").trim_end_matches('/'));
    let grpc = grpc.deadline(80 * MS).build().unwrap();
    let begun = Instant::now();
    let error = grpc.call(unary(&slow(LONG))).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TimedOut);
    let taken = begun.elapsed();
    assert!(taken >= 80 * MS);
    let acquire = error.stages().acquire;
    assert!(acquire < taken / 2, "{acquire:?} of {taken:?}");
}

#[tokio::test]
async fn a_pace_beyond_all_time_is_waited_for_until_the_deadline() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let messages = [EchoRequest::default(), EchoRequest::default()];
    for kind in [CallKind::ClientStreaming, CallKind::Bidirectional] {
        let request = streamed(kind, &messages, Pace::Every(Duration::MAX));
        let error = grpc.call(request.deadline(60 * MS).unwrap()).await;
        let error = error.unwrap_err();
        assert_eq!(error.verdict(), Verdict::TimedOut);
        assert_eq!(error.stages().messages_sent, 1);
    }
}

#[tokio::test]
async fn what_the_server_ends_by_its_own_clock_is_its_own_word() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let asked = EchoRequest {
        status: 4,
        ..Default::default()
    };
    let error = grpc.call(unary(&asked)).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Failed("grpc_deadline_exceeded"));
}

#[tokio::test]
async fn a_dropped_call_of_any_kind_is_cancelled_at_the_server() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let calls = [
        unary(&slow(LONG)),
        server_stream(&slow(LONG)),
        streamed(CallKind::ClientStreaming, &[slow(LONG)], Pace::AtOnce),
        streamed(CallKind::Bidirectional, &[slow(LONG)], Pace::AtOnce),
    ];
    for (number, request) in (1..).zip(calls) {
        let own = grpc.clone();
        let running = tokio::spawn(async move { own.call(request).await.is_ok() });
        until(|| server.in_flight() == 1).await;
        running.abort();
        assert!(running.await.is_err());
        until(|| server.cancelled() == number).await;
        assert_eq!(server.in_flight(), 0);
    }
    // The connection is as good as before.
    for request in of_each_kind(2) {
        grpc.call(request).await.unwrap();
    }
    assert_eq!((server.accepted(), server.cancelled()), (1, 4));
}
