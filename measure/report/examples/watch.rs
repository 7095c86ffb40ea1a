//! Watches a run of ten seconds, and prints its report: `cargo run -p openloop-report --example watch`.
//!
//! The service is a timer. For half a second it stalls, as services do.

use openloop_experiment::{Lifecycle, Plan, Slo, Target, drive};
use openloop_report::{Progress, ProgressTarget, Report, TextStyle};
use openloop_sched::{Rate, Ticket};
use std::io::{IsTerminal, stderr, stdout};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::open(Rate::per_second(500.0)?)
        .lifecycle(Lifecycle {
            steady: Duration::from_secs(7),
            ..Lifecycle::quick()
        })
        .target(Target::SameProcess)
        .build()?;
    let serve = |ticket: Ticket| async move {
        let into = ticket.intended.as_duration().as_millis();
        let stall = 5500_u128.checked_sub(into).filter(|left| *left <= 500);
        let stall = u64::try_from(stall.unwrap_or(0)).unwrap_or(0);
        sleep(Duration::from_millis(2 + ticket.seq % 5 + stall)).await;
    };
    let drive = drive::shared(&plan, serve);
    let target = match stderr().is_terminal() {
        true => ProgressTarget::Terminal,
        false => ProgressTarget::Lines,
    };
    let progress = Progress::start(drive.monitor(), target);
    let run = drive.await?;
    progress.finish();

    let slo: Slo = "p50<=20ms, p99<=100ms, errors<=0.1%".parse()?;
    let report = Report::new(&run)
        .with_title("a timer that stalls")
        .with_judgement(&slo.judge(&run));
    let style = TextStyle {
        colour: stdout().is_terminal(),
        ..TextStyle::default()
    };
    report.write_text(stdout().lock(), &style)?;
    Ok(())
}
