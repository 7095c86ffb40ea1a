//! Runs of one plan, repeated.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::{
    Lifecycle, Metric, Plan, PlanBuilder, Replicas, Replication, Run, Sections, Slo, Steadiness,
    Verdict,
};
use openloop_measurer::Quantile;
use openloop_sched::{Arrivals, Rate};
use simulated::ready;
use std::time::Duration;

fn base() -> PlanBuilder {
    Plan::open(Rate::per_second(100.0).unwrap()).lifecycle(Lifecycle {
        warm_up: Duration::from_secs(1),
        ..Lifecycle::steady_only(Duration::from_secs(60))
    })
}

fn station(law: &str) -> Station {
    Station::new(1, law.parse().unwrap()).unwrap()
}

fn simulated(plan: &Plan, service_ms: f64) -> Run {
    simulate(
        plan,
        station(&format!("exponential:{}", service_ms / 1000.0)),
    )
    .unwrap()
}

/// Replicas of runs whose services take so many milliseconds.
fn replicas(services_ms: &[f64]) -> Replicas {
    let runs = services_ms.iter().enumerate().map(|(index, ms)| {
        let plan = base().seed(index as u64).build().unwrap();
        simulated(&plan, *ms)
    });
    Replicas::of(runs.collect()).unwrap()
}

#[test]
fn an_even_number_or_one_is_refused() {
    for runs in [0, 1, 2, 4] {
        let refused = Replication::new(runs).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("odd number"), "{refused}");
    }
}

#[test]
fn each_run_has_a_seed_of_its_own_and_the_same_base_gives_the_same_runs() {
    let seeds = |base: PlanBuilder| {
        let replicas = ready(
            Replication::new(3)
                .unwrap()
                .measure(base, async |plan| Ok(simulated(plan, 2.0))),
        );
        let replicas = replicas.unwrap();
        replicas
            .runs()
            .iter()
            .map(|run| run.plan().seed())
            .collect::<Vec<_>>()
    };
    let first = seeds(base().seed(5));
    assert_eq!(first, seeds(base().seed(5)));
    assert_ne!(first, seeds(base().seed(6)));
    assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
}

#[test]
fn the_ensemble_is_of_the_merged_histograms() {
    let replicas = replicas(&[2.0, 2.0, 4.0]);
    let response = replicas.series(&Metric::Response);
    let by_hand: u64 = replicas
        .runs()
        .iter()
        .map(|run| run.series(&Metric::Response).whole().count())
        .sum();
    assert_eq!(response.whole().count(), by_hand);
    // The P99 of a mixture is none of the three, nor their mean: it lies near that of the slow one.
    let p99 = |run: &Run| {
        run.series(&Metric::Response)
            .quantile(Quantile::P99)
            .unwrap()
            .ns()
    };
    let each: Vec<u64> = replicas.runs().iter().map(p99).collect();
    let whole = response.quantile(Quantile::P99).unwrap().ns();
    assert!(
        whole > each.iter().sum::<u64>() / 3 && whole < each[2],
        "{whole} {each:?}"
    );
}

#[test]
fn intervals_are_across_runs_only_where_there_are_five() {
    let three = replicas(&[2.0; 3]).series(&Metric::Response);
    assert_eq!(three.sections(), Sections::WindowsOfRuns(3));
    let five = replicas(&[2.0; 5]).series(&Metric::Response);
    assert_eq!(five.sections(), Sections::Runs(5));
    assert_eq!(five.section_quantiles(Quantile::P50).unwrap().len(), 5);
    // What differs from run to run is in the interval across runs.
    let shifting = replicas(&[1.0, 2.0, 3.0, 2.0, 2.0]).series(&Metric::Response);
    let width = |(low, high): (f64, f64)| high - low;
    let of = |series: &openloop_experiment::Series| width(series.interval(Quantile::P50).unwrap());
    assert!(of(&shifting) > 5.0 * of(&five));
}

#[test]
fn runs_that_disagree_are_discarded_and_do_not_pass() {
    let replicas = replicas(&[2.0, 2.0, 3.0]);
    let stability = replicas.stability();
    assert_eq!(stability.steadiness(), Steadiness::Discard, "{stability}");
    assert!(
        stability
            .quantiles
            .iter()
            .all(|quantile| quantile.excess > 0.1),
        "{stability}"
    );
    let judgement = "p50<=100ms".parse::<Slo>().unwrap().judge(&replicas);
    assert_eq!(judgement.verdict, Verdict::Inconclusive, "{judgement}");
    assert!(judgement.why[0].contains("disagree"), "{judgement}");
    println!("{judgement}");
    // A bound that is broken all the same is a finding.
    let judgement = "p50<=0.1ms".parse::<Slo>().unwrap().judge(&replicas);
    assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
}

#[test]
fn runs_that_disagree_are_made_again_if_asked_and_stay_in_the_record() {
    let retested = |times| {
        let mut made = 0;
        let replicas = Replication::new(3)
            .unwrap()
            .retest(times)
            .measure(base(), async |plan| {
                made += 1;
                Ok(simulated(plan, if made == 2 { 4.0 } else { 2.0 }))
            });
        (ready(replicas).unwrap(), made)
    };
    let (replicas, made) = retested(0);
    assert_eq!((made, replicas.discarded().len()), (3, 0));
    assert_eq!(replicas.stability().steadiness(), Steadiness::Discard);
    let (replicas, made) = retested(3);
    assert_eq!((made, replicas.discarded().len()), (6, 1));
    assert!(
        replicas.stability().steadiness() < Steadiness::Discard,
        "{replicas}"
    );
    assert!(
        replicas.to_string().contains("set 1 was discarded"),
        "{replicas}"
    );
}

#[test]
fn an_overloaded_service_is_a_finding_and_no_reason_to_measure_again() {
    let mut made = 0;
    let replicas = Replication::new(3)
        .unwrap()
        .retest(5)
        .measure(base(), async |plan| {
            made += 1;
            // Busy 1.1, 1.2, 1.3 times: the backlogs grow, each at its own pace.
            Ok(simulated(plan, 10.0 + f64::from(made)))
        });
    let replicas = ready(replicas).unwrap();
    assert_eq!(made, 3);
    let judgement = "p99<=1h".parse::<Slo>().unwrap().judge(&replicas);
    assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
    let grew = judgement
        .why
        .iter()
        .any(|why| why.contains("in 3 of 3 runs"));
    assert!(grew, "{judgement}");
}

#[test]
fn one_invalid_run_makes_the_set_invalid_and_is_named() {
    let plan = base().build().unwrap();
    let crippled = base()
        .arrivals(Arrivals::Constant)
        .kinds(["read"])
        .build()
        .unwrap();
    struct Unknown(Station);
    impl openloop_experiment::simulate::Simulated for Unknown {
        fn begin(&mut self, seed: u64) {
            self.0.begin(seed);
        }
        fn serve(
            &mut self,
            ticket: openloop_sched::Ticket,
            at: openloop_sched::Offset,
        ) -> openloop_experiment::simulate::Served {
            let mut served = self.0.serve(ticket, at);
            served.kind = Some(openloop_measurer::Kind::new(7));
            served
        }
    }
    let bad = simulate(&crippled, Unknown(station("exponential:0.002"))).unwrap();
    assert!(!bad.validity().is_valid());
    let replicas = Replicas::of(vec![simulated(&plan, 2.0), bad, simulated(&plan, 2.0)]).unwrap();
    let judgement = "p50<=100ms".parse::<Slo>().unwrap().judge(&replicas);
    assert_eq!(judgement.verdict, Verdict::Invalid, "{judgement}");
    assert!(!judgement.validity.is_valid());
    assert!(
        judgement.why.iter().any(|why| why.starts_with("run 2: ")),
        "{judgement}"
    );
}
