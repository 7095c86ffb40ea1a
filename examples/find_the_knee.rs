//! How much does my service carry? A sweep to the knee, the cliff and the end, beside what queueing theory says.
//!
//! `cargo run --release -p openloop-examples --example find_the_knee` (some seconds; `-- --quick` for less)
//!
//! The service is simulated, so that hours of measurement take seconds and the truth is known. Of a real one, a step is
//! `drive::shared(plan, work).await`, or `loadgen http URL --sweep find --rate 100` does it all.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::sweep::{Curve, Sweep};
use openloop_experiment::{FloorTrials, Lifecycle, Plan, ProtocolError, Rtt};
use openloop_sched::Rate;
use std::error::Error;
use std::time::Duration;

/// One server, 1 ms a request in the mean: it ends at 1000 requests per second.
const SERVICE: &str = "exponential:0.001";
const RATES: [f64; 10] = [
    100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0, 900.0, 1100.0,
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let base = Plan::open(Rate::per_second(RATES[0])?).lifecycle(Lifecycle {
        steady: Duration::from_secs(if quick { 120 } else { 300 }),
        ..Lifecycle::default()
    });

    println!("1. Ten rates, each for a whole lifecycle: what the service does.\n");
    let rates: Result<Vec<_>, _> = RATES.into_iter().map(Rate::per_second).collect();
    let curve = sweep(&base, Sweep::rates(rates?)).await?;
    println!("{curve}");

    println!(
        "2. A search: coarse steps up, then halves, then repeats where the data do not tell.\n"
    );
    let knee = "p99<=3S".parse()?;
    let search = Sweep::find(knee, Rate::per_second(100.0)?).resolution(0.05);
    let found = sweep(&base, search).await?;
    println!("{found}");

    println!(
        "How to read it: an idle exponential server has a p99 of 4.6 S already, so its p99 is held against that of the idle
service: the inflation. By the law it is 1/(1 - load): 3 at 667 requests per second, which is the knee, 10 at 900, where the
cliff begins, and the end is at 1000. A sweep errs on the low side, since a rate counts as carried only where the whole
confidence interval keeps the bound; and its ratios are no better known than the floor, which rests here on 100 000 requests. One rate alone would have said \"fine\" up to 600, and nothing of how far it is to the
cliff. Now change SERVICE to \"fixed:0.001\": work without variation keeps its knee to a higher load.",
    );
    Ok(())
}

/// Measures the floor, and then what the sweep asks for.
async fn sweep(
    base: &openloop_experiment::PlanBuilder,
    sweep: Sweep,
) -> Result<Curve, Box<dyn Error>> {
    let station = Station::new(1, SERVICE.parse()?)?;
    let mut trial = async |plan: &Plan| simulate(plan, station.clone());
    // Of a service that is simulated, nothing is on the way.
    let trials = FloorTrials::default()
        .requests(20_000)
        .rtt(Rtt::same_host());
    let floor = trials
        .longest(Duration::from_secs(600))
        .measure(base.clone(), &mut trial)
        .await?;
    let curve: Result<Curve, ProtocolError> = sweep.floor(floor).run(base, &mut trial).await;
    Ok(curve?)
}
