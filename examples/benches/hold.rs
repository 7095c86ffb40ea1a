//! What do requests in flight cost? `cargo bench -p openloop-examples --bench hold`
//!
//! A server holds every request until all of them are in flight at once, each on a connection of its own; then the
//! peak of this process's resident memory is read. A few are held first, to tell what each one costs from what the
//! recorder and the report take anyway.
//!
//! `-- --in-flight 10000 --rate 5000`

#![allow(clippy::print_stdout)]

mod support;

use std::time::Duration;

use openloop_experiment::{Lifecycle, Plan, drive, requests};
use openloop_http::{Connections, Http};
use openloop_net::Limits;
use openloop_sched::{Arrivals, Rate};
use support::Result;
use support::server::{Served, Server};

/// Peak resident memory at most, and what is aimed at, for 10 000 requests.
const GOAL_MB: f64 = 180.0;
const AIM_MB: f64 = 100.0;
/// How many are held first.
const FEW: u32 = 100;

fn main() -> Result<()> {
    let flags = [("--in-flight", "10000"), ("--rate", "5000")];
    let Some(flags) = support::begin("Memory of requests in flight, one connection each", &flags)?
    else {
        return Ok(());
    };
    let in_flight: u32 = flags.number("--in-flight")?;
    let rate = flags.number("--rate")?;
    let limits = Limits::raise_soft_descriptors_to_hard()?;
    if limits.descriptors_soft < u64::from(in_flight) + 100 {
        return Err(format!(
            "{in_flight} connections need as many descriptors, and the hard limit is {}",
            limits.descriptors_hard
        )
        .into());
    }
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>5}",
        "in flight", "ok", "at once", "peak MB", "load"
    );
    let few = hold(FEW.min(in_flight), rate)?;
    let all = hold(in_flight, rate)?;
    if in_flight > FEW {
        let each = (all - few) * 1e6 / f64::from(in_flight - FEW);
        println!(
            "{each:.0} B each beyond the first {FEW}, whose peak is mostly that of the histograms"
        );
    }
    if in_flight == 10_000 {
        let verdict = if all <= GOAL_MB { "reached" } else { "missed" };
        println!("goal of at most {GOAL_MB} MB: {verdict}; aim {AIM_MB} MB");
    }
    Ok(())
}

/// Holds so many requests at once and prints a line; the peak of resident memory up to now, in megabytes.
fn hold(in_flight: u32, rate: f64) -> Result<f64> {
    let sending = Duration::from_secs_f64(f64::from(in_flight) / rate);
    // Until all are there, also where the machine is behind.
    let held = sending * 3 + Duration::from_secs(1);
    let plan = Plan::open(Rate::per_second(rate)?)
        .lifecycle(Lifecycle::steady_only(sending))
        .arrivals(Arrivals::Constant)
        .drain(held * 2)
        .build()?;
    let server = Server::start("instant")?;
    let url = format!("{}delay/{}ms", server.url(), held.as_millis());
    let http = Http::builder(&url)
        .connections(Connections::PerInFlight)
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let run = runtime.block_on(async {
        drive::sharded(&plan, 1, move |_| {
            let http = http.clone();
            async move {
                let request = http.request();
                Ok::<_, openloop_http::HttpError>(requests(http, move |_| request.clone()))
            }
        })
        .await
    })?;
    let peak = peak_mb()?;
    println!(
        "{in_flight:>9} {:>9} {:>9} {peak:>9.1} {:>5}",
        run.snapshot().counts().ok,
        held_at_once(&server.into_log()?),
        support::load_average(),
    );
    Ok(peak)
}

/// How many requests were with the server before it answered the first.
fn held_at_once(log: &[Served]) -> usize {
    let first = log.iter().filter_map(|served| served.departure_ns).min();
    let before = |served: &&Served| first.is_some_and(|first| served.arrival_ns < first);
    log.iter().filter(before).count()
}

/// The most memory that this process has had resident, in megabytes.
fn peak_mb() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    let kib: f64 = kib.ok_or("no VmHWM in /proc/self/status")?.parse()?;
    Ok(kib * 1024.0 / 1e6)
}
