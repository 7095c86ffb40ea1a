//! What the tests share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses a part of it, and a test fails by a panic"
)]

pub mod between;
pub mod scripted;

use bytes::Bytes;
use openloop_grpc::{Builder, CallKind, Grpc, GrpcError, Pace, Reply, Request};
use openloop_measurer::{Describe, Layout, Operation, Outcome, Recorder};
use openloop_testbed::GrpcServer;
use openloop_testbed::grpc::generated::echo::{EchoReply, EchoRequest};
use prost::Message;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub const MS: Duration = Duration::from_millis(1);

/// How long anything may take that is waited for.
const LIMIT: Duration = Duration::from_secs(20);

pub fn builder(server: &GrpcServer) -> Builder {
    Grpc::builder(&server.url())
}

pub async fn client(server: &GrpcServer) -> Grpc {
    let grpc = builder(server).build().unwrap();
    grpc.prepare().await.unwrap();
    grpc
}

/// A call of the echo server that is answered after `delay`.
pub fn slow(delay: Duration) -> EchoRequest {
    EchoRequest {
        delay_us: u64::try_from(delay.as_micros()).unwrap(),
        ..Default::default()
    }
}

pub fn unary(message: &EchoRequest) -> Request {
    Request::unary("openloop.testbed.Echo/Unary", message.encode_to_vec()).unwrap()
}

pub fn server_stream(message: &EchoRequest) -> Request {
    Request::server_streaming(
        "openloop.testbed.Echo/ServerStream",
        message.encode_to_vec(),
    )
    .unwrap()
}

pub fn streamed(kind: CallKind, messages: &[EchoRequest], pace: Pace) -> Request {
    let method = match kind {
        CallKind::ClientStreaming => "openloop.testbed.Echo/ClientStream",
        _ => "openloop.testbed.Echo/Both",
    };
    let messages = messages.iter().map(Message::encode_to_vec);
    Request::new(kind, method, messages)
        .unwrap()
        .pace(pace)
        .unwrap()
}

/// Of each kind a call that sends and gets `count` messages where it may.
pub fn of_each_kind(count: u32) -> [Request; 4] {
    let message = |number: u32| EchoRequest {
        text: format!("message {number}"),
        ..Default::default()
    };
    let messages: Vec<_> = (0..count).map(message).collect();
    let many = EchoRequest {
        count,
        ..message(0)
    };
    [
        unary(&message(0)),
        server_stream(&many),
        streamed(CallKind::ClientStreaming, &messages, Pace::AtOnce),
        streamed(CallKind::Bidirectional, &messages, Pace::InTurn),
    ]
}

/// The answer and its messages.
pub async fn ask(grpc: &Grpc, request: Request) -> Result<(Reply, Vec<EchoReply>), GrpcError> {
    let mut messages: Vec<Bytes> = Vec::new();
    let reply = grpc
        .call_with(request, |message| messages.push(message))
        .await?;
    let messages = messages.into_iter().map(EchoReply::decode);
    Ok((reply, messages.collect::<Result<_, _>>().unwrap()))
}

/// Waits for something that another thread does.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "it does not come about");
        tokio::task::yield_now().await;
    }
}

/// How many ended how, by class: all of them, whatever happens.
pub type Outcomes = BTreeMap<&'static str, u64>;

/// Makes `count` calls, one every `gap`, whatever becomes of them, and `meanwhile` after the call number `after` was
/// begun.
pub async fn load(
    grpc: &Grpc,
    request: &Request,
    count: u64,
    gap: Duration,
    after: u64,
    meanwhile: impl FnOnce(),
) -> Outcomes {
    let call = |_| {
        let (grpc, request) = (grpc.clone(), request.clone());
        async move { grpc.call(request).await }
    };
    load_by(call, count, gap, after, meanwhile).await
}

/// The same, with call number `seq` made by `call`.
pub async fn load_by<C>(
    call: impl Fn(u64) -> C,
    count: u64,
    gap: Duration,
    after: u64,
    meanwhile: impl FnOnce(),
) -> Outcomes
where
    C: Future<Output: Describe> + Send + 'static,
{
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let begun = Instant::now();
    let recorder = Recorder::new(begun, layout);
    let mut running = JoinSet::new();
    let mut meanwhile = Some(meanwhile);
    for seq in 0..count {
        let at = begun + gap * u32::try_from(seq).unwrap();
        tokio::time::sleep_until(at).await;
        let arrival = recorder.arrive_at(seq, at);
        let calling = call(seq);
        running.spawn(async move { arrival.measure(calling).await.1 });
        if seq == after
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile();
        }
    }
    let samples = running.join_all().await;
    let mut outcomes = Outcomes::new();
    for sample in samples {
        // The identity of every arrival.
        let parts = sample.schedule_delay().unwrap() + sample.service().unwrap();
        assert_eq!(sample.response(), parts);
        assert!(sample.acquire <= sample.service().unwrap());
        let class = sample.outcome.class().unwrap_or(sample.outcome.name());
        *outcomes.entry(class).or_default() += 1;
    }
    let recorded: u64 = recorder.snapshot().outcomes().map(|(_, count)| count).sum();
    assert_eq!((outcomes.values().sum::<u64>(), recorded), (count, count));
    assert!(!outcomes.contains_key(Outcome::Abandoned.name()));
    outcomes
}
