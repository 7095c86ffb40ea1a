//! Servers that refuse, leave, break off and come back: every call has its outcome.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_grpc::{CallKind, Grpc, Pace, Request};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_testbed::grpc::generated::echo::EchoRequest;
use openloop_testbed::grpc::generated::echo::echo_client::EchoClient;
use openloop_testbed::{GrpcServer, Service, Workers};
use std::time::Duration;
use support::between::{Between, Harm};
use support::{
    MS, Outcomes, builder, client, load, load_by, of_each_kind, server_stream, slow, streamed,
    unary, until,
};
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

/// How many did not end well: each of them, and of those that did, by one of these classes.
#[track_caller]
fn only(outcomes: &Outcomes, classes: &[&str]) -> u64 {
    assert!(
        outcomes.keys().all(|class| classes.contains(class)),
        "{outcomes:?}"
    );
    let lost = outcomes.iter().filter(|(class, _)| **class != "ok");
    lost.map(|(_, count)| count).sum()
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
        let lost = only(&outcomes, &["ok", "closed", "reset"]);
        assert!(lost >= 1, "{}: {outcomes:?}", request.kind());
        assert_eq!(server.accepted(), 2);
    }
}

#[tokio::test]
async fn a_restart_is_met_by_back_off_and_every_call_of_any_kind_is_accounted() {
    for request in of_each_kind(2) {
        let kind = request.kind();
        let mut server = GrpcServer::builder().start().unwrap();
        let port = server.addr().port();
        let grpc = client(&server).await;
        grpc.call(request.clone()).await.unwrap();
        server.shutdown();
        let down = load(&grpc, &request, 50, MS, 0, || ()).await;
        // Each of them was refused, found its connection gone, or came while no attempt was due.
        assert!(down.contains_key("backing_off"), "{kind}: {down:?}");
        only(
            &down,
            &[
                "backing_off",
                "connect_refused",
                "closed",
                "reset",
                "goaway",
            ],
        );
        let dialled = down.get("connect_refused").copied().unwrap_or(0);
        assert!(dialled <= 10, "{kind}: {down:?}");

        let server = GrpcServer::builder().port(port).start().unwrap();
        while grpc.call(request.clone()).await.is_err() {}
        let up = load(&grpc, &request, 50, MS, 0, || ()).await;
        assert_eq!(up["ok"], 50, "{kind}: {up:?}");
        assert_eq!((server.accepted(), server.calls()), (1, 51));
    }
}

/// The server is down for a while in the middle, and calls of each kind go on coming.
#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_under_load_is_served_again() {
    for request in slow_of_each_kind() {
        let kind = request.kind();
        let mut server = GrpcServer::builder().start().unwrap();
        let port = server.addr().port();
        let grpc = client(&server).await;
        let kill = move || {
            std::thread::spawn(move || {
                server.shutdown();
                GrpcServer::builder().port(port).start().unwrap()
            })
        };
        let mut back = None;
        let outcomes = load(&grpc, &request, 200, 2 * MS, 50, || back = Some(kill())).await;
        let lost = only(
            &outcomes,
            &[
                "ok",
                "backing_off",
                "connect_refused",
                "closed",
                "reset",
                "goaway",
            ],
        );
        assert!(lost >= 1, "{kind}: {outcomes:?}");
        let server = back.unwrap().join().unwrap();
        let begun = server.calls();
        while grpc.call(request.clone()).await.is_err() {}
        assert!(server.calls() > begun, "{kind}");
    }
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

/// What the way to the server does to a connection with calls on it, and how they end then.
const HARMS: [(Harm, &[&str]); 4] = [
    (Harm::Reset, &["ok", "reset", "closed"]),
    (Harm::Close, &["ok", "closed", "reset"]),
    (Harm::Garbage, &["ok", "malformed"]),
    (Harm::Silence, &["ok", "timed_out"]),
];

#[tokio::test]
async fn a_connection_that_is_harmed_costs_the_calls_on_it_and_no_others() {
    for (harm, classes) in HARMS {
        for request in slow_of_each_kind() {
            let case = format!("{harm:?}, {}", request.kind());
            let server = GrpcServer::builder().start().unwrap();
            let between = Between::start(&server).await;
            let grpc = Grpc::builder(&between.url()).build().unwrap();
            grpc.prepare().await.unwrap();
            let request = request.deadline(400 * MS).unwrap();
            let outcomes = load(&grpc, &request, 60, 2 * MS, 30, || between.harm(harm)).await;
            println!("{case}: {outcomes:?}");
            let lost = only(&outcomes, classes);
            match harm {
                // The connection is there, as far as anybody can tell, and whoever comes is given to it.
                Harm::Silence => assert!(lost >= 29, "{case}: {outcomes:?}"),
                _ => {
                    assert!((1..60).contains(&lost), "{case}: {outcomes:?}");
                    // Torn down is told apart from closed.
                    let torn = outcomes.contains_key("reset");
                    assert!(torn || harm != Harm::Reset, "{case}: {outcomes:?}");
                    assert_eq!(server.accepted(), 2, "{case}");
                    grpc.call(request).await.unwrap();
                }
            }
            until(|| server.in_flight() == 0 || harm == Harm::Silence).await;
        }
    }
}

#[tokio::test]
async fn the_same_holds_for_generated_clients() {
    let many = EchoRequest {
        count: 3,
        gap_us: 5_000,
        ..slow(10 * MS)
    };
    for (harm, classes) in HARMS {
        let server = GrpcServer::builder().start().unwrap();
        let between = Between::start(&server).await;
        let grpc = Grpc::builder(&between.url())
            .deadline(400 * MS)
            .build()
            .unwrap();
        grpc.prepare().await.unwrap();
        let call = |seq: u64| {
            let (grpc, many) = (grpc.clone(), many.clone());
            async move {
                grpc.by(async |channel| {
                    let mut client = EchoClient::new(channel);
                    if seq.is_multiple_of(2) {
                        return client.unary(many).await.map(drop);
                    }
                    let mut replies = client.server_stream(many).await?.into_inner();
                    while replies.message().await?.is_some() {}
                    Ok(())
                })
                .await
            }
        };
        let outcomes = load_by(call, 60, 2 * MS, 30, || between.harm(harm)).await;
        println!("{harm:?}: {outcomes:?}");
        let lost = only(&outcomes, classes);
        assert!((1..=60).contains(&lost), "{harm:?}: {outcomes:?}");
    }
}

#[tokio::test]
async fn an_answer_that_trickles_is_waited_for_and_whole() {
    for request in of_each_kind(3) {
        let server = GrpcServer::builder().start().unwrap();
        let between = Between::start_trickling(&server).await;
        let grpc = Grpc::builder(&between.url()).build().unwrap();
        grpc.prepare().await.unwrap();
        let outcomes = load(&grpc, &request, 20, MS, 0, || ()).await;
        assert_eq!(outcomes["ok"], 20, "{}: {outcomes:?}", request.kind());
    }
}

#[tokio::test]
async fn nobody_at_the_port_is_a_refused_connection() {
    let mut server = GrpcServer::builder().start().unwrap();
    server.shutdown();
    let grpc = builder(&server).build().unwrap();
    let error = grpc.prepare().await.unwrap_err();
    assert_eq!(error.class(), "connect_refused");
    let request = unary(&EchoRequest::default());
    let error = grpc.call(request).await.unwrap_err();
    assert_eq!(error.class(), "backing_off");
}
