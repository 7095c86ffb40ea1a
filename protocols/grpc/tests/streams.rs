//! The wait for a stream behind the server's limit.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::GrpcErrorKind;
use openloop_measurer::Operation;
use openloop_testbed::GrpcServer;
use openloop_testbed::grpc::generated::echo::EchoRequest;
use std::time::Duration;
use support::{MS, builder, client, slow, unary, until};
use tokio::task::JoinSet;

#[tokio::test]
async fn the_limit_is_known_before_the_first_call() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(7)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    assert_eq!(grpc.max_concurrent_streams(), Some(7));
}

#[tokio::test]
async fn the_wait_for_a_stream_is_on_our_side() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(4)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let mut running = JoinSet::new();
    for _ in 0..12 {
        let grpc = grpc.clone();
        running.spawn(async move {
            let reply = grpc.call(unary(&slow(50 * MS))).await.unwrap();
            reply.stages().clone()
        });
    }
    let stages = running.join_all().await;
    let mut waits: Vec<_> = stages.iter().map(|stages| stages.acquire).collect();
    waits.sort();
    assert_eq!(waits[..4], [Duration::ZERO; 4]);
    assert!(waits[4] >= 45 * MS, "{waits:?}");
    assert!(waits[8] >= 95 * MS, "{waits:?}");
    // What the server took is told apart from it.
    assert!(stages.iter().all(|stages| stages.reply.unwrap() >= 50 * MS));
    assert_eq!((server.in_flight_peak(), server.accepted()), (4, 1));
}

#[tokio::test]
async fn calls_go_to_the_channel_with_the_fewest() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(10)
        .start()
        .unwrap();
    let grpc = builder(&server).channels(3).build().unwrap();
    grpc.prepare().await.unwrap();
    let mut running = JoinSet::new();
    for _ in 0..30 {
        let grpc = grpc.clone();
        running.spawn(async move {
            let reply = grpc.call(unary(&slow(50 * MS))).await.unwrap();
            reply.stages().acquire
        });
    }
    assert_eq!(running.join_all().await, [Duration::ZERO; 30]);
    let mut on_each = [0; 3];
    for served in server.log() {
        on_each[usize::try_from(served.connection).unwrap()] += 1;
    }
    assert_eq!((on_each, server.in_flight_peak()), ([10; 3], 30));
}

#[tokio::test]
async fn a_full_line_is_pool_full() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(1)
        .start()
        .unwrap();
    let grpc = builder(&server).waiting(0).build().unwrap();
    grpc.prepare().await.unwrap();
    let own = grpc.clone();
    let held = tokio::spawn(async move { own.call(unary(&slow(60_000 * MS))).await.is_ok() });
    until(|| server.in_flight() == 1).await;
    let error = grpc.call(unary(&EchoRequest::default())).await.unwrap_err();
    assert_eq!(error.class(), "pool_full");
    assert!(matches!(error.kind, GrpcErrorKind::PoolFull(_)));
    // A dropped call gives its stream back, and the connection lives on.
    held.abort();
    assert!(held.await.is_err());
    grpc.call(unary(&EchoRequest::default())).await.unwrap();
    assert_eq!(server.accepted(), 1);
}

/// A server that says goodbye keeps its calls for a long time: who stands in line for one of their streams is not held
/// up by them, for there is a new connection.
#[tokio::test]
async fn the_line_moves_over_when_the_server_says_goodbye() {
    let server = GrpcServer::builder()
        .max_concurrent_streams(2)
        .start()
        .unwrap();
    let grpc = client(&server).await;
    let mut held = JoinSet::new();
    let mut waiting = JoinSet::new();
    for _ in 0..2 {
        let grpc = grpc.clone();
        held.spawn(async move { grpc.call(unary(&slow(60_000 * MS))).await.is_ok() });
    }
    until(|| server.in_flight() == 2).await;
    for _ in 0..4 {
        let grpc = grpc.clone();
        waiting.spawn(async move { grpc.call(unary(&slow(5 * MS))).await.unwrap() });
    }
    tokio::task::yield_now().await;
    server.goaway();
    // The next call sees the GOAWAY, which is on its way; until it is there, it stands in line as well.
    let mut next = JoinSet::new();
    while waiting.len() == 4 {
        let own = grpc.clone();
        next.spawn(async move { own.call(unary(&EchoRequest::default())).await.is_ok() });
        let one = tokio::time::timeout(50 * MS, waiting.join_next()).await;
        if let Ok(reply) = one {
            reply.unwrap().unwrap();
        }
    }
    waiting.join_all().await;
    assert!(next.join_all().await.into_iter().all(|is_ok| is_ok));
    assert_eq!((server.accepted(), server.in_flight()), (2, 2));
}
