//! The drivers on the paused clock, to the digit.
//!
//! tokio's paused clock ticks in whole milliseconds and rounds up, so a service of 1 s stands for one of 1 ms.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_experiment::{InFlight, Lifecycle, Metric, Plan, Run, TimeoutFrom, classified, drive};
use openloop_measurer::{Layout, Outcome, Quantile, Recorder, Sample, Value, completed, ok_err};
use openloop_sched::{Arrivals, Offset, Rate, Recorded, Ticket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

const SECOND: u64 = 1_000_000_000;

fn rate(rate: f64) -> Rate {
    Rate::per_second(rate).unwrap()
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn steady(rate_per_second: f64, length: Duration) -> openloop_experiment::PlanBuilder {
    Plan::open(rate(rate_per_second))
        .lifecycle(Lifecycle::steady_only(length))
        .arrivals(Arrivals::Constant)
}

fn quantile(run: &Run, metric: &Metric, q: Quantile) -> Value {
    run.series(metric).quantile(q).unwrap()
}

fn exact_ms(value: Value) -> f64 {
    (value.exact().unwrap() as f64 / 1e6).round()
}

/// One worker, first come first served, that starts nothing in [5 s, 6 s): it knows when each will be done.
#[derive(Clone, Default)]
struct Worker {
    free: Arc<Mutex<Option<Instant>>>,
}

impl Worker {
    async fn serve(self, start: Instant, service: Duration, stall: Option<(Duration, Duration)>) {
        let done = {
            let mut free = self.free.lock().unwrap();
            let mut begin = free.map_or(Instant::now(), |free| free.max(Instant::now()));
            if let Some((from, to)) = stall
                && begin >= start + from
                && begin < start + to
            {
                begin = start + to;
            }
            *free.insert(begin + service)
        };
        sleep_until(done).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_stall_of_a_second_reads_the_same_from_a_driver_as_from_a_trace() {
    let worker = Worker::default();
    let plan = steady(100.0, secs(10)).build().unwrap();
    // The run begins 5 ms after the call.
    let start = Instant::now() + ms(5);
    let run = drive::shared(&plan, move |_: Ticket| {
        worker.clone().serve(start, ms(1), Some((secs(5), secs(6))))
    })
    .await
    .unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.ok), (1000, 1000));
    assert_eq!(
        exact_ms(quantile(&run, &Metric::Response, Quantile::P50)),
        1.0
    );
    assert_eq!(
        exact_ms(quantile(&run, &Metric::Response, Quantile::P99)),
        911.0
    );
    assert_eq!(
        run.series(&Metric::Response).whole().max(),
        Some(Value::Exact(1001 * SECOND / 1000))
    );
    assert_eq!(
        run.series(&Metric::Response)
            .whole()
            .exact
            .count_above(1_002_000),
        112
    );
    assert_eq!(run.offered_per_second(), Some(100.0));
    assert!(run.validity().is_valid(), "{:?}", run.validity());
}

#[tokio::test(start_paused = true)]
async fn a_queue_of_one_moves_the_wait_from_service_to_schedule_delay_and_response_stays() {
    let worker = Worker::default();
    let plan = steady(100.0, secs(10))
        .in_flight(InFlight::Queue(1))
        .build()
        .unwrap();
    let start = Instant::now() + ms(5);
    let run = drive::shared(&plan, move |_: Ticket| {
        worker.clone().serve(start, ms(1), Some((secs(5), secs(6))))
    })
    .await
    .unwrap();
    assert_eq!(
        exact_ms(quantile(&run, &Metric::Response, Quantile::P99)),
        911.0
    );
    assert_eq!(
        exact_ms(quantile(&run, &Metric::Service, Quantile::P99)),
        1.0
    );
    assert_eq!(
        exact_ms(quantile(&run, &Metric::ScheduleDelay, Quantile::P99)),
        // The first in the stall holds the place, and has no delay: the eleventh largest is that of the twelfth.
        901.0
    );
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_does_not_see_the_stall_and_says_so() {
    let worker = Worker::default();
    let plan = Plan::closed(1)
        .think(ms(9))
        .lifecycle(Lifecycle::steady_only(secs(10)))
        .build()
        .unwrap();
    let start = Instant::now() + ms(5);
    let run = drive::shared(&plan, move |_: Ticket| {
        worker.clone().serve(start, ms(1), Some((secs(5), secs(6))))
    })
    .await
    .unwrap();
    // 100 requests that were due in the stall were never made.
    assert_eq!(run.snapshot().counts().scheduled, 900);
    assert_eq!(
        exact_ms(quantile(&run, &Metric::Response, Quantile::P99)),
        1.0
    );
    assert_eq!(run.loop_kind().name(), "closed");
    assert!(
        run.validity()
            .warnings()
            .any(|check| check.name == "open_loop")
    );
}

/// Responses to a stream of seed 7 by one worker with exponential service, from the driver and from the recursion.
#[tokio::test(start_paused = true)]
async fn the_driver_gives_the_quantiles_of_the_pure_trace_of_the_same_seed() {
    let service = |seq: u64| {
        let uniform =
            ((seq.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Duration::from_secs_f64(-uniform.ln())
    };
    let length = secs(100_000);
    for arrivals in [Arrivals::Poisson, Arrivals::Constant] {
        let plan = Plan::open(rate(0.75))
            .lifecycle(Lifecycle::steady_only(length))
            .arrivals(arrivals)
            .drain(secs(1000))
            .seed(7)
            .build()
            .unwrap();

        let trace = Recorder::new(Instant::now(), Layout::steady_only(length).unwrap());
        let mut free = 0;
        for ticket in plan.schedule().unwrap().clone() {
            let begin = ticket.intended.as_nanos().max(free);
            free = begin + u64::try_from(service(ticket.seq).as_nanos()).unwrap();
            let ended = Offset::from_nanos(free);
            trace.write(Sample::new(
                ticket,
                ticket.intended,
                ticket.intended,
                ended,
                Outcome::Ok,
            ));
        }

        let worker = Worker::default();
        let run = drive::shared(&plan, move |ticket: Ticket| {
            worker
                .clone()
                .serve(Instant::now(), service(ticket.seq), None)
        })
        .await
        .unwrap();

        let traced = trace.snapshot().steady().response();
        assert_eq!(run.snapshot().counts().ok, traced.count());
        for q in [Quantile::P50, Quantile::P90, Quantile::P99] {
            let driven = quantile(&run, &Metric::Response, q).ns() as f64;
            let traced = traced.quantile(q).unwrap().ns() as f64;
            // Ticks of 1 ms delay arrivals and completions by up to 1 ms each, of a service of 1 s.
            assert!(
                (driven / traced - 1.0).abs() < 0.004,
                "{q}: {driven} against {traced}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_runs_from_the_intended_instant_also_while_waiting_for_a_permit() {
    let plan = steady(10.0, secs(1))
        .in_flight(InFlight::Queue(1))
        .timeout(ms(250))
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| std::future::pending::<()>())
        .await
        .unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.timed_out), (10, 10));
    let response = run.series(&Metric::Response);
    // Each gives up 250 ms after it was intended, wherever it is then.
    assert_eq!(response.whole().exact.min_ns(), Some(250_000_000));
    assert!(response.whole().exact.max_ns().unwrap() <= 251_000_000);
    assert!(
        run.series(&Metric::ResponseSlo)
            .quantile(Quantile::P50)
            .unwrap()
            .is_lower_bound()
    );
}

#[tokio::test(start_paused = true)]
async fn an_arrival_that_gives_up_before_it_gets_a_permit_is_never_dispatched() {
    let trace = Recorded::new(vec![Offset::ZERO; 3], 1.0).unwrap();
    let plan = Plan::recorded(trace)
        .in_flight(InFlight::Queue(1))
        .timeout(ms(250))
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| std::future::pending::<()>())
        .await
        .unwrap();
    assert_eq!(run.snapshot().counts().timed_out, 3);
    assert_eq!(run.series(&Metric::Service).whole().count(), 1);
    assert_eq!(run.series(&Metric::Response).whole().count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_from_dispatch_leaves_the_wait_for_a_permit_out() {
    let plan = steady(10.0, secs(1))
        .in_flight(InFlight::Queue(1))
        .timeout(ms(250))
        .timeout_from(TimeoutFrom::Dispatched)
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| std::future::pending::<()>())
        .await
        .unwrap();
    assert_eq!(run.snapshot().counts().timed_out, 10);
    let service = run.series(&Metric::Service);
    assert_eq!(service.whole().count(), 10);
    assert_eq!(service.whole().exact.min_ns(), Some(250_000_000));
    // The tenth was intended at 900 ms and waited for nine others.
    assert!(
        run.series(&Metric::Response)
            .whole()
            .exact
            .max_ns()
            .unwrap()
            >= 1_600_000_000
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_over_the_limit_is_shed_and_cannot_make_a_percentile_better() {
    let plan = steady(1000.0, secs(20))
        .in_flight(InFlight::Shed(100))
        .build()
        .unwrap();
    let start = Instant::now() + ms(5);
    // Holds everything for two seconds in the middle.
    let run = drive::shared(&plan, move |_: Ticket| async move {
        let now = Instant::now();
        if now >= start + secs(10) && now < start + secs(12) {
            sleep_until(start + secs(12)).await;
        }
    })
    .await
    .unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.shed), (20_000, 1_900));
    assert_eq!(quantile(&run, &Metric::ResponseOk, Quantile::P99).ns(), 0);
    assert!(quantile(&run, &Metric::ResponseSlo, Quantile::P99).is_lower_bound());
    let judgement = "p99<=100ms"
        .parse::<openloop_experiment::Slo>()
        .unwrap()
        .judge(&run);
    assert_eq!(judgement.verdict.name(), "fail", "{judgement}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_counts_what_was_due_and_keeps_the_report() {
    let plan = steady(10.0, secs(100)).build().unwrap();
    let run = drive::shared(&plan, |_: Ticket| sleep(secs(3)));
    let stop = run.stop_handle();
    let watch = tokio::spawn(async move {
        sleep(ms(20_005)).await;
        stop.stop();
    });
    let run = run.await.unwrap();
    watch.await.unwrap();
    let counts = run.snapshot().counts();
    // Drained: all that were sent have ended well. The arrival at 20 s may be on either side of the stop.
    assert!((200..=201).contains(&counts.scheduled), "{counts:?}");
    assert_eq!(counts.ok, counts.scheduled);
    assert_eq!(run.interrupted().unwrap().as_duration().as_secs(), 20);
    assert_eq!(run.steady_length().as_secs(), 20);
    // Each takes 3 s, so what was sent in the last three of the twenty has completed in the drain.
    let achieved = run.achieved_per_second().unwrap();
    assert!((8.4..=8.6).contains(&achieved), "{achieved}");
    let verdict = "p50<=10s"
        .parse::<openloop_experiment::Slo>()
        .unwrap()
        .judge(&run)
        .verdict;
    assert_eq!(verdict.name(), "inconclusive");
}

#[tokio::test(start_paused = true)]
async fn what_outlives_the_drain_is_abandoned_and_ranks_above_everything() {
    let plan = steady(10.0, secs(1)).drain(secs(2)).build().unwrap();
    let run = drive::shared(&plan, |ticket: Ticket| async move {
        if ticket.seq == 4 {
            std::future::pending::<()>().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(
        (
            run.snapshot().counts().ok,
            run.snapshot().counts().abandoned
        ),
        (9, 1)
    );
    assert_eq!(run.health().abandoned, 1);
    assert!(!run.health().is_healthy());
    let max = run.series(&Metric::Response).whole().max();
    assert_eq!(max.map(Value::is_lower_bound), Some(true));
    // Intended at 400 ms; the last arrival was at 900 ms, and the drain took 2 s from the end of sending.
    assert!(
        (2_400_000_000..3_000_000_000).contains(&max.unwrap().ns()),
        "{max:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_health_check_of_the_user_runs_after_the_drain() {
    let live = Arc::new(AtomicU64::new(0));
    let seen = live.clone();
    let plan = steady(10.0, secs(1)).build().unwrap();
    let work = move |_: Ticket| {
        let live = live.clone();
        async move {
            live.fetch_add(1, Ordering::Relaxed);
            sleep(secs(2)).await;
            live.fetch_sub(1, Ordering::Relaxed);
        }
    };
    let run = drive::shared(&plan, work)
        .health_check(|| async move {
            match seen.load(Ordering::Relaxed) {
                0 => Err("meant".to_owned()),
                live => Err(format!("{live} still alive")),
            }
        })
        .await
        .unwrap();
    assert_eq!(run.health().check, Some(Err("meant".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn cutting_the_drain_short_is_an_interruption_and_no_failure_of_the_service() {
    let plan = steady(100.0, secs(10)).build().unwrap();
    let run = drive::shared(&plan, |_: Ticket| sleep(secs(3)));
    let stop = run.stop_handle();
    let watch = tokio::spawn(async move {
        sleep(ms(11_000)).await;
        stop.abort();
    });
    let run = run.await.unwrap();
    watch.await.unwrap();
    assert!(run.snapshot().counts().abandoned > 0);
    assert!(run.interrupted().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_rises_by_design_is_no_backlog() {
    let plan = Plan::profile("1->50/60s".parse().unwrap())
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap();
    let run = drive::shared(&plan, |_: Ticket| sleep(secs(1)))
        .await
        .unwrap();
    assert_eq!(run.backlog(), None);
    let judgement = "p50<=2s"
        .parse::<openloop_experiment::Slo>()
        .unwrap()
        .judge(&run);
    assert_eq!(judgement.verdict.name(), "pass", "{judgement}");
}

#[tokio::test(start_paused = true)]
async fn few_arrivals_without_an_error_do_not_show_that_errors_are_rare() {
    let judge = |run: &Run, slo: &str| {
        let slo: openloop_experiment::Slo = slo.parse().unwrap();
        slo.judge(run).verdict.name()
    };
    let plan = steady(10.0, secs(10)).build().unwrap();
    let run = drive::shared(&plan, |_: Ticket| async {}).await.unwrap();
    assert_eq!(judge(&run, "errors<=0.1%"), "inconclusive");
    assert_eq!(judge(&run, "errors<=5%"), "pass");
}

#[tokio::test(start_paused = true)]
async fn one_freeze_of_the_generator_makes_the_run_invalid() {
    // Everything that was due in a second of a hundred is released late, by a task that keeps the thread.
    let plan = steady(100.0, secs(100)).build().unwrap();
    let run = drive::shared(&plan, |ticket: Ticket| async move {
        if ticket.seq == 5000 {
            tokio::time::advance(secs(3)).await;
        }
    })
    .await
    .unwrap();
    let faults: Vec<_> = run.validity().faults().map(|check| check.name).collect();
    assert_eq!(faults, ["outbound_error"]);
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.ok), (10_000, 10_000));
}

#[tokio::test(start_paused = true)]
async fn what_our_own_timeout_cut_off_has_no_exchange() {
    let plan = steady(10.0, secs(1)).timeout(ms(250)).build().unwrap();
    let run = drive::shared(&plan, |ticket: Ticket| async move {
        if ticket.seq.is_multiple_of(2) {
            std::future::pending::<()>().await;
        }
    })
    .await
    .unwrap();
    assert_eq!(run.series(&Metric::Service).whole().count(), 10);
    assert_eq!(run.series(&Metric::Exchange).whole().count(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_growing_backlog_fails_whatever_the_percentiles_say() {
    let worker = Worker::default();
    let plan = steady(1.02, secs(3600)).drain(secs(1000)).build().unwrap();
    let run = drive::shared(&plan, move |_: Ticket| {
        worker.clone().serve(Instant::now(), secs(1), None)
    })
    .await
    .unwrap();
    let backlog = run.backlog().unwrap();
    assert!(backlog.grows);
    assert!((backlog.per_second - 0.02).abs() < 0.001, "{backlog:?}");
    let judgement = "p99<=1000s"
        .parse::<openloop_experiment::Slo>()
        .unwrap()
        .judge(&run);
    assert_eq!(judgement.verdict.name(), "fail", "{judgement}");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_output_is_counted_by_its_classifier() {
    let plan = steady(10.0, secs(1)).build().unwrap();
    let parse = classified(
        |ticket: Ticket| async move {
            ["7", "x"][usize::from(ticket.seq.is_multiple_of(5))].parse::<u8>()
        },
        ok_err,
    );
    let run = drive::shared(&plan, parse).await.unwrap();
    assert_eq!(
        (run.snapshot().counts().ok, run.snapshot().counts().failed),
        (8, 2)
    );
    let run = drive::shared(&plan, classified(|_| async { 5 }, completed))
        .await
        .unwrap();
    assert_eq!(run.snapshot().counts().ok, 10);
}
