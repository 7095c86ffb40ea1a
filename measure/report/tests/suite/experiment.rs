//! What is more than one run, of a service whose truth is known.

use crate::golden::assert_golden;
use openloop_experiment::problem::{Observed, ProblemStatement};
use openloop_experiment::resilience::{Degradation, Overload};
use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::sweep::Sweep;
use openloop_experiment::{
    Floor, Lifecycle, Plan, PlanBuilder, Replication, Run, Slo, drive::DriveError,
};
use openloop_report::{Report, TextStyle};
use openloop_sched::Rate;
use std::time::Duration;

/// Four servers of 10 ms in the mean.
fn trial(plan: &Plan) -> Result<Run, DriveError> {
    let service = "exponential:0.01".parse().unwrap();
    simulate(plan, Station::new(4, service).unwrap().waiting(50))
}

fn base(per_second: f64) -> PlanBuilder {
    let lifecycle = Lifecycle {
        steady: Duration::from_secs(60),
        ..Lifecycle::quick()
    };
    Plan::open(rate(per_second)).lifecycle(lifecycle)
}

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

async fn floor() -> Floor {
    let measured = Floor::measure(base(1.0), async |plan| trial(plan));
    measured.await.unwrap()
}

async fn swept() -> Report {
    let floor = floor().await;
    let rates = [40.0, 80.0, 160.0, 240.0, 320.0, 600.0].map(rate);
    let sweep = Sweep::rates(rates).floor(floor.clone());
    let curve = sweep
        .run(&base(1.0), async |plan| trial(plan))
        .await
        .unwrap();
    let run = &curve.points()[4].runs()[0];
    let slo: Slo = "p50<=2S, p99<=2s, p50<=1ms".parse().unwrap();
    let objective = slo.on(&floor).unwrap();
    let problem = ProblemStatement::from_toml(
        "title = 'checkout'\n[objective]\nfailure_modes = ['pauses', 'crash']\n[floor]\nexpected = '3ms'",
    );
    let diagnosis = curve.diagnose();
    let points = curve.points().iter();
    let observed = Observed {
        runs: points.flat_map(|point| point.runs()).collect(),
        floor: Some(&floor),
        diagnosis: Some(&diagnosis),
    };
    Report::new(run)
        .with_target("nothing")
        .with_judgement(&objective.judge(run))
        .with_lints(&objective.lint())
        .with_floor(&floor)
        .with_sweep(&curve)
        .with_problem(&problem.unwrap(), &observed)
        .with_rehearsal("4 servers")
}

async fn replicated() -> Report {
    let replication = Replication::new(3).unwrap();
    let measured = replication.measure(base(200.0), async |plan| trial(plan));
    let replicas = measured.await.unwrap();
    let reports: Vec<_> = replicas.runs().iter().map(Report::new).collect();
    let report = Report::merge(&reports).unwrap();
    report.with_replicas(&replicas).with_rehearsal("4 servers")
}

async fn overloaded() -> Report {
    let overload = Overload::new(rate(250.0), rate(800.0), Duration::from_secs(10));
    let stated = Degradation::default().recovers_within(Duration::from_secs(2));
    let base = base(1.0);
    let driven = overload.run(&base, &stated, async |plan| trial(plan));
    let resilience = driven.await.unwrap();
    Report::new(resilience.run())
        .with_resilience(&resilience)
        .with_rehearsal("4 servers")
}

fn text(report: &Report) -> String {
    let style = TextStyle {
        width: 100,
        ..TextStyle::default()
    };
    let mut text = Vec::new();
    report.write_text(&mut text, &style).unwrap();
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_sweep_with_its_floor_and_its_problem_reads_like_this() {
    assert_golden("sweep.txt", &text(&swept().await));
}

#[tokio::test]
async fn replicas_read_like_this() {
    assert_golden("replicas.txt", &text(&replicated().await));
}

#[tokio::test]
async fn an_overload_reads_like_this() {
    assert_golden("overload.txt", &text(&overloaded().await));
}

#[tokio::test]
async fn all_of_it_is_read_as_it_was_written() {
    for report in [swept().await, replicated().await, overloaded().await] {
        let mut json = Vec::new();
        report.write_json(&mut json).unwrap();
        assert_eq!(Report::read_json(&*json).unwrap(), report);
        let mut html = Vec::new();
        report.write_html(&mut html).unwrap();
        assert_eq!(Report::read_html(&*html).unwrap(), report);
        let html = String::from_utf8(html).unwrap();
        assert!(html.contains("REHEARSAL") && html.contains("nothing was sent"));
    }
}
