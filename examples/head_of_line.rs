//! Why do fast requests become slow? One worker, and one request in ten that takes twenty times as long.
//!
//! `cargo run --release -p openloop-examples --example head_of_line` (31 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::{MG1, Queue, utilisation};
use openloop_experiment::{Lifecycle, Plan, Target, drive, requests};
use openloop_http::{Connections, Http};
use openloop_sched::Rate;
use openloop_testbed::{HttpServer, Service, Workers};
use std::error::Error;
use std::time::Duration;

const RATE: f64 = 200.0;
const FAST: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_millis(20);
/// Of all requests.
const SLOW_SHARE: f64 = 0.1;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 2 } else { 10 });
    let (fast, slow) = (FAST.as_secs_f64(), SLOW.as_secs_f64());
    let mean = (1.0 - SLOW_SHARE) * fast + SLOW_SHARE * slow;
    let square = (1.0 - SLOW_SHARE) * fast * fast + SLOW_SHARE * slow * slow;
    println!(
        "one worker, first come first served, {RATE} requests a second at random instants for {length:?};"
    );
    println!("three services one after the other, each busy for the same share of the time\n");
    let services = [
        Service::fixed(Duration::from_secs_f64(mean)),
        Service::exponential(Duration::from_secs_f64(mean), 7),
        Service::bimodal(FAST, SLOW, SLOW_SHARE, 7),
    ];
    let mut rows = Vec::new();
    for service in services {
        rows.push(measure(service, length).await?);
    }
    let models = [
        ("all alike", MG1::new(RATE, mean, 0.0)?),
        ("exponential", MG1::new(RATE, mean, 1.0)?),
        (
            "90 % fast, 10 % slow",
            MG1::from_second_moment(RATE, mean, square)?,
        ),
    ];
    println!(
        "{:<22}{:>7}{:>8}{:>14}{:>17}{:>17}{:>10}",
        "requests",
        "busy",
        "C_v",
        "(1 + C_v\u{b2})/2",
        "wait, by P\u{2013}K",
        "wait, measured",
        "within"
    );
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    for ((name, model), measured) in models.iter().zip(&rows) {
        println!(
            "{name:<22}{:>5.0} %{:>8.2}{:>14.2}{:>17}{:>17}{:>10}{}",
            100.0 * model.utilisation(),
            model.service_cv(),
            utilisation::pollaczek_khinchine_factor(model.service_cv())?,
            ms(model.mean_wait()),
            ms(measured.wait),
            format!("\u{b1} {:.0} %", 100.0 * measured.error / measured.wait),
            if measured.believed { "" } else { " ?" },
        );
    }
    if !rows.iter().all(|measured| measured.believed) {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    let mixed = models[2].1;
    let alone = MG1::new(RATE * (1.0 - SLOW_SHARE), fast, 0.0)?;
    println!(
        "
The worker is as busy in all three rows: what grows is the wait, with the square of how much requests differ
(Pollaczek and Khinchine). A fast request of {FAST:?} waits {} in the mean for the slow ones before it; on a worker
of its own kind it would wait {}. Nothing but a load that mixes its requests as users do shows this: with requests
all alike the benchmark promises a quarter of the wait. \"within\" is what chance does to a run this short, 95 times in
100.",
        ms(mixed.mean_wait()),
        ms(alone.mean_wait()),
    );
    Ok(())
}

struct Measured {
    /// The mean wait for the worker, in seconds.
    wait: f64,
    /// Half of an interval of 95 % about it.
    error: f64,
    /// Whether the run may be believed.
    believed: bool,
}

async fn measure(service: Service, length: Duration) -> Result<Measured, Box<dyn Error>> {
    let server = HttpServer::builder()
        .service(service)
        .workers(Workers::one())
        .start()?;
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    let request = http.request();
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .build()?;
    let run = drive::shared(&plan, requests(http, move |_seq| request.clone())).await?;

    // The server's own log: when each arrived, and when the worker took it up.
    let log = server.log();
    let waits: Vec<f64> = log
        .iter()
        .map(|one| (one.start - one.arrival).as_secs_f64())
        .collect();
    let mean = |waits: &[f64]| waits.iter().sum::<f64>() / waits.len() as f64;
    // Successive waits resemble each other, so the error is that of the means of ten parts of the run.
    let parts: Vec<f64> = waits.chunks(waits.len().div_ceil(10)).map(mean).collect();
    let centre = mean(&parts);
    let variance = parts
        .iter()
        .map(|part| (part - centre).powi(2))
        .sum::<f64>()
        / (parts.len() - 1) as f64;
    Ok(Measured {
        wait: mean(&waits),
        error: 2.262 * (variance / parts.len() as f64).sqrt(),
        believed: run.validity().is_valid(),
    })
}
