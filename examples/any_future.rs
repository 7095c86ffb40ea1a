//! How do I measure a client that openloop has never heard of? Here: name resolution, as tokio does it.
//!
//! `cargo run --release -p openloop-examples --example any_future` (5 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{InFlight, Lifecycle, Plan, Target, classified, drive};
use openloop_measurer::{Verdict, ok_err};
use openloop_report::{Report, TextStyle};
use openloop_sched::Rate;
use std::error::Error;
use std::io::{self, stdout};
use std::time::Duration;
use tokio::net::lookup_host;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let plan = Plan::open(Rate::per_second(200.0)?)
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(if quick {
            1
        } else {
            5
        })))
        // Each look-up takes a thread of the runtime, so there may be too many at once.
        .in_flight(InFlight::Queue(256))
        .target(Target::SameProcess)
        .build()?;

    // Any closure that makes a future, and any function that says what its output means. `ok_err` is the one for a
    // plain `Result`: Ok is served, Err is failed. It has to be said: a client that returns Ok for a 503 would be
    // counted as a success otherwise.
    let lookups = classified(|_ticket| addresses("localhost:80"), ok_err);
    let run = drive::shared(&plan, lookups).await?;
    println!("looking up a name:\n");
    Report::new(&run).write_text(stdout(), &TextStyle::default())?;

    // With an opinion of your own, every answer that you would not accept has its class in the report.
    let lookups = classified(|ticket| addresses(NAMES[ticket.seq as usize % 2]), opinion);
    let run = drive::shared(&plan, lookups).await?;
    println!("\nlooking up two addresses, one of which is none:\n");
    Report::new(&run).write_text(stdout(), &TextStyle::default())?;
    Ok(())
}

const NAMES: [&str; 2] = ["localhost:80", "localhost:eighty"];

async fn addresses(name: &'static str) -> io::Result<usize> {
    Ok(lookup_host(name).await?.count())
}

fn opinion(output: &io::Result<usize>) -> Verdict {
    match output {
        Ok(0) => Verdict::Failed("no_address"),
        Ok(_) => Verdict::Ok,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Verdict::Failed("malformed"),
        Err(_) => Verdict::Failed("not_found"),
    }
}
