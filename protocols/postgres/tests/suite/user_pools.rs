//! Pools of other libraries, their wait made visible; and a pooler between us and the server.

use crate::{client, server, text};
use openloop_measurer::{Describe, Operation, Verdict};
use openloop_postgres::tokio_postgres::{Client, NoTls};
use openloop_postgres::{
    Connections, Postgres, PostgresErrorKind, Request, UserPool, UserPoolError,
};
use openloop_testbed::PgBouncer;
use std::time::Duration;
use tokio::task::JoinSet;

const NAP: Duration = Duration::from_millis(50);

async fn nap(client: &Client) -> Result<(), PostgresErrorKind> {
    client.batch_execute("SELECT pg_sleep(0.05)").await?;
    Ok(())
}

/// Three calls over one connection: what each waited, in order.
async fn waits<O>(operation: O) -> Vec<Duration>
where
    O: Operation<Request = (), Reply = openloop_postgres::Pooled<()>> + Clone,
    O::Error: std::fmt::Debug,
{
    let mut calls = JoinSet::new();
    for _ in 0..3 {
        let operation = operation.clone();
        calls.spawn(async move { operation.call(()).await.unwrap().acquire });
    }
    let mut waits = calls.join_all().await;
    waits.sort();
    waits
}

#[track_caller]
fn assert_one_at_a_time(waits: &[Duration]) {
    for (wait, turns) in waits.iter().zip([0, 1, 2]) {
        assert!(*wait >= (NAP * turns).mul_f64(0.9), "{waits:?}");
    }
}

#[tokio::test]
async fn deadpool() {
    let config = server().dsn().parse().unwrap();
    let manager = deadpool_postgres::Manager::new(config, NoTls);
    let pool = deadpool_postgres::Pool::builder(manager)
        .max_size(1)
        .build()
        .unwrap();
    let closing = pool.clone();
    let get = move || {
        let pool = pool.clone();
        async move { pool.get().await }
    };
    let operation = UserPool::new(get, |client: deadpool_postgres::Client, ()| async move {
        nap(&client).await
    });
    let operation = std::sync::Arc::new(operation);
    assert_one_at_a_time(&waits(operation.clone()).await);
    closing.close();
    let error = operation.call(()).await.unwrap_err();
    assert!(matches!(error, UserPoolError::Get { .. }));
    assert_eq!(error.verdict(), Verdict::Failed("pool_get"));
}

#[tokio::test]
async fn bb8() {
    let config = server().dsn().parse().unwrap();
    let manager = bb8_postgres::PostgresConnectionManager::new(config, NoTls);
    let pool = bb8_postgres::bb8::Pool::builder()
        .max_size(1)
        .build(manager)
        .await
        .unwrap();
    let get = move || {
        let pool = pool.clone();
        async move { pool.get_owned().await }
    };
    let operation = UserPool::new(get, |client, ()| async move { nap(&client).await });
    assert_one_at_a_time(&waits(std::sync::Arc::new(operation)).await);
}

#[tokio::test]
async fn what_the_query_itself_says_is_what_counts() {
    let config = server().dsn().parse().unwrap();
    let manager = deadpool_postgres::Manager::new(config, NoTls);
    let pool = deadpool_postgres::Pool::builder(manager)
        .max_size(1)
        .build()
        .unwrap();
    let get = move || {
        let pool = pool.clone();
        async move { pool.get().await }
    };
    let operation = UserPool::new(
        get,
        |client: deadpool_postgres::Client, sql: &'static str| async move {
            client.batch_execute(sql).await?;
            Ok::<_, PostgresErrorKind>(())
        },
    );
    let error = operation.call("SELECT * FROM nowhere").await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Failed("pg_42P01"));
}

#[tokio::test]
async fn through_a_pooler_in_session_mode_the_wait_is_in_the_startup() {
    // Two connections to the server for three of ours: the third is not ready for queries before another one ends.
    let pooler = PgBouncer::start(server(), 2).unwrap();
    let postgres = |size| {
        let builder = Postgres::builder(&pooler.dsn());
        builder
            .connections(Connections::pool(size))
            .build()
            .unwrap()
    };
    let two = postgres(2);
    two.prepare().await.unwrap();
    let third = postgres(1);
    let waiting =
        tokio::spawn(async move { third.call(Request::simple("SELECT 1")).await.map(|_| ()) });
    assert_eq!(text(&two, "SELECT 1").await, "1");
    assert!(!waiting.is_finished());
    drop(two);
    waiting.await.unwrap().unwrap();
    // The server itself is not full.
    assert_eq!(text(&client(Connections::pool(1)), "SELECT 1").await, "1");
}
