//! What happens to a pool when its queries become slow? 32 connections, 1000 queries a second, from 5 ms each to 50 ms.
//!
//! `cargo run --release -p openloop-examples --example pool_exhaustion` (13 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::sizing::pool_size;
use openloop_capacity::{MM1, MMcK, Queue};
use openloop_experiment::{Lifecycle, Plan, Target, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_testbed::{HttpServer, Service, Workers};
use std::error::Error;
use std::time::Duration;

const RATE: f64 = 1000.0;
const CONNECTIONS: u32 = 32;
/// Callers that may wait for a connection; the next one is turned away.
const WAITING: u32 = 32;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let steady = Duration::from_millis(if quick { 500 } else { 2000 });
    println!(
        "a pool of {CONNECTIONS} connections, {WAITING} callers may wait for one, {RATE} queries a second at random instants"
    );
    println!(
        "each row is a run of {steady:?} against such a pool, beside the model M/M/{CONNECTIONS}/K\n"
    );
    println!(
        "{:<9}{:>6}{:^20}{:^22}{:^22}",
        "a query", "busy", "turned away", "response, mean", "response, p99"
    );
    print!("{:<9}{:>6}", "takes", "ask");
    for _ in 0..3 {
        print!("{:>11}{:>10}", "model", "measured");
    }
    println!();
    let mut believed = true;
    for service in [5, 20, 30, 40, 50].map(Duration::from_millis) {
        believed &= row(service, steady).await?;
    }
    if !believed {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    // A query of 50 ms: what is needed, by the mean and by the slow ones.
    let slow = 0.050;
    let p99 = MM1::new(0.0, slow)?.response_quantile(0.99)?;
    println!(
        "
\"busy ask\" is rate times service: the connections that the work would keep busy (Little's law). At 5 ms that is 5
of 32, and nobody waits. At 50 ms it is 50, and there are 32: no queue helps, and a longer one only makes everybody
wait longer before a third is turned away all the same. The pool is not the cause: the slow queries are. Sized for
queries that take {:.0} ms at their P99, it would have {} connections (rate times P99), if the database can bear them.
Where the work is about what the pool can do, at 30 ms, a run as short as this differs from the model by chance, by a
third and more in who is turned away; a longer one does not.",
        p99 * 1e3,
        pool_size(RATE, p99)?,
    );
    Ok(())
}

/// One run against a pool of its own; says whether it may be believed.
async fn row(service: Duration, steady: Duration) -> Result<bool, Box<dyn Error>> {
    let pool = HttpServer::builder()
        .service(Service::exponential(service, 7))
        .workers(Workers::servers(CONNECTIONS as usize).waiting(WAITING as usize))
        .start()?;
    let http = Http::builder(&pool.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    let request = http.request();
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: Duration::from_millis(500),
            steady,
            cooldown: Duration::ZERO,
        })
        .target(Target::SameProcess)
        .build()?;
    let run = drive::shared(&plan, requests(http, move |_seq| request.clone())).await?;

    let believed = run.validity().is_valid();
    let model = MMcK::new(RATE, service.as_secs_f64(), CONNECTIONS, WAITING)?;
    let served = run.snapshot().steady().response_ok();
    let all = run.snapshot().steady().response();
    let turned_away = 1.0 - served.count() as f64 / all.count() as f64;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    let measured = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| ms(ns / 1e9));
    println!(
        "{:<9}{:>6.0}{:>11}{:>10}{:>11}{:>10}{:>11}{:>10}{}",
        format!("{service:?}"),
        model.offered_load(),
        percent(model.blocking_probability()),
        percent(turned_away),
        ms(model.mean_response()),
        measured(served.mean_ns()),
        ms(model.response_quantile(0.99)?),
        measured(
            served
                .quantile(Quantile::P99)
                .map(|value| value.ns() as f64)
        ),
        if believed { "" } else { " ?" },
    );
    Ok(believed)
}
