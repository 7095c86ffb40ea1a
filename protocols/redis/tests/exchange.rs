//! What is asked and what comes back, against a real server.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_measurer::{Describe, Layout, Operation, Outcome, Recorder, Verdict};
use openloop_redis::{Connections, Redis, Request, Script, Value};
use openloop_testbed::Redis as Server;
use std::collections::BTreeMap;
use std::time::Duration;
use support::{ask, client, request, text, until, value};
use tokio::time::Instant;

const MODES: [Connections; 4] = [
    Connections::pool(2),
    Connections::multiplexed(),
    Connections::PerRequest,
    Connections::PerInFlight,
];

#[tokio::test]
async fn replies_are_those_of_the_server_in_every_mode() {
    let server = Server::start().unwrap();
    for mode in MODES {
        let redis = client(&server, mode);
        assert_eq!(value(&redis, "SET greeting hello").await, Value::Okay);
        let reply = ask(&redis, "GET greeting").await.unwrap();
        assert_eq!(reply.value(), &text("hello"));
        assert_eq!((reply.stages().bytes, reply.stages().nils), (5, 0));
        let reply = ask(&redis, "GET nothing").await.unwrap();
        assert_eq!((reply.value(), reply.verdict()), (&Value::Nil, Verdict::Ok));
        assert_eq!((reply.stages().bytes, reply.stages().nils), (0, 1));
        assert_eq!(value(&redis, "INCR counter").await, Value::Int(1));
        assert_eq!(value(&redis, "DEL counter").await, Value::Int(1));
    }
}

#[tokio::test]
async fn words_may_hold_any_bytes() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(1));
    let bytes: Vec<u8> = (0..=255).chain(*b"\r\n+OK\r\n").collect();
    let set = Request::command([&b"SET"[..], b"a key", &bytes]).unwrap();
    assert_eq!(redis.call(set).await.unwrap().value(), &Value::Okay);
    let get = Request::command(["GET", "a key"]).unwrap();
    assert_eq!(
        redis.call(get).await.unwrap().value(),
        &Value::BulkString(bytes)
    );
}

#[tokio::test]
async fn pipelines_and_transactions_have_all_their_replies_in_order() {
    let server = Server::start().unwrap();
    for mode in MODES {
        let redis = client(&server, mode);
        let words: Vec<Vec<String>> = (0..100)
            .map(|n| vec!["ECHO".into(), n.to_string()])
            .collect();
        let pipeline = Request::pipeline(words).unwrap();
        let expected: Vec<_> = (0..100).map(|n: u32| text(&n.to_string())).collect();
        assert_eq!(
            redis.call(pipeline).await.unwrap().value(),
            &Value::Array(expected)
        );

        let transaction = Request::transaction([["INCR", "n"], ["INCR", "n"]]).unwrap();
        let reply = redis.call(transaction).await.unwrap();
        let Value::Array(replies) = reply.value() else {
            panic!("{reply:?}")
        };
        assert_eq!(
            replies.last(),
            Some(&Value::Array(vec![Value::Int(1), Value::Int(2)]))
        );
        value(&redis, "DEL n").await;

        // One of them fails: all are answered, and the whole has failed.
        value(&redis, "SET s x").await;
        let mixed = Request::pipeline([["INCR", "s"], ["GET", "s"]]).unwrap();
        let reply = redis.call(mixed).await.unwrap();
        assert_eq!(reply.verdict(), Verdict::Failed("redis_err"));
        // What was queued badly aborts the transaction; the cause stands first.
        let aborted = Request::transaction([["NOSUCH", "s"], ["GET", "s"]]).unwrap();
        let reply = redis.call(aborted).await.unwrap();
        assert_eq!(reply.verdict(), Verdict::Failed("redis_err"));
        assert_eq!(value(&redis, "GET s").await, text("x"));
    }
}

#[tokio::test]
async fn a_script_is_sent_once_to_a_server_that_does_not_know_it() {
    let server = Server::start().unwrap();
    let script = Script::new("return {KEYS[1], ARGV[1]}");
    for mode in MODES {
        server.cli(&["script", "flush"]).unwrap();
        let redis = client(&server, mode);
        for loaded in [1, 0, 0] {
            let call = Request::script(&script, ["k"], ["a"]);
            let reply = redis.call(call).await.unwrap();
            assert_eq!(reply.value(), &Value::Array(vec![text("k"), text("a")]));
            assert_eq!(reply.stages().scripts_loaded, loaded);
        }
    }
    let broken = Script::new("this is not Lua");
    let redis = client(&server, Connections::pool(1));
    let none: [&str; 0] = [];
    let reply = redis
        .call(Request::script(&broken, none, none))
        .await
        .unwrap();
    assert_eq!(reply.verdict(), Verdict::Failed("redis_err"));
}

#[tokio::test]
async fn error_replies_have_their_classes_and_the_connection_goes_on() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(1));
    value(&redis, "SET s x").await;
    for (words, verdict) in [
        ("LPUSH s x", Verdict::Failed("redis_wrongtype")),
        ("NOSUCH", Verdict::Failed("redis_err")),
        ("INCR s", Verdict::Failed("redis_err")),
        (
            "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0",
            Verdict::Failed("redis_noscript"),
        ),
        (
            "XREADGROUP GROUP g c STREAMS x >",
            Verdict::Failed("redis_nogroup"),
        ),
    ] {
        assert_eq!(
            ask(&redis, words).await.unwrap().verdict(),
            verdict,
            "{words}"
        );
    }
    // Full: what would need more memory is refused, what needs none goes on.
    value(&redis, "CONFIG SET maxmemory 1").await;
    let full = ask(&redis, "SET t y").await.unwrap();
    assert_eq!(full.verdict(), Verdict::Rejected("redis_oom"));
    assert_eq!(value(&redis, "GET s").await, text("x"));
    value(&redis, "CONFIG SET maxmemory 0").await;
    server.cli(&["replicaof", "127.0.0.1", "1"]).unwrap();
    let read_only = ask(&redis, "SET t y").await.unwrap();
    assert_eq!(read_only.verdict(), Verdict::Failed("redis_readonly"));
    assert_eq!(redis.sockets().opened(), 1);
}

#[tokio::test]
async fn a_server_that_runs_a_script_is_busy() {
    let server = Server::start_with(&["--busy-reply-threshold", "1"]).unwrap();
    let redis = client(&server, Connections::pool(2));
    redis.prepare().await.unwrap();
    let endless = tokio::spawn({
        let redis = redis.clone();
        async move {
            redis
                .call(Request::command(["EVAL", "while true do end", "0"]).unwrap())
                .await
        }
    });
    let busy = Verdict::Rejected("redis_busy");
    until(async || ask(&redis, "GET a").await.unwrap().verdict() == busy).await;
    value(&redis, "SCRIPT KILL").await;
    let killed = endless.await.unwrap().unwrap();
    assert_eq!(killed.verdict(), Verdict::Failed("redis_err"));
    assert_eq!(value(&redis, "GET a").await, Value::Nil);
}

#[tokio::test]
async fn a_server_that_loads_its_data_says_so() {
    let server = Server::start_with(&["--loading-process-events-interval-bytes", "1024"]).unwrap();
    let redis = client(&server, Connections::pool(2));
    for key in 0..64 {
        let set = Request::command(["SET", &key.to_string(), &"x".repeat(4096)]).unwrap();
        redis.call(set).await.unwrap();
    }
    // It takes 10 ms for each key, and looks at its clients in between.
    value(&redis, "CONFIG SET rdbcompression no").await;
    value(&redis, "CONFIG SET key-load-delay 10000").await;
    let reload = tokio::spawn({
        let redis = redis.clone();
        async move { ask(&redis, "DEBUG RELOAD").await }
    });
    let loading = Verdict::Rejected("redis_loading");
    until(async || ask(&redis, "GET 1").await.unwrap().verdict() == loading).await;
    assert_eq!(reload.await.unwrap().unwrap().value(), &Value::Okay);
    assert_eq!(ask(&redis, "GET 1").await.unwrap().verdict(), Verdict::Ok);
}

#[tokio::test]
async fn user_password_database_and_protocol_are_those_of_the_url() {
    let server = Server::start_with(&["--requirepass", "secret"]).unwrap();
    let port = server.port();
    let redis = |url: String| Redis::builder(&url).build().unwrap();
    let stored = redis(format!("redis://:secret@127.0.0.1:{port}/3"));
    assert_eq!(value(&stored, "SET a 1").await, Value::Okay);
    let other = redis(format!(
        "redis://default:secret@127.0.0.1:{port}/0?protocol=resp3"
    ));
    let reply = ask(&other, "GET a").await.unwrap();
    assert_eq!(reply.value(), &Value::Nil);
    assert!(reply.stages().setup.is_some());
    // RESP3 has maps.
    assert!(matches!(
        value(&other, "CONFIG GET maxmemory").await,
        Value::Map(_)
    ));

    let none = redis(format!("redis://127.0.0.1:{port}"));
    assert_eq!(none.prepare().await.unwrap_err().class(), "redis_noauth");
    let reply = ask(&none, "GET a").await.unwrap();
    assert_eq!(reply.verdict(), Verdict::Failed("redis_noauth"));
    let wrong = redis(format!("redis://:guess@127.0.0.1:{port}"));
    let error = wrong.prepare().await.unwrap_err();
    assert_eq!(error.class(), "redis_wrongpass", "{error}");
    assert!(!error.to_string().contains("guess"), "{error}");
    let missing = redis(format!("redis://:secret@127.0.0.1:{port}/99"));
    assert_eq!(missing.prepare().await.unwrap_err().class(), "redis_err");
}

#[tokio::test]
async fn stages_are_metrics_and_what_happened_is_counted() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(1));
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    for (seq, words) in ["SET s abc", "GET s", "GET nothing", "LPUSH s x"]
        .iter()
        .enumerate()
    {
        let arrival = recorder.arrive_at(seq as u64, Instant::now());
        let (reply, sample) = arrival.measure(redis.call(request(words))).await;
        let service = sample.service().unwrap();
        let acquire = reply.unwrap().stages().acquire;
        assert_eq!(acquire + sample.exchange().unwrap(), service);
        let delay = sample.schedule_delay().unwrap();
        assert_eq!(sample.response(), delay + service);
    }
    let snapshot = recorder.snapshot();
    let outcomes: Vec<_> = snapshot.outcomes().collect();
    assert!(outcomes.contains(&(Outcome::Ok, 3)), "{outcomes:?}");
    assert!(outcomes.contains(&(Outcome::Failed("redis_wrongtype"), 1)));
    let steady = snapshot.steady();
    let counts: BTreeMap<_, _> = steady.counts().collect();
    assert_eq!(counts["connections_opened"], 1);
    assert_eq!(counts["connections_reused"], 3);
    assert_eq!((counts["bytes"], counts["nils"]), (3, 1));
    let metrics: BTreeMap<_, _> = steady
        .metrics()
        .map(|(name, histogram)| (name, histogram.count()))
        .collect();
    assert_eq!(
        (metrics["acquire"], metrics["connect"], metrics["reply"]),
        (4, 1, 4)
    );
    assert!(!metrics.contains_key("setup") && !metrics.contains_key("tls"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_reply_over_a_connection_of_its_own_has_the_kernels_stamp() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(1));
    // The kernel begins to stamp some time after it was asked.
    until(async || {
        ask(&redis, "PING")
            .await
            .unwrap()
            .stages()
            .received
            .is_some()
    })
    .await;
    for _ in 0..10 {
        let sent = Instant::now();
        let reply = ask(&redis, "DEBUG SLEEP 0.005").await.unwrap();
        let received = reply.stages().received.unwrap();
        assert!(received <= Instant::now());
        assert!(received - sent >= Duration::from_millis(5));
    }
    let shared = client(&server, Connections::multiplexed());
    assert_eq!(ask(&shared, "PING").await.unwrap().stages().received, None);
}
