//! The adapter against servers that know what they served.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod faults;
mod stall;
mod streams;
mod virtual_server;
mod workload;

use openloop_inference::{Inference, Request};
use openloop_measurer::{Layout, Recorder};
use openloop_testbed::{LlmServer, LlmServerBuilder, Script};
use openloop_workload::prompts::Prompts;
use std::time::Duration;
use tokio::time::Instant;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A first token after 50 ms, and one each 10 ms.
fn scripted() -> LlmServerBuilder {
    LlmServer::scripted(Script {
        ttft: ms(50),
        gap: ms(10),
    })
}

/// The same, quicker.
fn quick() -> LlmServerBuilder {
    LlmServer::scripted(Script {
        ttft: ms(5),
        gap: ms(1),
    })
}

fn client(server: &LlmServer) -> Inference {
    Inference::builder(&server.url(), "testbed")
        .build()
        .unwrap()
}

/// Prompts and answers of so many tokens.
fn prompts(input: u32, output: u32) -> Prompts {
    let law = |tokens: u32| format!("fixed:{tokens}").parse().unwrap();
    Prompts::new(law(input), law(output)).unwrap()
}

fn request(client: &Inference, output: u32) -> Request {
    client.request(prompts(8, output).prompt(1, 0)).unwrap()
}

/// A recorder of a run that begins now and is steady for a minute.
fn recorder() -> Recorder {
    Recorder::new(Instant::now(), Layout::steady_only(ms(60_000)).unwrap())
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(ms(1)).await;
    }
}
