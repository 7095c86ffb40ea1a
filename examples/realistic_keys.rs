//! Does it matter which keys a load asks for? One service with a cache, asked for one key, for all alike, and as people ask.
//!
//! `cargo run --release -p openloop-examples --example realistic_keys` (12 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Target, drive, requests};
use openloop_http::{Connections, Http, Request};
use openloop_measurer::{Operation, Quantile};
use openloop_sched::Rate;
use openloop_testbed::{Cache, HttpServer, Workers};
use openloop_workload::{Keys, Template, named};
use std::error::Error;
use std::time::Duration;

const PAGES: u64 = 1_000;
const CACHE: u64 = 100;
const HIT: Duration = Duration::from_micros(200);
const MISS: Duration = Duration::from_millis(5);
const RATE: f64 = 150.0;
const SEED: u64 = 1;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 2 } else { 10 });
    println!(
        "one worker, {PAGES} pages, memory for {CACHE} of them: a page takes {HIT:?} from memory and {MISS:?} from the disk"
    );
    println!("asking {RATE} times per second for {length:?}, three services side by side ...\n");
    let (one, uniform, zipf) = tokio::try_join!(
        measure("uniform:1", length),
        measure("uniform:1000", length),
        measure("zipf:1000:0.99", length),
    )?;
    println!(
        "{:<18}{:^22}{:^26}{:>12}",
        "", "hit rate", "service, mean", "response"
    );
    println!(
        "{:<18}{:>11}{:>11}{:>13}{:>13}{:>12}",
        "keys", "predicted", "counted", "predicted", "measured", "p99"
    );
    for row in [&one, &uniform, &zipf] {
        row.print();
    }
    println!(
        "
The service is the same and so is the rate. With one key the disk is never asked: the run measures the memory, and
promises {:.0} requests per second of this worker. With keys all alike hardly anything is in memory, and the promise
is {:.0}. People ask for few things often and for many things rarely, which is Zipf's law, and the truth lies
between: {:.0}. The prediction is Keys::lru_hit_rate, before anything is sent. How hot are your keys? Zipf::fit tells
it from an access log.",
        one.capacity(),
        uniform.capacity(),
        zipf.capacity(),
    );
    Ok(())
}

/// What came out for one law of keys.
struct Row {
    keys: Keys,
    hit_rate: f64,
    service: Duration,
    p99: Option<Duration>,
}

/// One run against a service of its own, whose cache is warm.
async fn measure(law: &str, length: Duration) -> Result<Row, Box<dyn Error>> {
    let keys: Keys = law.parse()?;
    let server = HttpServer::builder()
        .cache(Cache::lru(CACHE as usize, HIT, MISS))
        .workers(Workers::one())
        .start()?;
    let http = Http::builder(&server.url("/"))
        .connections(Connections::PerInFlight) // nothing queues on our side
        .build()?;
    http.prepare().await?;
    let page = Template::new("/pages/{key}");
    let made = |key| {
        let request = http::Request::get(page.render(key)).body(bytes::Bytes::new())?;
        Ok(http.request_from(request)?)
    };
    let pages: Vec<Request> = (1..=PAGES)
        .map(made)
        .collect::<Result<_, Box<dyn Error>>>()?;
    let request = move |key: u64| pages[(key - 1) as usize].clone();

    // A cold cache would be measured first: these requests fill it, and are not counted.
    for seq in 0..3 * CACHE {
        http.call(request(keys.key(named(SEED, "warm-up"), seq)))
            .await?;
    }
    let (hits, misses) = (server.cache_hits(), server.cache_misses());

    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .seed(SEED)
        .build()?;
    let run = drive::shared(
        &plan,
        requests(http, move |seq| request(keys.key(SEED, seq))),
    )
    .await?;

    let steady = run.snapshot().steady();
    let hits = (server.cache_hits() - hits) as f64;
    let misses = (server.cache_misses() - misses) as f64;
    let log = server.log();
    let log = &log[3 * CACHE as usize..];
    // The server's own time from taking a request up to the answer, without the wait for the worker.
    let served = log
        .iter()
        .filter_map(|one| Some(one.departure? - one.start));
    let service = served.sum::<Duration>() / u32::try_from(log.len().max(1))?;
    let p99 = steady.response().quantile(Quantile::P99);
    Ok(Row {
        keys,
        hit_rate: hits / (hits + misses),
        service,
        p99: p99.map(|value| Duration::from_nanos(value.ns())),
    })
}

impl Row {
    fn predicted_hit_rate(&self) -> f64 {
        self.keys.lru_hit_rate(CACHE).unwrap_or(f64::NAN)
    }

    fn predicted_service(&self) -> Duration {
        let hit_rate = self.predicted_hit_rate();
        HIT.mul_f64(hit_rate) + MISS.mul_f64(1.0 - hit_rate)
    }

    /// Requests per second that keep the worker just busy.
    fn capacity(&self) -> f64 {
        1.0 / self.predicted_service().as_secs_f64()
    }

    fn print(&self) {
        let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        println!(
            "{:<18}{:>11}{:>11}{:>13}{:>13}{:>12}",
            self.keys.to_string(),
            percent(self.predicted_hit_rate()),
            percent(self.hit_rate),
            ms(self.predicted_service()),
            ms(self.service),
            self.p99.map_or_else(|| "-".to_owned(), ms),
        );
    }
}
