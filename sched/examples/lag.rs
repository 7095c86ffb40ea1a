//! How late the pacer is, by precision and rate, with a spawned no-op task for each arrival.
//!
//! `cargo run --release -p openloop-sched --example lag -- SECONDS [current|multi] [BURST]`
//!
//! Each line is one run of SECONDS (default 2) under Poisson arrivals; `sleep_until` is tokio's timer alone,
//! beside them. Lag is fired − intended. C_v is the coefficient of variation of the gaps at `fired`, beside
//! that of the realised schedule. `cpu` is of the whole process, `spun` the part of it that was waiting.
//! The last lines are at 10 million a second, more than can be: the cost of an arrival when the pacer is
//! always behind, by burst, with the pacer in a spawned task and directly in `block_on`.
#![allow(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use openloop_sched::{Arrivals, Due, Offset, Pacer, Precision, Profile, Rate, Schedule, Ticket};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds: f64 = args.first().map_or(Ok(2.0), |text| text.parse())?;
    let multi = args.get(1).is_some_and(|text| text == "multi");
    let runtime = || -> std::io::Result<Runtime> {
        let mut builder = if multi {
            Builder::new_multi_thread()
        } else {
            Builder::new_current_thread()
        };
        builder.enable_all().build()
    };
    println!(
        "{:<12} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6} {:>6}",
        "", "rate/s", "p50 us", "p90 us", "p99 us", "max us", "C_v", "planned", "cpu %", "spun %"
    );
    for rate in [1_000.0, 5_000.0, 20_000.0] {
        let schedule = schedule(rate, seconds)?;
        for precision in [Precision::Coarse, Precision::Timer, Precision::SPIN] {
            let name = precision.to_string();
            line(&runtime()?, &name, rate, schedule.clone(), Some(precision))?;
        }
        line(&runtime()?, "sleep_until", rate, schedule, None)?;
    }
    let bursts: Vec<u32> = match args.get(2) {
        Some(burst) => vec![burst.parse()?],
        None => vec![16, 32, 64, 128, 256],
    };
    println!(
        "\n{:<12} {:>12} {:>12} {:>14} {:>12}",
        "always late", "ns, spawned", "most alive", "ns, block_on", "most alive"
    );
    for burst in bursts {
        let (spawned, alive) =
            runtime()?.block_on(async move { tokio::spawn(always_late(burst)).await })??;
        let (blocked, beside) = runtime()?.block_on(always_late(burst))?;
        println!("burst {burst:<6} {spawned:>12.0} {alive:>12} {blocked:>14.0} {beside:>12}");
    }
    Ok(())
}

fn schedule(rate: f64, seconds: f64) -> Result<Schedule, Box<dyn Error>> {
    let profile = Profile::hold(Rate::per_second(rate)?, Duration::from_secs_f64(seconds))?;
    Ok(Schedule::new(profile, Arrivals::Poisson, 1))
}

/// One run; a precision of `None` is `sleep_until` alone.
fn line(
    runtime: &Runtime,
    name: &str,
    rate: f64,
    schedule: Schedule,
    precision: Option<Precision>,
) -> Result<(), Box<dyn Error>> {
    let planned: Vec<f64> = schedule
        .clone()
        .map(|t| t.intended.as_nanos() as f64)
        .collect();
    let (cpu, began) = (cpu_time(), Instant::now());
    let task = async move {
        match precision {
            Some(precision) => paced(schedule, precision).await,
            None => Ok((slept(schedule).await, Duration::ZERO)),
        }
    };
    let (dues, spun) = runtime.block_on(async { tokio::spawn(task).await })??;
    let share = |time: Duration| 100.0 * time.as_secs_f64() / began.elapsed().as_secs_f64();
    let cpu = share(cpu_time().saturating_sub(cpu));
    let lag = |due: &Due| due.fired.as_nanos() - due.ticket.intended.as_nanos();
    let mut lags: Vec<u64> = dues.iter().map(lag).collect();
    lags.sort_unstable();
    let fired: Vec<f64> = dues.iter().map(|due| due.fired.as_nanos() as f64).collect();
    let us = |q: f64| lags[((q * lags.len() as f64) as usize).min(lags.len() - 1)] as f64 / 1e3;
    println!(
        "{name:<12} {rate:>8} {:>9.2} {:>9.2} {:>9.2} {:>9.0} {:>8.4} {:>8.4} {cpu:>6.1} {:>6.1}",
        us(0.5),
        us(0.9),
        us(0.99),
        us(1.0),
        variation(&fired),
        variation(&planned),
        share(spun),
    );
    Ok(())
}

async fn paced(
    schedule: Schedule,
    precision: Precision,
) -> Result<(Vec<Due>, Duration), openloop_sched::PacerError> {
    let mut dues = Vec::with_capacity(1 << 20);
    let mut pacer = Pacer::new(schedule, Instant::now(), precision)?;
    while let Some(due) = next(&mut pacer).await {
        dues.push(due);
        tokio::spawn(async {});
    }
    Ok((dues, pacer.spun()))
}

async fn slept(schedule: Schedule) -> Vec<Due> {
    let mut dues = Vec::with_capacity(1 << 20);
    let start = Instant::now();
    for ticket in schedule {
        tokio::time::sleep_until(start + ticket.intended.as_duration()).await;
        dues.push(Due {
            ticket,
            fired: Offset::from(start.elapsed()),
        });
        tokio::spawn(async {});
    }
    dues
}

/// Cost of an arrival in ns, and the most tasks alive at once, when a million are due at the start.
async fn always_late(burst: u32) -> Result<(f64, usize), String> {
    const ARRIVALS: u32 = 1_000_000;
    let schedule = schedule(1e7, f64::from(ARRIVALS) / 1e7).map_err(|error| error.to_string())?;
    let mut pacer = Pacer::new(schedule, Instant::now(), Precision::default())
        .and_then(|pacer| pacer.with_burst(burst))
        .map_err(|error| error.to_string())?;
    let metrics = tokio::runtime::Handle::current().metrics();
    let (began, mut alive) = (Instant::now(), 0);
    while next(&mut pacer).await.is_some() {
        tokio::spawn(async {});
        alive = alive.max(metrics.num_alive_tasks());
    }
    Ok((
        began.elapsed().as_nanos() as f64 / f64::from(ARRIVALS),
        alive,
    ))
}

async fn next<I: Iterator<Item = Ticket>>(pacer: &mut Pacer<I>) -> Option<Due> {
    poll_fn(|cx| Pin::new(&mut *pacer).poll_next(cx)).await
}

/// Standard deviation over mean of the gaps.
fn variation(instants: &[f64]) -> f64 {
    let gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    variance.sqrt() / mean
}

/// CPU time of this process; zero where the platform does not say.
fn cpu_time() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}
