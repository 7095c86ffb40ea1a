//! What needs the real clock. No bound here depends on how fast the machine is.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_experiment::drive::DriveError;
use openloop_experiment::{Lifecycle, Plan, Slo, drive};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_sched::{Arrivals, Rate, Ticket};
use std::convert::Infallible;
use std::time::{Duration, Instant};

fn steady(rate: f64, length: Duration) -> Plan {
    Plan::open(Rate::per_second(rate).unwrap())
        .lifecycle(Lifecycle::steady_only(length))
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap()
}

#[tokio::test]
async fn ten_million_a_second_gives_up_a_second_past_the_end_and_says_what_it_did_not_send() {
    let begun = Instant::now();
    let run = drive::shared(&steady(1e7, Duration::from_secs(1)), |_: Ticket| async {})
        .await
        .unwrap();
    let counts = run.snapshot().counts();
    assert_eq!(counts.scheduled, 10_000_000);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    if counts.unsent > 0 {
        assert!(run.generator().sending >= Duration::from_secs(2));
        let check = run
            .validity()
            .faults()
            .find(|check| check.name == "all_sent")
            .unwrap();
        assert!(
            check.why.contains(&counts.unsent.to_string()),
            "{}",
            check.why
        );
        let verdict = "p99<=1h".parse::<Slo>().unwrap().judge(&run).verdict;
        assert_eq!(verdict.name(), "invalid");
    }
}

#[tokio::test]
async fn a_generator_that_is_kept_from_its_work_is_blamed_and_not_the_service() {
    // Each request blocks its thread for a millisecond, and there are five in that time.
    let run = drive::shared(
        &steady(5000.0, Duration::from_millis(500)),
        |_: Ticket| async {
            std::thread::sleep(Duration::from_millis(1));
        },
    )
    .await
    .unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.ok + counts.unsent), (2500, 2500));
    assert!(!run.validity().is_valid());
    let faults: Vec<_> = run.validity().faults().map(|check| check.name).collect();
    assert!(
        faults.contains(&"outbound_error") || faults.contains(&"all_sent"),
        "{faults:?}"
    );
}

/// An answer of a second, whose first part came at this instant.
struct Answer(tokio::time::Instant);

impl Describe for Answer {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.answer_since_intended("first", self.0);
    }
}

/// What is little of a long answer is much of its first part.
#[tokio::test]
async fn a_generator_that_is_late_for_first_parts_is_blamed_however_long_answers_are() {
    // It keeps the only thread for 8 ms at a time: 2 % of an answer are 20 ms, and of its first part 0.4.
    let in_the_way = tokio::spawn(async {
        loop {
            std::thread::sleep(Duration::from_millis(8));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let plan = steady(100.0, Duration::from_secs(1));
    let run = drive::shared(&plan, |_: Ticket| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let first = tokio::time::Instant::now();
        tokio::time::sleep(Duration::from_millis(980)).await;
        Answer(first)
    })
    .await
    .unwrap();
    in_the_way.abort();
    assert!(!run.validity().is_valid());
    let mut faults = run.validity().faults();
    let fault = faults.find(|check| check.name == "outbound_error").unwrap();
    assert!(
        fault.why.starts_with("at p") && fault.why.contains(" of first, "),
        "{}",
        fault.why
    );
}

#[test]
fn setting_up_never_counts() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = runtime.block_on(async {
        drive::sharded(
            &steady(50.0, Duration::from_secs(1)),
            2,
            |shard| async move {
                // One client takes much longer to make than the other.
                tokio::time::sleep(Duration::from_millis(600 * shard.index as u64)).await;
                Ok::<_, Infallible>(|_: Ticket| async {})
            },
        )
        .await
    });
    let run = run.unwrap();
    assert_eq!(run.snapshot().counts().ok, 50);
    let first = &run.snapshot().timeline()[0];
    assert_eq!(first.arrivals, 50);
    assert!(
        run.generator().max_lag < Duration::from_millis(600),
        "{:?}",
        run.generator().max_lag
    );
}

#[tokio::test]
async fn a_client_that_cannot_be_made_is_an_error_by_name_and_nothing_is_sent() {
    let drive = drive::sharded(
        &steady(50.0, Duration::from_secs(60)),
        3,
        |shard| async move {
            match shard.index {
                1 => Err(std::io::Error::other("no such host")),
                _ => Ok(|ticket: Ticket| async move {
                    assert!(ticket.seq > u64::MAX - 1, "nothing must be sent")
                }),
            }
        },
    );
    let monitor = drive.monitor();
    match drive.await {
        Err(DriveError::SetUp { shard: 1, source }) => {
            assert_eq!(source.to_string(), "no such host")
        }
        other => panic!("{other:?}"),
    }
    assert!(monitor.live().is_none());
}

#[tokio::test]
async fn a_factory_that_panics_is_an_error_and_not_a_hang() {
    let drive = drive::sharded(
        &steady(50.0, Duration::from_secs(60)),
        2,
        |shard| async move {
            assert_eq!(shard.index, 0, "meant");
            Ok::<_, Infallible>(|_: Ticket| async {})
        },
    );
    assert!(matches!(drive.await, Err(DriveError::Died)));
}

#[test]
fn a_run_needs_a_runtime_or_threads() {
    let plan = steady(50.0, Duration::from_secs(60));
    let drive = drive::shared(&plan, |_: Ticket| async {});
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert!(matches!(
        runtime.block_on(async { drive.await }),
        Err(DriveError::NoRuntime)
    ));
    let none = drive::sharded(&plan, 0, |_| async {
        Ok::<_, Infallible>(|_: Ticket| async {})
    });
    assert!(matches!(
        runtime.block_on(async { none.await }),
        Err(DriveError::NoShards)
    ));
}
