//! A simulated service against closed forms, and against the drivers under the paused clock.

#![allow(clippy::unwrap_used)]

use openloop_experiment::simulate::{Station, simulate, simulate_watched};
use openloop_experiment::{InFlight, Lifecycle, Metric, Plan, Run, TimeoutFrom};
use openloop_measurer::Quantile;
use openloop_sched::{Arrivals, Rate};
use std::ops::ControlFlow;
use std::time::Duration;

fn constant(rate: f64, secs: u64) -> openloop_experiment::PlanBuilder {
    Plan::open(Rate::per_second(rate).unwrap())
        .arrivals(Arrivals::Constant)
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(secs)))
}

fn fixed(servers: u32, service: &str) -> Station {
    Station::new(servers, service.parse().unwrap()).unwrap()
}

/// Exactly so many milliseconds, but for the width of a bucket, three digits of it, whose upper edge counts.
#[track_caller]
fn assert_quantile(run: &Run, metric: &Metric, q: Quantile, ms: u64) {
    let value = run.series(metric).quantile(q).unwrap().ns() as f64 / 1e6;
    let ms = ms as f64;
    assert!(
        (ms..ms * 1.001).contains(&value),
        "{metric} {q}: {value} ms, {ms} expected"
    );
}

#[test]
fn its_books_balance_and_it_may_be_believed() {
    let plan = Plan::open(Rate::per_second(75.0).unwrap())
        .lifecycle(Lifecycle::quick())
        .build()
        .unwrap();
    let run = simulate(&plan, fixed(1, "exponential:0.01")).unwrap();
    assert!(run.snapshot().counts().balances());
    assert!(run.validity().is_valid(), "{:?}", run.validity());
    let planned = plan.preview().unwrap().total;
    assert_eq!(run.snapshot().counts().scheduled, planned);
    assert_eq!(run.snapshot().counts().ok, planned);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let plan = Plan::open(Rate::per_second(75.0).unwrap())
            .lifecycle(Lifecycle::quick())
            .seed(seed)
            .build()
            .unwrap();
        let run = simulate(&plan, fixed(1, "exponential:0.01")).unwrap();
        run.series(&Metric::Response).whole().mean_ns().unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_queue_that_is_full_turns_away() {
    // Two at once every second, as it were: service takes 3 s, one waits, so of every three arrivals two are refused.
    let plan = constant(1.0, 30)
        .drain(Duration::from_secs(100))
        .build()
        .unwrap();
    let run = simulate(&plan, fixed(1, "fixed:3").waiting(1)).unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.scheduled, counts.ok, counts.rejected), (30, 11, 19));
}

#[test]
fn limits_in_flight_are_kept() {
    let service = || fixed(100, "fixed:3");
    let shed = constant(1.0, 30)
        .in_flight(InFlight::Shed(1))
        .build()
        .unwrap();
    let run = simulate(&shed, service()).unwrap();
    assert_eq!(run.snapshot().counts().shed, 20);
    assert_eq!(run.snapshot().counts().ok, 10);

    let queue = constant(1.0, 10)
        .in_flight(InFlight::Queue(1))
        .drain(Duration::from_secs(60))
        .build()
        .unwrap();
    let run = simulate(&queue, service()).unwrap();
    assert_eq!(run.snapshot().counts().ok, 10);
    assert_quantile(&run, &Metric::ScheduleDelay, Quantile::P99_99, 18_000);
    assert_quantile(&run, &Metric::Service, Quantile::P99_99, 3000);
}

#[test]
fn timeouts_and_the_end_of_the_drain_cut_off() {
    let plan = |from| {
        constant(1.0, 10)
            .in_flight(InFlight::Queue(1))
            .timeout(Duration::from_millis(3500))
            .timeout_from(from)
            .drain(Duration::from_secs(60))
            .build()
            .unwrap()
    };
    let intended = simulate(&plan(TimeoutFrom::Intended), fixed(100, "fixed:3")).unwrap();
    assert!(intended.snapshot().counts().timed_out > 0);
    assert_quantile(&intended, &Metric::Response, Quantile::P99_99, 3500);
    let dispatched = simulate(&plan(TimeoutFrom::Dispatched), fixed(100, "fixed:3")).unwrap();
    assert_eq!(dispatched.snapshot().counts().ok, 10);

    let plan = constant(1.0, 10)
        .drain(Duration::from_secs(1))
        .build()
        .unwrap();
    let run = simulate(&plan, fixed(1, "fixed:3")).unwrap();
    let counts = run.snapshot().counts();
    assert_eq!((counts.ok, counts.abandoned), (3, 7));
    assert!(counts.balances());
}

#[test]
fn users_wait_for_their_answers() {
    let plan = Plan::closed(2)
        .think(Duration::from_secs(1))
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(40)))
        .build()
        .unwrap();
    // Two users and one server: each asks every 4 s, when the other has been served.
    let run = simulate(&plan, fixed(1, "fixed:2")).unwrap();
    let achieved = run.achieved_per_second().unwrap();
    assert!((achieved - 0.5).abs() < 0.03, "{achieved}");
    assert_quantile(&run, &Metric::Response, Quantile::P90, 3000);
}

/// evalscope#1627: where all users begin at once, their burst is what is measured.
#[test]
fn users_begin_one_after_another_and_not_in_a_burst() {
    let plan = Plan::closed(100)
        .think(Duration::from_secs(1))
        .lifecycle(Lifecycle {
            ramp_up: Duration::from_secs(10),
            ..Lifecycle::steady_only(Duration::from_secs(40))
        })
        .build()
        .unwrap();
    // A hundred servers: whoever waits does so because all came together.
    let run = simulate(&plan, fixed(50, "fixed:0.5")).unwrap();
    let most = run.series(&Metric::Response).whole().exact.max_ns();
    assert_eq!(most, Some(500_000_000));
}

#[test]
fn a_simulation_that_is_stopped_is_an_interrupted_run() {
    let plan = constant(1000.0, 600).build().unwrap();
    let mut seen = Vec::new();
    let run = simulate_watched(&plan, fixed(2, "fixed:0.001"), |reached| {
        seen.push(reached.arrivals);
        match seen.len() {
            3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    let run = run.unwrap();
    assert_eq!(seen, [32_768, 65_536, 98_304]);
    // The last one that was looked at came at 98.303 s, and is not in it.
    assert_eq!(run.interrupted().unwrap().as_nanos(), 98_303_000_000);
    let counts = run.snapshot().counts();
    assert!(counts.balances() && counts.ok == 98_303, "{counts:?}");
    assert!(run.validity().is_valid(), "{:?}", run.validity());
    assert_eq!(plan.expected(), Some(600_000.0));
}
