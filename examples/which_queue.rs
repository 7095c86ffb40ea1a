//! Which queue does a real service behave like? Node.js, nginx and Gunicorn, each swept and diagnosed.
//!
//! `cargo run --release -p openloop-examples --example which_queue` (10 min; `-- --quick` for a look that may be unsure)
//!
//! The servers are the programs of the system's packages: `cargo testbed --full` installs them.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::diagnosis::Diagnosis;
use openloop_experiment::sweep::Sweep;
use openloop_experiment::{
    Floor, FloorTrials, Lifecycle, Metric, Plan, Rtt, Run, Target, drive, requests,
};
use openloop_http::{Connections, Http};
use openloop_sched::Rate;
use openloop_testbed::Web;
use std::error::Error;
use std::time::Duration;

/// Shares of what the service can serve, by its floor: some low ones to see pauses, some high ones to see queues, and one
/// beyond.
const SHARES: [f64; 8] = [0.05, 0.1, 0.2, 0.4, 0.6, 0.75, 0.9, 1.4];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let steady = Duration::from_secs(if quick { 2 } else { 20 });
    let pool = Connections::pool(200);
    for (name, expected, server, connections, workers) in [
        (
            "Node.js, whose main thread computes 5 ms a request in the mean",
            "M/M/1: a single worker",
            Web::node(Duration::from_millis(5))?,
            pool,
            1.0,
        ),
        (
            "nginx with one worker, which compresses a text for each request",
            "M/G/1: a single worker",
            Web::nginx(60_000)?,
            pool,
            1.0,
        ),
        (
            "Gunicorn with 4 sync workers, each of which waits 20 ms a request in the mean",
            "G/G/c: 4 workers behind one queue",
            Web::gunicorn(4, Duration::from_millis(20))?,
            Connections::PerRequest,
            4.0,
        ),
    ] {
        println!("{name}\n  by its architecture: {expected}");
        let diagnosis = diagnose(&server, connections, workers, steady).await?;
        println!("  by its response times:\n{}", indented(&diagnosis));
    }
    println!(
        "How to read it: the architecture is known here, and the diagnosis is not told. It has the floor and the curve alone:
how much work is done at the highest rate in the time of one service, whether waits grow as those of one worker or of
several, and whether slow responses come together at any load. \"Unsure\" is an answer: it costs another measurement, where
a wrong one costs a wrong size."
    );
    Ok(())
}

async fn diagnose(
    server: &Web,
    connections: Connections,
    workers: f64,
    steady: Duration,
) -> Result<Diagnosis, Box<dyn Error>> {
    let lifecycle = Lifecycle {
        ramp_up: Duration::from_millis(500),
        warm_up: Duration::from_millis(500),
        steady,
        cooldown: Duration::ZERO,
    };
    let base = Plan::open(Rate::per_second(1.0)?)
        .lifecycle(lifecycle)
        .timeout(Duration::from_secs(10))
        .target(Target::SameHost);
    let mut trial = async |plan: &Plan| -> Result<Run, drive::DriveError> {
        let url = server.url();
        let mut run = drive::sharded(plan, 1, move |_shard| {
            let builder = Http::builder(&url)
                .header("accept-encoding", "gzip")
                .connections(connections);
            async move {
                let client = builder.build()?;
                client.prepare().await?;
                let request = client.request();
                Ok::<_, Box<dyn Error + Send + Sync>>(requests(client, move |_seq| request.clone()))
            }
        })
        .await?;
        // Server and generator share this machine: what they take from each other is in both, floor and curve.
        for check in [
            "outbound_error",
            "inbound_error",
            "generator_busy",
            "cpu_wait",
            "steal",
        ] {
            let _ = run.waive(check);
        }
        Ok(run)
    };
    let trials = FloorTrials::default()
        .longest(steady / 2)
        .rtt(Rtt::same_host());
    let floor: Floor = trials.measure(base.clone(), &mut trial).await?;
    let s = floor.s_ns(None, &Metric::Response).unwrap_or(f64::NAN) / 1e9;
    println!(
        "  S = {:.2} ms: {workers} at once would serve {:.0}/s",
        s * 1e3,
        workers / s
    );
    let highest = Rate::per_second(workers / s)?;
    let curve = Sweep::fractions(highest, SHARES)
        .floor(floor)
        .run(&base, &mut trial)
        .await?;
    println!("{}", indented(&curve));
    Ok(curve.diagnose())
}

fn indented(text: &impl ToString) -> String {
    let text = text.to_string();
    let lines = text.lines().map(|line| format!("    {line}\n"));
    lines.collect()
}
