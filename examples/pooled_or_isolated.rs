//! One queue for all workers, or a queue for each? The same four workers and the same load, both ways.
//!
//! `cargo run --release -p openloop-examples --example pooled_or_isolated` (11 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::{MM1, MMc, Queue};
use openloop_experiment::{Lifecycle, Plan, Run, Target, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::{Operation, Quantile};
use openloop_sched::{Rate, Ticket};
use openloop_testbed::{HttpServer, Service, Workers};
use openloop_workload::Keys;
use std::error::Error;
use std::time::Duration;

const WORKERS: u32 = 4;
const RATE: f64 = 300.0;
const SERVICE: Duration = Duration::from_millis(10);
const SEED: u64 = 1;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 2 } else { 10 });
    let (service, workers) = (SERVICE.as_secs_f64(), f64::from(WORKERS));
    println!(
        "{WORKERS} workers, {SERVICE:?} a request on average, {RATE} requests a second: {:.0} % busy either way",
        100.0 * RATE * service / workers
    );
    println!("measuring both for {length:?}, side by side ...\n");
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .seed(SEED)
        .build()?;
    let (pooled, isolated) = tokio::try_join!(pooled(&plan), isolated(&plan))?;

    let together = MMc::new(RATE, service, WORKERS)?;
    let alone = MM1::new(RATE / workers, service)?;
    println!(
        "{:<26}{:>10}{:^24}{:^24}",
        "", "waits at", "response, mean", "response, p99"
    );
    print!("{:<26}{:>10}", "", "all");
    println!(
        "{:>12}{:>12}{:>12}{:>12}",
        "theory", "measured", "theory", "measured"
    );
    row("one queue (M/M/4)", &together, &pooled)?;
    row("a queue each (M/M/1)", &alone, &isolated)?;
    if !(pooled.validity().is_valid() && isolated.validity().is_valid()) {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    println!(
        "
With a queue each, a request waits behind somebody while another worker is idle: {:.0} % of them wait at all, against
{:.0} % with one queue, and they wait {:.0} times as long in the mean. Nothing was added but the sharing. It is what a pool
behind one queue is for, and what a balancer loses that deals requests out without looking at who is free.",
        100.0 * alone.wait_probability(),
        100.0 * together.wait_probability(),
        alone.mean_wait() / together.mean_wait(),
    );
    Ok(())
}

async fn pooled(plan: &Plan) -> Result<Run, Box<dyn Error>> {
    let (_server, http) = workers(WORKERS, 0).await?;
    let request = http.request();
    Ok(drive::shared(plan, requests(http, move |_seq| request.clone())).await?)
}

async fn isolated(plan: &Plan) -> Result<Run, Box<dyn Error>> {
    let mut servers = Vec::new();
    let mut clients = Vec::new();
    for worker in 0..u64::from(WORKERS) {
        let (server, http) = workers(1, worker).await?;
        servers.push(server);
        clients.push(http);
    }
    // By chance, as a balancer does that looks at nothing: the same request has the same worker in every run.
    let which: Keys = format!("uniform:{WORKERS}").parse()?;
    let work = move |ticket: Ticket| {
        let http = clients[which.key(SEED, ticket.seq) as usize - 1].clone();
        async move { http.call(http.request()).await }
    };
    Ok(drive::shared(plan, work).await?)
}

/// So many workers behind one queue, and a client for them.
async fn workers(count: u32, seed: u64) -> Result<(HttpServer, Http), Box<dyn Error>> {
    let server = HttpServer::builder()
        .service(Service::exponential(SERVICE, seed))
        .workers(Workers::servers(count as usize))
        .start()?;
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    Ok((server, http))
}

fn row(name: &str, theory: &dyn Queue, run: &Run) -> Result<(), Box<dyn Error>> {
    let measured = run.snapshot().steady().response();
    let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    let shown = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| ms(ns / 1e9));
    println!(
        "{name:<26}{:>8.0} %{:>12}{:>12}{:>12}{:>12}{}",
        100.0 * theory.wait_probability(),
        ms(theory.mean_response()),
        shown(measured.mean_ns()),
        ms(theory.response_quantile(0.99)?),
        shown(
            measured
                .quantile(Quantile::P99)
                .map(|value| value.ns() as f64)
        ),
        if run.validity().is_valid() { "" } else { " ?" },
    );
    Ok(())
}
