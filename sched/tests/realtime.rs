//! The pacer on the real clock. Tolerances are on truth alone (nothing early, nothing lost), never on speed,
//! so these hold on a machine that is busy with something else.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use openloop_sched::{Arrivals, Due, Pacer, Precision, Schedule, Ticket};
use tokio::time::Instant;

async fn next<I: Iterator<Item = Ticket>>(pacer: &mut Pacer<I>) -> Option<Due> {
    poll_fn(|cx| Pin::new(&mut *pacer).poll_next(cx)).await
}

/// Releases 300 ms of Poisson arrivals and checks every one against a clock of its own.
async fn run(precision: Precision, rate: u32) {
    let schedule = Schedule::new(
        format!("{rate}/300ms").parse().unwrap(),
        Arrivals::Poisson,
        1,
    );
    let planned = schedule.offered();
    // A start that lies ahead is not fired before it, either.
    let start = Instant::now() + Duration::from_millis(20);
    let mut pacer = Pacer::new(schedule, start, precision).unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!((pacer.precision(), pacer.fallback()), (precision, None));
    }
    let (mut released, mut max) = (0, Duration::ZERO);
    while let Some(due) = next(&mut pacer).await {
        let now = Instant::now();
        let intended = start + due.ticket.intended.as_duration();
        assert!(now >= intended, "{due:?}");
        assert!(due.fired >= due.ticket.intended, "{due:?}");
        assert!(start + due.fired.as_duration() <= now, "{due:?}");
        assert_eq!(due.ticket.seq, released);
        max = max.max(due.fired.saturating_since(due.ticket.intended));
        assert_eq!(pacer.max_lag(), max);
        released += 1;
        tokio::spawn(async {});
    }
    assert_eq!(released, planned);
    assert!(pacer.spun() <= start.elapsed());
}

#[tokio::test]
async fn every_precision_releases_all_and_nothing_early() {
    for precision in [Precision::Coarse, Precision::Timer, Precision::SPIN] {
        for rate in [100, 20_000] {
            run(precision, rate).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_a_runtime_of_two_workers() {
    for precision in [Precision::Coarse, Precision::Timer, Precision::SPIN] {
        tokio::spawn(run(precision, 5_000)).await.unwrap();
    }
}

#[tokio::test]
async fn only_spinning_spins() {
    for precision in [Precision::Coarse, Precision::Timer] {
        let schedule = Schedule::new("1000/100ms".parse().unwrap(), Arrivals::Constant, 1);
        let mut pacer = Pacer::new(schedule, Instant::now(), precision).unwrap();
        while next(&mut pacer).await.is_some() {}
        assert_eq!(pacer.spun(), Duration::ZERO);
    }
}

#[tokio::test]
async fn a_pacer_dropped_in_the_middle_of_a_wait_leaves_the_runtime_sound() {
    for precision in [Precision::Coarse, Precision::Timer, Precision::SPIN] {
        for _ in 0..20 {
            let schedule = Schedule::new("1/10s".parse().unwrap(), Arrivals::Poisson, 2);
            // The first arrival of this seed is at 2.1 s.
            let mut pacer = Pacer::new(schedule, Instant::now(), precision).unwrap();
            let waiting = tokio::time::timeout(Duration::from_millis(1), next(&mut pacer)).await;
            assert!(waiting.is_err());
            assert_eq!(
                pacer.into_remaining().next().map(|ticket| ticket.seq),
                Some(0)
            );
        }
    }
}
