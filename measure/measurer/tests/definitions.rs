//! Each definition, to the nanosecond, on the paused clock or on a written trace.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_measurer::{
    Describe, Details, Layout, Outcome, Phase, Quantile, Recorder, Sample, Value, Verdict,
};
use openloop_sched::{Due, Offset, Ticket};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Offset {
    Offset::from_nanos(ms * MS)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

struct Reply;

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.acquire(ms(2));
        into.duration("itl", ms(3));
        into.duration("itl", ms(5));
        // However long it had waited, and 0 where there was no wait yet.
        into.since_intended("first", Instant::now() - ms(1));
        into.since_intended("before", into.intended() - ms(1));
        into.count("bytes", 11);
        into.received(Instant::now() - ms(1));
    }
}

/// Of two parts of an answer one runs from the intended instant.
struct Parted(bool);

impl Describe for Parted {
    fn verdict(&self) -> Verdict {
        match self.0 {
            true => Verdict::Ok,
            false => Verdict::Failed("cut_off"),
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        into.answer_since_intended("first", into.intended() + ms(50));
        into.of_answer("last", ms(60));
    }
}

#[tokio::test(start_paused = true)]
async fn the_lateness_of_the_generator_can_be_taken_from_what_comes_before_the_end() {
    let recorder = Recorder::new(Instant::now(), Layout::steady_only(ms(100)).unwrap());
    sleep(ms(20)).await;
    for (seq, lag, is_whole) in [(0, 4, true), (1, 20, true), (2, 9, false)] {
        let ticket = Ticket {
            seq,
            intended: at(20 - lag),
        };
        let arrival = recorder.arrive(Due {
            ticket,
            fired: at(20),
        });
        arrival.measure(async { Parted(is_whole) }).await;
    }
    let steady = recorder.snapshot().steady();
    let first = steady.metric("first").unwrap();
    assert!(steady.is_of_answers("first"));
    assert_eq!(
        (first.count(), first.min_ns(), first.max_ns()),
        (2, Some(50 * MS), Some(50 * MS))
    );
    let since_fired = steady.metric_since_fired("first").unwrap();
    assert_eq!(since_fired.count(), 2);
    assert_eq!(since_fired.min_ns(), Some(30 * MS));
    assert_eq!(since_fired.max_ns(), Some(46 * MS));
    assert!(steady.metric_since_fired("last").is_none());
}

#[tokio::test(start_paused = true)]
async fn response_is_schedule_delay_plus_service_and_exchange_leaves_out_our_wait() {
    let start = Instant::now();
    let recorder = Recorder::new(start, Layout::steady_only(ms(100)).unwrap());
    sleep(ms(10)).await;
    let arrival = recorder.arrive(Due {
        ticket: Ticket {
            seq: 3,
            intended: at(7),
        },
        fired: at(10),
    });
    sleep(ms(4)).await;
    let (_, sample) = arrival
        .measure(async {
            sleep(ms(20)).await;
            Reply
        })
        .await;
    assert_eq!(sample.lag(), ms(3));
    assert_eq!(sample.admission(), Some(ms(4)));
    assert_eq!(sample.schedule_delay(), Some(ms(7)));
    assert_eq!(sample.service(), Some(ms(20)));
    assert_eq!(sample.exchange(), Some(ms(18)));
    assert_eq!(sample.pickup(), Some(ms(1)));
    assert_eq!(sample.response(), ms(27));

    let steady = recorder.snapshot().steady();
    let metrics: Vec<_> = steady
        .metrics()
        .map(|(name, h)| (name, h.count(), h.max_ns()))
        .collect();
    assert_eq!(
        metrics,
        [
            ("acquire", 1, Some(2 * MS)),
            ("itl", 2, Some(5 * MS)),
            ("first", 1, Some(26 * MS)),
            ("before", 1, Some(0)),
        ]
    );
    assert_eq!(steady.counts().collect::<Vec<_>>(), [("bytes", 11)]);
    assert_eq!(steady.total(|c| &c.until_received).max_ns(), Some(26 * MS));
    assert_eq!(steady.total(|c| &c.since_fired).max_ns(), Some(24 * MS));
}

#[tokio::test(start_paused = true)]
async fn details_of_a_classifier_that_panics_are_not_charged_to_the_next_arrival() {
    struct Bad(bool);
    impl Describe for Bad {
        fn verdict(&self) -> Verdict {
            Verdict::Ok
        }
        fn details(&self, into: &mut Details<'_>) {
            into.count("bytes", 1);
            assert!(self.0, "meant");
        }
    }
    let recorder = Recorder::new(Instant::now(), Layout::steady_only(ms(100)).unwrap());
    let first = recorder.arrive_at(0, recorder.start());
    let task = tokio::spawn(async move { first.measure(async { Bad(false) }).await.1 });
    assert!(task.await.is_err());
    recorder
        .arrive_at(1, recorder.start())
        .measure(async { Bad(true) })
        .await;
    let counts = recorder.counts();
    assert_eq!((counts.ok, counts.failed), (1, 1));
    let steady = recorder.snapshot().steady();
    assert_eq!(steady.counts().collect::<Vec<_>>(), [("bytes", 1)]);
    assert!(
        steady
            .classes()
            .any(|(outcome, _)| outcome == Outcome::Failed("panic"))
    );
}

/// A server that takes 1 ms a request, first come first served, and starts nothing in [5 s, 6 s).
#[test]
fn the_stall_of_a_second_is_charged_to_everyone_who_waited_in_it() {
    let start = Instant::now();
    let recorder = Recorder::new(start, Layout::steady_only(Duration::from_secs(10)).unwrap());
    let mut free = 0;
    for seq in 0..1000 {
        let intended = seq * 10 * MS;
        let mut begin = intended.max(free);
        if (5_000 * MS..6_000 * MS).contains(&begin) {
            begin = 6_000 * MS;
        }
        free = begin + MS;
        let ticket = Ticket {
            seq,
            intended: Offset::from_nanos(intended),
        };
        let ended = Offset::from_nanos(free);
        recorder.write(Sample::new(
            ticket,
            ticket.intended,
            ticket.intended,
            ended,
            Outcome::Ok,
        ));
    }
    let response = recorder.snapshot().steady().response();
    let to_ms = |value: Option<Value>| {
        value
            .and_then(Value::exact)
            .map(|ns| (ns as f64 / 1e6).round())
    };
    assert_eq!(response.count(), 1000);
    assert_eq!(to_ms(response.quantile(Quantile::P50)), Some(1.0));
    assert_eq!(to_ms(response.quantile(Quantile::P99)), Some(911.0));
    assert_eq!(response.max(), Some(Value::Exact(1001 * MS)));
    assert_eq!(response.exact.count_above(MS + MS / 500), 112);
}

#[test]
fn a_phase_owns_the_arrivals_that_were_intended_in_it_and_achieved_counts_completions() {
    let layout = Layout::new(&[
        (Phase::WarmUp, ms(100)),
        (Phase::Steady, ms(100)),
        (Phase::Cooldown, ms(50)),
    ])
    .unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    for (seq, (intended, ended)) in [(99, 150), (100, 101), (199, 200), (200, 201), (250, 260)]
        .into_iter()
        .enumerate()
    {
        let ticket = Ticket {
            seq: seq as u64,
            intended: at(intended),
        };
        recorder.write(Sample::new(
            ticket,
            at(intended),
            at(intended),
            at(ended),
            Outcome::Ok,
        ));
    }
    let snapshot = recorder.snapshot();
    let scheduled: Vec<_> = snapshot
        .phases()
        .iter()
        .map(|(phase, c)| (phase.name(), c.scheduled))
        .collect();
    assert_eq!(scheduled, [("warm_up", 1), ("steady", 2), ("cooldown", 1)]);
    assert_eq!(snapshot.counts().scheduled, 5);
    // Those of 99 and 100 end within [100, 200); the one of 199 ends at 200, outside.
    assert_eq!(
        snapshot.course().ok_completions_before(at(200)),
        (2, ms(100))
    );
    assert_eq!(snapshot.steady().response().count(), 2);
    let (gauge, stays) = snapshot.mean_in_flight();
    assert_eq!((gauge, stays), (0.52, 0.52));
}

#[tokio::test(start_paused = true)]
async fn what_is_in_flight_is_counted_and_not_yet_in_any_histogram() {
    let recorder = Recorder::new(Instant::now(), Layout::steady_only(ms(100)).unwrap());
    let arrival = recorder.arrive_at(0, recorder.start());
    let task = tokio::spawn(arrival.measure(std::future::pending::<()>()));
    sleep(ms(40)).await;
    let snapshot = recorder.snapshot();
    assert_eq!(
        (snapshot.counts().in_flight, snapshot.counts().scheduled),
        (1, 1)
    );
    assert_eq!(snapshot.steady().response().count(), 0);
    assert_eq!(snapshot.mean_in_flight().0, 0.4);
    task.abort();
    assert!(task.await.is_err());
    let snapshot = recorder.snapshot();
    assert_eq!(
        (snapshot.counts().in_flight, snapshot.counts().abandoned),
        (0, 1)
    );
    assert_eq!(
        snapshot.steady().response().max(),
        Some(Value::AtLeast(40 * MS))
    );
}

#[test]
fn an_unsent_arrival_is_as_old_as_the_run_was_when_it_gave_up() {
    let recorder = Recorder::new(Instant::now(), Layout::steady_only(ms(100)).unwrap());
    recorder.unsent(
        Ticket {
            seq: 0,
            intended: at(90),
        },
        at(100),
    );
    let snapshot = recorder.snapshot();
    assert_eq!(
        (snapshot.counts().unsent, snapshot.counts().scheduled),
        (1, 1)
    );
    assert_eq!(
        snapshot.steady().response_slo().max(),
        Some(Value::AtLeast(10 * MS))
    );
    assert_eq!(snapshot.timeline()[0].fired, 0);
}
