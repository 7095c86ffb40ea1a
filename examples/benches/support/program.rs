//! Other programs: loadgen as it is built beside the benchmarks, and its peers.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Result;

/// What a program printed, and what it cost.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) output: String,
    /// CPU time, of user and system.
    pub(crate) cpu: Duration,
}

/// Runs a program on the core of the benchmark; its exit status is its verdict on the run, and not looked at.
pub(crate) fn run(command: &mut Command) -> Result<Finished> {
    let before = cpu_of_children()?;
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.trim().is_empty() {
        text = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    Ok(Finished {
        output: text,
        cpu: cpu_of_children()?.saturating_sub(before),
    })
}

/// A run of loadgen against `url` over HTTP, of which all but the steady phase is left out; with its report.
pub(crate) fn loadgen(url: &str, steady: Duration, flags: &[&str]) -> Result<(Finished, Value)> {
    loadgen_of("http", url, steady, flags)
}

/// The same over another protocol.
pub(crate) fn loadgen_of(
    protocol: &str,
    url: &str,
    steady: Duration,
    flags: &[&str],
) -> Result<(Finished, Value)> {
    let steady = format!("{}ms", steady.as_millis());
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.args([protocol, url, "--steady", &steady]);
    command.args(["--ramp-up", "0s", "--warm-up", "0s", "--cooldown", "0s"]);
    command.args(["--json", "-"]).args(flags);
    let finished = run(&mut command)?;
    let report = serde_json::from_str(&finished.output)
        .map_err(|error| format!("loadgen gave no report ({error}): {}", finished.output))?;
    Ok((finished, report))
}

/// Where a program lies: as the environment variable says, or on the PATH.
pub(crate) fn find(name: &str, variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = named
        .into_iter()
        .chain(std::env::split_paths(&on_path).map(|folder| folder.join(name)));
    places.find(|place| place.is_file())
}

/// CPU time of all programs that have been run and waited for so far.
fn cpu_of_children() -> Result<Duration> {
    cpu_at(13)
}

/// CPU time of this process so far.
pub(crate) fn own_cpu() -> Result<Duration> {
    cpu_at(11)
}

/// User and system time, from the field of this number behind the name on.
fn cpu_at(field: usize) -> Result<Duration> {
    const TICKS_PER_SECOND: f64 = 100.0; // USER_HZ, which is 100 wherever Linux runs
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program may hold anything, and ends with the last parenthesis.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut ticks = fields.split_whitespace().skip(field).map(str::parse::<f64>);
    let (Some(Ok(user)), Some(Ok(system))) = (ticks.next(), ticks.next()) else {
        return Err("/proc/self/stat has no times".into());
    };
    Ok(Duration::from_secs_f64((user + system) / TICKS_PER_SECOND))
}
