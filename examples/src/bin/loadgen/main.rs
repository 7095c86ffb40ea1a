//! `loadgen`: a load tool over the crates.
//!
//! ```text
//! loadgen http http://service.test/ --rate 2000 --slo "p99<=100ms" --json report.json
//! loadgen redis redis://127.0.0.1:6379 --command "GET key:{key}" --keys zipf:1e6:0.99 --rate 5000
//! loadgen sample keys zipf:1e6:0.99
//! loadgen capacity mmc --rate 75 --service 100ms --servers 10
//! ```
//!
//! [`cli`] reads the flags, [`plan`] makes a plan of them, [`run`] carries it out. What differs between protocols is
//! behind the trait [`protocol::Protocol`], one file each. [`sample`] shows what keys, values, mixes and traces are,
//! [`capacity`] what queueing models and rules of sizing say. The exit status says what came out: see [`exit::Status`].
#![forbid(unsafe_code)]

mod arrivals;
mod capacity;
mod cli;
mod command;
mod connections;
mod exit;
#[cfg(feature = "http")]
mod http;
mod kinds;
mod machine;
mod output;
mod plan;
mod preview;
mod protocol;
mod quality;
#[cfg(feature = "redis")]
mod redis;
mod run;
mod sample;
mod shares;

use clap::Parser;
use cli::{Cli, Command};
use exit::{Failure, Status};
use std::process::ExitCode;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let status = load(&cli).unwrap_or_else(|failure| {
        output::complain(format_args!("{failure}"));
        failure.status()
    });
    status.into()
}

fn load(cli: &Cli) -> Result<Status, Failure> {
    match &cli.command {
        #[cfg(feature = "http")]
        Command::Http(arguments) => {
            let replay = plan::replay(&arguments.load)?;
            let protocol = http::HttpLoad::new(arguments, replay.as_ref())?;
            runtime()?.block_on(run::run(protocol, &arguments.load, replay))
        }
        #[cfg(feature = "redis")]
        Command::Redis(arguments) => {
            let replay = plan::replay(&arguments.load)?;
            let protocol = redis::RedisLoad::new(arguments, replay.as_ref())?;
            runtime()?.block_on(run::run(protocol, &arguments.load, replay))
        }
        Command::Sample(arguments) => sample::run(arguments),
        Command::Capacity(arguments) => capacity::run(arguments),
    }
}

/// For signals, progress and the health check; the load itself runs on threads of its own.
fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Machine(format!("no runtime could be made: {error}")))
}
