//! How fast is `loadgen grpc` beside h2load? `cargo bench -p openloop-examples --bench grpc`
//!
//! Unary calls in a closed loop, 50 at once over 1 connection and 48 over 4, in alternation with h2load (Debian's
//! nghttp2-client) over as many connections and streams, against the same server by tonic: calls per second, and seconds
//! of CPU per million calls, start and end of the program included. h2load decodes no message and looks at no status of
//! gRPC. One core for the generator and one for the server.
//!
//! `-- --steady 10s --rounds 3`

#![allow(clippy::print_stdout)]

mod support;

use std::process::Command;
use std::time::Duration;

use openloop_testbed::GrpcServer;
use support::Result;
use support::program;
use support::ratio::{Ratio, by_turns};

/// Connections, and calls at once on each.
const SHAPES: [(u32, u32); 2] = [(1, 50), (4, 12)];
/// Calls per second beside those of h2load: what must hold, and what is aimed at.
const GOAL: f64 = 0.55;
const AIM: f64 = 0.75;
/// CPU a call beside that of h2load.
const MOST_CPU: f64 = 3.0;
const METHOD: &str = "openloop.testbed.Echo/Unary";

fn main() -> Result<()> {
    let flags = [("--steady", "10s"), ("--rounds", "3")];
    let Some(flags) = support::begin("unary calls, a server by tonic", &flags)? else {
        return Ok(());
    };
    let length = flags.duration("--steady")?;
    let rounds = flags.count("--rounds")?;
    let Some(h2load) = program::find("h2load", "H2LOAD") else {
        return Err("h2load is missing: apt-get install nghttp2-client".into());
    };
    let server = support::on_the_servers_core(|| GrpcServer::builder().start())?;
    // The message of both: five bytes of text behind the prefix that the protocol asks for.
    let message = std::env::temp_dir().join(format!("openloop-grpc-{}.bin", std::process::id()));
    std::fs::write(&message, b"\0\0\0\0\x07\x32\x05hello")?;
    let mut broken = Vec::new();
    for (connections, at_once) in SHAPES {
        println!(
            "{:>5}  {:<8} {:>11} {:>9} {:>5}   connections: {connections}, calls on each: {at_once}",
            "round", "", "calls/s", "CPU s/M", "load"
        );
        let (mut all_ours, mut all_theirs) = (Vec::new(), Vec::new());
        for round in 1..=rounds {
            let mut h2load = Command::new(&h2load);
            let (ours, theirs) = by_turns(
                round,
                || loadgen(&server, connections, at_once, length),
                || peer(&mut h2load, &server, &message, connections, at_once, length),
            )?;
            for (name, figures) in [("h2load", &theirs), ("loadgen", &ours)] {
                let (rate, cpu) = (figures.per_second, figures.cpu);
                let load = support::load_average();
                println!("{round:>5}  {name:<8} {rate:>11.0} {cpu:>9.2} {load:>5}");
            }
            all_ours.push(ours);
            all_theirs.push(theirs);
        }
        let rate = Ratio::of(&all_ours, &all_theirs, |figures| figures.per_second);
        let cpu = Ratio::of(&all_ours, &all_theirs, |figures| figures.cpu);
        println!(
            "loadgen / h2load over {connections}: {rate} of the calls per second (goal {GOAL}, aim {AIM}), {cpu} of the CPU (at most {MOST_CPU})\n"
        );
        if rate.median < GOAL || cpu.median > MOST_CPU {
            broken.push(format!("{rate} at {cpu} of the CPU over {connections}"));
        }
    }
    std::fs::remove_file(&message)?;
    support::end(&broken)
}

/// What one run achieved.
struct Figures {
    per_second: f64,
    /// Seconds of CPU per million calls.
    cpu: f64,
}

impl Figures {
    fn of(per_second: f64, calls: f64, cpu: Duration) -> Self {
        let cpu = cpu.as_secs_f64() * 1e6 / calls;
        Figures { per_second, cpu }
    }
}

fn loadgen(
    server: &GrpcServer,
    connections: u32,
    at_once: u32,
    length: Duration,
) -> Result<Figures> {
    let (channels, users) = (connections.to_string(), (connections * at_once).to_string());
    let flags = [
        "--method",
        METHOD,
        "--data",
        r#"{"text": "hello"}"#,
        "--closed",
        &users,
        "--channels",
        &channels,
    ];
    let (finished, report) = program::loadgen_of("grpc", &server.url(), length, &flags)?;
    let per_second = report["achieved_rate"].as_f64();
    let calls = report["arrivals"]["ok"].as_f64();
    match (per_second, calls) {
        (Some(per_second), Some(calls)) => Ok(Figures::of(per_second, calls, finished.cpu)),
        _ => Err("loadgen served nothing".into()),
    }
}

fn peer(
    h2load: &mut Command,
    server: &GrpcServer,
    message: &std::path::Path,
    connections: u32,
    at_once: u32,
    length: Duration,
) -> Result<Figures> {
    let seconds = length.as_secs().max(1).to_string();
    let (connections, at_once) = (connections.to_string(), at_once.to_string());
    h2load.args([
        "-D",
        &seconds,
        "-c",
        &connections,
        "-m",
        &at_once,
        "-t",
        "1",
    ]);
    h2load.args(["-H", "content-type: application/grpc", "-H", "te: trailers"]);
    h2load.arg("-d").arg(message);
    h2load.arg(format!("{}/{METHOD}", server.url()));
    let finished = program::run(h2load)?;
    // finished in 10.00s, 62200.50 req/s, 3.10MB/s
    let rate = number_before(&finished.output, " req/s");
    // requests: 622005 total, 622055 started, 622005 done, 622005 succeeded, …
    let calls = number_before(&finished.output, " succeeded");
    match (rate, calls) {
        (Some(rate), Some(calls)) if calls > 0.0 => Ok(Figures::of(rate, calls, finished.cpu)),
        _ => Err(format!("h2load's output has no figures: {}", finished.output).into()),
    }
}

/// The number that stands before this text.
fn number_before(output: &str, text: &str) -> Option<f64> {
    let before = output.split(text).next()?;
    let number = before.rsplit([' ', ',']).next()?;
    number.parse().ok()
}
