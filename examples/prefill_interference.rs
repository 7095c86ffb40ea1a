//! What does a burst of long prompts do to everybody who reads? Chats on a simulated server, and documents of 4000 tokens
//! in the middle.
//!
//! `cargo run --release -p openloop-examples --example prefill_interference` (20 s; `-- --quick` for less)
#![allow(clippy::print_stdout, reason = "a program talks to people")]

use openloop_experiment::{Lifecycle, Plan, Target, drive, labelled, requests};
use openloop_inference::{Inference, Request};
use openloop_measurer::{Kind, Quantile, Section};
use openloop_sched::{Rate, Ticket};
use openloop_testbed::LlmServer;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, Prefill};
use openloop_workload::prompts::Prompts;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

const SEED: u64 = 1;
/// Requests a second; in the burst every other one is a document.
const RATE: f64 = 8.0;
const CHAT: &str = "chat";
const DOCUMENT: &str = "document";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let length = Duration::from_secs(if quick { 4 } else { 9 });
    println!(
        "{RATE} requests a second for {length:?}: chats of 100 tokens with answers of 40; in the middle third every other one\n\
         is a document of 4000 tokens, which takes 0.24 s to compute\n"
    );
    println!(
        "{:<34}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "of the chats", "TTFT p99", "TPOT p50", "p99", "ITL p50", "p99"
    );
    row("without documents", Prefill::Chunked, false, length).await?;
    row("whole documents at once", Prefill::Whole, true, length).await?;
    row("documents in pieces", Prefill::Chunked, true, length).await?;
    println!(
        "
Who reads along sees the text stand still while a document is computed. Cut into pieces it makes every step of the burst a
little longer instead, and the document comes later, with the first tokens of the chats behind it. The median hides both: half of all gaps lie outside
of the burst. It is the tail that users feel, and only a load that mixes lengths as they do has one."
    );
    Ok(())
}

async fn row(
    name: &str,
    prefill: Prefill,
    documents: bool,
    length: Duration,
) -> Result<(), Box<dyn Error>> {
    let engine = EngineConfig {
        prefill,
        max_step_tokens: 512,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine)).start()?;
    let model = Inference::builder(&server.url(), "simulated").build()?;
    model.prepare().await?;
    let made = Arc::new(Made::new(&model, length, documents)?);
    let plan = Plan::open(Rate::per_second(RATE)?)
        .lifecycle(Lifecycle::steady_only(length))
        .target(Target::SameProcess)
        .kinds([CHAT, DOCUMENT])
        .seed(SEED)
        .build()?;
    let request = {
        let made = made.clone();
        move |seq| made.request(seq)
    };
    let kind = move |ticket: Ticket| Kind::new(usize::from(made.is_document(ticket.seq)));
    let run = drive::shared(&plan, labelled(requests(model, request), kind)).await?;
    let chats = run
        .snapshot()
        .of_kind(run.plan().kinds().get(CHAT))
        .steady();
    println!(
        "{name:<34}{:>10}{:>10}{:>10}{:>10}{:>10}{}",
        at(&chats, "ttft", Quantile::P99),
        at(&chats, "tpot", Quantile::P50),
        at(&chats, "tpot", Quantile::P99),
        at(&chats, "itl", Quantile::P50),
        at(&chats, "itl", Quantile::P99),
        if run.validity().is_valid() { "" } else { " ?" },
    );
    Ok(())
}

/// Requests that are made before the run.
struct Made {
    requests: Vec<(Request, bool)>,
}

impl Made {
    fn new(model: &Inference, length: Duration, documents: bool) -> Result<Self, Box<dyn Error>> {
        let chat = Prompts::new("fixed:100".parse()?, "fixed:40".parse()?)?;
        let document = Prompts::new("fixed:4000".parse()?, "fixed:8".parse()?)?;
        let count = (RATE * length.as_secs_f64()) as u64;
        let requests = (0..3 * count).map(|seq| {
            // Arrivals come in the order of their numbers: the middle third in time is that of the numbers.
            let in_burst = (count / 3..2 * count / 3).contains(&seq);
            let is_document = documents && in_burst && seq % 2 == 0;
            let prompts = if is_document { &document } else { &chat };
            Ok((model.request(prompts.prompt(SEED, seq))?, is_document))
        });
        Ok(Made {
            requests: requests.collect::<Result<_, Box<dyn Error>>>()?,
        })
    }

    fn of(&self, seq: u64) -> &(Request, bool) {
        &self.requests[seq as usize % self.requests.len()]
    }

    fn request(&self, seq: u64) -> Request {
        self.of(seq).0.clone()
    }

    fn is_document(&self, seq: u64) -> bool {
        self.of(seq).1
    }
}

fn at(section: &Section, name: &str, q: Quantile) -> String {
    let value = section.metric(name).and_then(|metric| metric.quantile(q));
    value.map_or("-".to_owned(), |ns| format!("{:.1} ms", ns as f64 / 1e6))
}
