//! Why not just send the next request when the answer is there? A service that stalls for 10 s, measured both ways.
//!
//! `cargo run --release -p openloop-examples --example open_vs_closed` (20 s; `-- --quick` is ten times faster)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Run, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::{Population, Quantile, Section};
use openloop_sched::{Arrivals, Rate};
use openloop_testbed::{HttpServer, Service};
use std::error::Error;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let scale = if quick { 10 } else { 1 };
    // A request every 100 ms. The first is served; just before the second the service stops for 10 s.
    let gap = Duration::from_millis(100) / scale;
    let stall = Duration::from_secs(10) / scale;
    let length = stall * 2;
    if quick {
        println!(
            "ten times faster than told: a stall of 1 s instead of 10 s, and all times with it"
        );
    }

    let open = Plan::open(Rate::per_second(1.0 / gap.as_secs_f64())?)
        .lifecycle(Lifecycle::steady_only(length))
        .arrivals(Arrivals::Constant)
        .build()?;
    // One user, who asks, waits for the answer, and asks again: at the same rate, as long as answers are fast.
    let closed = Plan::closed(1)
        .think(gap)
        .lifecycle(Lifecycle::steady_only(length))
        .build()?;
    println!("measuring both for {length:?}, side by side, each against a service of its own ...");
    let (open, closed) =
        tokio::try_join!(measure(&open, gap, stall), measure(&closed, gap, stall))?;

    // Quantiles cannot be merged, but the histograms of parts of a run can.
    let mut during = Section::default();
    for window in &open.snapshot().windows()[..5] {
        during.merge(window);
    }
    println!(
        "\n{:<34}{:>9}{:>11}{:>11}{:>11}{:>11}",
        "response", "requests", "p50", "p90", "p99", "max"
    );
    row("closed loop", &closed.snapshot().steady().response());
    row("open loop", &open.snapshot().steady().response());
    row("  of them, sent during the stall", &during.response());
    println!(
        "
The service stalled for half of the time, so half of all users waited: for {:?} on average. The closed loop met
the stall once. It waited for that answer and sent nothing meanwhile, so the {} requests that would have come were
never made: the stall is one bad value among {}. The open loop sent them all when they were due, and shows what
their users waited. Service and tools are the same; what differs is who decides when the next request starts.",
        stall / 2,
        open.snapshot().counts().scheduled - closed.snapshot().counts().scheduled,
        closed.snapshot().counts().scheduled,
    );
    Ok(())
}

/// One run against a service that answers in 1 ms, and stalls once.
async fn measure(plan: &Plan, gap: Duration, stall: Duration) -> Result<Run, Box<dyn Error>> {
    let server = HttpServer::builder()
        .service(Service::fixed(Duration::from_millis(1)))
        // Counted from the first request. What waited is all served at the end of it, and not one by one.
        .stall(gap * 19 / 20, stall)
        .start()?;
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    let request = http.request();
    Ok(drive::shared(plan, requests(http, move |_seq| request.clone())).await?)
}

fn row(name: &str, responses: &Population) {
    let ms = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| format!("{:.1} ms", ns as f64 / 1e6));
    print!("{name:<34}{:>9}", responses.count());
    for q in [Quantile::P50, Quantile::P90, Quantile::P99] {
        print!("{:>11}", ms(responses.quantile(q).map(|value| value.ns())));
    }
    println!("{:>11}", ms(responses.max().map(|value| value.ns())));
}
