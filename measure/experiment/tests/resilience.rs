//! Overloads of simulated services.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::resilience::{Degradation, Overload, Resilience};
use openloop_experiment::simulate::{Simulated, simulate};
use openloop_experiment::{PlanBuilder, ProtocolError, Verdict};
use openloop_measurer::Quantile;
use simulated::{base, per_second, ready, station};
use std::time::Duration;

const PART: Duration = Duration::from_secs(12);

fn overload<S: Simulated + Clone>(
    base: &PlanBuilder,
    stated: &Degradation,
    service: &S,
) -> Resilience {
    let overload = Overload::new(per_second(280.0), per_second(800.0), PART);
    ready(overload.run(base, stated, async |plan| simulate(plan, service.clone()))).unwrap()
}

/// Four workers of 10 ms and 20 places: 400/s at the most.
#[test]
fn a_bounded_pool_sheds_what_it_cannot_serve_and_recovers_at_once() {
    let service = station(4, "exponential:0.010").waiting(20);
    let stated = Degradation::default()
        .accepted(Quantile::P99, Duration::from_millis(150))
        .recovers_within(Duration::from_secs(2));
    let resilience = overload(&base(1), &stated, &service);
    resilience.assert();
    let during = resilience.during();
    // Of 800/s 400 are shed, and those that are taken wait for 20 others: 60 ms in the mean with their own service.
    assert!((during.shed() - 0.5).abs() < 0.02, "{resilience}");
    assert!((during.achieved() - 400.0).abs() < 12.0, "{resilience}");
    let mean = during.served().mean_ns().unwrap() / 1e6;
    assert!((mean - 58.0).abs() < 4.0, "{mean} ms\n{resilience}");
    assert!(resilience.after().ok() > 0.99, "{resilience}");
}

#[test]
fn an_unbounded_queue_is_served_for_as_long_as_it_grew_and_longer() {
    let service = station(4, "exponential:0.010");
    let stated = Degradation::default().recovers_within(Duration::from_secs(20));
    let resilience = overload(&base(1), &stated, &service);
    assert_eq!(resilience.verdict(), Verdict::Fail, "{resilience}");
    // 36 s of 400/s too many, which 120/s of spare capacity make up for: 120 s. The run ends before.
    assert_eq!(resilience.recovery(), None, "{resilience}");
    assert_eq!(resilience.during().shed(), 0.0);

    // With a timeout nobody is served, and the queue is worked off in vain: a service that does not drop what has
    // timed out.
    let timeout = base(1).timeout(Duration::from_secs(1));
    let resilience = overload(&timeout, &Degradation::default(), &service);
    assert_eq!(resilience.verdict(), Verdict::Fail);
    assert!(resilience.during().failed() > 0.9, "{resilience}");
    let text = resilience.to_string();
    assert!(
        text.contains("timed_out") && text.contains("it never was as before"),
        "{text}"
    );
}

#[test]
fn the_time_to_recover_is_that_of_the_backlog() {
    // 36 s of 100/s too many, at 200/s of spare capacity: 18 s.
    let service = station(4, "fixed:0.010");
    let overload = Overload::new(per_second(200.0), per_second(500.0), PART);
    let stated = Degradation::default().fails_at_most(0.0);
    let base = base(1);
    let run = overload.run(&base, &stated, async |plan| simulate(plan, service.clone()));
    let resilience = ready(run).unwrap();
    let recovery = resilience.recovery().unwrap().as_secs_f64();
    assert!((recovery - 18.0).abs() < 3.0, "{resilience}");
    assert_eq!(resilience.resolution(), Duration::from_secs(1));
    assert_eq!(resilience.verdict(), Verdict::Pass, "{resilience}");
}

#[test]
fn an_overload_that_is_none_says_nothing() {
    let service = station(100, "exponential:0.010");
    let resilience = overload(&base(1), &Degradation::default(), &service);
    assert_eq!(resilience.verdict(), Verdict::Inconclusive, "{resilience}");
    assert!(resilience.why()[0].contains("take a higher rate"));
}

#[test]
fn an_overload_below_the_load_is_refused() {
    let overload = Overload::new(per_second(10.0), per_second(10.0), PART);
    let (base, stated) = (base(1), Degradation::default());
    let run = overload.run(&base, &stated, async |plan| {
        simulate(plan, station(1, "fixed:0.001"))
    });
    assert!(matches!(ready(run), Err(ProtocolError::Options(_))));
}
