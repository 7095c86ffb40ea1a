//! `loadgen capacity`: queueing models and sizing, as JSON.

mod batching;
mod closed;
mod laws;
mod queues;
mod sizing;
mod usl;

use crate::exit::{Failure, Status};
use crate::output::write_to;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// What a service can carry, by formula; nothing is sent. The answer is JSON.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct CapacityArgs {
    #[command(subcommand)]
    what: Calculator,
}

const HELP: &str = "\
Queues answer with utilisation, probabilities of waiting and of being turned away, means, and quantiles of the response,
null where no formula gives them or nanoseconds cannot count them; times in nanoseconds. Sizes answer with their formulas and what went into them.
  loadgen capacity mmc --rate 75 --service 100ms --servers 10
  loadgen capacity mmck --rate 1000 --service 50ms --servers 32 --waiting 32
  loadgen capacity mg1 --rate 200 --service 2.9ms --cv 1.97
  loadgen capacity nodes --rate 10000 --knee 1400 --highest 2000
  loadgen capacity kv --rate 50 --service 4s --tokens 4300 --layers 32 --kv-heads 8 --head-dimension 128
  loadgen capacity closed --users 20 --think 1s --demand 5ms,20ms
  loadgen capacity little --rate 1000 --stay 50ms
  loadgen capacity utilisation --rate 300 --service 10ms --response 15ms --highest 400 --servers 4
  loadgen capacity curve --points 100:10.0ms,300:14.9ms,360:29.7ms
  loadgen capacity plan --peak 10000 --knee 1400 --highest 2000 --p99 40ms --p90 25ms
  loadgen capacity batching --rate 6 --engines 2 --routing prefix-aware --prefixes zipf:50:1 --prefix-tokens 2048
  loadgen capacity usl --points 1:995,2:1930,4:3700,8:6500,16:10400
A load that the servers cannot carry has status 2 and says how many could.";

#[derive(Debug, Subcommand)]
enum Calculator {
    /// One server, exponential services: an event loop
    Mm1(queues::OneArgs),
    /// One server, services that all take the same time
    Md1(queues::OneArgs),
    /// One server, services of any spread: head-of-line blocking (Pollaczek-Khinchine)
    Mg1(queues::SpreadArgs),
    /// Servers that share one queue, exponential services (Erlang C)
    Mmc(queues::PoolArgs),
    /// The same with a bounded queue: who is turned away, of a pool of connections
    Mmck(queues::BoundedArgs),
    /// Servers that share one queue, arrivals and services of any spread; an approximation of means (Allen-Cunneen)
    Ggc(queues::GeneralArgs),
    /// What so many users who wait for their answers reach at the least and at the most: a closed loop
    Closed(closed::ClosedArgs),
    /// Little's law: one of number inside, rate and stay from the other two
    Little(laws::LittleArgs),
    /// How busy a service is, by every way of telling, side by side with what each assumes
    #[command(visible_alias = "utilization")]
    Utilisation(laws::UtilisationArgs),
    /// What an objective of 1.5 S, 3 S and max(4 S, 2 ms) comes to
    Bounds(laws::BoundsArgs),
    /// Servers, service and highest rate from the mean responses of a sweep: the curve of M/M/c through them
    Curve(laws::CurveArgs),
    /// The universal scalability law through measured points: what more users, threads or nodes bring
    Usl(usl::UslArgs),
    /// Nodes for a peak, by the knee and by the highest rate of one
    Nodes(sizing::NodesArgs),
    /// Connections, workers or permits for a peak
    Pool(sizing::PoolArgs),
    /// Sequences that a language model holds at once, and the KV cache for them
    Kv(sizing::KvArgs),
    /// After how long a client should give up
    Timeout(sizing::TimeoutArgs),
    /// All of it for a peak, with formulas: nodes, pools, KV cache, timeouts
    Plan(laws::PlanArgs),
    /// Language-model servers that batch continuously, by simulation: TTFT, TPOT, preemption, prefix hits, prefill apart
    /// from decode
    Batching(Box<batching::BatchingArgs>),
}

/// Calculates and prints.
pub(crate) fn run(arguments: &CapacityArgs) -> Result<Status, Failure> {
    match &arguments.what {
        Calculator::Mm1(arguments) => print(&arguments.mm1()?),
        Calculator::Md1(arguments) => print(&arguments.md1()?),
        Calculator::Mg1(arguments) => print(&arguments.answer()?),
        Calculator::Mmc(arguments) => print(&arguments.answer()?),
        Calculator::Mmck(arguments) => print(&arguments.answer()?),
        Calculator::Ggc(arguments) => print(&arguments.answer()?),
        Calculator::Closed(arguments) => print(&arguments.answer()?),
        Calculator::Little(arguments) => print(&arguments.answer()?),
        Calculator::Utilisation(arguments) => print(&arguments.answer()?),
        Calculator::Bounds(arguments) => print(&arguments.answer()?),
        Calculator::Curve(arguments) => print(&arguments.answer()?),
        Calculator::Plan(arguments) => print(&arguments.answer()?),
        Calculator::Batching(arguments) => print(&arguments.answer()?),
        Calculator::Usl(arguments) => print(&arguments.answer()?),
        Calculator::Nodes(arguments) => print(&arguments.answer()?),
        Calculator::Pool(arguments) => print(&arguments.answer()?),
        Calculator::Kv(arguments) => print(&arguments.answer()?),
        Calculator::Timeout(arguments) => print(&arguments.answer()?),
    }
}

fn print(answer: &impl Serialize) -> Result<Status, Failure> {
    let written = write_to(Path::new("-"), |out| {
        serde_json::to_writer_pretty(&mut *out, answer)?;
        writeln!(out)
    });
    written.map_err(Failure::Machine)?;
    Ok(Status::Pass)
}

/// Arrivals per second, with or without the unit.
fn per_second(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = text.strip_suffix("/s").unwrap_or(text);
    number
        .parse()
        .map_err(|_| format!("\"{text}\" is no rate: give arrivals per second, such as 2000"))
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Whole nanoseconds; a time that is too long to be counted in them is the longest one.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
