//! Does this build keep its objective? A gate in multiples of the idle service, on a good build and on a slow one.
//!
//! `cargo test -p openloop-examples --example slo_gate` is how a suite runs it;
//! `cargo run --release -p openloop-examples --example slo_gate` prints what a failing build looks like (`-- --quick`).
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{
    Floor, Judgement, Level, Lifecycle, Metric, Plan, Rtt, Run, Slo, SloError, Target, drive,
    requests,
};
use openloop_http::Http;
use openloop_sched::Rate;
use openloop_testbed::{HttpServer, Service};
use std::error::Error;
use std::time::Duration;

/// What the build that is in production takes when it is idle. It stands in the repository, beside the code: a build that
/// is slower even when idle is held against this, and not against itself.
const FLOOR: Duration = Duration::from_millis(25);
/// Not "50 ms": a number that means something whatever the machine, and that a service near collapse cannot keep.
const OBJECTIVE: &str = "p50<=1.8S, p90<=5S, errors<=2%";

/// A short run against a build, with the load that its users make.
async fn load(build: &HttpServer, steady: Duration) -> Result<Run, Box<dyn Error>> {
    let plan = Plan::open(Rate::per_second(60.0)?)
        .lifecycle(Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: Duration::from_millis(500),
            steady,
            cooldown: Duration::ZERO,
        })
        .timeout(Duration::from_secs(5))
        .target(Target::SameProcess)
        .build()?;
    let http = Http::builder(&build.url("/checkout")).build()?;
    http.prepare().await?;
    let request = http.request();
    let mut run = drive::shared(&plan, requests(http, move |_seq| request.clone())).await?;
    // As in `service_test`: what a suite's machine adds can fail the gate, and cannot pass it by mistake.
    for check in ["outbound_error", "inbound_error", "steal", "throttled"] {
        run.waive(check)?;
    }
    Ok(run)
}

fn judge(run: &Run) -> Result<Judgement, SloError> {
    let level = Level::stated(FLOOR);
    let floor = Floor::stated(Rtt::same_host()).with(None, Metric::Response, level);
    Ok(OBJECTIVE.parse::<Slo>()?.on(&floor)?.judge(run))
}

/// In a real suite, your service as it is started for tests: this one needs that long for every request.
fn build(time: Duration) -> Result<HttpServer, Box<dyn Error>> {
    Ok(HttpServer::builder()
        .service(Service::fixed(time))
        .start()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let steady = Duration::from_secs(if quick { 3 } else { 6 });
    println!("The objective: {OBJECTIVE}, with S = {FLOOR:?} as it stands in the repository.");
    for (name, time) in [
        ("the build in production", FLOOR),
        ("a build that became slow", FLOOR * 3),
    ] {
        let run = load(&build(time)?, steady).await?;
        println!("\n{name}, as its test prints it:\n{}", judge(&run)?);
    }
    println!(
        "In a test suite the last line is `judgement.assert()`: the first build passes, and the second fails with the table
above. The multiples say how far from idle its users are: 1.8 S in the middle is a service that waits little; an
exponential server with a mean of 4 S is 75 % busy. With both builds at hand, `Comparison` holds them against each other by
turns, which finds a slow-down of some percent."
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_experiment::Verdict;

    /// 36 responses lie above P90: on a machine that stalls now and then, enough separate ones still.
    const STEADY: Duration = Duration::from_secs(6);

    #[tokio::test]
    async fn the_build_in_production_keeps_its_objective() -> Result<(), Box<dyn Error>> {
        judge(&load(&build(FLOOR)?, STEADY).await?)?.assert();
        Ok(())
    }

    /// The gate that the slow build meets, turned around: it must not pass.
    #[tokio::test]
    async fn a_build_that_became_slow_does_not() -> Result<(), Box<dyn Error>> {
        let judgement = judge(&load(&build(FLOOR * 8)?, STEADY).await?)?;
        assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
        assert!(judgement.to_string().contains("1.8"), "{judgement}");
        Ok(())
    }
}
