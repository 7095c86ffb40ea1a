//! Up to which rate may an open loop on one core be believed? `cargo bench -p openloop-examples --bench open`
//!
//! loadgen under Poisson arrivals over 50 connections against an instant server, so that the response is the doing of
//! the generator and the network. Each line is one run, read from its report: the lag of its releases, the response,
//! how late answers were picked up after the kernel's receive stamp, the share of the core that was work, and its own
//! verdict.
//!
//! `-- --steady 20s --rates 20000,30000,40000,50000 --rounds 1`

#![allow(clippy::print_stdout)]

mod support;

use serde_json::Value;
use support::Result;
use support::program;
use support::server::Server;

fn main() -> Result<()> {
    let flags = [
        ("--steady", "20s"),
        ("--rates", "20000,30000,40000,50000"),
        ("--rounds", "1"),
    ];
    let Some(flags) = support::begin(
        "Open loop over 50 connections, Poisson, instant server",
        &flags,
    )?
    else {
        return Ok(());
    };
    let steady = flags.duration("--steady")?;
    println!(
        "{:>7} {:>9} {:>9} {:>7} | {:>7} {:>7} | {:>7} {:>7} {:>8} | {:>7} {:>7} | {:>5} {:>7} {:>5}  verdict",
        "", "", "", "", "lag us", "", "resp us", "", "", "pick us", "", "busy", "CPU s/M", ""
    );
    println!(
        "{:>7} {:>9} {:>9} {:>7} | {:>7} {:>7} | {:>7} {:>7} {:>8} | {:>7} {:>7} | {:>5} {:>7} {:>5}",
        "asked",
        "offered",
        "achieved",
        "unsent",
        "p50",
        "p99",
        "p50",
        "p99",
        "p99.9",
        "p50",
        "p99",
        "%",
        "",
        "load"
    );
    for rate in flags.numbers("--rates")? {
        for _ in 0..flags.count("--rounds")? {
            let server = Server::start("instant")?;
            let asked = rate.to_string();
            let load = [
                "--rate",
                &asked,
                "--arrivals",
                "poisson",
                "--connections",
                "50",
            ];
            let (finished, report) = program::loadgen(server.url(), steady, &load)?;
            let latency = |metric: &str, figure: &str| {
                let ns = report["latency"][metric][figure].as_f64();
                ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.0}", ns / 1e3))
            };
            let per_second = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
            let ok = report["arrivals"]["ok"].as_f64().unwrap_or(f64::NAN);
            println!(
                "{rate:>7} {:>9.0} {:>9.0} {:>7} | {:>7} {:>7} | {:>7} {:>7} {:>8} | {:>7} {:>7} | {:>5.1} {:>7.1} {:>5}  {}",
                per_second("offered_rate"),
                per_second("achieved_rate"),
                report["arrivals"]["unsent"].to_string(),
                latency("lag", "p50_ns"),
                latency("lag", "p99_ns"),
                latency("response", "p50_ns"),
                latency("response", "p99_ns"),
                latency("response", "p99_9_ns"),
                latency("pickup", "p50_ns"),
                latency("pickup", "p99_ns"),
                100.0 * report["generator"]["busy"].as_f64().unwrap_or(f64::NAN),
                finished.cpu.as_secs_f64() * 1e6 / ok,
                support::load_average(),
                verdict(&report["validity"]),
            );
        }
    }
    Ok(())
}

/// `valid`, or the checks that failed; warnings in brackets.
fn verdict(validity: &Value) -> String {
    let checks = validity["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let failed = |severity: &str| -> Vec<&str> {
        let failed = checks
            .iter()
            .filter(|check| check["pass"] == false && check["severity"] == severity);
        failed.filter_map(|check| check["name"].as_str()).collect()
    };
    let verdict = match validity["valid"].as_bool() {
        Some(true) => "valid".to_owned(),
        _ => format!("invalid: {}", failed("fault").join(", ")),
    };
    match failed("warning") {
        warnings if warnings.is_empty() => verdict,
        warnings => format!("{verdict} ({})", warnings.join(", ")),
    }
}
