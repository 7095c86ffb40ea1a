//! A server that goes away, and comes back.

use crate::{backends, named, server, text};
use openloop_measurer::{Layout, Operation, Outcome, Recorder};
use openloop_postgres::{Connections, Request, Statement};
use openloop_testbed::Postgres as Server;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

#[tokio::test]
async fn a_connection_that_is_terminated_under_a_query_fails_it_and_is_replaced() {
    let (postgres, name) = named(server()).with(Connections::pool(1));
    postgres.prepare().await.unwrap();
    let terminate = || {
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
        );
        server().sql(&sql).unwrap();
    };
    let busy = postgres.clone();
    let busy =
        tokio::spawn(async move { busy.call(Request::simple("SELECT pg_sleep(600)")).await });
    while backends(server(), &name, "active") == 0 {
        tokio::task::yield_now().await;
    }
    terminate();
    assert_eq!(busy.await.unwrap().unwrap_err().class(), "pg_57P01");
    // One that is terminated at rest is replaced without an error: nothing had been asked of it.
    assert_eq!(text(&postgres, "SELECT 1").await, "1");
    terminate();
    // Asked over a connection of this runtime, which learns with its answers what else has come.
    let (watcher, _) = named(server()).with(Connections::pool(1));
    let left = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'");
    while text(&watcher, &left).await != "0" {}
    let reply = postgres.call(Request::simple("SELECT 1")).await.unwrap();
    assert_eq!((reply.stages().opened, reply.stages().reused), (1, false));
    assert_eq!(postgres.sockets().opened(), 3);
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Crash,
    Restart,
}

/// Arrivals every 2 ms, of which the server goes away under some and is away for others: each has an outcome, each
/// failure a class, and afterwards all are served again.
async fn every_arrival_has_an_outcome(
    fault: Fault,
    builder: impl FnOnce(openloop_postgres::Builder) -> openloop_postgres::Builder,
) {
    let mut server = Server::start().unwrap();
    let postgres = builder(named(&server).builder).build().unwrap();
    postgres.prepare().await.unwrap();
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    let nap = Statement::new("SELECT pg_sleep(0.01)");
    let mut calls = JoinSet::new();
    let send = |seq: u64, calls: &mut JoinSet<()>| {
        let (postgres, request) = (postgres.clone(), nap.with([]));
        let arrival = recorder.arrive_at(seq, Instant::now());
        calls.spawn(async move {
            drop(arrival.measure(postgres.call(request)).await);
        });
    };
    let mut every = tokio::time::interval(Duration::from_millis(2));
    let mut sent = 0;
    for _ in 0..50 {
        every.tick().await;
        send(sent, &mut calls);
        sent += 1;
    }
    // On a thread of its own, while arrivals go on.
    let stop = tokio::task::spawn_blocking(move || {
        match fault {
            Fault::Crash => server.crash().unwrap(),
            Fault::Restart => server.stop().unwrap(),
        }
        server
    });
    while !stop.is_finished() {
        every.tick().await;
        send(sent, &mut calls);
        sent += 1;
    }
    let mut server = stop.await.unwrap();
    for _ in 0..50 {
        every.tick().await;
        send(sent, &mut calls);
        sent += 1;
    }
    let start = tokio::task::spawn_blocking(move || {
        server.start_again().unwrap();
        server
    });
    while !start.is_finished() {
        every.tick().await;
        send(sent, &mut calls);
        sent += 1;
    }
    let server = start.await.unwrap();
    let before = recorder.snapshot().counts().ok;
    for _ in 0..50 {
        every.tick().await;
        send(sent, &mut calls);
        sent += 1;
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let snapshot = recorder.snapshot();
    let counts = snapshot.counts();
    let outcomes: BTreeMap<_, _> = snapshot.outcomes().collect();
    assert_eq!((counts.scheduled, counts.in_flight), (sent, 0));
    assert_eq!(outcomes.values().sum::<u64>(), sent, "{outcomes:?}");
    assert_eq!(counts.ok + counts.failed, sent, "{outcomes:?}");
    assert!(
        counts.failed > 0 && counts.ok >= before + 50,
        "{outcomes:?}"
    );
    let known = [
        "closed",
        "reset",
        "connect_refused",
        "pg_57P01",
        "pg_57P02",
        "pg_57P03",
    ];
    for outcome in outcomes.keys() {
        let is_known = matches!(outcome, Outcome::Failed(class) if known.contains(class));
        assert!(*outcome == Outcome::Ok || is_known, "{outcomes:?}");
    }
    drop(server);
}

#[tokio::test]
async fn a_restart_in_the_middle_loses_no_arrival() {
    every_arrival_has_an_outcome(Fault::Restart, |builder| {
        builder.connections(Connections::pool(10))
    })
    .await;
}

#[tokio::test]
async fn a_crash_in_the_middle_loses_no_arrival() {
    every_arrival_has_an_outcome(Fault::Crash, |builder| {
        builder.connections(Connections::pool(10))
    })
    .await;
}

#[tokio::test]
async fn nor_does_one_under_pipelines() {
    let pipelines =
        |builder: openloop_postgres::Builder| builder.connections(Connections::pool(3)).pipeline(4);
    every_arrival_has_an_outcome(Fault::Crash, pipelines).await;
}

#[tokio::test]
async fn a_server_that_is_away_is_not_stormed() {
    let mut away = Server::start().unwrap();
    let first = Duration::from_millis(100);
    let builder = named(&away).builder.connections(Connections::pool(4));
    let postgres = builder.back_off(first, first).build().unwrap();
    postgres.prepare().await.unwrap();
    // On a thread of its own, so that the runtime learns meanwhile that its connections have ended.
    let stopped = tokio::task::spawn_blocking(move || away.stop().map(|()| away));
    let _away = stopped.await.unwrap().unwrap();
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let postgres = postgres.clone();
        calls.spawn(async move {
            let error = postgres
                .call(Request::simple("SELECT 1"))
                .await
                .unwrap_err();
            assert_eq!(error.class(), "connect_refused");
            error.stages().acquire
        });
    }
    let waits = calls.join_all().await;
    // Up to four were on their way together; each of the others made an attempt of its own, 100 ms after the one before.
    let waited = waits.iter().filter(|wait| **wait >= first / 2).count();
    assert!(waited >= 4, "{waits:?}");
    assert!(begun.elapsed() >= first * 4);
}
