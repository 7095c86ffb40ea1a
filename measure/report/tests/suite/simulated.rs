//! Experiments on a service whose truth is known: four servers of 10 ms in the mean. Nothing is sent, and time is virtual.

use openloop_experiment::problem::{Observed, ProblemStatement};
use openloop_experiment::resilience::{Degradation, Overload};
use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::sweep::Sweep;
use openloop_experiment::{
    Floor, Lifecycle, Plan, PlanBuilder, Replication, Run, Slo, drive, drive::DriveError,
};
use openloop_measurer::{Describe, Details, Verdict};
use openloop_report::Report;
use openloop_sched::{Rate, Ticket};
use openloop_workload::Values;
use std::time::Duration;
use tokio::sync::OnceCell;

pub(crate) fn trial(plan: &Plan) -> Result<Run, DriveError> {
    let service = "exponential:0.01".parse().unwrap();
    simulate(plan, Station::new(4, service).unwrap().waiting(50))
}

pub(crate) fn base(per_second: f64) -> PlanBuilder {
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

/// Six rates, of which the last is too much; with a problem, an objective and a peak.
pub(crate) async fn swept() -> Report {
    static REPORT: OnceCell<Report> = OnceCell::const_new();
    REPORT.get_or_init(make_swept).await.clone()
}

async fn make_swept() -> Report {
    let floor = floor().await;
    let rates = [40.0, 80.0, 160.0, 240.0, 320.0, 600.0].map(rate);
    let sweep = Sweep::rates(rates).floor(floor.clone());
    // Long enough for the knee to be sure.
    let long = base(1.0).lifecycle(Lifecycle {
        steady: Duration::from_secs(300),
        ..Lifecycle::quick()
    });
    let curve = sweep.run(&long, async |plan| trial(plan)).await.unwrap();
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
        .with_plan(&curve.plan(rate(2000.0)).unwrap(), 2000.0)
        .with_problem(&problem.unwrap(), &observed)
        .with_rehearsal("4 servers")
}

pub(crate) async fn replicated() -> Report {
    static REPORT: OnceCell<Report> = OnceCell::const_new();
    REPORT.get_or_init(make_replicated).await.clone()
}

async fn make_replicated() -> Report {
    let replication = Replication::new(3).unwrap();
    let measured = replication.measure(base(200.0), async |plan| trial(plan));
    let replicas = measured.await.unwrap();
    let reports: Vec<_> = replicas.runs().iter().map(Report::new).collect();
    let report = Report::merge(&reports).unwrap();
    report.with_replicas(&replicas).with_rehearsal("4 servers")
}

pub(crate) async fn overloaded() -> Report {
    static REPORT: OnceCell<Report> = OnceCell::const_new();
    REPORT.get_or_init(make_overloaded).await.clone()
}

async fn make_overloaded() -> Report {
    let overload = Overload::new(rate(250.0), rate(800.0), Duration::from_secs(10));
    let stated = Degradation::default().recovers_within(Duration::from_secs(2));
    let base = base(1.0);
    let driven = overload.run(&base, &stated, async |plan| trial(plan));
    let resilience = driven.await.unwrap();
    Report::new(resilience.run())
        .with_resilience(&resilience)
        .with_rehearsal("4 servers")
}

/// An answer of a language model: how long until its first token, and between the others.
struct Stream {
    ttft: Duration,
    gaps: Vec<Duration>,
}

impl Describe for Stream {
    fn verdict(&self) -> Verdict {
        Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.duration("connect", Duration::from_millis(1));
        into.duration("ttft", self.ttft);
        into.duration("ttft_sent", self.ttft);
        into.count("good", u64::from(self.ttft < Duration::from_millis(300)));
        into.count("cached_tokens", 90);
        let all: Duration = self.gaps.iter().sum();
        into.duration("tpot", all / self.gaps.len() as u32);
        for gap in &self.gaps {
            into.duration("itl", *gap);
            into.duration("itl_chunk", *gap);
        }
        into.count("input_tokens", 300);
        into.count("output_tokens", self.gaps.len() as u64 + 1);
    }
}

/// A language model at 4 answers per second, of 20 tokens each, on the paused clock: first tokens come after 250 ms in
/// the mean, the others every 40 ms or so.
pub(crate) async fn streamed() -> Report {
    let first: Values = "lognormal:mean=250,cv=0.5".parse().unwrap();
    let gap: Values = "lognormal:mean=40,cv=0.3".parse().unwrap();
    let work = move |ticket: Ticket| {
        let ms = |law: &Values, at: u64| Duration::from_millis(law.value(3, at) as u64 + 1);
        let stream = Stream {
            ttft: ms(&first, ticket.seq),
            gaps: (0..19).map(|k| ms(&gap, ticket.seq * 19 + k)).collect(),
        };
        async move {
            tokio::time::sleep(stream.ttft + stream.gaps.iter().sum::<Duration>()).await;
            stream
        }
    };
    let plan = base(4.0).build().unwrap();
    Report::new(&drive::shared(&plan, work).await.unwrap())
}
