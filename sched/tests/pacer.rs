//! The pacer under a paused clock, and in runtimes that lack something.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use openloop_sched::{
    Arrivals, Due, Fallback, Offset, Pacer, PacerError, Precision, Schedule, Ticket,
    clock_is_paused,
};
use tokio::time::Instant;

async fn next<I: Iterator<Item = Ticket>>(pacer: &mut Pacer<I>) -> Option<Due> {
    poll_fn(|cx| Pin::new(&mut *pacer).poll_next(cx)).await
}

fn schedule(profile: &str) -> Schedule {
    Schedule::new(profile.parse().unwrap(), Arrivals::Constant, 1)
}

#[tokio::test(start_paused = true)]
async fn whole_milliseconds_are_exact_under_a_paused_clock() {
    let mut pacer = Pacer::new(schedule("1000/10s"), Instant::now(), Precision::default()).unwrap();
    let mut released = 0;
    while let Some(due) = next(&mut pacer).await {
        assert_eq!(due.fired, due.ticket.intended);
        assert_eq!(due.fired, Offset::from(Duration::from_millis(released)));
        released += 1;
    }
    assert_eq!(released, 10_000);
    assert_eq!(pacer.max_lag(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_day_of_arrivals_does_not_drift() {
    let start = Instant::now();
    let mut pacer = Pacer::new(schedule("10/24h"), start, Precision::default()).unwrap();
    let mut released = 0;
    while let Some(due) = next(&mut pacer).await {
        assert_eq!(
            due.fired,
            Offset::from(Duration::from_millis(100 * released))
        );
        assert_eq!(due.fired, due.ticket.intended);
        released += 1;
    }
    assert_eq!((released, pacer.max_lag()), (864_000, Duration::ZERO));
    assert_eq!(start.elapsed(), Duration::from_millis(86_399_900));

    // Thirds of a second are no whole nanoseconds: the last of a day stands where it is computed to be, as the first does.
    let start = Instant::now();
    let mut pacer = Pacer::new(schedule("3/24h"), start, Precision::default()).unwrap();
    let mut released = 0;
    while let Some(due) = next(&mut pacer).await {
        let third = u128::from(released) * 1_000_000_000;
        assert_eq!(
            u128::from(due.ticket.intended.as_nanos()),
            third / 3,
            "{released}"
        );
        assert!(due.fired.saturating_since(due.ticket.intended) < Duration::from_millis(1));
        released += 1_u64;
    }
    assert_eq!(released, 259_200);
}

#[tokio::test(start_paused = true)]
async fn between_milliseconds_the_paused_clock_is_late_and_never_early() {
    let schedule = Schedule::new("0->3000/3s".parse().unwrap(), Arrivals::Poisson, 5);
    let planned = schedule.offered();
    let mut pacer = Pacer::new(schedule, Instant::now(), Precision::SPIN).unwrap();
    let mut released = 0;
    while let Some(due) = next(&mut pacer).await {
        let lag = due
            .fired
            .as_nanos()
            .checked_sub(due.ticket.intended.as_nanos());
        assert!(lag.is_some_and(|lag| lag < 1_000_000), "{due:?}");
        assert_eq!(pacer.last_lag().as_nanos(), u128::from(lag.unwrap()));
        released += 1;
    }
    assert_eq!(released, planned);
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_is_seen_and_named() {
    assert!(clock_is_paused());
    let pacer = |precision| Pacer::new(schedule("1/1s"), Instant::now(), precision).unwrap();
    assert_eq!(pacer(Precision::SPIN).precision(), Precision::Coarse);
    assert_eq!(
        pacer(Precision::Timer).fallback(),
        Some(&Fallback::PausedClock)
    );
    assert_eq!(pacer(Precision::Coarse).fallback(), None);
}

/// The pacer was made while the clock ran; a timer of the kernel would ring before the paused clock is there.
#[tokio::test]
async fn a_clock_that_is_paused_later_is_seen_in_every_kind_of_wait() {
    for precision in [
        Precision::Timer,
        Precision::SPIN,
        Precision::Spin {
            window: Duration::MAX,
        },
    ] {
        let mut pacer = Pacer::new(schedule("20/60s"), Instant::now(), precision).unwrap();
        assert!(next(&mut pacer).await.is_some());
        tokio::time::pause();
        let mut released = 1;
        while let Some(due) = next(&mut pacer).await {
            assert!(due.fired >= due.ticket.intended);
            released += 1;
        }
        tokio::time::resume();
        assert_eq!(released, 1200);
        #[cfg(target_os = "linux")]
        assert_eq!(pacer.fallback(), Some(&Fallback::PausedClock));
    }
}

#[tokio::test]
async fn a_clock_that_runs_is_not_called_paused() {
    assert!(!clock_is_paused());
}

#[tokio::test(start_paused = true)]
async fn a_stalled_consumer_gets_everything_late_and_nothing_is_skipped() {
    let mut pacer = Pacer::new(schedule("100/2s"), Instant::now(), Precision::default()).unwrap();
    let mut lags = Vec::new();
    while let Some(due) = next(&mut pacer).await {
        lags.push(due.fired.saturating_since(due.ticket.intended).as_millis());
        if due.ticket.seq == 50 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    assert_eq!(lags.len(), 200);
    assert!(lags[..=50].iter().all(|&lag| lag == 0));
    // Arrival 50 + k is 10·k ms later than the stall began, and the stall takes 1000 ms.
    for (k, &lag) in lags[51..].iter().enumerate() {
        assert_eq!(lag, 990u128.saturating_sub(10 * k as u128));
    }
    assert_eq!(pacer.max_lag(), Duration::from_millis(990));
}

#[tokio::test(start_paused = true)]
async fn a_late_pacer_lets_other_tasks_run_after_each_burst() {
    let start = Instant::now();
    tokio::time::advance(Duration::from_secs(2)).await;
    let ran = Arc::new(AtomicU64::new(0));
    let mut pacer = Pacer::new(schedule("1000/1s"), start, Precision::default())
        .unwrap()
        .with_burst(10)
        .unwrap();
    let mut released = 0;
    while let Some(due) = next(&mut pacer).await {
        // Every task of the bursts before this one has run.
        assert!(
            ran.load(Ordering::Relaxed) >= due.ticket.seq / 10 * 10,
            "{due:?}"
        );
        let ran = Arc::clone(&ran);
        tokio::spawn(async move { ran.fetch_add(1, Ordering::Relaxed) });
        released += 1;
    }
    assert_eq!(released, 1000);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_released_can_be_counted() {
    let mut pacer = Pacer::new(schedule("10/1s"), Instant::now(), Precision::default()).unwrap();
    for seq in 0..4 {
        assert_eq!(pacer.peek().map(|ticket| ticket.seq), Some(seq));
        assert_eq!(next(&mut pacer).await.map(|due| due.ticket.seq), Some(seq));
    }
    let left: Vec<_> = pacer.into_remaining().map(|ticket| ticket.seq).collect();
    assert_eq!(left, [4, 5, 6, 7, 8, 9]);
}

fn at(seq: u64, millis: u64) -> Ticket {
    Ticket {
        seq,
        intended: Offset::from(Duration::from_millis(millis)),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_inserted_is_released_in_its_turn() {
    let mut pacer = Pacer::new(schedule("100/50ms"), Instant::now(), Precision::default()).unwrap();
    for (seq, millis) in [(92, 75), (91, 15), (93, 75), (90, 20), (94, 3)] {
        pacer.insert(at(seq, millis));
    }
    let mut released = Vec::new();
    while let Some(due) = next(&mut pacer).await {
        released.push((due.ticket.seq, due.fired.as_duration().as_millis()));
        assert_eq!(due.fired, due.ticket.intended);
    }
    // At 20 ms the schedule comes first, and at 75 ms the lower number.
    let expected = [
        (0, 0),
        (94, 3),
        (1, 10),
        (91, 15),
        (2, 20),
        (90, 20),
        (3, 30),
        (4, 40),
        (92, 75),
        (93, 75),
    ];
    assert_eq!(released, expected);
}

#[tokio::test]
async fn an_arrival_inserted_in_the_middle_of_a_wait_does_not_wait_for_the_next_one() {
    for precision in [Precision::Coarse, Precision::Timer, Precision::SPIN] {
        // The second arrival is 1000 s away.
        let mut pacer = Pacer::new(schedule("0.001/2000s"), Instant::now(), precision).unwrap();
        assert_eq!(next(&mut pacer).await.unwrap().ticket.seq, 0);
        let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut pacer).poll_next(cx))).await;
        assert!(polled.is_pending());
        pacer.insert(at(7, 5));
        let due = next(&mut pacer).await.unwrap();
        assert!(due.ticket.seq == 7 && due.fired >= due.ticket.intended);
        // One whose instant has passed is released at once, and says how late it is.
        pacer.insert(at(8, 1));
        let due = next(&mut pacer).await.unwrap();
        assert!(due.ticket.seq == 8 && pacer.last_lag() >= Duration::from_millis(4));
        assert_eq!(pacer.peek().map(|ticket| ticket.seq), Some(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_pacer_that_stays_open_ends_when_it_was_told_to() {
    let start = Instant::now();
    let mut pacer = Pacer::new(schedule("10/1s"), start, Precision::default()).unwrap();
    let until = |millis| Offset::from(Duration::from_millis(millis));
    pacer.stay_open(until(5_000));
    while next(&mut pacer).await.is_some() {}
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    // It goes on with what comes later, and ends with it when it is no longer open.
    pacer.stay_open(until(60_000));
    let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut pacer).poll_next(cx))).await;
    assert!(polled.is_pending());
    pacer.insert(at(77, 6_000));
    assert_eq!(next(&mut pacer).await.unwrap().ticket.seq, 77);
    pacer.stay_open(Offset::ZERO);
    assert_eq!(next(&mut pacer).await, None);
    assert_eq!(start.elapsed(), Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn what_was_inserted_and_not_released_can_be_counted_as_well() {
    let mut pacer = Pacer::new(schedule("10/1s"), Instant::now(), Precision::default()).unwrap();
    for (seq, millis) in [(21, 850), (20, 50), (22, 1_500)] {
        pacer.insert(at(seq, millis));
    }
    for seq in [0, 20, 1] {
        assert_eq!(next(&mut pacer).await.map(|due| due.ticket.seq), Some(seq));
    }
    let left: Vec<_> = pacer.into_remaining().map(|ticket| ticket.seq).collect();
    assert_eq!(left, [2, 3, 4, 5, 6, 7, 8, 21, 9, 22]);
}

#[tokio::test(start_paused = true)]
async fn a_pacer_polled_beside_a_stop_loses_nothing() {
    let start = Instant::now();
    let mut pacer = Pacer::new(schedule("10/10s"), start, Precision::default()).unwrap();
    let mut released = 0;
    // Given up in the middle of a wait, again and again.
    while pacer.peek().is_some() {
        tokio::select! {
            due = next(&mut pacer) => {
                assert_eq!(due.unwrap().ticket.seq, released);
                released += 1;
            }
            () = tokio::time::sleep(Duration::from_millis(7)) => {}
        }
    }
    assert_eq!(released, 100);
    assert_eq!(pacer.max_lag(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_start_in_the_future_is_waited_for() {
    let start = Instant::now() + Duration::from_secs(5);
    let mut pacer = Pacer::new(schedule("1/2s"), start, Precision::default()).unwrap();
    let first = next(&mut pacer).await.unwrap();
    assert_eq!((first.fired, Instant::now()), (Offset::ZERO, start));
}

#[test]
fn a_pacer_outside_a_runtime_is_refused() {
    let pacer = Pacer::new(schedule("1/1s"), Instant::now(), Precision::default());
    assert_eq!(pacer.unwrap_err(), PacerError::NoRuntime);
}

#[test]
fn a_burst_of_nothing_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let pacer = Pacer::new(schedule("1/1s"), Instant::now(), Precision::default()).unwrap();
    assert_eq!(pacer.with_burst(0).unwrap_err(), PacerError::NoBurst);
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_io_driver_the_pacer_is_coarse_and_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut pacer = Pacer::new(schedule("100/50ms"), Instant::now(), Precision::SPIN).unwrap();
        assert_eq!(pacer.precision(), Precision::Coarse);
        assert_eq!(pacer.fallback(), Some(&Fallback::NoIoDriver));
        let reason = pacer.fallback().unwrap().to_string();
        assert!(
            reason.contains("no I/O driver") && reason.contains("enable_all()"),
            "{reason}"
        );
        let mut released = 0;
        while let Some(due) = next(&mut pacer).await {
            assert!(due.fired >= due.ticket.intended);
            released += 1;
        }
        assert_eq!(released, 5);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn without_any_driver_the_pacer_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let pacer = Pacer::new(schedule("1/1s"), Instant::now(), Precision::default());
        assert_eq!(pacer.unwrap_err(), PacerError::NoTimer);
    });
}

#[test]
fn precisions_have_names() {
    for name in ["coarse", "timer", "spin"] {
        assert_eq!(name.parse::<Precision>().unwrap().to_string(), name);
    }
    assert!("exact".parse::<Precision>().is_err());
}
