//! The adapter against real servers of a small model: dasllama always, and llama.cpp's with `OPENLOOP_FULL=1`.
//!
//! How fast they are depends on the machine, and nothing here does: what the adapter saw is held against what the server
//! says of itself, and against the other things that it saw.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says what it did not do"
)]

mod answers;
mod ends;

use openloop_inference::{Builder, Inference, Request};
use openloop_measurer::{Layout, Recorder};
use openloop_testbed::LanguageModel;
use openloop_workload::prompts::Prompts;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::Instant;

/// So many requests at a time, of which each test has a few.
const STREAMS: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Dasllama,
    LlamaServer,
}

/// The servers that all tests share. They end with this process.
fn servers() -> impl Iterator<Item = (Kind, &'static LanguageModel)> {
    static DASLLAMA: OnceLock<LanguageModel> = OnceLock::new();
    static LLAMA_SERVER: OnceLock<LanguageModel> = OnceLock::new();
    let dasllama = DASLLAMA.get_or_init(|| LanguageModel::dasllama(STREAMS).unwrap());
    let llama = is_full()
        .then(|| LLAMA_SERVER.get_or_init(|| LanguageModel::llama_server(STREAMS).unwrap()));
    let llama = llama.map(|server| (Kind::LlamaServer, server));
    [(Kind::Dasllama, dasllama)].into_iter().chain(llama)
}

fn is_full() -> bool {
    let full = std::env::var_os("OPENLOOP_FULL").is_some();
    if !full {
        println!("dasllama alone: OPENLOOP_FULL=1 asks llama-server as well");
    }
    full
}

/// The same answer each time.
fn builder(server: &LanguageModel) -> Builder {
    Inference::builder(&server.url(), server.model()).field("temperature", 0)
}

fn prompts(input: u32, output: u32) -> Prompts {
    let law = |tokens: u32| format!("fixed:{tokens}").parse().unwrap();
    Prompts::new(law(input), law(output)).unwrap()
}

/// A prompt of some `input` tokens that no other test has, for an answer of at most `output`.
fn request(client: &Inference, input: u32, output: u32) -> Request {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let seq = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    client
        .request(prompts(input, output).prompt(1, seq))
        .unwrap()
}

/// A recorder of a run that begins now and is steady for ten minutes.
fn recorder() -> Recorder {
    let steady = Duration::from_secs(600);
    Recorder::new(Instant::now(), Layout::steady_only(steady).unwrap())
}

/// Waits for what must happen, and fails where it does not within a minute.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
