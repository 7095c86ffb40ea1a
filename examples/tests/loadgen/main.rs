//! `loadgen` as a user runs it: the real program against scripted servers, by its exit status, its files and what
//! the server saw.
//!
//! The runs are on the real clock and last a few seconds at most. None of them depends on how fast this machine is: where
//! a verdict is expected, the checks that a busy machine may fail are waived.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod before;
mod capacity;
mod clusters;
mod experiments;
mod faults;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg(feature = "inference")]
mod inference;
mod interrupt;
mod mixes;
#[cfg(feature = "postgres")]
mod postgres;
mod preview;
mod problems;
#[cfg(feature = "redis")]
mod redis;
mod refusals;
mod reports;
mod runs;
mod sample;
mod servers;
mod shards;
mod traces;
mod verdicts;

use openloop_testbed::{HttpServer, HttpServerBuilder};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// One second, all measured.
const SECOND: &str = "--ramp-up 0s --warm-up 0s --steady 1s --cooldown 0s";
/// What a busy machine may do to a run.
const BUSY: &str = "--waive outbound_error --waive inbound_error --waive generator_busy --waive cpu_wait --waive steal --waive throttled";

fn server() -> HttpServerBuilder {
    HttpServer::builder()
}

/// `loadgen http URL` with these flags, which are parted by spaces.
fn command(url: &str, flags: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.args(["http", url]).args(flags.split_whitespace());
    command
}

fn loadgen(url: &str, flags: &str) -> Output {
    command(url, flags).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A program of this crate with these flags, which are parted by spaces.
fn run(flags: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(flags.split_whitespace())
        .output()
        .unwrap()
}

/// Fails with everything that the program said.
#[track_caller]
fn assert_status(output: &Output, status: i32) {
    assert_eq!(
        output.status.code(),
        Some(status),
        "\n{}\n{}",
        stdout(output),
        stderr(output)
    );
}

/// The report of a run that writes it to the standard output.
#[track_caller]
fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How many arrivals there were of each outcome; the identity must hold.
#[track_caller]
fn assert_balances(report: &Value) {
    let arrivals = report["arrivals"].as_object().unwrap();
    let ended: u64 = arrivals
        .iter()
        .filter(|(name, _)| *name != "scheduled")
        .map(|(_, count)| count.as_u64().unwrap())
        .sum();
    assert_eq!(arrivals.len(), 10);
    assert_eq!(arrivals["scheduled"], ended, "{arrivals:?}");
    assert_eq!(
        (&arrivals["waiting"], &arrivals["in_flight"]),
        (&0.into(), &0.into())
    );
}

/// A file that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("openloop-loadgen-{}-{number}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}
