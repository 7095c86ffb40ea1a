//! `loadgen`: a load tool over the crates.
//!
//! ```text
//! loadgen http http://service.test/ --rate 2000 --slo "p99<=100ms" --json report.json
//! loadgen postgres postgres://user@127.0.0.1/db --query 'SELECT {key}' --keys zipf:1e6:0.99 --rate 500
//! loadgen inference http://model.test:8000 --model llama-8b --rate 5 --slo "ttft.p99<=200ms,tpot.p99<=25ms"
//! loadgen http http://service.test/ --problem problem.toml --rehearse
//! loadgen report report.json --html report.html
//! loadgen redis redis://127.0.0.1:6379 --command "GET key:{key}" --keys zipf:1e6:0.99 --rate 5000
//! loadgen grpc http://127.0.0.1:50051 --method shop.Cart/Get --data '{"id": {key}}' --keys uniform:1e6 --rate 500
//! loadgen sample keys zipf:1e6:0.99
//! loadgen capacity mmc --rate 75 --service 100ms --servers 10
//! ```
//!
//! [`cli`] reads the flags, and [`problem`] a file that says the same; [`plan`] makes a plan of them, [`course`] goes from
//! the floor to the last run, each a [`trial`], and [`run`] writes what came out. What differs between protocols is
//! behind the trait [`protocol::Protocol`], one file each. [`report`] shows, merges and compares what was written,
//! [`sample`] what keys, values, mixes and traces are, [`capacity`] what queueing models and rules of sizing say. The exit
//! status says what came out: see [`exit::Status`].
#![forbid(unsafe_code)]

mod arrivals;
mod capacity;
mod cli;
mod clock;
mod command;
mod connections;
mod course;
mod exit;
mod explain;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "inference")]
mod inference;
mod interrupt;
mod kinds;
mod machine;
mod output;
mod plan;
#[cfg(feature = "postgres")]
mod postgres;
mod preview;
mod problem;
mod protocol;
mod quality;
#[cfg(feature = "redis")]
mod redis;
mod report;
mod run;
mod sample;
mod shares;
mod trial;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use cli::{Cli, Command, LoadArgs};
use exit::{Failure, Status};
use std::process::ExitCode;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let status = load(cli, &matches).unwrap_or_else(|failure| {
        output::complain(format_args!("{failure}"));
        failure.status()
    });
    status.into()
}

fn load(cli: Cli, matches: &ArgMatches) -> Result<Status, Failure> {
    let has_seed = matches.subcommand().is_some_and(|(_, flags)| {
        let seed = flags.try_contains_id("seed").is_ok_and(|is_there| is_there);
        seed && flags.value_source("seed") == Some(ValueSource::CommandLine)
    });
    match cli.command {
        #[cfg(feature = "http")]
        Command::Http(mut arguments) => {
            complete(&mut arguments.load, has_seed)?;
            arguments.fill();
            let replay = plan::replay(&arguments.load)?;
            let protocol = http::HttpLoad::new(&arguments, replay.as_ref())?;
            let other = arguments.load.experiment.abba.clone().map(|url| {
                let other = http::HttpArgs {
                    url,
                    ..(*arguments).clone()
                };
                http::HttpLoad::new(&other, replay.as_ref())
            });
            let protocols = (protocol, other.transpose()?);
            runtime()?.block_on(run::run(protocols, &arguments.load, replay))
        }
        #[cfg(feature = "inference")]
        Command::Inference(mut arguments) => {
            complete(&mut arguments.load, has_seed)?;
            arguments.fill().map_err(Failure::Usage)?;
            arguments.convert().map_err(Failure::Usage)?;
            let replay = plan::replay(&arguments.load)?;
            let protocol = inference::InferenceLoad::new(&arguments, replay.as_ref())?;
            let other = arguments.load.experiment.abba.clone().map(|url| {
                let other = inference::InferenceArgs {
                    url,
                    ..(*arguments).clone()
                };
                inference::InferenceLoad::new(&other, replay.as_ref())
            });
            let protocols = (protocol, other.transpose()?);
            runtime()?.block_on(run::run(protocols, &arguments.load, replay))
        }
        #[cfg(feature = "grpc")]
        Command::Grpc(mut arguments) => {
            complete(&mut arguments.load, has_seed)?;
            problem::refuse_busting(&arguments.load)?;
            arguments.fill();
            let replay = plan::replay(&arguments.load)?;
            let protocol = grpc::GrpcLoad::new(&arguments, replay.as_ref())?;
            let other = arguments.load.experiment.abba.clone().map(|url| {
                let other = grpc::GrpcArgs {
                    url,
                    ..(*arguments).clone()
                };
                grpc::GrpcLoad::new(&other, replay.as_ref())
            });
            let protocols = (protocol, other.transpose()?);
            runtime()?.block_on(run::run(protocols, &arguments.load, replay))
        }
        #[cfg(feature = "postgres")]
        Command::Postgres(mut arguments) => {
            complete(&mut arguments.load, has_seed)?;
            problem::refuse_busting(&arguments.load)?;
            arguments.fill();
            let replay = plan::replay(&arguments.load)?;
            let protocol = postgres::PostgresLoad::new(&arguments, replay.as_ref())?;
            let other = arguments.load.experiment.abba.clone().map(|url| {
                let other = postgres::PostgresArgs {
                    dsn: url,
                    ..(*arguments).clone()
                };
                postgres::PostgresLoad::new(&other, replay.as_ref())
            });
            let protocols = (protocol, other.transpose()?);
            runtime()?.block_on(run::run(protocols, &arguments.load, replay))
        }
        Command::Problem(arguments) => problem::print(arguments),
        Command::Capacity(arguments) => capacity::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        #[cfg(feature = "redis")]
        Command::Redis(mut arguments) => {
            complete(&mut arguments.load, has_seed)?;
            problem::refuse_busting(&arguments.load)?;
            arguments.fill();
            let replay = plan::replay(&arguments.load)?;
            let protocol = redis::RedisLoad::new(&arguments, replay.as_ref())?;
            let other = arguments.load.experiment.abba.clone().map(|url| {
                let other = redis::RedisArgs {
                    url,
                    ..(*arguments).clone()
                };
                redis::RedisLoad::new(&other, replay.as_ref())
            });
            let protocols = (protocol, other.transpose()?);
            runtime()?.block_on(run::run(protocols, &arguments.load, replay))
        }
    }
}

/// Takes over what a problem file says, and what the shard is in the names of files.
fn complete(load: &mut LoadArgs, has_seed: bool) -> Result<(), Failure> {
    problem::apply(load, has_seed)?;
    let Some(shard) = load.schedule.shard else {
        return Ok(());
    };
    load.output.name_shard(shard).map_err(Failure::Usage)
}

/// For signals, progress and the health check; the load itself runs on threads of its own.
fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Machine(format!("no runtime could be made: {error}")))
}
