//! What would my users wait? One run against a service whose answer is known, from the plan to the verdict.
//!
//! `cargo run --release -p openloop-examples --example quickstart` (15 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Slo, Target, drive, requests};
use openloop_http::{Connections, Http};
use openloop_report::{Progress, ProgressTarget, Report, TextStyle};
use openloop_sched::Rate;
use openloop_testbed::{HttpServer, Service, Workers};
use std::error::Error;
use std::io::{IsTerminal, stderr, stdout};
use std::time::Duration;

const RATE: f64 = 500.0;
const SERVICE: Duration = Duration::from_millis(1);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");

    // A service to measure, in this process: one worker, 1 ms a request on average, first come, first served.
    let server = HttpServer::builder()
        .service(Service::exponential(SERVICE, 7))
        .workers(Workers::one())
        .start()?;
    let url = server.url("/");

    // The plan: when every request starts is fixed now, whatever the service will do.
    let lifecycle = Lifecycle {
        steady: Duration::from_secs(if quick { 2 } else { 10 }),
        ..Lifecycle::quick()
    };
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(lifecycle)
        .timeout(Duration::from_secs(2))
        .target(Target::SameProcess)
        .build()?;
    println!("planned: {RATE} requests per second on average, at random (Poisson), to {url}");
    if let Some(preview) = plan.preview() {
        for (phase, arrivals) in preview.phases {
            println!("  {phase:<10} {arrivals:>5} requests");
        }
    }

    // The client: its connections are opened before the run, which therefore does not measure that.
    let http = Http::builder(&url)
        .connections(Connections::pool(50))
        .build()?;
    http.prepare().await?;
    let request = http.request();

    // The run.
    let drive = drive::shared(&plan, requests(http, move |_seq| request.clone()));
    let progress = Progress::start(
        drive.monitor(),
        match stderr().is_terminal() {
            true => ProgressTarget::Terminal,
            false => ProgressTarget::Lines,
        },
    );
    let run = drive.await?;
    progress.finish();

    // The objective, the verdict and the report.
    let slo: Slo = "p50<=5ms, p90<=20ms, errors<=0.1%".parse()?;
    let report = Report::new(&run)
        .with_target(&url)
        .with_judgement(&slo.judge(&run));
    let style = TextStyle {
        colour: stdout().is_terminal(),
        ..TextStyle::default()
    };
    println!();
    report.write_text(stdout(), &style)?;
    how_to_read_it();
    Ok(())
}

fn how_to_read_it() {
    // M/M/1: the response is exponential, with the mean S / (1 - λS).
    let mean = SERVICE.as_secs_f64() * 1e3 / (1.0 - RATE * SERVICE.as_secs_f64());
    let quantile = |q: f64| -mean * f64::ln(1.0 - q);
    println!(
        "
How to read it: the first line says whether this machine was good enough as a generator; without that, no other
number counts. `response` is what a user waits, from the instant at which the request should have started; `service`
begins only when it was sent, and `exchange` only when it had a connection, which is all that a naive tool sees. The
three part as soon as anything queues on our side. Here the service is known: one worker that needs {SERVICE:?} on
average and is asked {RATE} times per second is busy half the time, and queueing theory says p50 {:.1}, p90 {:.1} and
p99 {:.1} ms. A run as short as this comes within some 10 % of that. Now change RATE to 900.0 and run it again.",
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
    );
}
