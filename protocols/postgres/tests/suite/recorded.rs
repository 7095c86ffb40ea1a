//! What a recorder gets to know of a call.

use crate::{client, named, server};
use openloop_measurer::{Layout, Operation, Outcome, Recorder};
use openloop_postgres::{Connections, Request, Statement};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

fn recorder() -> Recorder {
    Recorder::new(
        Instant::now(),
        Layout::steady_only(Duration::from_secs(3600)).unwrap(),
    )
}

#[tokio::test]
async fn stages_are_metrics_and_rows_are_counts() {
    let postgres = client(Connections::pool(1));
    let recorder = recorder();
    let two = Statement::new("SELECT * FROM (VALUES (1), (2)) v");
    for (seq, request) in [two.with([]), two.with([]), Request::simple("nonsense")]
        .into_iter()
        .enumerate()
    {
        let arrival = recorder.arrive_at(seq as u64, Instant::now());
        let (_, sample) = arrival.measure(postgres.call(request)).await;
        let delay = sample.schedule_delay().unwrap();
        assert_eq!(sample.response(), delay + sample.service().unwrap());
        assert_eq!(
            sample.service().unwrap(),
            sample.acquire + sample.exchange().unwrap()
        );
    }
    let snapshot = recorder.snapshot();
    let outcomes: Vec<_> = snapshot.outcomes().collect();
    assert!(outcomes.contains(&(Outcome::Ok, 2)), "{outcomes:?}");
    assert!(outcomes.contains(&(Outcome::Failed("pg_42601"), 1)));
    let steady = snapshot.steady();
    let counts: BTreeMap<_, _> = steady.counts().collect();
    assert_eq!((counts["rows"], counts["statements"]), (4, 3));
    assert_eq!(
        (counts["connections_opened"], counts["connections_reused"]),
        (1, 2)
    );
    let metrics: BTreeMap<_, _> = steady
        .metrics()
        .map(|(name, histogram)| (name, histogram.count()))
        .collect();
    assert_eq!(
        (
            metrics["acquire"],
            metrics["first_row"],
            metrics["all_rows"]
        ),
        (3, 3, 3)
    );
    assert_eq!(
        (metrics["connect"], metrics["startup"], metrics["prepare"]),
        (1, 1, 1)
    );
}

/// The stamp is the kernel's of the last byte read. The tolerance is a second, on a machine that is busy otherwise.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_reader_that_is_late_is_seen_in_the_stamp() {
    let (postgres, _) = named(server()).with(Connections::pool(1));
    let one = || Request::simple("SELECT 1");
    // The kernel begins to stamp some time after it was asked to.
    while postgres
        .call(one())
        .await
        .unwrap()
        .stages()
        .received
        .is_none()
    {}
    let late = Duration::from_millis(150);
    let reply = postgres
        .call_with(one(), |_| std::thread::sleep(late))
        .await
        .unwrap();
    let pickup = Instant::now() - reply.stages().received.unwrap();
    assert!(
        pickup >= late && pickup < late + Duration::from_secs(1),
        "{pickup:?}"
    );
    assert!(reply.stages().all_rows.unwrap() >= late);
}
