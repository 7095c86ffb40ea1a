//! Do prompts have to stop everybody else? Two engines that do both against one that prefills and one that decodes; and
//! what it is worth to send a prompt where its beginning is known.
//!
//! `cargo run --release -p openloop-examples --example disaggregated` (a second: it is arithmetic)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::batching::{
    Cluster, ClusterConfig, Completion, EngineConfig, Layout, Outcome, Prefill, Request, Routing,
    StepCost, Transfer,
};
use openloop_experiment::{Lifecycle, Plan};
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_workload::Values;
use std::error::Error;
use std::time::Duration;

const SEED: u64 = 1;
/// Requests in a second: long prompts, short answers.
const RATE: f64 = 5.5;
const PROMPTS: &str = "lognormal:mean=2000,cv=0.7,min=64,max=8192";
const ANSWERS: &str = "lognormal:mean=60,cv=0.4,min=24,max=256";

fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 120 } else { 1200 });
    let floor = alone()?;
    println!(
        "{RATE} requests a second at random instants for {length:?} of simulated time; prompts of 2000 tokens in the mean,
answers of 60; 8 ms a step, 60 us for each token of a prompt

one request alone: S_prefill {}, S_decode {}\n",
        shown(floor.time_to_first_token),
        shown(floor.time_per_output_token().unwrap_or_default())
    );
    println!(
        "{:<34}{:>11}{:>11}{:>11}{:>11}",
        "two engines", "TTFT p50", "p99", "TPOT p50", "p99"
    );
    let requests = requests(length)?;
    for (name, layout) in [
        ("each does both", BOTH),
        ("one prefills, one decodes", APART),
    ] {
        let outcome = simulate(layout, &requests)?;
        let (ttft, tpot) = (ttft(&outcome), tpot(&outcome));
        println!(
            "{name:<34}{:>11}{:>11}{:>11}{:>11}",
            shown(at(&ttft, Quantile::P50)),
            shown(at(&ttft, Quantile::P99)),
            shown(at(&tpot, Quantile::P50)),
            shown(at(&tpot, Quantile::P99)),
        );
    }
    println!("\na prompt of 8000 tokens whose beginning one of four engines has computed already");
    for (name, routing) in [
        ("sent to the next in turn", Routing::RoundRobin),
        (
            "sent where it is known",
            Routing::PrefixAware { most_ahead: None },
        ),
    ] {
        println!(
            "{name:<34}{:>11} of prefill",
            shown(second_prefill(routing)?)
        );
    }
    println!(
        "
A step takes as long as all that is in it: the tokens of somebody's prompt lengthen it for everybody who decodes. With
engines of their own the decoding ones have steps that are all alike, and the time per token is nearly that of a request
alone; first tokens then wait for the one engine that prefills, which is the price. A prompt whose beginning is in a
cache has hardly anything to compute, if it is sent to the engine that has it."
    );
    Ok(())
}

const BOTH: Layout = Layout::Mixed { engines: 2 };
const APART: Layout = Layout::Disaggregated {
    prefill: 1,
    decode: 1,
    // 1 MB for each block of an 8 billion parameter model, over 200 GB/s.
    transfer: Transfer {
        latency: 100e-6,
        per_block: 5e-6,
    },
};

fn engine() -> EngineConfig {
    EngineConfig {
        prefill: Prefill::Whole,
        cost: StepCost {
            base: 8e-3,
            per_prompt_token: 60e-6,
            per_sequence: 20e-6,
            per_context_token: 10e-9,
        },
        ..EngineConfig::default()
    }
}

fn requests(length: Duration) -> Result<Vec<(Duration, Request)>, Box<dyn Error>> {
    let (prompts, answers): (Values, Values) = (PROMPTS.parse()?, ANSWERS.parse()?);
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .seed(SEED)
        .build()?;
    let schedule = plan.schedule().ok_or("an open loop has a schedule")?;
    let requests = schedule.clone().map(|ticket| {
        let tokens = |law: &Values, seed| law.value(seed, ticket.seq).round() as u32;
        let (prompt, answer) = (tokens(&prompts, SEED), tokens(&answers, SEED + 1));
        (
            ticket.intended.as_duration(),
            Request::new(ticket.seq, prompt, answer),
        )
    });
    Ok(requests.collect())
}

fn simulate(layout: Layout, requests: &[(Duration, Request)]) -> Result<Outcome, Box<dyn Error>> {
    let config = ClusterConfig {
        layout,
        routing: Routing::LeastLoaded,
        ..ClusterConfig::single(engine())
    };
    Ok(Cluster::new(config)?.run(requests.iter().cloned()))
}

/// The floor: a typical request with nobody else there.
fn alone() -> Result<Completion, Box<dyn Error>> {
    let request = (Duration::ZERO, Request::new(0, 2000, 60));
    let outcome = simulate(BOTH, &[request])?;
    Ok(outcome.completions.first().ok_or("it was served")?.clone())
}

/// TTFT of a long prompt that one of four engines has had before.
fn second_prefill(routing: Routing) -> Result<Duration, Box<dyn Error>> {
    let engine = EngineConfig {
        max_step_tokens: 8192,
        cost: StepCost {
            base: 4e-3,
            ..engine().cost
        },
        ..engine()
    };
    let config = ClusterConfig {
        engine,
        layout: Layout::Mixed { engines: 4 },
        routing,
    };
    let prompt = |id| Request::new(id, 8000 + 8, 2).with_block_hashes((0..500).collect());
    let mut cluster = Cluster::new(config)?;
    let outcome = cluster.run([
        (Duration::ZERO, prompt(0)),
        (Duration::from_secs(10), prompt(1)),
    ]);
    let second = outcome.completions.iter().find(|done| done.id == 1);
    Ok(second.ok_or("it was served")?.time_to_first_token)
}

fn ttft(outcome: &Outcome) -> Vec<Duration> {
    let all = outcome.completions.iter();
    sorted(all.map(|done| done.time_to_first_token))
}

fn tpot(outcome: &Outcome) -> Vec<Duration> {
    let all = outcome.completions.iter();
    sorted(all.filter_map(Completion::time_per_output_token))
}

fn sorted(values: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable();
    values
}

fn at(sorted: &[Duration], q: Quantile) -> Duration {
    let rank = q.rank(sorted.len() as u64) as usize;
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separate_workers_keep_the_time_per_token_of_a_request_alone() {
        let requests = requests(Duration::from_secs(600)).unwrap();
        let (both, apart) = (
            simulate(BOTH, &requests).unwrap(),
            simulate(APART, &requests).unwrap(),
        );
        let p99 = |outcome: &Outcome| at(&tpot(outcome), Quantile::P99).as_secs_f64();
        let floor = alone()
            .unwrap()
            .time_per_output_token()
            .unwrap()
            .as_secs_f64();
        assert!(
            p99(&both) >= 3.0 * p99(&apart),
            "{} and {}",
            p99(&both),
            p99(&apart)
        );
        assert!(p99(&apart) <= 1.1 * floor, "{} and {floor}", p99(&apart));
        for engine in both.engines.iter().chain(&apart.engines) {
            assert!(engine.most_used_blocks <= engine.blocks, "{engine:?}");
        }
    }

    #[test]
    fn a_prompt_that_is_known_costs_nearly_nothing() {
        let cold = second_prefill(Routing::RoundRobin).unwrap();
        let warm = second_prefill(Routing::PrefixAware { most_ahead: None }).unwrap();
        assert!((cold.as_secs_f64() - 0.484).abs() < 0.02, "{cold:?}");
        assert!((warm.as_secs_f64() - 0.005).abs() < 0.001, "{warm:?}");
    }
}
