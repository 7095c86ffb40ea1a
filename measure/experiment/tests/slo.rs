//! Objectives on a floor, against services whose truth is known.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::simulate::{Pauses, Station, simulate};
use openloop_experiment::{
    Concern, Floor, Judgement, Level, Lifecycle, Metric, Plan, Ratio, Rtt, Run, Slo, SloError,
    Verdict,
};
use openloop_sched::Rate;
use simulated::ready;
use std::time::Duration;

fn ms(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1000.0)
}

/// A service that always takes so long, on this host.
fn steady(service_ms: f64) -> Floor {
    Floor::stated(Rtt::same_host()).with(None, Metric::Response, Level::stated(ms(service_ms)))
}

fn slo(text: &str) -> Slo {
    text.parse().unwrap()
}

/// What the only bound comes to, in nanoseconds.
fn limit(text: &str, floor: &Floor) -> f64 {
    let slo = slo(text);
    let objective = slo.on(floor).unwrap();
    let (_, limit, _) = objective.limits().next().unwrap();
    limit.unwrap()
}

fn run(rate: f64, secs: u64, station: &Station) -> Run {
    let plan = Plan::open(Rate::per_second(rate).unwrap())
        .lifecycle(Lifecycle {
            warm_up: Duration::from_secs(2),
            ..Lifecycle::steady_only(Duration::from_secs(secs))
        })
        .build()
        .unwrap();
    simulate(&plan, station.clone()).unwrap()
}

fn exponential(service_ms: f64) -> Station {
    let law = format!("exponential:{}", service_ms / 1000.0);
    Station::new(1, law.parse().unwrap()).unwrap()
}

fn floor_of(station: &Station) -> Floor {
    let base = Plan::open(Rate::per_second(1.0).unwrap());
    ready(Floor::measure(base, async |plan| {
        simulate(plan, station.clone())
    }))
    .unwrap()
}

/// Of a service that takes 1 ms on the average, at that rate.
fn judged(text: &str, rate: f64, secs: u64) -> Judgement {
    let service = exponential(1.0);
    let floor = floor_of(&service);
    let slo = slo(text);
    slo.on(&floor).unwrap().judge(&run(rate, secs, &service))
}

#[test]
fn the_limit_is_clamped_at_the_noise_floor() {
    // The seed's own figures: S = 0.2 ms, where 4 S is 0.8 ms.
    assert_eq!(limit("p99<=max(4S, 2ms)", &steady(0.2)), 2e6);
    assert_eq!(limit("p99<=max(2ms, 4S)", &steady(0.2)), 2e6);
    assert_eq!(limit("p99<=4S", &steady(0.2)), 8e5);
    assert_eq!(limit("p99<=max(4S, 2ms)", &steady(5.0)), 2e7);
    let default = Slo::default();
    let floor = steady(0.2);
    let objective = default.on(&floor).unwrap();
    let limits: Vec<_> = objective
        .limits()
        .map(|(_, limit, _)| limit.unwrap())
        .collect();
    assert_eq!(
        limits.iter().map(|ns| ns.round()).collect::<Vec<_>>(),
        [3e5, 6e5, 2e6]
    );
    assert_eq!(
        default.to_string(),
        "p50 <= 1.5S, p95 <= 3S, p99 <= max(4S, 2ms)"
    );
    assert_eq!(default.to_string().parse::<Slo>().unwrap(), default);
}

#[test]
fn the_round_trip_is_on_both_sides() {
    let rtt = Rtt::stated(ms(0.5));
    let floor = Floor::stated(rtt).with(None, Metric::Response, Level::stated(ms(0.7)));
    // S = 0.2 ms: 4·0.2 + 0.5.
    assert_eq!(limit("p99<=4S", &floor), 1.3e6);
    let floor = Floor::stated(rtt).with(None, Metric::Response, Level::stated(ms(0.5)));
    assert!(matches!(
        slo("p99<=4S").on(&floor),
        Err(SloError::NoService(_))
    ));
}

#[test]
fn the_ratio_is_literal_where_the_floor_scatters_little_and_inflation_elsewhere() {
    let basis = |p99_ms| {
        let level = Level::stated(ms(2.0)).p50(ms(1.8)).p99(ms(p99_ms));
        let floor = Floor::stated(Rtt::same_host()).with(None, Metric::Response, level);
        let slo = slo("p99<=4S");
        let objective = slo.on(&floor).unwrap();
        let (_, limit, basis) = objective.limits().next().unwrap();
        (basis.unwrap().ratio, limit.unwrap())
    };
    assert_eq!(basis(3.0), (Ratio::Literal, 8e6));
    assert_eq!(basis(3.1), (Ratio::Inflation, 12.4e6));
}

#[test]
fn multiples_of_an_exponential_service_are_kept_up_to_the_load_that_theory_gives() {
    // P99 is four times that of the floor at ρ = 0.75.
    assert_eq!(judged("p99<=4S", 600.0, 600).verdict, Verdict::Pass);
    let judgement = judged("p99<=4S", 850.0, 600);
    assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
    let finding = &judgement.findings[0];
    assert_eq!(finding.basis.unwrap().ratio, Ratio::Inflation);
    let ratios = finding.ratios.unwrap();
    // 1/(1 − 0.85) and ln 100 times that: within what 300 000 arrivals and a floor of 1000 resolve.
    assert!(
        (ratios.inflation.unwrap() / 6.67 - 1.0).abs() < 0.3,
        "{ratios:?}"
    );
    assert!((ratios.literal / 30.7 - 1.0).abs() < 0.25, "{ratios:?}");
    // The default objective, with its median at 1.5: ρ = 0.33.
    let default = Slo::default().to_string();
    assert_eq!(judged(&default, 250.0, 600).verdict, Verdict::Pass);
    assert_eq!(judged(&default, 450.0, 600).verdict, Verdict::Fail);
}

#[test]
fn verdicts_form_a_lattice() {
    // The floor breaks it: infeasible, though the run breaks it as well.
    let judgement = judged("p99<=2ms", 500.0, 60);
    assert_eq!(judgement.verdict, Verdict::Infeasible, "{judgement}");
    assert!(
        judgement.to_string().contains("physically impossible"),
        "{judgement}"
    );
    // Too short to tell.
    let judgement = judged("p99<=4S", 770.0, 20);
    assert_eq!(judgement.verdict, Verdict::Inconclusive, "{judgement}");
    assert!(
        judgement.findings[0].why.contains("steady phase of about"),
        "{judgement}"
    );
    // A backlog that grows is a failure of the service, whatever the bound.
    let judgement = judged("p50<=1h", 1100.0, 60);
    assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
}

#[test]
fn a_multiple_without_a_floor_is_undecided_and_says_what_to_do() {
    let slo = slo("p99<=4S");
    assert!(slo.needs_floor());
    let judgement = slo.judge(&run(100.0, 10, &exponential(1.0)));
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(
        judgement.findings[0].why.contains("on a floor"),
        "{judgement}"
    );
}

#[test]
fn a_rate_that_is_not_achieved_fails() {
    let overloaded = run(1000.0, 60, &exponential(1.25));
    // 800/s are served.
    for (text, verdict) in [
        ("achieved>=900/s", Verdict::Fail),
        ("achieved>=600/s", Verdict::Pass),
    ] {
        let judgement = slo(text).judge(&overloaded);
        assert_eq!(judgement.findings[0].verdict, verdict, "{judgement}");
        let value = judgement.findings[0].value.unwrap();
        assert!((value / 800.0 - 1.0).abs() < 0.03, "{value}");
    }
}

#[test]
fn names_that_there_are_not_are_refused_as_early_as_can_be() {
    let plan = Plan::open(Rate::per_second(1.0).unwrap())
        .kinds(["read", "write"])
        .build()
        .unwrap();
    assert_eq!(slo("p99[read]<=5ms").check(&plan), Ok(()));
    let error = slo("p99[raed]<=5ms").check(&plan).unwrap_err();
    assert!(
        error.to_string().contains("there are: read, write"),
        "{error}"
    );
    let error = slo("conect.p99<=5ms")
        .check_stages(&["connect", "acquire"])
        .unwrap_err();
    assert!(
        error.to_string().contains("there are: connect, acquire"),
        "{error}"
    );
    assert_eq!(slo("connect.p99<=5ms").check_stages(&["connect"]), Ok(()));

    // A measured floor knows the stages.
    let floor = floor_of(&exponential(1.0));
    let error = slo("conect.p99<=5ms").on(&floor).unwrap_err();
    assert!(error.to_string().contains("there are none"), "{error}");
    let error = slo("p99[read]<=4S").on(&floor).unwrap_err();
    assert!(matches!(error, SloError::UnknownKind { .. }), "{error}");
    // And a run.
    let judgement = slo("conect.p99<=5ms").judge(&run(100.0, 10, &exponential(1.0)));
    assert!(
        judgement.findings[0]
            .why
            .contains("no request had such a stage"),
        "{judgement}"
    );

    assert!(matches!(
        "lag.p99<=4S".parse::<Slo>(),
        Err(SloError::NoFloorOf(_))
    ));
    assert!(matches!(
        "p99<=max(4S)".parse::<Slo>(),
        Err(SloError::Greater(_))
    ));
    assert!(matches!(
        "achieved<=5/s".parse::<Slo>(),
        Err(SloError::Form(_))
    ));
    assert!(matches!(
        "achieved>=5".parse::<Slo>(),
        Err(SloError::Rate(_))
    ));
    assert!(matches!("p99<=0S".parse::<Slo>(), Err(SloError::Limit(_))));
}

/// What a lint says of the only bound.
fn lint(text: &str, floor: &Floor) -> Option<(Concern, String)> {
    let slo = slo(text);
    let lints = slo.on(floor).unwrap().lint();
    lints
        .into_iter()
        .next()
        .map(|lint| (lint.concern, lint.to_string()))
}

#[test]
fn bounds_are_held_against_the_floor_before_anything_is_sent() {
    // The seed's own figures.
    let (concern, text) = lint("p99<=50ms", &steady(2.0)).unwrap();
    assert_eq!(concern, Concern::Loose);
    assert!(
        text.contains("50 ms is 25 x S") && text.contains("ρ = 0.96"),
        "{text}"
    );
    let (concern, text) = lint("p99<=50ms", &steady(30.0)).unwrap();
    assert_eq!(concern, Concern::Tight);
    assert!(
        text.contains("impossible at half load") && text.contains("60 ms"),
        "{text}"
    );
    let (concern, text) = lint("p99<=20ms", &steady(30.0)).unwrap();
    assert_eq!(concern, Concern::Infeasible);
    assert!(text.contains("physically impossible"), "{text}");
    let (concern, _) = lint("p99<=max(4S, 2ms)", &steady(0.1)).unwrap();
    assert_eq!(concern, Concern::NoiseFloor);
    assert_eq!(lint("p99<=max(4S, 2ms)", &steady(0.5)), None);
    assert_eq!(lint("p50<=1.5S", &steady(5.0)), None);
    assert_eq!(lint("p99<=50ms", &steady(10.0)), None);
}

#[test]
fn a_table_tells_a_developer_what_is_wrong() {
    let judgement = judged(
        "p50<=1.5S, p95<=3S, p99<=max(4S, 2ms), errors<=0.1%, achieved>=950/s",
        850.0,
        120,
    );
    println!("{judgement}");
    let text = judgement.to_string();
    for part in [
        "verdict: FAIL",
        "limit",
        "measured",
        "95 % interval",
        "x floor",
        "(inflation ratio)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let caught = std::panic::catch_unwind(|| judgement.assert()).unwrap_err();
    assert_eq!(caught.downcast_ref::<String>().unwrap().trim(), text.trim());
    let without = slo("p99<=100ms")
        .judge(&run(100.0, 60, &exponential(1.0)))
        .to_string();
    println!("{without}");
    assert!(!without.contains("x floor"), "{without}");
}

#[test]
fn pauses_show_in_the_worst_ten_seconds_and_among_the_slowest() {
    let pauses = Pauses {
        every: Duration::from_secs(45),
        length: Duration::from_secs(1),
    };
    let run = run(100.0, 60, &exponential(1.0).pauses(pauses).unwrap());
    let worst = run
        .snapshot()
        .worst_stretch(Duration::from_secs(10), openloop_measurer::Quantile::P95);
    let worst = worst.unwrap();
    // The pause is from 45 to 46 s; the stretch has it, and a tenth of its arrivals waited.
    assert!(worst.from.as_duration() <= Duration::from_secs(45));
    assert!(worst.to.as_duration() >= Duration::from_secs(46));
    let p95 = worst
        .response
        .quantile(openloop_measurer::Quantile::P95)
        .unwrap()
        .ns();
    let whole = run
        .series(&Metric::Response)
        .quantile(openloop_measurer::Quantile::P95)
        .unwrap()
        .ns();
    assert!(p95 > 300_000_000 && whole < 20_000_000, "{p95} {whole}");
    let slowest = run.snapshot().slowest();
    assert_eq!(slowest.len(), 20);
    assert!(slowest.is_sorted_by(|a, b| a.sample.response() >= b.sample.response()));
    for slow in slowest {
        let at = slow.sample.intended.as_duration();
        assert!(
            (Duration::from_secs(45)..Duration::from_millis(45_300)).contains(&at),
            "{at:?}"
        );
    }
}
