//! What is said of a run before it is made.

#![allow(clippy::unwrap_used)]

use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::{
    Floor, Level, Lifecycle, Metric, Plan, Preflight, Resolution, ResolutionBasis, Rtt, Slo,
};
use openloop_measurer::Quantile;
use openloop_sched::{Arrivals, Rate};
use std::time::Duration;

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn plan(rate: f64, warm_up: u64, steady: u64) -> Plan {
    Plan::open(Rate::per_second(rate).unwrap())
        .arrivals(Arrivals::Constant)
        .lifecycle(Lifecycle {
            warm_up: secs(warm_up),
            ..Lifecycle::steady_only(secs(steady))
        })
        .build()
        .unwrap()
}

fn floor(s: Duration) -> Floor {
    Floor::stated(Rtt::same_host()).with(None, Metric::Response, Level::stated(s))
}

#[test]
fn the_memory_of_a_queue_is_as_long_as_theory_says() {
    let relaxation = |rate, s| {
        let (plan, floor) = (plan(rate, 0, 300), floor(s));
        let relaxation = Preflight::new(&plan).floor(&floor).relaxation();
        relaxation.map(|time| time.as_secs_f64())
    };
    // S/(1 − √ρ)² for 1 ms and 1 s at ρ = 0.75, and 4 s at 0.9: 25 minutes.
    let near = |value: Option<f64>, expected: f64| {
        let value = value.unwrap();
        assert!(
            (value / expected - 1.0).abs() < 0.01,
            "{value} for {expected}"
        );
    };
    near(relaxation(750.0, Duration::from_millis(1)), 0.0557);
    near(relaxation(0.75, secs(1)), 55.7);
    near(relaxation(0.225, secs(4)), 1519.0);
    assert_eq!(relaxation(1.0, secs(1)), None);
}

fn warnings(preflight: &Preflight<'_>) -> Vec<String> {
    let hints = preflight.hints().into_iter();
    let warnings = hints.filter(|hint| hint.is_warning);
    warnings.map(|hint| hint.to_string()).collect()
}

#[test]
fn a_warm_up_that_is_too_short_is_named_and_one_that_will_do_is_not() {
    let floor = floor(secs(1));
    let (short, long) = (plan(0.75, 120, 3000), plan(0.75, 300, 3000));
    let short = warnings(&Preflight::new(&short).floor(&floor));
    assert!(
        short[0].contains("warm up for 279 s") && short[0].contains("planned are 120 s"),
        "{short:?}"
    );
    assert_eq!(
        warnings(&Preflight::new(&long).floor(&floor)),
        Vec::<String>::new()
    );
}

#[test]
fn a_steady_phase_too_short_for_a_periodic_event_is_named() {
    let plan = plan(10.0, 0, 300);
    let preflight = Preflight::new(&plan)
        .periodic("checkpoint", secs(600))
        .periodic("WAL flush", secs(200))
        .periodic("GC", secs(10));
    let warnings = warnings(&preflight);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("may hold none") && warnings[0].contains("checkpoint"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].contains("one alone") && warnings[1].contains("400 s"),
        "{warnings:?}"
    );
}

#[test]
fn too_much_load_is_named() {
    let (plan, floor) = (plan(1500.0, 1, 10), floor(Duration::from_millis(1)));
    let preflight = Preflight::new(&plan).floor(&floor);
    assert!(warnings(&preflight)[0].contains("utilisation would be 1.5"));
    assert!(preflight.resolution(Quantile::P99).is_none());
    // Of two servers it is three quarters.
    let preflight = preflight.utilisation(0.75);
    assert!(warnings(&preflight).is_empty());
    let p99 = preflight.resolution(Quantile::P99).unwrap();
    assert!((p99.relative - 1.96 * 15.0 / 15_000_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn bounds_are_checked_with_the_rest() {
    let (plan, floor) = (plan(10.0, 0, 300), floor(Duration::from_millis(30)));
    let preflight = Preflight::new(&plan).floor(&floor);
    let slo: Slo = "p99<=50ms".parse().unwrap();
    let hints = preflight.objective(&slo).unwrap();
    assert!(
        hints[0].to_string().contains("impossible at half load"),
        "{hints:?}"
    );
    assert!(
        hints[1]
            .to_string()
            .contains("within that of 50 ms it stays undecided"),
        "{hints:?}"
    );
    let slo: Slo = "p99[read]<=50ms".parse().unwrap();
    assert!(preflight.objective(&slo).is_err());
}

#[test]
fn a_pilot_tells_how_well_a_longer_run_will_resolve() {
    let station = Station::new(1, "exponential:0.001".parse().unwrap()).unwrap();
    let run = |seconds: u64| {
        let plan = Plan::open(Rate::per_second(750.0).unwrap())
            .lifecycle(Lifecycle {
                warm_up: secs(2),
                ..Lifecycle::steady_only(secs(seconds))
            })
            .build()
            .unwrap();
        simulate(&plan, station.clone())
            .unwrap()
            .series(&Metric::Response)
    };
    let pilot = (&run(60), secs(60));
    let resolution = Resolution::by_pilot(Quantile::P50, pilot, secs(600)).unwrap();
    let ResolutionBasis::Pilot { planned, .. } = resolution.basis else {
        panic!("{resolution:?}");
    };
    assert_eq!(planned, secs(600));
    // The estimate of a deviation by ten windows is itself known within a half or so; so is that of the long run.
    let long = run(600);
    let (low, high) = long.interval(Quantile::P50).unwrap();
    let seen = (high - low) / 2.0 / long.quantile(Quantile::P50).unwrap().ns() as f64;
    assert!(
        (0.4..2.5).contains(&(resolution.relative / seen)),
        "{resolution} {seen}"
    );
    // And by the table: 1.96·5.7/√450 000.
    let table = Resolution::by_table(Quantile::P50, 0.75, 450_000).unwrap();
    assert!(
        (0.4..2.5).contains(&(resolution.relative / table.relative)),
        "{resolution} {table}"
    );
}

/// M/M/1 at ρ = 0.75: P99 = 18.4 ms, and k = 15.
#[test]
fn how_much_longer_a_run_would_have_to_be_for_a_bound_is_said() {
    let exponential = Level::stated(Duration::from_millis(1)).p99(Duration::from_micros(4605));
    let floor = Floor::stated(Rtt::same_host()).with(None, Metric::Response, exponential);
    let hint = |steady, bound: &str| {
        let plan = plan(750.0, 10, steady);
        let slo: Slo = bound.parse().unwrap();
        let hints = Preflight::new(&plan).floor(&floor).objective(&slo).unwrap();
        let hint = hints.into_iter().find(|hint| hint.name == "resolution");
        let hint = hint.unwrap();
        (hint.is_warning, hint.text)
    };
    let (is_short, text) = hint(60, "p99<=20ms");
    assert!(is_short && text.contains("± 13.9 % at p99"), "{text}");
    // 60 s · (0.1386 · 18.42 / 1.58)² = 157 s in all.
    assert!(text.contains("18.4 ms: 97s more would be needed"), "{text}");
    let (is_short, text) = hint(200, "p99<=20ms");
    assert!(!is_short && text.contains("long enough to tell"), "{text}");
    let (is_short, text) = hint(60, "p99<=18.42ms");
    assert!(is_short && text.contains("no length"), "{text}");

    // Without a floor it is said what is known.
    let plan = plan(750.0, 10, 60);
    let slo: Slo = "p99<=20ms".parse().unwrap();
    let hints = Preflight::new(&plan).objective(&slo).unwrap();
    assert!(hints[0].text.contains("at best"), "{hints:?}");
}
