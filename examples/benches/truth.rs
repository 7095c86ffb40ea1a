//! Is what openloop reports what the server did? `cargo bench -p openloop-examples --bench truth`
//!
//! One FIFO worker with exponential service of mean 1 ms under Poisson arrivals at ρ = 0.75: a queue in which most of
//! the response is waiting. The quantiles of `response` stand against those of departure − intended, the departures
//! from the server's own log of the same run, matched by the sequence header, on one monotonic clock. So the chance
//! in the arrivals and services of a run is in both. The line `by stamp` is p50 of received − intended, by the kernel's
//! receive stamps, less p50 of departure − intended. If any run is off, the benchmark fails.
//!
//! `-- --secs 60 --runs 10 --rate 750`

#![allow(clippy::print_stdout)]

mod support;

use std::time::Duration;

use bytes::Bytes;
use openloop_experiment::{Lifecycle, Metric, Plan, Run, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use openloop_testbed::{Clock, SEQUENCE_HEADER};
use support::Result;
use support::server::Server;
use support::statistics::quantile;

const QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P90, Quantile::P99];
/// What is read may be off by so much of the truth, or by so many milliseconds.
const SHARE: f64 = 0.01;
const MILLISECONDS: f64 = 0.3;
/// By stamp, the median may be off by so many microseconds.
const STAMPED_MICROSECONDS: f64 = 50.0;

fn main() -> Result<()> {
    let flags = [("--secs", "60"), ("--runs", "10"), ("--rate", "750")];
    let Some(flags) = support::begin(
        "Response against the server's own log: one FIFO worker, exponential",
        &flags,
    )?
    else {
        return Ok(());
    };
    let length = Duration::from_secs_f64(flags.number("--secs")?);
    let rate = Rate::per_second(flags.number("--rate")?)?;
    let runs = flags.count("--runs")?;
    println!(
        "{:>4} {:>8}  {:<5} {:>11} {:>11} {:>9} {:>8}  {:<4} {:>5}",
        "run", "requests", "", "response ms", "truth ms", "off by ms", "%", "", "load"
    );
    let mut passed = 0;
    for seed in 1..=runs {
        let plan = Plan::open(rate)
            .lifecycle(Lifecycle::steady_only(length))
            .seed(seed)
            .build()?;
        let (run, truth) = measure(&plan, seed)?;
        let mut pass = true;
        for q in QUANTILES {
            let read = run
                .series(&Metric::Response)
                .quantile(q)
                .ok_or("nothing was measured")?;
            let (read, truth_ms) = (read.ns() as f64 / 1e6, quantile(&truth, q) as f64 / 1e6);
            let off = read - truth_ms;
            let within = off.abs() <= MILLISECONDS || off.abs() <= SHARE * truth_ms;
            pass &= within;
            println!(
                "{seed:>4} {:>8}  {:<5} {read:>11.3} {truth_ms:>11.3} {off:>9.3} {:>8.2}  {:<4} {:>5}",
                truth.len(),
                q.to_string(),
                100.0 * off / truth_ms,
                if within { "ok" } else { "OFF" },
                support::load_average(),
            );
        }
        pass &= by_stamp(&run, &truth, seed);
        if !run.validity().is_valid() {
            let faults: Vec<_> = run.validity().faults().map(|check| check.name).collect();
            println!("{seed:>4} calls itself invalid: {}", faults.join(", "));
        }
        passed += u64::from(pass);
    }
    println!(
        "\n{passed} of {runs} runs within {} % or {MILLISECONDS} ms at every quantile, and {STAMPED_MICROSECONDS} us by \
         stamp",
        100.0 * SHARE
    );
    if passed < runs {
        return Err(format!("only {passed} of {runs} runs hold").into());
    }
    Ok(())
}

/// Whether the median up to the receive stamps is near that up to the departures; so too where there are no stamps.
fn by_stamp(run: &Run, truth: &[u64], seed: u64) -> bool {
    let stamped = run.snapshot().steady().total(|class| &class.until_received);
    let Some(read) = stamped.quantile(Quantile::P50) else {
        println!("{seed:>4} by stamp: this platform has no receive stamps");
        return true;
    };
    let off_us = (read as f64 - quantile(truth, Quantile::P50) as f64) / 1e3;
    let within = off_us.abs() <= STAMPED_MICROSECONDS;
    println!(
        "{seed:>4} {:>8}  p50 by stamp is off by {off_us:.1} us  {}",
        stamped.count(),
        if within { "ok" } else { "OFF" },
    );
    within
}

/// One run, and departure − intended of each of its requests in ascending order, in nanoseconds.
fn measure(plan: &Plan, seed: u64) -> Result<(Run, Vec<u64>)> {
    let server = Server::start(&format!("exp:{seed}"))?;
    let http = Http::builder(server.url())
        .connections(Connections::pool(200))
        .build()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let run = runtime.block_on(async {
        drive::sharded(plan, 1, move |_| {
            let http = http.clone();
            async move {
                http.prepare().await?;
                let requests = requests(http.clone(), move |seq| numbered(&http, seq));
                Ok::<_, openloop_http::HttpError>(requests)
            }
        })
        .await
    })?;
    let start_ns = Clock::new().monotonic_ns(run.start().into_std());
    let schedule = plan.schedule().ok_or("an open loop has a schedule")?;
    let intended: Vec<u64> = schedule
        .clone()
        .map(|ticket| start_ns + ticket.intended.as_nanos())
        .collect();
    let mut truth = Vec::with_capacity(intended.len());
    for served in server.into_log()? {
        let seq = served.seq.ok_or("a request came without its number")?;
        let intended = intended
            .get(seq as usize)
            .ok_or("a request came that was not planned")?;
        let departure = served.departure_ns.ok_or("a request was not answered")?;
        truth.push(departure.saturating_sub(*intended));
    }
    if truth.len() != intended.len() {
        return Err(format!(
            "{} requests were served of {} planned",
            truth.len(),
            intended.len()
        )
        .into());
    }
    truth.sort_unstable();
    Ok((run, truth))
}

fn numbered(http: &Http, seq: u64) -> openloop_http::Request {
    let request = http::Request::get("/")
        .header(SEQUENCE_HEADER, seq)
        .body(Bytes::new());
    request
        .ok()
        .and_then(|request| http.request_from(request).ok())
        // It differs from the default request by a header with a number.
        .unwrap_or_else(|| http.request())
}
