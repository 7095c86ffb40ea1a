//! What does one slow command do to all the others? `KEYS` among fast `GET`s, on a real Redis.
//!
//! `cargo run --release -p openloop-examples --example redis_head_of_line` (2 min; `-- --quick` for 10 s and less data).
//! It starts a server of its own: `apt-get install redis-server`, or `cargo testbed`, provides it.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_capacity::{MG1, Queue};
use openloop_experiment::{Lifecycle, Plan, Run, drive, labelled, requests};
use openloop_measurer::{Histogram, Kind, Quantile, Section};
use openloop_redis::{Connections, Redis, Request};
use openloop_sched::{Rate, Ticket};
use openloop_testbed::Redis as Server;
use openloop_workload::{Mix, mix};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

const SEED: u64 = 1;
/// The kinds of request.
const GET: &str = "GET";
const SCAN: &str = "KEYS";
const RATE: f64 = 1000.0;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let scene = match quick {
        true => Scene {
            keys: 50_000,
            scans_per_second: 5.0,
            length: Duration::from_secs(4),
        },
        false => Scene {
            keys: 1_000_000,
            scans_per_second: 1.0,
            length: Duration::from_secs(60),
        },
    };
    let server = Server::start()?;
    server.cli(&["debug", "populate", &scene.keys.to_string(), "key", "16"])?;
    println!(
        "Redis with {} keys; for {:?} {RATE} requests per second, {} of them `KEYS nobody:*`, which looks at all keys and
finds none; the others are `GET`\n",
        scene.keys, scene.length, scene.scans_per_second
    );
    let one = scene.measure(&server, 1).await?;
    let many = scene.measure(&server, 50).await?;

    println!(
        "\n{:<34}{:>9}{:>11}{:>11}{:>11}{:>11}",
        "of the GETs", "requests", "mean", "p50", "p99", "max"
    );
    for (run, over) in [(&one, "1 connection"), (&many, "50 connections")] {
        let gets = run.of(GET);
        let (exchange, response) = (
            gets.total(|class| &class.exchange),
            gets.total(|class| &class.response),
        );
        row(&format!("exchange, over {over}"), &exchange);
        row(&format!("response, over {over}"), &response);
    }
    one.print_queue()?;
    println!(
        "
Redis carries out one command at a time. Over one connection the exchange of a GET is what a naive tool shows: the
command went out, the reply came back, and all is well. The GETs that waited for a KEYS to end had not been sent yet.
Over 50 connections they had been, and wait inside Redis: now the exchange has it as well, as long as connections last.
The users waited all the same: more connections move the line from one side of the wire to the other, and do not make
it shorter. Pollaczek and Khinchine knew: the wait grows with the square of the slow command's time, so one in a
thousand is enough. What helps is to have no such command (SCAN looks at a few keys at a time), or to have it elsewhere."
    );
    Ok(())
}

/// What is asked of the server.
struct Scene {
    keys: u32,
    scans_per_second: f64,
    length: Duration,
}

/// A run and its kinds.
struct Measured(Run);

impl Scene {
    /// Poisson arrivals at the server, over these connections.
    async fn measure(
        &self,
        server: &Server,
        connections: usize,
    ) -> Result<Measured, Box<dyn Error>> {
        let plan = Plan::open(Rate::per_second(RATE)?)
            .lifecycle(Lifecycle {
                ramp_up: Duration::ZERO,
                warm_up: self.length / 20,
                steady: self.length,
                cooldown: Duration::ZERO,
            })
            .kinds([GET, SCAN])
            .seed(SEED)
            .build()?;
        let redis = Redis::builder(&server.url())
            .connections(Connections::pool(connections))
            .build()?;
        redis.prepare().await?;
        let get = Request::command(["GET", "key:1"])?;
        let scan = Request::command(["KEYS", "nobody:*"])?;
        let kinds = Mix::new([
            mix::Kind::new(GET, RATE - self.scans_per_second, None),
            mix::Kind::new(SCAN, self.scans_per_second, Some(scan)),
        ])?;
        let kinds = Arc::new(kinds);
        let make = {
            let kinds = Arc::clone(&kinds);
            move |seq| match kinds.pick(SEED, seq).payload {
                Some(scan) => scan.clone(),
                None => get.clone(),
            }
        };
        let kind = move |ticket: Ticket| Kind::new(kinds.pick(SEED, ticket.seq).index);
        println!("measuring over connections: {connections} ...");
        let run = drive::shared(&plan, labelled(requests(redis, make), kind)).await?;
        Ok(Measured(run))
    }
}

impl Measured {
    fn of(&self, kind: &str) -> Section {
        let kind = self.0.plan().kinds().get(kind);
        self.0.snapshot().of_kind(kind).steady()
    }

    /// The line before one connection, as it was and as Pollaczek and Khinchine have it.
    fn print_queue(&self) -> Result<(), Box<dyn Error>> {
        let steady = self.0.snapshot().steady();
        // One connection serves one request at a time, so its services are the exchanges.
        let services = steady.total(|class| &class.exchange);
        let (Some(rate), Some(mean), Some(deviation)) = (
            self.0.offered_per_second(),
            services.mean_ns(),
            services.stddev_ns(),
        ) else {
            return Err("nothing was served".into());
        };
        let queue = MG1::new(rate, mean / 1e9, deviation / mean)?;
        let waited = steady
            .total(|class| &class.response)
            .mean_ns()
            .unwrap_or(f64::NAN)
            - mean;
        let slow = self.of(SCAN).total(|class| &class.exchange);
        println!(
            "\nthe line before the one connection: {rate:.0} requests per second, services of {} in the mean with
C_v {:.1}, so busy for {:.0} % of the time; the {} KEYS took {} each, in the mean",
            ms(mean),
            queue.service_cv(),
            100.0 * queue.utilisation(),
            slow.count(),
            ms(slow.mean_ns().unwrap_or(f64::NAN)),
        );
        // Each KEYS makes a crowd wait, and it is the crowds that are counted.
        let off = 150.0 / (slow.count() as f64).sqrt();
        println!(
            "mean wait: {} by Pollaczek and Khinchine, {} measured (so few KEYS are a sample: off by {off:.0} % or so)",
            ms(1e9 * queue.mean_wait()),
            ms(waited)
        );
        Ok(())
    }
}

fn row(name: &str, latencies: &Histogram) {
    let at = |q| latencies.quantile(q).map(|ns| ns as f64);
    let shown = |ns: Option<f64>| ns.map_or("-".to_owned(), ms);
    println!(
        "{name:<34}{:>9}{:>11}{:>11}{:>11}{:>11}",
        latencies.count(),
        shown(latencies.mean_ns()),
        shown(at(Quantile::P50)),
        shown(at(Quantile::P99)),
        shown(latencies.max_ns().map(|ns| ns as f64)),
    );
}

fn ms(ns: f64) -> String {
    format!("{:.2} ms", ns / 1e6)
}
