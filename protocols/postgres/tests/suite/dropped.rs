//! What becomes of a call that is dropped before its answer is there.

use crate::{backends, named, number, server, sleep, text};
use openloop_measurer::Operation;
use openloop_postgres::{Connections, Request, Row, Statement};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const SOON: Duration = Duration::from_millis(50);

#[tokio::test]
async fn its_query_is_cancelled_and_its_connection_is_used_again() {
    let (postgres, name) = named(server()).with(Connections::pool(1));
    postgres.prepare().await.unwrap();
    let endless = Request::simple("SELECT pg_sleep(600)");
    assert!(timeout(SOON, postgres.call(endless)).await.is_err());
    // It waits until the server has answered the one before, which takes a moment and not ten minutes.
    assert_eq!(text(&postgres, "SELECT 7").await, "7");
    assert_eq!(
        (postgres.sockets().opened(), postgres.sockets().closed()),
        (1, 0)
    );
    assert_eq!(backends(server(), &name, "active"), 0);
}

#[tokio::test]
async fn of_a_connection_for_one_request_the_query_is_cancelled_as_well() {
    let (postgres, name) = named(server()).with(Connections::PerRequest);
    let endless = Request::simple("SELECT pg_sleep(600)");
    assert!(timeout(SOON * 4, postgres.call(endless)).await.is_err());
    while backends(server(), &name, "%") > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(postgres.sockets().open(), 0);
}

#[tokio::test]
async fn its_transaction_is_rolled_back() {
    let (postgres, _) = named(server()).with(Connections::pool(1));
    server().sql("CREATE TABLE undone (id int)").unwrap();
    let request = Request::transaction([
        Statement::new("INSERT INTO undone VALUES (1)").with([]),
        Request::simple("SELECT pg_sleep(600)"),
    ]);
    postgres.prepare().await.unwrap();
    assert!(timeout(SOON * 4, postgres.call(request)).await.is_err());
    assert_eq!(text(&postgres, "SELECT count(*) FROM undone").await, "0");
    // An open transaction would still hold its lock.
    server()
        .sql("SET lock_timeout = '10s'; ALTER TABLE undone ADD COLUMN n int")
        .unwrap();
}

#[tokio::test]
async fn no_answer_goes_to_another_request() {
    let (postgres, name) = named(server()).with(Connections::pool(8));
    postgres.prepare().await.unwrap();
    let calls: i64 = if std::env::var_os("OPENLOOP_FULL").is_some() {
        1_000_000
    } else {
        600
    };
    let begun = Instant::now();
    let mut running = JoinSet::new();
    let (mut answered, mut dropped) = (0, 0);
    let mut count = |(seq, answer): (i64, Option<i64>)| match answer {
        Some(number) => {
            assert_eq!(number, seq);
            answered += 1;
        }
        None => dropped += 1,
    };
    for seq in 0..calls {
        // Most take 10 ms and are late. Those that are not would meet the answers of the late ones; and some come at the
        // moment at which they are given up.
        let seconds = match seq % 4 {
            0 => 0.0,
            1 => 0.005,
            _ => 0.010,
        };
        let request = sleep().with([seq.into(), seconds.into()]);
        let postgres = postgres.clone();
        running.spawn(async move {
            let mut found = None;
            let on_row = |row: Row<'_>| {
                if let Row::Typed(row) = row {
                    found = Some(row.get(1));
                }
            };
            let call = postgres.call_with(request, on_row);
            // Nobody fails: a query is cancelled for its own caller, and for no other.
            if let Ok(answered) = timeout(Duration::from_millis(5), call).await {
                answered.unwrap();
            } else {
                found = None;
            }
            (seq, found)
        });
        if running.len() >= 8
            && let Some(done) = running.join_next().await
        {
            count(done.unwrap());
        }
    }
    while let Some(done) = running.join_next().await {
        count(done.unwrap());
    }
    assert_eq!(answered + dropped, calls);
    assert!(
        answered > 0 && dropped > 0,
        "{answered} answered, {dropped} dropped"
    );
    // All places come back, and nothing is left running behind them.
    let places = (0..8).map(|seq| {
        let postgres = postgres.clone();
        let request = sleep().with([seq.into(), 0.02.into()]);
        tokio::spawn(async move { number(&postgres, request).await })
    });
    for (seq, place) in (0..).zip(places.collect::<Vec<_>>()) {
        assert_eq!(place.await.unwrap(), Some(seq));
    }
    assert_eq!(
        (
            backends(server(), &name, "active"),
            backends(server(), &name, "%")
        ),
        (0, 8)
    );
    println!(
        "{calls} calls with a limit of 5 ms: {answered} answered, each with its own number, and {dropped} given up; in {:?}",
        begun.elapsed()
    );
    drop(postgres);
    while backends(server(), &name, "%") > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn in_a_pipeline_its_place_is_free_when_its_answer_has_come() {
    let builder = named(server()).builder.connections(Connections::pool(1));
    let postgres = builder.pipeline(2).build().unwrap();
    postgres.prepare().await.unwrap();
    let slow = sleep().with([1.into(), 0.2.into()]);
    assert!(timeout(SOON, number(&postgres, slow)).await.is_err());
    for seq in 2..20 {
        let request = sleep().with([seq.into(), 0.0.into()]);
        assert_eq!(number(&postgres, request).await, Some(seq));
    }
    assert_eq!(postgres.sockets().opened(), 1);
}

#[tokio::test]
async fn a_connection_that_does_not_answer_is_closed_and_its_place_is_free() {
    let builder = named(server()).builder.connections(Connections::pool(1));
    let postgres = builder.recovery_limit(SOON).build().unwrap();
    let pid: i32 = text(&postgres, "SELECT pg_backend_pid()")
        .await
        .parse()
        .unwrap();
    server().freeze(pid).unwrap();
    let half_open = Request::simple("SELECT 1");
    assert!(timeout(SOON, postgres.call(half_open)).await.is_err());
    assert_ne!(
        text(&postgres, "SELECT pg_backend_pid()").await,
        pid.to_string()
    );
    server().thaw(pid).unwrap();
    assert_eq!(
        (postgres.sockets().opened(), postgres.sockets().open()),
        (2, 1)
    );
}
