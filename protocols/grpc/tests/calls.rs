//! The four kinds of call, and what is measured of them.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::{CallKind, Health, Pace, Request, Tls};
use openloop_measurer::{Describe, Layout, Operation, Recorder, Verdict};
use openloop_testbed::grpc::generated::echo::EchoRequest;
use openloop_testbed::{Certificate, GrpcServer};
use std::collections::BTreeMap;
use std::time::Duration;
use support::{MS, ask, builder, client, of_each_kind, server_stream, slow, streamed, unary};
use tokio::time::Instant;

#[tokio::test]
async fn each_kind_sends_and_gets_its_messages_over_one_connection() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    for request in of_each_kind(5) {
        let kind = request.kind();
        let (sends, gets) = (
            if kind.client_streams() { 5 } else { 1 },
            if kind.server_streams() { 5 } else { 1 },
        );
        let (reply, messages) = ask(&grpc, request).await.unwrap();
        let stages = reply.stages();
        assert_eq!(
            (stages.messages_sent, stages.messages_received),
            (sends, gets),
            "{kind}"
        );
        assert_eq!(messages.len() as u64, gets);
        let last = messages.last().unwrap();
        assert_eq!(last.received, u32::try_from(sends).unwrap());
        assert!(last.text.starts_with("message "));
        assert_eq!(stages.message_gaps.len() as u64, gets - 1);
        assert_eq!(stages.upload.is_some(), kind.client_streams());
        assert!(stages.bytes > 0 && stages.reused);
        assert_eq!(stages.acquire, Duration::ZERO);
        let gaps: Duration = stages.message_gaps.iter().sum();
        assert!(stages.first_message.unwrap() + gaps <= stages.reply.unwrap());
    }
    assert_eq!((server.accepted(), server.calls()), (1, 4));
    assert_eq!((server.cancelled(), server.in_flight()), (0, 0));
}

#[tokio::test]
async fn messages_of_any_size_go_both_ways() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    // Beyond a frame, a stream's window at the server, and our own stream's window taken together; hyper's service takes
    // no message above 4 MiB.
    for size in [0, 1, 16_384, 70_000, 3_000_000] {
        let message = EchoRequest {
            payload: vec![7; size],
            ..Default::default()
        };
        let (_, messages) = ask(&grpc, unary(&message)).await.unwrap();
        assert_eq!(messages[0].payload, message.payload);
        let both = streamed(
            CallKind::Bidirectional,
            &[message.clone(), message],
            Pace::AtOnce,
        );
        let (reply, messages) = ask(&grpc, both).await.unwrap();
        assert!(messages.iter().all(|message| message.payload.len() == size));
        assert!(reply.stages().bytes >= 2 * size as u64);
    }
    // A stream without a message is one as well.
    let (_, messages) = ask(
        &grpc,
        streamed(CallKind::ClientStreaming, &[], Pace::AtOnce),
    )
    .await
    .unwrap();
    assert_eq!(messages[0].received, 0);
}

#[tokio::test]
async fn the_first_message_and_the_gaps_are_what_the_server_made_them() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let message = EchoRequest {
        count: 5,
        gap_us: 20_000,
        ..slow(50 * MS)
    };
    let (reply, messages) = ask(&grpc, server_stream(&message)).await.unwrap();
    let numbers: Vec<_> = messages.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let stages = reply.stages();
    // Nothing comes early, whatever the machine does.
    assert!(stages.first_message.unwrap() >= 50 * MS, "{stages:?}");
    let gaps: Duration = stages.message_gaps.iter().sum();
    let total = stages.first_message.unwrap() + gaps;
    assert!(
        total >= 130 * MS && total <= stages.reply.unwrap(),
        "{stages:?}"
    );
}

#[tokio::test]
async fn a_pace_of_its_own_shows_in_the_upload() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    let messages = vec![EchoRequest::default(); 4];
    let paced = streamed(CallKind::ClientStreaming, &messages, Pace::Every(20 * MS));
    let (reply, answer) = ask(&grpc, paced).await.unwrap();
    assert_eq!(answer[0].received, 4);
    assert!(reply.stages().upload.unwrap() >= 60 * MS);
    // In turn: the second leaves when the first is answered.
    let messages = vec![slow(30 * MS); 3];
    let in_turn = streamed(CallKind::Bidirectional, &messages, Pace::InTurn);
    let (reply, _) = ask(&grpc, in_turn).await.unwrap();
    assert!(reply.stages().upload.unwrap() >= 60 * MS);
    assert!(reply.stages().reply.unwrap() >= 90 * MS);
}

#[tokio::test]
async fn metadata_goes_with_every_call() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = builder(&server)
        .metadata("authorization", "Bearer 1")
        .metadata("trace-bin", "AAE=")
        .authority("shop.test")
        .build()
        .unwrap();
    let request = unary(&EchoRequest::default())
        .metadata("openloop-seq", "7")
        .unwrap();
    grpc.call(request).await.unwrap();
    let told = server.last_told().unwrap();
    assert_eq!(told.metadata.get("authorization").unwrap(), "Bearer 1");
    let trace = told.metadata.get_bin("trace-bin").unwrap();
    assert_eq!(trace.to_bytes().unwrap().as_ref(), [0, 1]);
    let agent = told.metadata.get("user-agent").unwrap();
    assert!(agent.to_str().unwrap().starts_with("openloop-grpc/"));
    assert_eq!(told.timeout, None);
    assert_eq!(server.log()[0].seq, Some(7));
    // A name that the client has for itself is replaced, and not said twice.
    let named = unary(&EchoRequest::default());
    grpc.call(named.metadata("user-agent", "shop/1").unwrap())
        .await
        .unwrap();
    let told = server.last_told().unwrap();
    let agents: Vec<_> = told.metadata.get_all("user-agent").iter().collect();
    assert_eq!(agents, ["shop/1"]);
}

#[tokio::test]
async fn tls_is_verified_and_timed() {
    let server = GrpcServer::builder()
        .tls(Certificate::Trusted)
        .start()
        .unwrap();
    let trusting = builder(&server)
        .tls(Tls::roots_from_pem(server.ca_pem().unwrap()))
        .build()
        .unwrap();
    let (reply, _) = ask(&trusting, unary(&EchoRequest::default()))
        .await
        .unwrap();
    assert!(reply.stages().dial.tls.is_some() && reply.stages().opened == 1);
    let unknowing = builder(&server).build().unwrap();
    let error = unknowing.prepare().await.unwrap_err();
    assert_eq!(error.class(), "tls_certificate");
}

#[tokio::test]
async fn health_is_asked_for() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    assert_eq!(grpc.health("").await.unwrap(), Health::Serving);
    server.set_serving(false);
    let begun = Instant::now();
    while grpc.health("").await.unwrap() != Health::NotServing {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    let unknown = grpc.health("no.Such").await.unwrap_err();
    assert_eq!(unknown.class(), "grpc_not_found");

    let without = GrpcServer::builder().without_health().start().unwrap();
    let error = client(&without).await.health("").await.unwrap_err();
    assert_eq!(error.class(), "grpc_unimplemented");
}

#[tokio::test]
async fn a_ping_is_a_round_trip_that_no_service_sees() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    for _ in 0..20 {
        assert!(grpc.ping().await.unwrap() > Duration::ZERO);
    }
    assert_eq!((server.calls(), server.accepted()), (0, 1));
}

#[tokio::test]
async fn stages_are_metrics_and_messages_are_counts() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = builder(&server).build().unwrap();
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    for (seq, request) in (0..).zip(of_each_kind(3)) {
        let arrival = recorder.arrive_at(seq, Instant::now());
        let (reply, _) = arrival.measure(grpc.call(request)).await;
        assert_eq!(reply.verdict(), Verdict::Ok);
    }
    let snapshot = recorder.snapshot();
    let steady = snapshot.steady();
    let counts: BTreeMap<_, _> = steady.counts().collect();
    assert_eq!(counts["connections_opened"], 1);
    assert_eq!(counts["connections_reused"], 3);
    assert_eq!(
        (counts["messages_sent"], counts["messages_received"]),
        (8, 8)
    );
    let metrics: BTreeMap<_, _> = steady
        .metrics()
        .map(|(name, histogram)| (name, histogram.count()))
        .collect();
    for stage in ["acquire", "first_message", "reply"] {
        assert_eq!(metrics[stage], 4, "{stage}");
    }
    assert_eq!((metrics["message_gap"], metrics["upload"]), (4, 2));
    assert_eq!(metrics["connect"], 1);
}

#[tokio::test]
async fn a_method_that_is_not_there_is_unimplemented() {
    let server = GrpcServer::builder().start().unwrap();
    let grpc = client(&server).await;
    for method in ["openloop.testbed.Echo/None", "no.Service/None"] {
        let request = Request::unary(method, b"").unwrap();
        let error = grpc.call(request).await.unwrap_err();
        assert_eq!(error.class(), "grpc_unimplemented");
        assert_eq!(error.verdict(), Verdict::Failed("grpc_unimplemented"));
    }
}
