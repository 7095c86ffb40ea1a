//! A page of a run that never took place: a simulated service under a simulated load, in virtual time.
//!
//! `cargo run -p openloop-report --example page -- page.html [minutes] [calm|stall|overload|invalid]`
//!
//! With `--quick` it is a minute, and the page goes into the folder for temporary files.
//!
//! The clock ticks in whole milliseconds, so a second here stands for a millisecond of a real service.
#![allow(clippy::print_stdout, reason = "an example prints")]

use openloop_experiment::{Lifecycle, Plan, Slo, drive, labelled};
use openloop_measurer::{Describe, Details, Kind, Verdict};
use openloop_report::Report;
use openloop_sched::{Rate, Ticket};
use openloop_workload::Values;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

struct Reply {
    verdict: Verdict,
    acquire: Duration,
    first_byte: Duration,
}

impl Describe for Reply {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn details(&self, into: &mut Details<'_>) {
        into.acquire(self.acquire);
        into.duration("first_byte", self.first_byte);
        into.count("bytes_received", 1834);
    }
}

const KINDS: [&str; 3] = ["GET /items/{id}", "GET /search", "POST /orders"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (quick, arguments): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|text| text == "--quick");
    let (path, minutes) = match quick.is_empty() {
        true => (PathBuf::from("page.html"), 2),
        false => (std::env::temp_dir().join("openloop-page.html"), 1),
    };
    let mut arguments = arguments.into_iter();
    let path = arguments.next().map_or(path, PathBuf::from);
    let minutes = arguments.next().map_or(Ok(minutes), |text| text.parse())?;
    let scenario = arguments.next().unwrap_or_else(|| "stall".to_owned());
    let clock = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let report = clock.block_on(report(minutes, &scenario))?;
    report.write_html(File::create(&path)?)?;
    let length = std::fs::metadata(&path)?.len();
    println!("{}: {length} bytes", path.display());
    Ok(())
}

async fn report(minutes: u64, scenario: &str) -> Result<Report, Box<dyn std::error::Error>> {
    let steady = Duration::from_secs(60 * minutes);
    let lifecycle = Lifecycle {
        ramp_up: Duration::from_secs(10),
        warm_up: Duration::from_secs(10),
        steady,
        cooldown: Duration::from_secs(10),
    };
    let rate = match scenario {
        "overload" => 44.0,
        _ => 28.0,
    };
    let plan = Plan::open(Rate::per_second(rate)?)
        .lifecycle(lifecycle)
        .timeout(Duration::from_secs(8))
        .kinds(KINDS)
        .build()?;
    let law: Values = "exponential:1".parse()?;
    // One connection at a time: what waits for it waits on our side.
    let worker = Arc::new(Mutex::new(()));
    let start = Instant::now();
    let stall = match scenario {
        "stall" => Some(start + Duration::from_secs(20) + steady / 2),
        _ => None,
    };
    let kind = |ticket: Ticket| {
        Some(Kind::new(
            usize::from(ticket.seq % 10 > 6) + usize::from(ticket.seq % 10 > 8),
        ))
    };
    let work = move |ticket: Ticket| {
        let (worker, law) = (worker.clone(), law.clone());
        async move {
            let came = Instant::now();
            let turn = worker.lock().await;
            let acquire = came.elapsed();
            if let Some(stall) = stall
                && (stall..stall + Duration::from_secs(4)).contains(&Instant::now())
            {
                sleep_until(stall + Duration::from_secs(4)).await;
            }
            let mean = [16.0, 24.0, 45.0]
                [usize::from(ticket.seq % 10 > 6) + usize::from(ticket.seq % 10 > 8)];
            let serving = Duration::from_millis((law.value(7, ticket.seq) * mean) as u64 + 2);
            sleep(serving).await;
            drop(turn);
            let verdict = match ticket.seq {
                seq if seq % 997 == 13 => Verdict::Failed("connection_reset"),
                seq if acquire > Duration::from_secs(3) && seq % 3 == 0 => {
                    Verdict::Rejected("http_503")
                }
                _ => Verdict::Ok,
            };
            Reply {
                verdict,
                acquire,
                first_byte: acquire + serving / 2,
            }
        }
    };
    let run = drive::shared(&plan, labelled(work, kind)).await?;
    let slo: Slo = "p50<=50ms, p99<=1s, errors<=1%".parse()?;
    let mut report = Report::new(&run)
        .with_title("Checkout, before the sale")
        .with_target("http://checkout.test/ <staging> & co")
        .with_command("loadgen http 'http://checkout.test/' --rate 28 --timeout 8s --slo 'p50<=50ms, p99<=1s'")
        .with_started_at(UNIX_EPOCH + Duration::from_secs(1_796_026_445))
        .with_judgement(&slo.judge(&run));
    if scenario == "invalid" {
        report.validity.valid = false;
        if let Some(check) = report.validity.checks.first_mut() {
            check.pass = false;
            check.why = "the generator was late: responses are 14 % longer at p99 than from the release; give it more threads or a core of its own".to_owned();
        }
    }
    Ok(report)
}
