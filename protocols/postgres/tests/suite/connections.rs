//! How requests are spread over connections.

use crate::{backends, client, named, number, server, sleep};
use openloop_measurer::Operation;
use openloop_postgres::{Connections, PostgresError, Request, Statement};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

#[tokio::test]
async fn a_pool_opens_its_connections_before_the_run_and_no_others() {
    let (postgres, name) = named(server()).with(Connections::pool(8));
    postgres.prepare().await.unwrap();
    assert_eq!(backends(server(), &name, "%"), 8);
    let one = Statement::new("SELECT 1");
    let mut calls = JoinSet::new();
    for _ in 0..100 {
        let (postgres, request) = (postgres.clone(), one.with([]));
        calls.spawn(async move { postgres.call(request).await.map(|_| ()) });
    }
    for done in calls.join_all().await {
        done.unwrap();
    }
    postgres.prepare().await.unwrap();
    assert_eq!(
        (postgres.sockets().opened(), postgres.sockets().reused()),
        (8, 100)
    );
    assert_eq!(backends(server(), &name, "%"), 8);
}

#[tokio::test]
async fn calls_beyond_the_pool_wait_their_turn_and_those_beyond_the_line_are_refused() {
    let postgres = client(Connections::Pool {
        size: 2,
        waiting: 2,
    });
    postgres.prepare().await.unwrap();
    let nap = Duration::from_millis(60);
    let begun = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..6 {
        let postgres = postgres.clone();
        calls.spawn(async move {
            let request = Request::simple("SELECT pg_sleep(0.06)");
            let mut call = pin!(postgres.call(request));
            // Its first poll takes a place, or joins the line.
            let polled = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
            let asked = Instant::now();
            let reply = match polled {
                Poll::Ready(reply) => reply,
                Poll::Pending => call.await,
            }?;
            Ok::<_, PostgresError>((reply.stages().acquire, asked))
        });
    }
    let (served, refused): (Vec<_>, Vec<_>) =
        calls.join_all().await.into_iter().partition(Result::is_ok);
    let mut waits: Vec<_> = served.into_iter().map(Result::unwrap).collect();
    waits.sort();
    assert_eq!(waits.len(), 4);
    assert_eq!([waits[0].0, waits[1].0], [Duration::ZERO; 2]);
    // The first nap is not over before; a machine that takes its time to let the third ask shortens its wait.
    for (waited, asked) in &waits[2..] {
        assert!(*asked + *waited >= begun + nap, "{waits:?}");
    }
    let classes: Vec<_> = refused
        .into_iter()
        .map(|error| error.unwrap_err().class())
        .collect();
    assert_eq!(classes, ["pool_full"; 2]);
}

#[tokio::test]
async fn a_connection_for_each_request_ends_with_it() {
    let (postgres, name) = named(server()).with(Connections::PerRequest);
    for _ in 0..3 {
        let reply = postgres.call(Request::simple("SELECT 1")).await.unwrap();
        let stages = reply.stages();
        assert_eq!((stages.opened, stages.reused), (1, false));
        assert!(stages.startup.is_some() && stages.dial.connect.is_some());
    }
    let sockets = postgres.sockets();
    assert_eq!((sockets.opened(), sockets.open()), (3, 0));
    // The server's processes end a moment after their connections.
    while backends(server(), &name, "%") > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_connection_for_each_request_in_flight() {
    let postgres = client(Connections::PerInFlight);
    let mut calls = JoinSet::new();
    for _ in 0..5 {
        let postgres = postgres.clone();
        calls.spawn(async move {
            let request = Request::simple("SELECT pg_sleep(0.3)");
            postgres.call(request).await.unwrap().stages().opened
        });
    }
    assert_eq!(calls.join_all().await, [1; 5]);
    postgres.call(Request::simple("SELECT 1")).await.unwrap();
    assert_eq!(
        (postgres.sockets().opened(), postgres.sockets().reused()),
        (5, 1)
    );
}

#[tokio::test]
async fn a_pipeline_carries_several_requests_and_every_answer_is_that_of_its_request() {
    let builder = named(server()).builder.connections(Connections::pool(2));
    let postgres = builder.pipeline(4).build().unwrap();
    postgres.prepare().await.unwrap();
    let mut calls = JoinSet::new();
    for seq in 0..400 {
        let postgres = postgres.clone();
        calls.spawn(async move {
            let request = sleep().with([seq.into(), 0.0.into()]);
            (seq, number(&postgres, request).await)
        });
    }
    for (seq, answer) in calls.join_all().await {
        assert_eq!(answer, Some(seq));
    }
    assert_eq!(postgres.sockets().opened(), 2);
    let transaction = Request::transaction([Request::simple("SELECT 1")]);
    assert_eq!(crate::class(&postgres, transaction).await, "request");
}

#[tokio::test]
async fn what_is_beyond_the_depth_of_a_pipeline_waits_on_our_side() {
    let builder = named(server()).builder.connections(Connections::pool(1));
    let postgres = builder.pipeline(2).build().unwrap();
    postgres.prepare().await.unwrap();
    let mut calls = JoinSet::new();
    for _ in 0..3 {
        let postgres = postgres.clone();
        calls.spawn(async move {
            let request = Request::simple("SELECT pg_sleep(0.05)");
            postgres.call(request).await.unwrap().stages().acquire
        });
    }
    let mut waits = calls.join_all().await;
    waits.sort();
    assert_eq!(waits[..2], [Duration::ZERO; 2]);
    assert!(waits[2] >= Duration::from_millis(45), "{waits:?}");
}

#[tokio::test]
async fn what_the_buffer_pool_did_not_have_is_told_from_what_it_had() {
    let own = openloop_testbed::Postgres::builder()
        .setting("shared_buffers", "1MB")
        .start()
        .unwrap();
    own.sql("CREATE TABLE wide AS SELECT i, repeat('x', 1000) AS filler FROM generate_series(1, 20000) i").unwrap();
    own.sql("CREATE INDEX ON wide (i)").unwrap();
    own.sql("VACUUM ANALYZE wide").unwrap();
    let (postgres, _) = named(&own).with(Connections::pool(1));
    let mut monitor = postgres.monitor().await.unwrap();
    let row = Statement::new("SELECT filler FROM wide WHERE i = $1");
    let flush = || Request::simple("SELECT pg_stat_force_next_flush()");
    let mut rates = Vec::new();
    for stride in [0, 97] {
        postgres.call(flush()).await.unwrap();
        let before = monitor.buffers().await.unwrap();
        for seq in 0..200 {
            let key = 1 + (seq * stride) % 20_000;
            postgres.call(row.with([key.into()])).await.unwrap();
        }
        postgres.call(flush()).await.unwrap();
        let window = monitor.buffers().await.unwrap().since(before);
        rates.push(window.hit_rate().unwrap());
    }
    // One row of 20 000 stays in a pool for 128 blocks; of rows all over the table, one block of three or four does not.
    assert!(rates[0] > 0.95 && rates[1] < 0.9, "{rates:?}");
}
