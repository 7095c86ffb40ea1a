//! Why does production wait longer than the benchmark? Prompts of 128 tokens each against the lengths that users send,
//! on the same simulated server.
//!
//! `cargo run --release -p openloop-examples --example inference_ttft` (25 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Metric, Plan, Run, Target, drive, requests};
use openloop_inference::Inference;
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_testbed::LlmServer;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, Prefill};
use openloop_workload::prompts::Prompts;
use std::error::Error;
use std::time::Duration;

const RATE: f64 = 10.0;
const SEED: u64 = 1;
/// What the benchmark sends, and what users do.
const FIXED: &str = "fixed:128";
const REALISTIC: &str = "lognormal:mean=700,cv=1.3,min=1,max=8192";
const ANSWERS: &str = "lognormal:mean=60,cv=0.6,min=4,max=256";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 3 } else { 12 });
    println!(
        "a simulated server that batches continuously (8 ms a step, 60 us for each token of a prompt, whole prompts first);\n\
         {RATE} requests a second at random instants for {length:?}, answers of 60 tokens in the mean\n"
    );
    let fixed = measure(FIXED, length).await?;
    let realistic = measure(REALISTIC, length).await?;
    println!(
        "{:<34}{:>10}{:>10}{:>10}{:>10}",
        "", "TTFT p50", "p99", "TPOT p50", "p99"
    );
    for (name, run) in [
        ("prompts of 128 tokens", &fixed),
        ("prompts as users send them", &realistic),
    ] {
        println!(
            "{name:<34}{:>10}{:>10}{:>10}{:>10}",
            at(run, "ttft", Quantile::P50),
            at(run, "ttft", Quantile::P99),
            at(run, "tpot", Quantile::P50),
            at(run, "tpot", Quantile::P99),
        );
    }
    println!("\nhow many of the first tokens had come after so long");
    for run in [("128", &fixed), ("users'", &realistic)] {
        picture(run.0, run.1);
    }
    println!(
        "
Both runs ask for the same number of answers, and both mean well. A prompt of 128 tokens is computed in 8 ms, and
hardly ever waits for another; those of users are five times as long in the mean and fifty times at the longest, and while a
long one is computed nobody gets a token. A benchmark of equal short prompts measures a server that nobody has."
    );
    Ok(())
}

async fn measure(lengths: &str, length: Duration) -> Result<Run, Box<dyn Error>> {
    let engine = EngineConfig {
        prefill: Prefill::Whole,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine)).start()?;
    let model = Inference::builder(&server.url(), "simulated").build()?;
    model.prepare().await?;
    let prompts = Prompts::new(lengths.parse()?, ANSWERS.parse()?)?;
    // Made ahead: writing a long prompt takes a fraction of a millisecond, which is the generator's and not the server's.
    let made: Result<Vec<_>, _> = (0..(3.0 * RATE * length.as_secs_f64()) as u64)
        .map(|seq| model.request(prompts.prompt(SEED, seq)))
        .collect();
    let made = made?;
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .seed(SEED)
        .build()?;
    let request = move |seq: u64| made[seq as usize % made.len()].clone();
    let run = drive::shared(&plan, requests(model, request)).await?;
    if !run.validity().is_valid() {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    Ok(run)
}

fn metric(name: &str) -> Metric {
    Metric::Named(name.to_owned())
}

fn at(run: &Run, name: &str, q: Quantile) -> String {
    let value = run.series(&metric(name)).quantile(q);
    value.map_or("-".to_owned(), |value| {
        format!("{:.1} ms", value.ns() as f64 / 1e6)
    })
}

/// The share of first tokens by their time, on a scale that doubles.
fn picture(name: &str, run: &Run) {
    let steady = run.snapshot().steady();
    let Some(ttft) = steady.metric("ttft") else {
        return;
    };
    for doubled in 4..11 {
        let limit = 1_u64 << doubled;
        // The largest rank whose value is within the limit.
        let within = (1..=100)
            .filter(|percent| {
                let q = Quantile::new(*percent, 100).ok();
                let value = q.and_then(|q| ttft.quantile(q));
                value.is_some_and(|ns| ns <= limit * 1_000_000)
            })
            .count();
        println!("{name:>8} {limit:>6} ms {}", "#".repeat(within / 2));
    }
}
