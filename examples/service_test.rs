//! How do I keep a latency objective in my own test suite? A gate in a `#[tokio::test]`.
//!
//! `cargo test -p openloop-examples --example service_test` is how a suite runs it;
//! `cargo run --release -p openloop-examples --example service_test` prints what it sees (`-- --quick` for less).
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Run, Slo, Target, drive, requests};
use openloop_http::Http;
use openloop_report::{Report, TextStyle};
use openloop_sched::Rate;
use openloop_testbed::{HttpServer, Service};
use std::error::Error;
use std::time::Duration;

/// Several times what the service needs, so that a busy machine keeps it, and far from what a user would notice.
const OBJECTIVE: &str = "p50<=40ms, p90<=150ms, errors<=2%";

/// A short run against the service under test, with the load that its users make.
async fn load(service: &HttpServer, steady: Duration) -> Result<Run, Box<dyn Error>> {
    let plan = Plan::open(Rate::per_second(100.0)?)
        .lifecycle(Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: Duration::from_millis(500),
            steady,
            cooldown: Duration::ZERO,
        })
        .timeout(Duration::from_secs(5))
        .target(Target::SameProcess)
        .build()?;
    let http = Http::builder(&service.url("/checkout")).build()?;
    http.prepare().await?;
    let request = http.request();
    let mut run = drive::shared(&plan, requests(http, move |_seq| request.clone())).await?;
    // A suite shares its cores with the service and with other tests. What that costs can only make responses
    // longer: it may fail the gate, and it cannot pass it by mistake. So these checks may be let go here, and here
    // alone; for figures to be published, measure from another machine and keep them.
    for check in ["outbound_error", "inbound_error", "steal", "throttled"] {
        run.waive(check)?;
    }
    Ok(run)
}

/// In a real suite, your service as it is started for tests. This one needs 5 ms for every request.
fn checkout(time: Duration) -> Result<HttpServer, Box<dyn Error>> {
    Ok(HttpServer::builder()
        .service(Service::fixed(time))
        .start()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let service = checkout(Duration::from_millis(5))?;
    let run = load(&service, Duration::from_secs(if quick { 2 } else { 5 })).await?;
    let judgement = OBJECTIVE.parse::<Slo>()?.judge(&run);
    Report::new(&run)
        .with_judgement(&judgement)
        .write_text(std::io::stdout(), &TextStyle::default())?;
    println!("\nthe gate, as a test prints it when it does not pass:\n{judgement}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_experiment::Verdict;

    const STEADY: Duration = Duration::from_secs(3);

    #[tokio::test]
    async fn checkout_keeps_its_objective() -> Result<(), Box<dyn Error>> {
        let service = checkout(Duration::from_millis(5))?;
        let run = load(&service, STEADY).await?;
        OBJECTIVE.parse::<Slo>()?.judge(&run).assert();
        Ok(())
    }

    /// A gate that cannot fail guards nothing.
    #[tokio::test]
    async fn a_checkout_that_became_slow_does_not_pass() -> Result<(), Box<dyn Error>> {
        let service = checkout(Duration::from_millis(200))?;
        let run = load(&service, STEADY).await?;
        let judgement = OBJECTIVE.parse::<Slo>()?.judge(&run);
        assert_eq!(judgement.verdict, Verdict::Fail, "{judgement}");
        Ok(())
    }
}
