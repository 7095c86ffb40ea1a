//! Faults of the code and of the runtime around a driver, and more in flight than any service takes: every arrival is
//! accounted for.

#![allow(clippy::unwrap_used)]

use openloop_experiment::drive::{DriveError, Monitor};
use openloop_experiment::{Lifecycle, Plan, Run, classified, drive};
use openloop_measurer::{Counts, Outcome, Verdict};
use openloop_sched::{Arrivals, Precision, Rate, Ticket};
use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// 100 arrivals in half a second.
fn plan() -> Plan {
    Plan::open(Rate::per_second(200.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_millis(500)))
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap()
}

/// One thread where `threads` is 0.
fn runtime(threads: usize, has_io: bool) -> Runtime {
    let mut builder = match threads {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if threads > 0 {
        builder.worker_threads(threads);
    }
    if has_io {
        builder.enable_io();
    }
    builder.enable_time().build().unwrap()
}

/// Keeps the messages of panics that are meant from the output.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.to_string().contains("meant") {
                loud(info);
            }
        }));
    });
}

/// On a runtime of one thread, on one of two, and on threads of its own.
fn on_every_driver<W>(work: impl Fn() -> W + Send + Sync + Clone + 'static) -> [Run; 3]
where
    W: openloop_experiment::Work<Output: Send, Future: Send, Classify: Send + Sync> + Send + Sync,
{
    let shared = |threads| {
        let work = work();
        runtime(threads, true).block_on(async move { drive::shared(&plan(), work).await.unwrap() })
    };
    let (one, two) = (shared(0), shared(2));
    let own = runtime(0, true).block_on(async {
        let factory = move |_| {
            let work = work();
            async { Ok::<_, Infallible>(work) }
        };
        drive::sharded(&plan(), 2, factory).await.unwrap()
    });
    [one, two, own]
}

/// A tenth of the arrivals has failed by a panic, and the others are served.
fn a_tenth_panicked(run: &Run) {
    let counts = run.snapshot().counts();
    assert!(counts.balances(), "{counts:?}");
    assert_eq!((counts.scheduled, counts.ok, counts.failed), (100, 90, 10));
    let panicked = run.snapshot().outcomes();
    let panicked = panicked.filter(|(outcome, _)| *outcome == Outcome::Failed("panic"));
    assert_eq!(panicked.map(|(_, count)| count).sum::<u64>(), 10);
}

/// As a sampler of the user's own might be, which panics where it does not know.
fn sample(seq: u64) -> u64 {
    assert!(seq % 10 != 3, "meant, in a sampler");
    seq
}

#[test]
fn a_sampler_that_panics_costs_that_arrival_alone() {
    quiet();
    let work = || {
        |ticket: Ticket| {
            // Drawn before there is a request.
            let size = sample(ticket.seq);
            async move { assert!(size % 10 != 3) }
        }
    };
    on_every_driver(work).iter().for_each(a_tenth_panicked);
}

#[test]
fn a_classifier_that_panics_costs_that_arrival_alone() {
    quiet();
    let work = || {
        classified(
            |ticket: Ticket| async move { ticket.seq },
            |seq: &u64| {
                assert!(seq % 10 != 3, "meant, in a classifier");
                Verdict::Ok
            },
        )
    };
    on_every_driver(work).iter().for_each(a_tenth_panicked);
}

/// Until so many are in flight.
async fn until_in_flight(monitor: &Monitor, wanted: u64) {
    let begun = Instant::now();
    while monitor
        .live()
        .is_none_or(|live| live.counts.in_flight < wanted)
    {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is sent");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_runtime_that_is_shut_down_in_the_middle_ends_the_run_and_its_books_balance() {
    for threads in [0, 2] {
        let shut_down = runtime(threads, true);
        let drive = shut_down.block_on(async {
            // Half of them never end.
            let drive = drive::shared(&plan(), |ticket: Ticket| async move {
                if ticket.seq % 2 == 1 {
                    pending::<()>().await;
                }
            });
            until_in_flight(&drive.monitor(), 10).await;
            drive
        });
        let monitor = drive.monitor();
        drop(shut_down);
        let run = runtime(0, true).block_on(async { drive.await });
        assert!(matches!(run, Err(DriveError::Died)), "{run:?}");
        let counts: Counts = monitor.live().unwrap().counts;
        assert!(counts.balances(), "{counts:?}");
        assert_eq!((counts.waiting, counts.in_flight), (0, 0), "{counts:?}");
        assert!(counts.abandoned >= 10 && counts.ok > 0, "{counts:?}");
        assert_eq!(counts.ok + counts.abandoned, counts.scheduled);
    }
}

#[test]
fn a_run_on_threads_of_its_own_survives_the_runtime_that_it_was_begun_in() {
    let shut_down = runtime(0, true);
    let drive = shut_down.block_on(async {
        let work = |_| async { Ok::<_, Infallible>(|_: Ticket| async {}) };
        let drive = drive::sharded(&plan(), 2, work);
        while drive.monitor().live().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drive
    });
    drop(shut_down);
    let run = runtime(0, true).block_on(async { drive.await.unwrap() });
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.ok), (100, 100));
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_io_driver_everything_is_sent_by_the_coarse_timer_and_the_run_says_so() {
    for threads in [0, 2] {
        let run = runtime(threads, false)
            .block_on(async { drive::shared(&plan(), |_: Ticket| async {}).await.unwrap() });
        let counts = run.snapshot().counts();
        assert_eq!((counts.scheduled, counts.ok), (100, 100));
        let generator = run.generator();
        assert_eq!(generator.precision, Some(Precision::Coarse));
        let fallback = generator.fallback.as_deref().unwrap();
        assert!(fallback.contains("no I/O driver"), "{fallback}");
        assert!(
            run.validity()
                .warnings()
                .any(|check| check.name == "precision" && check.why == fallback)
        );
    }
}

#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.unwrap().parse::<u64>().unwrap() * 1024
}

/// In virtual time, so that none is late on any machine.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_million_in_flight_at_once_are_all_accounted_for() {
    const ALL: u64 = 1_000_000;
    let plan = Plan::open(Rate::per_second(100_000.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(10)))
        .arrivals(Arrivals::Constant)
        .drain(Duration::from_secs(1))
        .build()
        .unwrap();
    let before = resident_bytes();
    let held = Arc::new(AtomicU64::new(0));
    let at_last = held.clone();
    let run = drive::shared(&plan, move |ticket: Ticket| {
        if ticket.seq == ALL - 1 {
            at_last.store(resident_bytes(), Ordering::Relaxed);
        }
        pending::<()>()
    })
    .await
    .unwrap();
    let counts = run.snapshot().counts();
    assert!(counts.balances(), "{counts:?}");
    assert_eq!((counts.scheduled, counts.abandoned), (ALL, ALL));
    // The paused clock ticks in whole milliseconds.
    assert!(run.generator().max_lag < Duration::from_millis(1));
    let most = run
        .snapshot()
        .timeline()
        .iter()
        .map(|second| second.in_flight)
        .max();
    assert_eq!(most, Some(ALL));
    // Other tests of this program hold little beside it.
    let each = held.load(Ordering::Relaxed).saturating_sub(before) / ALL;
    println!("{each} B per arrival in flight");
    assert!((1..2000).contains(&each), "{each} B");
}
