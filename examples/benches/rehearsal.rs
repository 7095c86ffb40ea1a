//! How long does the rehearsal of a careful experiment take? `cargo bench -p openloop-examples --bench rehearsal`
//!
//! Three replicas of eight steps, each a whole lifecycle of the defaults (8 min), at 1000/s in the mean: 3.2 hours and 11.5
//! million arrivals, by `loadgen --rehearse`. It is to take less than two minutes, and to say that it was a rehearsal.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

const GOAL: Duration = Duration::from_secs(120);
const RATES: &str = "650,750,850,950,1050,1150,1250,1350";
const PHASES: &str = "--ramp-up 30s --warm-up 2m --steady 5m --cooldown 30s";

fn main() -> Result<(), Box<dyn Error>> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let json = std::env::temp_dir().join(format!("openloop-rehearsal-{}.json", std::process::id()));
    let flags = format!(
        "http http://127.0.0.1:9/ --rehearse --servers 2 --sweep {RATES} --replicas 3 {PHASES} --quiet"
    );
    let begun = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(flags.split_whitespace())
        .arg("--json")
        .arg(&json)
        .status()?;
    let took = begun.elapsed();
    let report = std::fs::read_to_string(&json);
    std::fs::remove_file(&json)?;
    let report: serde_json::Value = serde_json::from_str(&report?)?;
    let points = report["sweep"]["points"].as_array().map_or(0, Vec::len);
    let runs: usize = report["sweep"]["points"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|point| point["runs"].as_array().map_or(0, Vec::len))
        .sum();
    println!(
        "{points} steps, {runs} runs of 8 min: {took:.1?} (goal {GOAL:?}), {status}, load average {}",
        load.trim()
    );
    println!("rehearsal of: {}", report["rehearsal"]);
    match took < GOAL && runs == 24 && report["rehearsal"].is_string() {
        true => Ok(()),
        false => Err("the goal was not reached".into()),
    }
}
