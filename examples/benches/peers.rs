//! How fast is loadgen beside other tools? `cargo bench -p openloop-examples --bench peers`
//!
//! A closed loop over 50 connections of HTTP/1.1, one core for the generator and one for the server, in alternation
//! with oha and wrk: requests per second, and seconds of CPU per million requests, start and end of the program
//! included. oha and wrk are looked for on the PATH, or where the variables OHA and WRK say.
//!
//! `-- --steady 20s --rounds 3`

#![allow(clippy::print_stdout)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use support::Result;
use support::program::{self, Finished};
use support::ratio::Ratio;
use support::server::Server;
use support::statistics::median;

const CONNECTIONS: &str = "50";
/// Requests per second, beside those of a peer, and whether that must hold: the benchmark fails if it does not.
const GOALS: [(&str, f64, bool); 2] = [("oha", 1.1, true), ("wrk", 0.95, false)];

fn main() -> Result<()> {
    let flags = [("--steady", "20s"), ("--rounds", "3")];
    let Some(flags) = support::begin("Closed loop over 50 connections, instant server", &flags)?
    else {
        return Ok(());
    };
    let length = flags.duration("--steady")?;
    let (oha, wrk) = (program::find("oha", "OHA"), program::find("wrk", "WRK"));
    println!(
        "{:>5}  {:<8} {:>10} {:>9} {:>5}",
        "round", "", "req/s", "CPU s/M", "load"
    );
    let mut figures: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
    // Each goes first in turn: what comes after another program meets a machine that is warm.
    let mut order = ["loadgen", "oha", "wrk"];
    for round in 1..=flags.count("--rounds")? {
        for name in order {
            let Some(measured) = (match name {
                "oha" => measure(oha.as_deref(), |oha, url| by_oha(oha, url, length))?,
                "wrk" => measure(wrk.as_deref(), |wrk, url| by_wrk(wrk, url, length))?,
                _ => Some(with_server(|url| loadgen(url, length))?),
            }) else {
                println!("{round:>5}  {name:<8} {:>10}", "not found");
                continue;
            };
            println!(
                "{round:>5}  {name:<8} {measured} {:>5}",
                support::load_average()
            );
            figures.entry(name).or_default().push(measured);
        }
        order.rotate_left(1);
    }
    println!();
    for (name, rounds) in &figures {
        let medians = Figures {
            per_second: median(rounds.iter().map(|round| round.per_second)),
            cpu: median(rounds.iter().map(|round| round.cpu)),
        };
        println!("{:>5}  {name:<8} {medians}", "all");
    }
    let mut broken = Vec::new();
    for (peer, goal, must_hold) in GOALS {
        if let (Some(ours), Some(theirs)) = (figures.get("loadgen"), figures.get(peer)) {
            let rate = Ratio::of(ours, theirs, |figures| figures.per_second);
            let cpu = Ratio::of(ours, theirs, |figures| figures.cpu);
            let kind = if must_hold { "goal" } else { "aim" };
            let reached = rate.median >= goal;
            let verdict = if reached { "reached" } else { "missed" };
            if must_hold && !reached {
                broken.push(format!("loadgen / {peer} is {rate}, and {goal} must hold"));
            }
            println!(
                "loadgen / {peer}: {rate} of the requests per second ({kind} {goal}: {verdict}), {cpu} of the CPU"
            );
        }
    }
    support::end(&broken)
}

/// What one run achieved.
struct Figures {
    per_second: f64,
    /// Seconds of CPU per million requests.
    cpu: f64,
}

impl Figures {
    fn of(per_second: f64, requests: f64, cpu: Duration) -> Self {
        let cpu = cpu.as_secs_f64() * 1e6 / requests;
        Figures { per_second, cpu }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>10.0} {:>9.2}", self.per_second, self.cpu)
    }
}

/// What a peer achieves, where there is one.
fn measure(
    peer: Option<&Path>,
    by: impl FnOnce(&Path, &str) -> Result<Figures>,
) -> Result<Option<Figures>> {
    peer.map(|peer| with_server(|url| by(peer, url)))
        .transpose()
}

/// Each run has a server of its own, whose log is as short as the others'.
fn with_server<T>(run: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let server = Server::start("instant")?;
    run(server.url())
}

fn loadgen(url: &str, length: Duration) -> Result<Figures> {
    let flags = ["--closed", CONNECTIONS, "--connections", CONNECTIONS];
    let (finished, report) = program::loadgen(url, length, &flags)?;
    let per_second = report["achieved_rate"].as_f64();
    let requests = report["arrivals"]["ok"].as_f64();
    let (Some(per_second), Some(requests)) = (per_second, requests) else {
        return Err("loadgen served nothing".into());
    };
    Ok(Figures::of(per_second, requests, finished.cpu))
}

fn by_oha(oha: &Path, url: &str, length: Duration) -> Result<Figures> {
    let length = format!("{}ms", length.as_millis());
    let mut command = Command::new(oha);
    command.args(["-z", &length, "-c", CONNECTIONS, "--worker-threads", "1"]);
    command.args(["--no-tui", "--output-format", "json", url]);
    let Finished { output, cpu } = program::run(&mut command)?;
    let report: serde_json::Value = serde_json::from_str(&output)
        .map_err(|error| format!("oha gave no report ({error}): {output}"))?;
    let per_second = report["summary"]["requestsPerSec"].as_f64();
    let requests = report["statusCodeDistribution"]["200"].as_f64();
    let (Some(per_second), Some(requests)) = (per_second, requests) else {
        return Err(format!("oha's report has no figures: {output}").into());
    };
    Ok(Figures::of(per_second, requests, cpu))
}

fn by_wrk(wrk: &Path, url: &str, length: Duration) -> Result<Figures> {
    // wrk knows no fractions of seconds.
    let length = format!("-d{}s", length.as_secs().max(1));
    let mut command = Command::new(wrk);
    command.args(["-t1", &format!("-c{CONNECTIONS}"), &length, url]);
    let Finished { output, cpu } = program::run(&mut command)?;
    let mut lines = output.lines().map(str::trim);
    let requests = lines.find_map(|line| line.split_once(" requests in ")?.0.parse().ok());
    let per_second = lines.find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok());
    let (Some(per_second), Some(requests)) = (per_second, requests) else {
        return Err(format!("wrk's output has no figures: {output}").into());
    };
    Ok(Figures::of(per_second, requests, cpu))
}
