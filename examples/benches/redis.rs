//! How fast is `loadgen redis` beside redis-benchmark? `cargo bench -p openloop-examples --bench redis`
//!
//! `GET` over 8 connections in a closed loop, one command and 16 at a time, in alternation with redis-benchmark: commands
//! per second, and seconds of CPU per million commands, start and end of the program included. Then an open loop at half
//! of the rate that redis-benchmark reached with one at a time: how late requests are sent. One core for the generator
//! and one for the server, which is a Redis of its own.
//!
//! `-- --steady 20s --rounds 3`

#![allow(clippy::print_stdout)]

mod support;

use std::process::Command;
use std::time::Duration;

use openloop_testbed::Redis;
use support::Result;
use support::program;
use support::ratio::{Ratio, by_turns};
use support::statistics::median;

const CONNECTIONS: &str = "8";
/// Commands at a time, and the commands per second beside those of redis-benchmark: what must hold, and what is aimed at.
const GOALS: [(u32, f64, f64); 2] = [(1, 1.0, 1.5), (16, 0.8, 0.95)];
/// p99 of the lag in the open loop, in nanoseconds.
const MOST_LAG: f64 = 1e6;

fn main() -> Result<()> {
    let flags = [("--steady", "20s"), ("--rounds", "3")];
    let Some(flags) = support::begin("GET over 8 connections, Redis", &flags)? else {
        return Ok(());
    };
    let length = flags.duration("--steady")?;
    let rounds = flags.count("--rounds")?;
    let server = Redis::start()?;
    if !server.id().is_some_and(support::pin_server) {
        println!("the server is not on a core of its own");
    }
    server.cli(&["debug", "populate", "100000", "key", "3"])?;
    let mut broken = Vec::new();
    let mut half = 0.0;
    for (at_once, goal, aim) in GOALS {
        println!(
            "\n{:>5}  {:<16} {:>11} {:>9} {:>5}   {at_once} at a time",
            "round", "", "commands/s", "CPU s/M", "load"
        );
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        // A first guess of what fills the time, until it has been measured.
        let mut per_second = 60_000.0 * f64::from(at_once);
        for round in 1..=rounds {
            let (by_loadgen, by_benchmark) = by_turns(
                round,
                || loadgen(&server, at_once, length),
                || benchmark(&server, at_once, per_second * length.as_secs_f64()),
            )?;
            per_second = by_benchmark.per_second;
            for (name, figures) in [("redis-benchmark", &by_benchmark), ("loadgen", &by_loadgen)] {
                let load = support::load_average();
                println!("{round:>5}  {name:<16} {figures} {load:>5}");
            }
            ours.push(by_loadgen);
            theirs.push(by_benchmark);
        }
        let rate = Ratio::of(&ours, &theirs, |figures| figures.per_second);
        let cpu = Ratio::of(&ours, &theirs, |figures| figures.cpu);
        println!(
            "loadgen / redis-benchmark, {at_once} at a time: {rate} of the commands per second (goal {goal}, aim {aim}), {cpu} of the CPU"
        );
        if rate.median < goal {
            broken.push(format!(
                "{rate} with {at_once} at a time, and {goal} must hold"
            ));
        }
        if at_once == 1 {
            half = median(theirs.iter().map(|figures| figures.per_second)) / 2.0;
        }
    }
    let lag = open_loop(&server, half, length)?;
    if lag > MOST_LAG {
        broken.push(format!(
            "p99 of the lag is {:.3} ms, and 1 ms must hold",
            lag / 1e6
        ));
    }
    support::end(&broken)
}

/// What one run achieved.
struct Figures {
    per_second: f64,
    /// Seconds of CPU per million commands.
    cpu: f64,
}

impl Figures {
    fn of(per_second: f64, commands: f64, cpu: Duration) -> Self {
        let cpu = cpu.as_secs_f64() * 1e6 / commands;
        Figures { per_second, cpu }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>11.0} {:>9.2}", self.per_second, self.cpu)
    }
}

fn loadgen(server: &Redis, at_once: u32, length: Duration) -> Result<Figures> {
    let at_a_time = at_once.to_string();
    let flags = ["--command", "GET key:1", "--pipeline", &at_a_time];
    let closed = ["--closed", CONNECTIONS, "--connections", CONNECTIONS];
    let flags = [&flags[..], &closed].concat();
    let (finished, report) = program::loadgen_of("redis", &server.url(), length, &flags)?;
    let per_second = report["achieved_rate"].as_f64();
    let requests = report["arrivals"]["ok"].as_f64();
    let (Some(per_second), Some(requests)) = (per_second, requests) else {
        return Err("loadgen served nothing".into());
    };
    let at_once = f64::from(at_once);
    Ok(Figures::of(
        per_second * at_once,
        requests * at_once,
        finished.cpu,
    ))
}

fn benchmark(server: &Redis, at_once: u32, commands: f64) -> Result<Figures> {
    let (port, at_once) = (server.port().to_string(), at_once.to_string());
    let commands = commands.round().to_string();
    let mut command = Command::new("redis-benchmark");
    command.args([
        "-p",
        &port,
        "-c",
        CONNECTIONS,
        "-P",
        &at_once,
        "-n",
        &commands,
    ]);
    command.args(["--threads", "1", "--csv", "GET", "key:1"]);
    let finished = program::run(&mut command)?;
    // "test","rps","avg_latency_ms",… and below it "GET key:1","68000.12",…
    let line = finished.output.lines().last().unwrap_or_default();
    let rate = line
        .split(',')
        .nth(1)
        .map(|rate| rate.trim_matches('"').parse());
    let Some(Ok(per_second)) = rate else {
        return Err(format!(
            "redis-benchmark's output has no figures: {}",
            finished.output
        )
        .into());
    };
    Ok(Figures::of(per_second, commands.parse()?, finished.cpu))
}

/// p99 of the lag, in nanoseconds.
fn open_loop(server: &Redis, rate: f64, length: Duration) -> Result<f64> {
    let rate = format!("{rate:.0}");
    let flags = [
        "--command",
        "GET key:1",
        "--rate",
        &rate,
        "--connections",
        CONNECTIONS,
    ];
    let (finished, report) = program::loadgen_of("redis", &server.url(), length, &flags)?;
    let of = |latency: &str, value: &str| report["latency"][latency][value].as_f64();
    let (Some(lag), Some(response), Some(requests)) = (
        of("lag", "p99_ns"),
        of("response", "p99_ns"),
        report["arrivals"]["ok"].as_f64(),
    ) else {
        return Err("loadgen served nothing".into());
    };
    println!(
        "\nopen loop, Poisson, {rate}/s: p99 of the lag {:.3} ms, of the response {:.3} ms; {:.2} s of CPU per million requests",
        lag / 1e6,
        response / 1e6,
        finished.cpu.as_secs_f64() * 1e6 / requests
    );
    Ok(lag)
}
