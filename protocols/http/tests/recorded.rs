//! What a recorder gets to know of a call.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use openloop_http::{Connections, Http};
use openloop_measurer::{Layout, Operation, Outcome, Recorder};
use openloop_testbed::{Act, HttpServer, On};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn stages_are_metrics_and_connections_are_counts() {
    let server = HttpServer::builder()
        .on(On::Request(1), Act::Close)
        .on(On::Request(3), Act::Status(503))
        .on(On::Request(4), Act::BadStatusLine)
        .start()
        .unwrap();
    let http = Http::builder(&server.url("/bytes/7"))
        .connections(Connections::pool(1))
        .build()
        .unwrap();
    let layout = Layout::steady_only(Duration::from_secs(3600)).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    for seq in 0..4 {
        let arrival = recorder.arrive_at(seq, Instant::now());
        let (_, sample) = arrival.measure(http.call(http.request())).await;
        assert!(sample.pickup() < Some(Duration::from_secs(60)));
    }
    let snapshot = recorder.snapshot();
    let outcomes: Vec<_> = snapshot.outcomes().collect();
    // Opened; met a close and was retried; rejected; broken.
    assert!(outcomes.contains(&(Outcome::Ok, 2)), "{outcomes:?}");
    assert!(outcomes.contains(&(Outcome::Rejected("http_503"), 1)));
    assert!(outcomes.contains(&(Outcome::Failed("malformed"), 1)));
    let steady = snapshot.steady();
    let counts: BTreeMap<_, _> = steady.counts().collect();
    assert_eq!(counts["connections_opened"], 2);
    assert_eq!(counts["connections_reused"], 2);
    assert_eq!(counts["retries"], 1);
    assert!(counts["bytes"] >= 14);
    assert!(!counts.contains_key("syn_retries"));
    let metrics: BTreeMap<_, _> = steady
        .metrics()
        .map(|(name, histogram)| (name, histogram.count()))
        .collect();
    assert_eq!(metrics["acquire"], 4);
    assert_eq!(metrics["connect"], 2);
    assert_eq!((metrics["first_byte"], metrics["body"]), (3, 3));
    assert!(!metrics.contains_key("dns") && !metrics.contains_key("tls"));
}
