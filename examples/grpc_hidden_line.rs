//! What do a client's metrics leave out? Calls behind a server's limit on streams, over one channel and over three.
//!
//! `cargo run --release -p openloop-examples --example grpc_hidden_line` (2 min; `-- --quick` for 12 s)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::{GGc, Queue};
use openloop_experiment::{Lifecycle, Plan, Run, drive, requests};
use openloop_grpc::{Grpc, Schema};
use openloop_measurer::{Histogram, Quantile};
use openloop_sched::Rate;
use openloop_testbed::{GrpcServer, Service};
use std::error::Error;
use std::time::Duration;

/// Calls at once that the server takes on a connection.
const STREAMS: u32 = 10;
/// What each takes, whatever the load.
const SERVICE: Duration = Duration::from_millis(100);
/// Nine of the ten streams are busy, in the mean.
const RATE: f64 = 90.0;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 5 } else { 55 });
    let server = GrpcServer::builder()
        .max_concurrent_streams(STREAMS)
        .service(Service::fixed(SERVICE))
        .start()?;
    println!(
        "a server that takes {SERVICE:?} for every call, and {STREAMS} at once on a connection; {RATE} calls per second, Poisson\n"
    );
    println!(
        "{:<28}{:>7}{:>11}{:>11}{:>11}{:>11}",
        "", "calls", "mean", "p50", "p99", "max"
    );
    let one = measure(&server, 1, length).await?;
    measure(&server, 3, length).await?;

    let queue = GGc::new(RATE, SERVICE.as_secs_f64(), STREAMS, 1.0, 0.0)?;
    let waited = one.snapshot().steady();
    let waited = waited.metrics().find(|(name, _)| *name == "acquire");
    println!(
        "\nthe wait for a stream over one channel: {} in the mean, and {} by Allen and Cunneen for {STREAMS} servers",
        ms(waited.and_then(|(_, waits)| waits.mean_ns())),
        ms(Some(1e9 * queue.mean_wait()))
    );
    println!(
        "
The exchange is what the server's metrics show, and most clients': each call takes 100 ms, and all is well. The calls
that waited for a stream had not been sent yet: they stood in a buffer before the channel. Their users waited all the
same. The server was never busy with more than it allowed, so it has nothing to report; the limit is one of the
connection. With three channels there are three times as many streams, and the line is gone."
    );
    Ok(())
}

/// Poisson arrivals over these channels.
async fn measure(
    server: &GrpcServer,
    channels: usize,
    length: Duration,
) -> Result<Run, Box<dyn Error>> {
    let grpc = Grpc::builder(&server.url()).channels(channels).build()?;
    grpc.prepare().await?;
    let schema = Schema::by_reflection(&grpc, "openloop.testbed.Echo").await?;
    let method = schema.method("openloop.testbed.Echo/Unary")?;
    let call = method.request([r#"{"text": "hello"}"#])?;
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle {
            ramp_up: Duration::ZERO,
            warm_up: Duration::from_secs(1),
            steady: length,
            cooldown: Duration::ZERO,
        })
        .build()?;
    let run = drive::shared(&plan, requests(grpc, move |_| call.clone())).await?;
    let steady = run.snapshot().steady();
    let over = if channels == 1 {
        "over 1 channel"
    } else {
        "over 3 channels"
    };
    row(
        &format!("exchange, {over}"),
        &steady.total(|class| &class.exchange),
    );
    row(
        &format!("response, {over}"),
        &steady.total(|class| &class.response),
    );
    Ok(run)
}

fn row(name: &str, latencies: &Histogram) {
    let at = |q| latencies.quantile(q).map(|ns| ns as f64);
    println!(
        "{name:<28}{:>7}{:>11}{:>11}{:>11}{:>11}",
        latencies.count(),
        ms(latencies.mean_ns()),
        ms(at(Quantile::P50)),
        ms(at(Quantile::P99)),
        ms(latencies.max_ns().map(|ns| ns as f64)),
    );
}

fn ms(ns: Option<f64>) -> String {
    ns.map_or("-".to_owned(), |ns| format!("{:.1} ms", ns / 1e6))
}
