//! The identity of the counts, whatever happens to the futures: at every snapshot and at the end.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_measurer::{Counts, Kind, Kinds, Layout, Recorder, Verdict, completed, ok_err};
use openloop_sched::{Due, Offset, Ticket};
use proptest::prelude::*;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

fn recorder() -> Recorder {
    let layout = Layout::steady_only(Duration::from_secs(60)).unwrap();
    Recorder::new(Instant::now(), layout)
}

/// What happens to one arrival.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Ok,
    Failed,
    Rejected,
    TimedOut,
    TimedOutWaiting,
    Shed,
    Dropped,
    DroppedUnpolled,
    DroppedPending,
    PanickedAtOnce,
    PanickedLater,
    PanickedInClassifier,
}

const FATES: [Fate; 12] = [
    Fate::Ok,
    Fate::Failed,
    Fate::Rejected,
    Fate::TimedOut,
    Fate::TimedOutWaiting,
    Fate::Shed,
    Fate::Dropped,
    Fate::DroppedUnpolled,
    Fate::DroppedPending,
    Fate::PanickedAtOnce,
    Fate::PanickedLater,
    Fate::PanickedInClassifier,
];

/// Pending at its first poll, then panics.
struct PanicsLater(bool);

impl Future for PanicsLater {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        assert!(!std::mem::replace(&mut self.0, true), "later");
        Poll::Pending
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn catch(run: impl FnOnce()) {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    assert!(caught.is_err());
}

fn undergo(recorder: &Recorder, seq: u64, fate: Fate) {
    undergo_as(recorder, seq, None, fate);
}

fn undergo_as(recorder: &Recorder, seq: u64, kind: Option<Kind>, fate: Fate) {
    let due = Due {
        ticket: Ticket {
            seq,
            intended: Offset::ZERO,
        },
        fired: recorder.now(),
    };
    let arrival = recorder.arrive(due).of_kind(kind);
    let verdict = |verdict: Verdict| {
        let measured = arrival_ready(verdict);
        move |arrival: openloop_measurer::Arrival| {
            let (_, sample) = match poll_once(pin!(arrival.measure_with(measured, |v| *v))) {
                Poll::Ready(ready) => ready,
                Poll::Pending => panic!("a ready future was pending"),
            };
            let whole = sample.schedule_delay().unwrap() + sample.service().unwrap();
            assert_eq!(sample.response(), whole);
        }
    };
    match fate {
        Fate::Ok => verdict(Verdict::Ok)(arrival),
        Fate::Failed => verdict(Verdict::Failed("refused"))(arrival),
        Fate::Rejected => verdict(Verdict::Rejected("http_503"))(arrival),
        Fate::TimedOut => verdict(Verdict::TimedOut)(arrival),
        Fate::TimedOutWaiting => assert_eq!(arrival.timed_out().dispatched, None),
        Fate::Shed => assert_eq!(arrival.shed().service(), None),
        Fate::Dropped => drop(arrival),
        Fate::DroppedUnpolled => drop(arrival.measure(pending::<()>())),
        Fate::DroppedPending => {
            let mut measured = Box::pin(arrival.measure(pending::<()>()));
            assert!(poll_once(measured.as_mut()).is_pending());
        }
        Fate::PanickedAtOnce => catch(|| {
            let _ = poll_once(pin!(
                arrival.measure_with(async { panic!("at once") }, completed::<()>)
            ));
        }),
        Fate::PanickedLater => {
            let mut measured = Box::pin(arrival.measure(PanicsLater(false)));
            assert!(poll_once(measured.as_mut()).is_pending());
            catch(move || {
                let _ = poll_once(measured.as_mut());
            });
        }
        Fate::PanickedInClassifier => catch(|| {
            let _ = poll_once(pin!(
                arrival.measure_with(async {}, |()| panic!("classifier"))
            ));
        }),
    }
}

async fn arrival_ready(verdict: Verdict) -> Verdict {
    verdict
}

fn expected(fates: &[Fate]) -> [u64; 6] {
    let count = |wanted: fn(&Fate) -> bool| fates.iter().filter(|fate| wanted(fate)).count() as u64;
    [
        count(|f| matches!(f, Fate::Ok)),
        count(|f| {
            matches!(
                f,
                Fate::Failed
                    | Fate::PanickedAtOnce
                    | Fate::PanickedLater
                    | Fate::PanickedInClassifier
            )
        }),
        count(|f| matches!(f, Fate::TimedOut | Fate::TimedOutWaiting)),
        count(|f| matches!(f, Fate::Rejected)),
        count(|f| matches!(f, Fate::Shed)),
        count(|f| {
            matches!(
                f,
                Fate::Dropped | Fate::DroppedUnpolled | Fate::DroppedPending
            )
        }),
    ]
}

fn quietly<T>(run: impl FnOnce() -> T) -> T {
    // The panics of these tests are meant; their messages would bury a real one.
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string();
        if !["at once", "later", "classifier"]
            .iter()
            .any(|meant| text.contains(meant))
        {
            eprintln!("{text}");
        }
    }));
    run()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_arrival_ends_exactly_once(fates in prop::collection::vec(prop::sample::select(&FATES[..]), 0..400)) {
        quietly(|| {
            let recorder = recorder();
            for (seq, fate) in fates.iter().enumerate() {
                undergo(&recorder, seq as u64, *fate);
                prop_assert!(recorder.counts().balances());
            }
            let c = recorder.counts();
            prop_assert_eq!(c.scheduled, fates.len() as u64);
            prop_assert_eq!((c.waiting, c.in_flight), (0, 0));
            prop_assert_eq!([c.ok, c.failed, c.timed_out, c.rejected, c.shed, c.abandoned], expected(&fates));

            let snapshot = recorder.snapshot();
            prop_assert!(snapshot.obeys_littles_law());
            let steady = snapshot.steady();
            prop_assert_eq!(steady.response().count(), fates.len() as u64);
            prop_assert_eq!(steady.response().at_least.count(), c.shed + c.abandoned);
            prop_assert_eq!(steady.response_slo().at_least.count(), c.scheduled - c.ok);
            prop_assert_eq!(steady.response_ok().count(), c.ok);
            let timeline = snapshot.timeline();
            prop_assert_eq!(timeline.iter().map(|i| i.arrivals).sum::<u64>(), c.scheduled);
            prop_assert_eq!(timeline.iter().map(|i| i.ended.ended()).sum::<u64>(), c.scheduled);
            Ok(())
        })?;
    }

    #[test]
    fn every_arrival_ends_in_its_own_kind(
        fates in prop::collection::vec((prop::sample::select(&FATES[..]), 0_usize..3), 0..400),
    ) {
        quietly(|| {
            let layout = Layout::steady_only(Duration::from_secs(60)).unwrap();
            let kinds = Kinds::new(["a", "b"]).unwrap();
            let recorder = Recorder::with_kinds(Instant::now(), layout, kinds);
            // Index 2 stands for an arrival without a label.
            let kind = |index: usize| (index < 2).then(|| Kind::new(index));
            for (seq, (fate, index)) in fates.iter().enumerate() {
                undergo_as(&recorder, seq as u64, kind(*index), *fate);
            }
            let snapshot = recorder.snapshot();
            prop_assert!(snapshot.counts().balances());
            for index in 0..3 {
                let of_kind: Vec<_> = fates.iter().filter(|(_, of)| *of == index).map(|(fate, _)| *fate).collect();
                let c = snapshot.of_kind(kind(index)).counts();
                prop_assert!(c.balances());
                prop_assert_eq!(c.scheduled, of_kind.len() as u64);
                prop_assert_eq!([c.ok, c.failed, c.timed_out, c.rejected, c.shed, c.abandoned], expected(&of_kind));
                prop_assert_eq!(snapshot.of_kind(kind(index)).steady().response().count(), c.scheduled);
            }
            Ok(())
        })?;
    }
}

#[test]
fn every_snapshot_from_another_thread_is_a_consistent_cut() {
    quietly(|| {
        let recorder = recorder();
        let done = Arc::new(AtomicBool::new(false));
        let watcher = std::thread::spawn({
            let (recorder, done) = (recorder.clone(), done.clone());
            move || {
                let mut cuts = 0_u64;
                while !done.load(Ordering::Acquire) || cuts == 0 {
                    let counts: Counts = if cuts.is_multiple_of(16) {
                        recorder.snapshot().counts()
                    } else {
                        recorder.counts()
                    };
                    assert!(counts.balances(), "{counts:?}");
                    cuts += 1;
                }
            }
        });
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let recorder = recorder.clone();
                scope.spawn(move || {
                    for i in 0..5_000 {
                        let fate = FATES[usize::try_from((i * 7 + thread) % 12).unwrap()];
                        undergo(&recorder, i * 4 + thread, fate);
                    }
                });
            }
        });
        done.store(true, Ordering::Release);
        watcher.join().unwrap();
        let counts = recorder.counts();
        assert_eq!(
            (counts.scheduled, counts.waiting, counts.in_flight),
            (20_000, 0, 0)
        );
        assert!(recorder.snapshot().obeys_littles_law());
    });
}

#[test]
fn futures_dropped_by_a_panicking_test_are_abandoned_and_not_panicked() {
    quietly(|| {
        let recorder = recorder();
        let theirs = recorder.clone();
        let test = std::thread::spawn(move || {
            let mut pending_futures: Vec<_> = (0..10)
                .map(|seq| {
                    Box::pin(
                        theirs
                            .arrive_at(seq, theirs.start())
                            .measure(pending::<()>()),
                    )
                })
                .collect();
            for future in &mut pending_futures {
                assert!(poll_once(future.as_mut()).is_pending());
            }
            panic!("later");
        });
        assert!(test.join().is_err());
        let counts = recorder.counts();
        assert_eq!(
            (counts.scheduled, counts.abandoned, counts.failed),
            (10, 10, 0)
        );
    });
}

#[test]
fn a_migrating_task_is_in_flight_once_wherever_it_goes() {
    let recorder = recorder();
    let mut measured = Box::pin(
        recorder
            .arrive_at(0, recorder.start())
            .measure_with(pending::<()>(), completed),
    );
    assert!(poll_once(measured.as_mut()).is_pending());
    assert_eq!(recorder.counts().in_flight, 1);
    std::thread::spawn(move || {
        assert!(poll_once(measured.as_mut()).is_pending());
        drop(measured);
    })
    .join()
    .unwrap();
    let counts = recorder.counts();
    assert_eq!((counts.in_flight, counts.abandoned), (0, 1));
}

#[test]
fn a_borrowed_future_of_a_foreign_type_is_measured() {
    let recorder = recorder();
    let text = String::from("7");
    let arrival = recorder.arrive_at(0, recorder.start());
    let measured = pin!(arrival.measure_with(async { text.parse::<u8>() }, ok_err));
    assert!(matches!(poll_once(measured), Poll::Ready((Ok(7), _))));
}
