//! A plan on simulated language-model engines, against the simulator itself and against what can be counted.

#![allow(clippy::unwrap_used)]

use openloop_capacity::batching::{Cluster, ClusterConfig, EngineConfig, Request, StepCost};
use openloop_experiment::simulate::{Tokens, simulate_engines};
use openloop_experiment::{
    InFlight, Lifecycle, Metric, Plan, PlanBuilder, Run, Slo, TimeoutFrom, Verdict,
};
use openloop_measurer::{Describe, Details};
use openloop_sched::{Arrivals, Rate, Ticket};
use std::time::Duration;

/// What is told of an answer.
struct Told {
    ttft: Duration,
    tokens: u64,
}

impl Describe for Told {
    fn verdict(&self) -> openloop_measurer::Verdict {
        openloop_measurer::Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.of_answer("ttft", self.ttft);
        into.count("tokens", self.tokens);
    }
}

fn told(tokens: &Tokens) -> Told {
    Told {
        ttft: tokens.at[0] - tokens.sent,
        tokens: tokens.at.len() as u64,
    }
}

fn plan(rate: f64, secs: u64) -> PlanBuilder {
    Plan::open(Rate::per_second(rate).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(secs)))
}

fn cluster(engine: EngineConfig) -> Cluster {
    Cluster::new(ClusterConfig::single(engine)).unwrap()
}

/// Prompts of 100 to 500 tokens and answers of 10 to 60.
fn ask(ticket: Ticket) -> Request {
    let of = |factor: u64, from: u32, span: u64| {
        from + (ticket.seq.wrapping_mul(factor) >> 7) as u32 % span as u32
    };
    Request::new(0, of(0x9E37_79B9, 100, 400), of(0x85EB_CA6B, 10, 50))
}

fn run(plan: &PlanBuilder, engine: EngineConfig) -> Run {
    let plan = plan.clone().build().unwrap();
    simulate_engines(&plan, cluster(engine), ask, told).unwrap()
}

fn ttft() -> Metric {
    Metric::Named("ttft".to_owned())
}

#[test]
fn it_is_what_the_engines_do_with_the_same_arrivals() {
    let plan = plan(8.0, 100).build().unwrap();
    let small = EngineConfig {
        blocks: 400,
        ..EngineConfig::default()
    };
    let arrivals = plan.schedule().unwrap().clone().map(|ticket| {
        let request = Request {
            id: ticket.seq,
            ..ask(ticket)
        };
        (ticket.intended.as_duration(), request)
    });
    let outcome = cluster(small).run(arrivals);
    let run = simulate_engines(&plan, cluster(small), ask, told).unwrap();
    let series = run.series(&ttft());
    let firsts = outcome
        .completions
        .iter()
        .map(|done| done.time_to_first_token);
    let sum: Duration = firsts.clone().sum();
    let n = outcome.completions.len() as f64;
    assert_eq!(series.whole().count() as f64, n);
    let (mean, exact) = (series.whole().mean_ns().unwrap(), sum.as_nanos() as f64 / n);
    assert!((mean / exact - 1.0).abs() < 1e-12, "{mean} and {exact}");
    assert_eq!(
        series.whole().exact.max_ns(),
        firsts.max().map(|most| most.as_nanos() as u64)
    );
    let ends: Duration = outcome.completions.iter().map(|done| done.end_to_end).sum();
    let response = run.series(&Metric::Response).whole().mean_ns().unwrap();
    assert!((response / (ends.as_nanos() as f64 / n) - 1.0).abs() < 1e-12);
    let tokens: u64 = (outcome.completions.iter())
        .map(|done| u64::from(done.output_tokens))
        .sum();
    let counted = run.snapshot().steady();
    assert_eq!(
        counted.counts().find(|(name, _)| *name == "tokens"),
        Some(("tokens", tokens))
    );
    assert!(run.validity().is_valid() && run.snapshot().counts().balances());
}

#[test]
fn one_request_at_a_time_is_the_floor() {
    let engine = EngineConfig {
        cost: StepCost {
            base: 0.010,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    };
    let plan = Plan::closed(1)
        .think(Duration::from_secs(1))
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(60)))
        .build()
        .unwrap();
    let ask = |_: Ticket| Request::new(0, 50, 20);
    let run = simulate_engines(&plan, cluster(engine), ask, told).unwrap();
    let whole = run.series(&ttft()).whole().exact.clone();
    assert_eq!(
        (whole.min_ns(), whole.max_ns()),
        (Some(10_000_000), Some(10_000_000))
    );
    // 200 ms each, and a second between them.
    assert_eq!(run.snapshot().counts().ok, 50);
}

#[test]
fn limits_and_timeouts_are_kept_and_the_books_balance() {
    let busy = plan(40.0, 30).arrivals(Arrivals::Constant);
    let engine = EngineConfig {
        max_sequences: 4,
        max_step_tokens: 512,
        ..EngineConfig::default()
    };
    for plan in [
        busy.clone().in_flight(InFlight::Shed(6)),
        busy.clone().in_flight(InFlight::Queue(6)),
        busy.clone().timeout(Duration::from_secs(1)),
        busy.clone()
            .in_flight(InFlight::Queue(6))
            .timeout(Duration::from_secs(1))
            .timeout_from(TimeoutFrom::Dispatched),
        busy.clone()
            .in_flight(InFlight::Queue(6))
            .timeout(Duration::from_secs(1)),
        busy.drain(Duration::from_secs(1)),
    ] {
        let run = run(&plan, engine);
        let counts = run.snapshot().counts();
        assert!(counts.balances(), "{counts:?}");
        assert_eq!(counts.scheduled, 1200);
        assert!(counts.ok > 10, "{counts:?}");
        let lost = counts.scheduled - counts.ok;
        assert!(lost > 100, "more comes than is served: {counts:?}");
        // First tokens of those that were served, and all others later than them.
        let series = run.series(&ttft());
        assert_eq!(series.whole().at_least.count(), lost);
        let most = run.series(&Metric::ResponseOk).whole().exact.max_ns();
        if let Some(timeout) = run.plan().limits().timeout
            && timeout.from == TimeoutFrom::Intended
        {
            assert!(most < Some(1_000_000_000), "{most:?}");
        }
        let judgement = "ttft.p99<=10s".parse::<Slo>().unwrap().judge(&run);
        assert_eq!(judgement.findings[0].verdict, Verdict::Fail);
    }
}

#[test]
fn what_no_engine_has_room_for_fails() {
    let small = EngineConfig {
        blocks: 20,
        ..EngineConfig::default()
    };
    let run = run(&plan(5.0, 20), small);
    let counts = run.snapshot().counts();
    assert!(counts.failed > 20 && counts.ok > 10, "{counts:?}");
    assert!(counts.balances());
}
