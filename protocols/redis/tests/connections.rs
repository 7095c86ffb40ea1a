//! How many connections there are, who waits for one, and what becomes of it.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_measurer::Operation;
use openloop_redis::{Connections, Redis, Tls, Value};
use openloop_testbed::{Certificate, Redis as Server};
use std::time::Duration;
use support::{Load, ask, client, request, until, value};
use tokio::task::JoinSet;

/// Connections that the server has, but for the one that asks.
fn connected(server: &Server) -> usize {
    server.cli(&["client", "list"]).unwrap().lines().count() - 1
}

/// `calls` at once, and what each of them waited for its place, in ascending order.
async fn waits(redis: &Redis, calls: usize, words: &str) -> Vec<Duration> {
    let mut running = JoinSet::new();
    for _ in 0..calls {
        let (redis, request) = (redis.clone(), request(words));
        running.spawn(async move { redis.call(request).await.unwrap().stages().acquire });
    }
    let mut waits = running.join_all().await;
    waits.sort();
    waits
}

#[tokio::test]
async fn a_pool_opens_its_connections_before_the_run_and_no_others() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(50));
    redis.prepare().await.unwrap();
    assert_eq!((redis.sockets().opened(), connected(&server)), (50, 50));
    waits(&redis, 200, "GET a").await;
    redis.prepare().await.unwrap();
    assert_eq!(
        (redis.sockets().opened(), redis.sockets().reused()),
        (50, 200)
    );
    drop(redis);
    until(async || connected(&server) == 0).await;
}

#[tokio::test]
async fn calls_beyond_the_pool_wait_and_say_so() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pool(2));
    redis.prepare().await.unwrap();
    // A list that stays empty: the server answers after 50 ms, and has others served meanwhile.
    let waits = waits(&redis, 6, "BLPOP none 0.05").await;
    let turn = Duration::from_millis(50);
    assert_eq!(waits[..2], [Duration::ZERO; 2]);
    assert!(waits[2] >= turn.mul_f64(0.9), "{waits:?}");
    assert!(waits[4] >= turn.mul_f64(1.9), "{waits:?}");
    assert_eq!(redis.sockets().opened(), 2);
}

#[tokio::test]
async fn a_full_line_turns_calls_away() {
    let server = Server::start().unwrap();
    let bounded = [
        Connections::Pool {
            size: 1,
            waiting: 1,
        },
        Connections::Pipelined {
            size: 1,
            depth: 1,
            waiting: 1,
        },
    ];
    for connections in bounded {
        let redis = client(&server, connections);
        redis.prepare().await.unwrap();
        let calls = [(); 3].map(|()| ask(&redis, "BLPOP none 0.05"));
        let [first, second, third] = calls;
        let (first, second, third) = tokio::join!(biased; first, second, third);
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(third.unwrap_err().class(), "pool_full");
    }
}

#[tokio::test]
async fn one_connection_is_shared_and_a_slow_command_holds_up_those_behind_it() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::multiplexed());
    redis.prepare().await.unwrap();
    let slow = ask(&redis, "BLPOP none 0.05");
    let fast = ask(&redis, "PING");
    let (slow, fast) = tokio::join!(biased; slow, fast);
    let (slow, fast) = (slow.unwrap(), fast.unwrap());
    assert_eq!(slow.value(), &Value::Nil);
    // On the wire behind the other: no wait of ours, all of it is the reply's.
    assert_eq!(fast.stages().acquire, Duration::ZERO);
    assert!(fast.stages().reply.unwrap() >= Duration::from_millis(45));
    waits(&redis, 500, "PING").await;
    assert_eq!((redis.sockets().opened(), connected(&server)), (1, 1));
    drop(redis);
    until(async || connected(&server) == 0).await;
}

#[tokio::test]
async fn pipelines_carry_so_many_requests_at_once_and_no_more() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::pipelined(2, 3));
    redis.prepare().await.unwrap();
    assert_eq!(connected(&server), 2);
    let waits = waits(&redis, 8, "BLPOP none 0.02").await;
    assert_eq!(waits[..6], [Duration::ZERO; 6]);
    assert!(waits[6] >= Duration::from_millis(15), "{waits:?}");
    assert_eq!(redis.sockets().opened(), 2);
}

#[tokio::test]
async fn one_connection_for_each_request_or_for_each_in_flight() {
    let server = Server::start().unwrap();
    let redis = client(&server, Connections::PerRequest);
    for _ in 0..5 {
        let reply = ask(&redis, "PING").await.unwrap();
        assert_eq!((reply.stages().opened, reply.stages().reused), (1, false));
    }
    assert_eq!((redis.sockets().opened(), redis.sockets().open()), (5, 0));

    let redis = client(&server, Connections::PerInFlight);
    waits(&redis, 30, "BLPOP none 0.02").await;
    assert_eq!(redis.sockets().opened(), 30);
    waits(&redis, 3, "PING").await;
    assert_eq!(
        (redis.sockets().opened(), redis.sockets().reused()),
        (30, 3)
    );
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection_or_leaves_its_reply_unread() {
    let server = Server::start().unwrap();
    for (connections, opened) in [(Connections::pool(1), 2), (Connections::multiplexed(), 1)] {
        let redis = client(&server, connections);
        redis.prepare().await.unwrap();
        let dropped = ask(&redis, "BLPOP none 0.03");
        let limit = Duration::from_millis(1);
        assert!(tokio::time::timeout(limit, dropped).await.is_err());
        assert_eq!(value(&redis, "ECHO mine").await, support::text("mine"));
        assert_eq!(redis.sockets().opened(), opened, "{connections:?}");
    }
}

/// The replies of a paused server come late, and about half of the calls have been given up by then: more where each of
/// these takes its connection with it and the machine is slow to open others.
#[tokio::test]
async fn no_reply_goes_to_another_request_where_many_are_given_up() {
    // Some thousands of requests, or a million with `cargo testbed --full`.
    let rounds = match std::env::var_os("OPENLOOP_FULL") {
        None => 8,
        Some(_) => 1334,
    };
    // It looks every 2 ms whether a pause is over, and not every 100.
    let server = Server::start_with(&["--hz", "500"]).unwrap();
    for connections in [
        Connections::pool(20),
        Connections::pipelined(4, 16),
        Connections::multiplexed(),
    ] {
        let begun = std::time::Instant::now();
        let mut load = Load::new(client(&server, connections));
        load.redis.prepare().await.unwrap();
        for _ in 0..rounds {
            server.cli(&["client", "pause", "10", "all"]).unwrap();
            load.echo(250, Duration::from_micros(80), Duration::from_millis(5))
                .await;
            load.settle().await;
            // Whoever comes next has time, however slow the machine is, and gets its own.
            load.echo(1, Duration::ZERO, Duration::from_secs(20)).await;
            load.settle().await;
        }
        let (snapshot, outcomes, redis) = load.finish().await;
        let counts = snapshot.counts();
        assert_eq!(counts.scheduled, 251 * rounds);
        assert!(counts.timed_out > 0 && counts.ok >= rounds, "{outcomes:?}");
        assert_eq!(counts.ok + counts.timed_out, 251 * rounds, "{outcomes:?}");
        println!(
            "{connections:?}: {} requests, most with a limit of 5 ms, {} answered, each with its own number; in {:?}",
            counts.scheduled,
            counts.ok,
            begun.elapsed()
        );
        drop(redis);
        until(async || connected(&server) == 0).await;
    }
}

#[tokio::test]
async fn tls_is_verified_and_timed() {
    let server = Server::start_tls(Certificate::Trusted, &["--requirepass", "secret"]).unwrap();
    let port = server
        .tls_url()
        .unwrap()
        .rsplit_once(':')
        .unwrap()
        .1
        .to_owned();
    let url = format!("rediss://:secret@localhost:{port}");
    let trusted = Tls::roots_from_pem(server.ca_pem().unwrap());
    for connections in [
        Connections::pool(4),
        Connections::pipelined(2, 16),
        Connections::multiplexed(),
        Connections::PerRequest,
        Connections::PerInFlight,
    ] {
        let redis = || {
            let builder = Redis::builder(&url).tls(trusted.clone());
            builder.connections(connections).build().unwrap()
        };
        let first = ask(&redis(), "PING").await.unwrap();
        let stages = first.stages();
        assert!(stages.dial.tls > Some(Duration::ZERO), "{connections:?}");
        assert!(stages.setup.is_some() && stages.opened == 1);
        // Each reply is that of its request, and no arrival is lost.
        let mut load = Load::new(redis());
        load.redis.prepare().await.unwrap();
        load.echo(200, Duration::ZERO, Duration::from_secs(20))
            .await;
        let (snapshot, outcomes, _) = load.finish().await;
        assert_eq!(snapshot.counts().ok, 200, "{connections:?}: {outcomes:?}");
    }
    let class = async |builder: openloop_redis::Builder| {
        let failed = builder.build().unwrap().prepare().await.unwrap_err();
        failed.class()
    };
    assert_eq!(class(Redis::builder(&url)).await, "tls_certificate");
    // One that speaks none waits for the end of a command, and says nothing.
    let plain = format!("rediss://:secret@localhost:{}", server.port());
    let builder = Redis::builder(&plain).tls(trusted.clone());
    let limit = Duration::from_millis(100);
    assert_eq!(class(builder.connect_timeout(limit)).await, "tls");
    let elsewhere = Server::start_tls(Certificate::WrongHost, &[]).unwrap();
    let url = elsewhere.tls_url().unwrap();
    let trusted = Tls::roots_from_pem(elsewhere.ca_pem().unwrap());
    let builder = Redis::builder(&url).tls(trusted);
    assert_eq!(class(builder).await, "tls_certificate");
    let any = Tls::insecure_accept_any_certificate();
    let redis = Redis::builder(&url).tls(any).build().unwrap();
    redis.prepare().await.unwrap();
}
