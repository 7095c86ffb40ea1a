//! How many nodes, connections, seconds and gigabytes for the peak? A small sweep of one node, and the plan that follows.
//!
//! `cargo run --release -p openloop-examples --example capacity_plan` (12 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::Plan;
use openloop_capacity::mmc_curve::{self, ResponsePoint};
use openloop_capacity::plan::{Figures, KvFigures};
use openloop_capacity::sizing::KvShape;
use openloop_experiment::{self as experiment, Lifecycle, Target, drive, requests};
use openloop_http::{Connections, Http};
use openloop_measurer::{Population, Quantile};
use openloop_sched::{Arrivals, Rate};
use openloop_testbed::{HttpServer, Service, Workers};
use std::error::Error;
use std::time::Duration;

const PEAK: f64 = 10_000.0;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let step = Duration::from_millis(if quick { 500 } else { 1600 });

    // One node: four workers, 4 ms a request. Nobody has told us; we measure.
    let node = HttpServer::builder()
        .service(Service::fixed(Duration::from_millis(4)))
        .workers(Workers::servers(4))
        .start()?;
    println!(
        "a sweep of one node, {step:?} a step (for figures to build on, take minutes and a machine of its own)\n"
    );
    println!(
        "{:>8}{:>12}{:>12}{:>12}{:>14}",
        "rate", "mean", "p90", "p99", "p99 / floor"
    );
    // The floor: so little that no two requests meet.
    let (floor, mut believed) = measure(&node, 20.0, Arrivals::Constant, step).await?;
    let at = |responses: &Population, q| responses.quantile(q).map(|value| value.ns() as f64 / 1e9);
    let floor_p99 = at(&floor, Quantile::P99).ok_or("no answers at next to no load")?;
    let mut figures = Figures {
        floor: floor.mean_ns().map(|ns| ns / 1e9),
        retention: Some(2.0),
        ..Figures::at_peak(PEAK)
    };
    let mut points = Vec::new();
    let mut departed = false;
    for rate in [200.0, 400.0, 600.0, 700.0, 800.0, 900.0] {
        let (responses, valid) = measure(&node, rate, Arrivals::Poisson, step).await?;
        let (Some(mean), Some(p90), Some(p99)) = (
            responses.mean_ns().map(|ns| ns / 1e9),
            at(&responses, Quantile::P90),
            at(&responses, Quantile::P99),
        ) else {
            return Err(format!("nothing was answered at {rate}/s").into());
        };
        let ratio = p99 / floor_p99;
        let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
        println!(
            "{rate:>6}/s{:>12}{:>12}{:>12}{ratio:>14.1}{}",
            ms(mean),
            ms(p90),
            ms(p99),
            if valid { "" } else { " ?" },
        );
        believed &= valid;
        points.push(ResponsePoint {
            rate,
            mean_response: mean,
        });
        // The knee: the highest rate before the tail rises above three times the floor's. What is measured there is what
        // the nodes will show at the peak.
        departed |= ratio > 3.0;
        if !departed {
            figures = Figures {
                knee: Some(rate),
                mean_response: Some(mean),
                service_p90: Some(p90),
                service_p99: Some(p99),
                service_p99_9: at(&responses, Quantile::P99_9),
                ..figures
            };
        }
    }
    if !believed {
        println!("? the machine was too busy for this run: its figures are not to be believed");
    }
    // The highest rate lies beyond the sweep: from the curve through it.
    let fit = mmc_curve::fit(&points)?;
    println!(
        "\nthe means lie on the curve of {} workers of {:.2} ms, a {} fit, which gives out at {:.0}/s (95 %: {:.0} to {:.0})\n",
        fit.servers,
        fit.mean_service * 1e3,
        fit.goodness,
        fit.highest_rate,
        fit.rate_interval.lower,
        fit.rate_interval.upper,
    );
    figures.highest_rate = Some(fit.highest_rate.max(figures.knee.unwrap_or_default()));

    println!(
        "for a peak of {PEAK}/s on such nodes:\n\n{}",
        Plan::new(&figures)?
    );
    println!(
        "and for a language model at 50/s, from figures of your own:\n\n{}",
        Plan::new(&language_model())?
    );
    Ok(())
}

/// What a node needs at this rate, as its clients see it, and whether the run may be believed.
async fn measure(
    node: &HttpServer,
    rate: f64,
    arrivals: Arrivals,
    steady: Duration,
) -> Result<(Population, bool), Box<dyn Error>> {
    let http = Http::builder(&node.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    let request = http.request();
    let plan = experiment::Plan::open(Rate::per_second(rate)?)
        .lifecycle(Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: steady / 10,
            steady,
            cooldown: Duration::ZERO,
        })
        .arrivals(arrivals)
        .target(Target::SameProcess)
        .build()?;
    let run = drive::shared(&plan, requests(http, move |_seq| request.clone())).await?;
    Ok((
        run.snapshot().steady().response_ok(),
        run.validity().is_valid(),
    ))
}

/// Llama 3.1 8B in bf16, with 40 GiB left for its cache on each GPU.
fn language_model() -> Figures {
    Figures {
        knee: Some(9.0),
        highest_rate: Some(14.0),
        mean_response: Some(4.0),
        service_p90: Some(7.0),
        service_p99_9: Some(18.0),
        retention: Some(30.0),
        kv: Some(KvFigures {
            shape: KvShape {
                layers: 32,
                kv_heads: 8,
                head_dimension: 128,
                bits: 16,
            },
            block_tokens: 16,
            sequence_tokens: 4300,
            bytes_per_node: Some(40 << 30),
        }),
        ..Figures::at_peak(50.0)
    }
}
