//! Sessions on the paused clock, to the digit: when each request is due, and what becomes of the rest.
//!
//! The clock ticks in whole milliseconds, so every duration here is a whole number of them.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_experiment::{
    InFlight, Lifecycle, LoopKind, Metric, OnFailure, Plan, PlanBuilder, Run, SessionCounts, Step,
    drive, in_sessions,
};
use openloop_measurer::{Describe, Phase, Verdict};
use openloop_sched::{Arrivals, Rate, Ticket};
use openloop_workload::sessions::Sessions;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn sessions(steps: &str, think: &str) -> Sessions {
    Sessions::new(steps.parse().unwrap(), think.parse().unwrap()).unwrap()
}

fn steady(per_second: f64, length: Duration) -> PlanBuilder {
    Plan::open(Rate::per_second(per_second).unwrap())
        .lifecycle(Lifecycle::steady_only(length))
        .arrivals(Arrivals::Constant)
}

/// The intended instants, in milliseconds, by session and step.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<BTreeMap<(u64, u32), u128>>>);

impl Log {
    fn note(&self, ticket: Ticket) {
        let step = Step::of(ticket);
        let intended = ticket.intended.as_duration();
        assert_eq!(intended.subsec_nanos() % 1_000_000, 0, "{ticket:?}");
        let twice = self
            .0
            .lock()
            .unwrap()
            .insert((step.session(), step.index()), intended.as_millis());
        assert_eq!(twice, None, "{ticket:?}");
    }

    fn entries(&self) -> Vec<((u64, u32), u128)> {
        self.0.lock().unwrap().clone().into_iter().collect()
    }

    /// The intended instants of the steps with this index.
    fn of_step(&self, index: u32) -> Vec<u128> {
        let entries = self.entries().into_iter();
        entries
            .filter(|((_, step), _)| *step == index)
            .map(|(_, at)| at)
            .collect()
    }
}

fn counts(run: &Run) -> (u64, u64, u64, u64) {
    let counts: &SessionCounts = run.sessions().unwrap();
    let (started, finished) = (counts.started, counts.finished);
    (started, finished, counts.ended_early, counts.unfinished())
}

/// What holds of every run that was not interrupted.
fn sound(run: &Run) {
    let scheduled = run.snapshot().counts();
    assert!(scheduled.balances(), "{scheduled:?}");
    assert_eq!(run.sessions().unwrap().steps, scheduled.scheduled);
    assert!(run.validity().is_valid(), "{:?}", run.validity());
    let checked = |name| run.validity().checks().iter().any(|c| c.name == name);
    assert!(checked("fired_as_scheduled"));
}

#[derive(Clone, Copy, Debug)]
struct Said(bool);

impl Describe for Said {
    fn verdict(&self) -> Verdict {
        match self.0 {
            true => Verdict::Ok,
            false => Verdict::Failed("meant"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_request_is_due_a_think_time_after_the_answer_before_it() {
    let log = Log::default();
    let noted = log.clone();
    let plan = steady(1.0, secs(3))
        .sessions(sessions("fixed:3", "fixed:0.25"))
        .build()
        .unwrap();
    let run = drive::shared(&plan, move |ticket: Ticket| {
        noted.note(ticket);
        sleep(ms(100))
    })
    .await
    .unwrap();
    let expected = [0, 1, 2].map(|session| {
        let at = u128::from(session) * 1000;
        [
            ((session, 0), at),
            ((session, 1), at + 350),
            ((session, 2), at + 700),
        ]
    });
    assert_eq!(log.entries(), expected.concat());
    // Each is measured from its own intended instant, at which it was released.
    let response = run.series(&Metric::Response);
    let response = &response.whole().exact;
    assert_eq!((response.count(), response.sum_ns()), (9, 900_000_000));
    assert_eq!(run.generator().max_lag, Duration::ZERO);
    assert_eq!(counts(&run), (3, 3, 0, 0));
    assert_eq!(run.sessions().unwrap().mean_steps(), Some(3.0));
    assert_eq!(run.offered_per_second(), Some(3.0));
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn nothing_becomes_due_at_the_end_or_after_it() {
    let log = Log::default();
    let noted = log.clone();
    let plan = steady(1.0, secs(3))
        .sessions(sessions("fixed:9", "fixed:0.4"))
        .build()
        .unwrap();
    let run = drive::shared(&plan, move |ticket: Ticket| {
        noted.note(ticket);
        sleep(ms(100))
    })
    .await
    .unwrap();
    // A step every 500 ms, in [0, 3 s): 6, 4 and 2 of the nine.
    assert_eq!(log.entries().len(), 12);
    assert_eq!(log.entries().iter().map(|(_, at)| *at).max(), Some(2500));
    assert_eq!(counts(&run), (3, 0, 0, 3));
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn a_stall_delays_later_requests_while_sessions_keep_coming() {
    let log = Log::default();
    let noted = log.clone();
    let plan = steady(10.0, secs(10))
        .sessions(sessions("fixed:2", "fixed:0.5"))
        .build()
        .unwrap();
    // The run begins 5 ms after the call.
    let start = Instant::now() + ms(5);
    let run = drive::shared(&plan, move |ticket: Ticket| {
        noted.note(ticket);
        async move {
            // Whatever comes in [5 s, 6 s) is answered at 6 s.
            if (start + secs(5)..start + secs(6)).contains(&Instant::now()) {
                sleep_until(start + secs(6)).await;
            }
        }
    })
    .await
    .unwrap();
    let every_100: Vec<u128> = (0..100).map(|k| k * 100).collect();
    assert_eq!(log.of_step(0), every_100);
    // Those of sessions from before the stall, then those of the ten in it, all at once, then as before; the last
    // five sessions would ask again after the end.
    let later: Vec<u128> = (0..95)
        .map(|k| match k {
            50..60 => 6500,
            k => 500 + k * 100,
        })
        .collect();
    assert_eq!(log.of_step(1), later);
    // An open loop of the same 20 requests a second would have sent 20 into the stall; this one sent 15.
    let stalled = run
        .series(&Metric::Response)
        .whole()
        .exact
        .count_above(1_000_000);
    assert_eq!(stalled, 15);
    assert_eq!(counts(&run), (100, 95, 0, 5));
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn with_one_request_a_session_is_an_arrival_of_an_open_loop() {
    let quick = || {
        Plan::open(Rate::per_second(40.0).unwrap())
            .lifecycle(Lifecycle::quick())
            .in_flight(InFlight::Queue(3))
            .timeout(ms(300))
            .seed(11)
    };
    let open = quick().build().unwrap();
    let one = quick()
        .sessions(sessions("fixed:1", "fixed:1"))
        .build()
        .unwrap();
    let mut runs = Vec::new();
    for plan in [open, one] {
        let seen: Arc<Mutex<Vec<_>>> = Arc::default();
        let into = seen.clone();
        let start = Instant::now() + ms(5);
        let run = drive::shared(&plan, move |ticket: Ticket| {
            let dispatched = Instant::now() - start;
            into.lock().unwrap().push((ticket, dispatched));
            async move {
                sleep(ms(ticket.seq % 17 * 10)).await;
                Said(!ticket.seq.is_multiple_of(5))
            }
        })
        .await
        .unwrap();
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        runs.push((run, seen));
    }
    let (open, one) = (&runs[0].0, &runs[1].0);
    assert_eq!(runs[0].1, runs[1].1);
    assert_eq!(open.snapshot().counts(), one.snapshot().counts());
    assert!(open.snapshot().counts().timed_out > 0 && open.snapshot().counts().failed > 0);
    assert_eq!(open.snapshot().phases(), one.snapshot().phases());
    for metric in [Metric::Response, Metric::Service, Metric::ScheduleDelay] {
        let buckets = |run: &Run| {
            let series = run.series(&metric);
            let histogram = &series.whole().exact;
            (histogram.sum_ns(), histogram.buckets().collect::<Vec<_>>())
        };
        assert_eq!(buckets(open), buckets(one), "{metric:?}");
    }
    // No longer than the open loop either: nothing is waited for.
    assert_eq!(open.generator().sending, one.generator().sending);
    assert_eq!(one.loop_kind(), LoopKind::PartlyOpen);
    assert!(one.validity().warnings().all(|c| c.name != "open_loop"));
    sound(one);
}

#[tokio::test(start_paused = true)]
async fn requests_come_at_the_rate_of_sessions_times_their_mean_length() {
    let (sigma, length) = (2.0, 8_000);
    let law = sessions("exponential:5", "exponential:1.5");
    let plan = Plan::open(Rate::per_second(sigma).unwrap())
        .sessions(law.clone())
        .lifecycle(Lifecycle {
            warm_up: secs(300),
            ..Lifecycle::steady_only(secs(length))
        })
        .seed(3)
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| sleep(ms(500)))
        .await
        .unwrap();
    // A compound Poisson count has the variance σT·E[N²]; four standard errors.
    let n = 16_000;
    let squares = (0..n).map(|session| f64::from(law.steps(3, session)).powi(2));
    let mean_square = squares.sum::<f64>() / n as f64;
    let expected = law.request_rate(sigma);
    let tolerance = 4.0 * (sigma * mean_square / length as f64).sqrt();
    let offered = run.offered_per_second().unwrap();
    assert!(
        (offered - expected).abs() < tolerance && tolerance < 0.05 * expected,
        "{offered} {expected} ± {tolerance}"
    );
    // By Little's law, of requests: N = λW.
    let (in_flight, _) = run.snapshot().mean_in_flight();
    assert!((in_flight - offered * 0.5).abs() < 0.01 * in_flight);
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_with_its_first_failure_or_goes_on_as_it_was_told() {
    // The second of each four requests is not served: it says so, panics, or runs out of time.
    for how in ["fails", "panics", "hangs"] {
        for (on_failure, steps, expected) in [
            (None, 2, (10, 0, 10, 0)),
            (Some(OnFailure::End), 2, (10, 0, 10, 0)),
            (Some(OnFailure::Continue), 4, (10, 10, 0, 0)),
        ] {
            let log = Log::default();
            let noted = log.clone();
            // All sessions in the first second, and time enough for them to end.
            let mut plan = Plan::profile("10/1s,0/60s".parse().unwrap())
                .arrivals(Arrivals::Constant)
                .sessions(sessions("fixed:4", "fixed:1"))
                .timeout(secs(2));
            if let Some(on_failure) = on_failure {
                plan = plan.on_failure(on_failure);
            }
            let run = drive::shared(&plan.build().unwrap(), move |ticket: Ticket| {
                noted.note(ticket);
                async move {
                    match (Step::of(ticket).index(), how) {
                        (1, "fails") => return Said(false),
                        (1, "panics") => panic!("meant"),
                        (1, _) => std::future::pending().await,
                        _ => {}
                    }
                    Said(true)
                }
            })
            .await
            .unwrap();
            assert_eq!(counts(&run), expected, "{how} {on_failure:?}");
            assert_eq!(log.entries().len(), 10 * steps);
            let lost = if how == "hangs" { 2000 } else { 0 };
            for (k, at) in log.of_step(2).into_iter().enumerate() {
                assert_eq!(at, 100 * k as u128 + 2000 + lost);
            }
            // It ends when nothing more can come, long before the 61 s of the plan and their drain.
            assert!(run.generator().sending < secs(10));
            sound(&run);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_shed_is_a_failure_of_its_session() {
    for (on_failure, shed, expected) in [
        (OnFailure::End, 1, (2, 1, 1, 0)),
        (OnFailure::Continue, 2, (2, 2, 0, 0)),
    ] {
        // Of two sessions at 0 and 100 ms the second finds the place taken.
        let plan = Plan::profile("10/200ms,0/60s".parse().unwrap())
            .arrivals(Arrivals::Constant)
            .sessions(sessions("fixed:2", "fixed:1"))
            .on_failure(on_failure)
            .in_flight(InFlight::Shed(1))
            .build()
            .unwrap();
        let run = drive::shared(&plan, |_: Ticket| sleep(ms(500)))
            .await
            .unwrap();
        // If the second goes on, it asks again at 1.1 s, and has the place when the first does so at 1.5 s.
        assert_eq!(counts(&run), expected);
        assert_eq!(run.snapshot().counts().shed, shed);
        sound(&run);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_runs_from_the_intended_instant_of_each_request() {
    // Two sessions at once, one place: the second request of each waits for it.
    let plan = Plan::profile("10/200ms,0/60s".parse().unwrap())
        .arrivals(Arrivals::Constant)
        .sessions(sessions("fixed:2", "fixed:0"))
        .in_flight(InFlight::Queue(1))
        .timeout(ms(250))
        .build()
        .unwrap();
    let log = Log::default();
    let noted = log.clone();
    let run = drive::shared(&plan, move |ticket: Ticket| {
        noted.note(ticket);
        sleep(ms(200))
    })
    .await
    .unwrap();
    // Session 0 is served in [0, 200), and asks again at 200. Session 1 came at 100, gets the place at 200, and gives
    // up at 350. Then session 0 has it, and gives up at 450, of which it has waited 150.
    assert_eq!(log.entries(), [((0, 0), 0), ((0, 1), 200), ((1, 0), 100)]);
    assert_eq!(run.snapshot().counts().timed_out, 2);
    let response = run.series(&Metric::Response);
    assert_eq!(response.whole().exact.sum_ns(), 700_000_000);
    let service = run.series(&Metric::Service);
    assert_eq!(service.whole().exact.sum_ns(), 450_000_000);
    // The last of session 0 was its last request: it ran out of time, and nothing was left out.
    assert_eq!(counts(&run), (2, 1, 1, 0));
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn a_later_request_counts_in_the_phase_in_which_it_is_due() {
    let plan = Plan::open(Rate::per_second(1.0).unwrap())
        .arrivals(Arrivals::Constant)
        .sessions(sessions("fixed:2", "fixed:1.5"))
        .lifecycle(Lifecycle {
            warm_up: secs(2),
            ..Lifecycle::steady_only(secs(4))
        })
        .build()
        .unwrap();
    let run = drive::shared(&plan, in_sessions(|_| async {}))
        .await
        .unwrap();
    // First ones at 0 … 5 s; later ones at 1.5, 2.5, 3.5, 4.5, 5.5 s, and at 6.5 s none.
    let scheduled: Vec<_> = run
        .snapshot()
        .phases()
        .iter()
        .map(|(phase, counts)| (*phase, counts.scheduled))
        .collect();
    assert_eq!(scheduled, [(Phase::WarmUp, 3), (Phase::Steady, 8)]);
    assert_eq!(plan.preview().unwrap().total, 6);
    sound(&run);
}

#[tokio::test(start_paused = true)]
async fn a_report_says_that_the_rate_is_not_the_plans_alone() {
    let plan = steady(10.0, secs(10))
        .sessions(sessions("fixed:4", "fixed:2"))
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| async {}).await.unwrap();
    assert_eq!(run.loop_kind().name(), "partly_open");
    assert_eq!(run.asked_per_second(), None);
    assert_eq!(run.asked_sessions_per_second(), Some(10.0));
    let warning = run
        .validity()
        .warnings()
        .find(|check| check.name == "open_loop")
        .unwrap();
    // Sessions of 6 s were still accumulating when the steady phase began.
    for words in ["4.0 requests", "took 6.0 s", "after 0.0 s"] {
        assert!(warning.why.contains(words), "{}", warning.why);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_sessions_and_keeps_their_report() {
    let plan = steady(10.0, secs(100))
        .sessions(sessions("fixed:1000", "fixed:1"))
        .build()
        .unwrap();
    let drive = drive::shared(&plan, |_: Ticket| sleep(ms(700)));
    let stop = drive.stop_handle();
    let watch = tokio::spawn(async move {
        sleep(ms(20_055)).await;
        stop.stop();
    });
    let run = drive.await.unwrap();
    watch.await.unwrap();
    // A request every 1.7 s of each session: 1 + ⌊(20.05 − t)/1.7⌋ of the one that came at t.
    let due: u64 = (0..=200).map(|k| 1 + (20_050 - 100 * k) / 1_700).sum();
    let counted = run.snapshot().counts();
    assert_eq!((counted.scheduled, counted.ok), (due, due));
    assert_eq!(counts(&run), (201, 0, 0, 201));
    assert!(run.interrupted().is_some());
}
