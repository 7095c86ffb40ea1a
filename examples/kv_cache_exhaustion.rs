//! What happens when the KV cache is full? Answers that grow, on simulated servers with room for many and for few.
//!
//! `cargo run --release -p openloop-examples --example kv_cache_exhaustion` (20 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::little;
use openloop_experiment::{Lifecycle, Metric, Plan, Run, Target, drive, requests};
use openloop_inference::{Inference, Observed};
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_testbed::LlmServer;
use openloop_testbed::batching::{ClusterConfig, EngineConfig};
use openloop_workload::prompts::Prompts;
use std::error::Error;
use std::future::IntoFuture;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const RATE: f64 = 6.0;
const PROMPT: u32 = 160;
const ANSWER: u32 = 160;
const SEED: u64 = 1;
/// How often the server is asked for its metrics.
const EVERY: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 4 } else { 9 });
    let blocks = f64::from((PROMPT + ANSWER) / 16);
    let sequences = little::number(RATE, f64::from(ANSWER) * 8.5e-3)?;
    println!(
        "{RATE} requests a second for {length:?}, prompts of {PROMPT} tokens and answers of {ANSWER}; by Little's law {sequences:.1}\n\
         are answered at once, which at their ends hold {:.0} blocks of 16 tokens\n",
        sequences * blocks
    );
    for (name, blocks) in [("room for many", 1000), ("room for few", 90)] {
        let (run, seen) = measure(blocks, length).await?;
        println!("{name}: {blocks} blocks{}", doubt(&run));
        println!(
            "  TTFT p50 {}, p99 {}; TPOT p50 {}, p99 {}",
            at(&run, "ttft", Quantile::P50),
            at(&run, "ttft", Quantile::P99),
            at(&run, "tpot", Quantile::P50),
            at(&run, "tpot", Quantile::P99)
        );
        println!(
            "  {:>7}{:>9}{:>10}{:>10}{:>14}",
            "time", "cache", "running", "waiting", "preemptions"
        );
        for (at, seen) in seen {
            println!(
                "  {:>5.1} s{:>7.0} %{:>10}{:>10}{:>14}{}",
                at.as_secs_f64(),
                100.0 * seen.kv_cache_usage.unwrap_or_default(),
                seen.running.unwrap_or_default(),
                seen.waiting.unwrap_or_default(),
                seen.preemptions.unwrap_or_default(),
                if seen.kv_cache_usage >= Some(0.99) {
                    "  full"
                } else {
                    ""
                }
            );
        }
        println!();
    }
    println!(
        "A server with a full cache does not fail: it takes the blocks of whoever came last, who begins again when there is
room, and lets new requests wait. Its errors stay at 0 and its GPU stays busy; the time to the first token grows without an
end, because work that was done is done again. What tells is the usage of the cache and the count of preemptions, beside
the times from the instants at which the requests should have started."
    );
    Ok(())
}

async fn measure(
    blocks: u32,
    length: Duration,
) -> Result<(Run, Vec<(Duration, Observed)>), Box<dyn Error>> {
    let engine = EngineConfig {
        blocks,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine)).start()?;
    let model = Inference::builder(&server.url(), "simulated").build()?;
    model.prepare().await?;
    let law = |tokens: u32| format!("fixed:{tokens}").parse();
    let prompts = Prompts::new(law(PROMPT)?, law(ANSWER)?)?;
    let made: Result<Vec<_>, _> = (0..(3.0 * RATE * length.as_secs_f64()) as u64)
        .map(|seq| model.request(prompts.prompt(SEED, seq)))
        .collect();
    let made = made?;
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .drain(Duration::from_secs(60))
        .target(Target::SameProcess)
        .seed(SEED)
        .build()?;
    let request = move |seq: u64| made[seq as usize % made.len()].clone();
    let run = drive::shared(&plan, requests(model, request));
    let watch = async {
        let (start, mut seen) = (Instant::now(), Vec::new());
        while start.elapsed() < length {
            sleep(EVERY).await;
            seen.push((start.elapsed(), Observed::parse(&server.metrics())));
        }
        seen
    };
    let (run, seen) = tokio::join!(run.into_future(), watch);
    Ok((run?, seen))
}

fn doubt(run: &Run) -> &'static str {
    match run.validity().is_valid() {
        true => "",
        false => " (? the machine was too busy: not to be believed)",
    }
}

fn at(run: &Run, name: &str, q: Quantile) -> String {
    let value = run.series(&Metric::Named(name.to_owned())).quantile(q);
    value.map_or("-".to_owned(), |value| {
        format!("{:.0} ms", value.ns() as f64 / 1e6)
    })
}
