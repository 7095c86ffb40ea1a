//! What happens when more comes than the service can serve, and does it come back? Three services, one overload.
//!
//! `cargo run --release -p openloop-examples --example resilience` (a second)
//!
//! The services are simulated. Against a real one: `loadgen http URL --rate 250 --overload 800`.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::Plan;
use openloop_experiment::resilience::{Degradation, Overload};
use openloop_experiment::simulate::{Station, simulate};
use openloop_measurer::Quantile;
use openloop_sched::Rate;
use std::error::Error;
use std::time::Duration;

/// Four workers of 10 ms in the mean: 400 requests a second, and no more.
const WORKERS: u32 = 4;
const SERVICE: &str = "exponential:0.010";
const BELOW: f64 = 250.0;
const ABOVE: f64 = 800.0;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let part = Duration::from_secs(if quick { 5 } else { 20 });
    println!(
        "{BELOW}/s, then {ABOVE}/s to a service of 400/s, then {BELOW}/s again; users give up after 2 s.\n"
    );
    let stated = Degradation::default()
        .accepted(Quantile::P99, Duration::from_millis(150))
        .fails_at_most(0.01)
        .recovers_within(Duration::from_secs(2));
    let base = Plan::open(Rate::per_second(BELOW)?).timeout(Duration::from_secs(2));
    for (name, places) in [
        (
            "20 may wait, and whoever comes then is turned away at once",
            Some(20),
        ),
        ("2000 may wait", Some(2000)),
        ("everybody may wait", None),
    ] {
        let station = Station::new(WORKERS, SERVICE.parse()?)?;
        let station = match places {
            Some(places) => station.waiting(places),
            None => station,
        };
        let overload = Overload::new(Rate::per_second(BELOW)?, Rate::per_second(ABOVE)?, part);
        let resilience = overload
            .run(&base, &stated, async |plan| simulate(plan, station.clone()))
            .await?;
        println!("{name}:\n{resilience}");
    }
    println!(
        "How to read it: all three can serve 400 a second. The first turns half of the overload away, quickly, and those whom
it takes hardly wait; when the load falls it is as before at once. The others turn nobody away, or only late: everybody
waits, nearly all give up after 2 s, and the workers are busy for people who have left, so that next to nothing is served
in time. And it goes on for as long as it takes to work off the queue, though the load is low again. A queue without a
limit does not serve more; it only serves later."
    );
    Ok(())
}
