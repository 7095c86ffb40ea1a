//! A server that dies, hangs, closes and refuses: every arrival has its outcome, and the run goes on.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod support;

use openloop_measurer::Outcome;
use openloop_redis::Connections;
use openloop_testbed::Redis as Server;
use std::time::{Duration, Instant};
use support::{Load, ask, client, text, until, value};

const MODES: [Connections; 3] = [
    Connections::pool(8),
    Connections::pipelined(2, 64),
    Connections::multiplexed(),
];
const MS: Duration = Duration::from_millis(1);
const LIMIT: Duration = Duration::from_secs(10);

fn failed(outcomes: &[(Outcome, u64)], class: &'static str) -> u64 {
    let of = outcomes
        .iter()
        .find(|(outcome, _)| *outcome == Outcome::Failed(class));
    of.map_or(0, |(_, count)| *count)
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_is_served_again_and_every_arrival_is_counted() {
    for connections in MODES {
        let mut server = Server::start().unwrap();
        let mut load = Load::new(client(&server, connections));
        load.redis.prepare().await.unwrap();
        load.echo(100, MS, LIMIT).await;
        load.settle().await;
        server.kill().unwrap();
        let down = Instant::now();
        load.echo(300, MS, LIMIT).await;
        load.settle().await;
        let down = down.elapsed();
        server.restart().unwrap();
        until(async || ask(&load.redis, "PING").await.is_ok()).await;
        load.echo(100, MS, LIMIT).await;
        let (snapshot, outcomes, redis) = load.finish().await;
        let counts = snapshot.counts();
        assert_eq!(counts.scheduled, 500);
        // Before and after all is well; meanwhile nothing is.
        assert_eq!((counts.ok, counts.failed), (200, 300), "{outcomes:?}");
        // It is tried after 10, 20, 40 … ms and then every second, by as many at the same time as there are connections;
        // each request in between says so.
        let refused = failed(&outcomes, "connect_refused");
        let most = 8 * (8 + down.as_secs());
        assert!((1..=most).contains(&refused), "{outcomes:?}");
        let broken = failed(&outcomes, "closed") + failed(&outcomes, "reset");
        assert_eq!(refused + broken + failed(&outcomes, "backing_off"), 300);
        assert_eq!(
            value(&redis, "PING").await,
            openloop_redis::Value::SimpleString("PONG".into())
        );
    }
}

#[tokio::test]
async fn a_kill_breaks_what_is_on_its_way() {
    for connections in MODES {
        let mut server = Server::start().unwrap();
        let redis = client(&server, connections);
        redis.prepare().await.unwrap();
        let calls =
            async { tokio::join!(ask(&redis, "BLPOP none 0"), ask(&redis, "BLPOP none 0")) };
        let kill = async {
            until(async || {
                let blocked = server.cli(&["info", "clients"]).unwrap();
                !blocked.contains("blocked_clients:0")
            })
            .await;
            server.kill().unwrap();
        };
        let ((one, two), ()) = tokio::join!(calls, kill);
        for error in [one.unwrap_err(), two.unwrap_err()] {
            assert!(["closed", "reset"].contains(&error.class()), "{error}");
            assert!(error.stages().reply.is_some());
        }
    }
}

#[tokio::test]
async fn connections_that_the_server_closes_while_they_rest_are_replaced_without_an_error() {
    for connections in MODES {
        let server = Server::start().unwrap();
        let redis = client(&server, connections);
        redis.prepare().await.unwrap();
        let before = redis.sockets().opened();
        server.cli(&["client", "kill", "type", "normal"]).unwrap();
        // The news of it has come; the runtime reads it between tasks.
        until(async || server.cli(&["client", "list"]).unwrap().lines().count() == 1).await;
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        for _ in 0..before {
            assert_eq!(value(&redis, "ECHO a").await, text("a"), "{connections:?}");
        }
        assert_eq!(redis.sockets().opened(), 2 * before);
    }
}

#[tokio::test]
async fn connections_that_are_killed_under_load_cost_what_was_on_them_and_no_more() {
    for connections in MODES {
        let server = Server::start().unwrap();
        let mut load = Load::new(client(&server, connections));
        load.redis.prepare().await.unwrap();
        for _ in 0..10 {
            load.echo(50, MS / 2, LIMIT).await;
            server.cli(&["client", "kill", "type", "normal"]).unwrap();
        }
        load.echo(50, MS / 2, LIMIT).await;
        let (snapshot, outcomes, redis) = load.finish().await;
        let counts = snapshot.counts();
        assert_eq!(counts.scheduled, 550);
        let broken = failed(&outcomes, "closed") + failed(&outcomes, "reset");
        assert_eq!(counts.ok + broken, 550, "{outcomes:?}");
        assert!(counts.ok >= 500, "{outcomes:?}");
        assert_eq!(value(&redis, "ECHO a").await, text("a"));
    }
}

#[tokio::test]
async fn a_pause_is_waited_for_by_everybody_and_nothing_fails() {
    for connections in MODES {
        let server = Server::start().unwrap();
        let mut load = Load::new(client(&server, connections));
        load.redis.prepare().await.unwrap();
        let pause = Duration::from_millis(300);
        let before = Instant::now();
        server.cli(&["client", "pause", "300", "all"]).unwrap();
        let begun = Instant::now();
        load.echo(100, MS, LIMIT).await;
        let (snapshot, outcomes, _) = load.finish().await;
        let counts = snapshot.counts();
        assert_eq!(counts.ok, 100, "{outcomes:?}");
        // The first waited for all that was left of it: its response says so.
        assert!(before.elapsed() >= pause);
        let longest = snapshot.steady().response().max().unwrap().ns();
        assert!(Duration::from_nanos(longest) + (begun - before) >= pause);
    }
}

#[tokio::test]
async fn a_server_that_hangs_holds_up_nobody_beyond_the_limit() {
    for connections in MODES {
        let server = Server::start().unwrap();
        let mut load = Load::new(client(&server, connections));
        load.redis.prepare().await.unwrap();
        server.freeze().unwrap();
        let begun = Instant::now();
        load.echo(100, MS, 50 * MS).await;
        let running = begun.elapsed();
        let (snapshot, outcomes, redis) = load.finish().await;
        let counts = snapshot.counts();
        assert_eq!(counts.timed_out, 100, "{outcomes:?}");
        // The last ends with its own limit: nothing waits for the server. 5 s stand for a busy machine.
        assert!(begun.elapsed() < running + Duration::from_secs(5));
        server.thaw().unwrap();
        until(async || {
            ask(&redis, "ECHO a")
                .await
                .is_ok_and(|reply| reply.value() == &text("a"))
        })
        .await;
    }
}

#[tokio::test]
async fn beyond_its_clients_the_server_turns_connections_away() {
    let server = Server::start_with(&["--maxclients", "4"]).unwrap();
    let first = client(&server, Connections::pool(4));
    first.prepare().await.unwrap();
    let second = client(&server, Connections::pool(1));
    let error = second.prepare().await.unwrap_err();
    // Its words may be lost where it closes before they are read.
    let turned_away = ["redis_max_clients", "reset", "closed"];
    assert!(turned_away.contains(&error.class()), "{error}");
    let mut load = Load::new(client(&server, Connections::pool(1)));
    load.echo(50, MS, LIMIT).await;
    let (snapshot, outcomes, _) = load.finish().await;
    assert_eq!(snapshot.counts().scheduled, 50);
    let named = turned_away.iter().chain(&["backing_off"]);
    let named: u64 = named.map(|class| failed(&outcomes, class)).sum();
    // By the server's word it is a rejection.
    let rejected = snapshot.counts().rejected;
    assert_eq!(named + rejected, 50, "{outcomes:?}");
    assert_eq!(value(&first, "ECHO a").await, text("a"));
    drop(first);
    until(async || {
        ask(&second, "ECHO a")
            .await
            .is_ok_and(|reply| reply.error().is_none())
    })
    .await;
}

#[tokio::test]
async fn what_is_no_redis_is_told_before_any_load() {
    let http = openloop_testbed::HttpServer::builder().start().unwrap();
    let url = format!("redis://{}", http.addr());
    let redis = openloop_redis::Redis::builder(&url).build().unwrap();
    let error = redis.prepare().await.unwrap_err();
    assert!(
        ["malformed", "closed", "reset"].contains(&error.class()),
        "{error}"
    );

    let nobody = openloop_redis::Redis::builder("redis://127.0.0.1:1")
        .build()
        .unwrap();
    assert_eq!(
        nobody.prepare().await.unwrap_err().class(),
        "connect_refused"
    );
}
