//! `loadgen inference` against servers that know what they served.

#[cfg(unix)]
mod generator;
mod gpu;
#[cfg(unix)]
mod live;
mod metrics;
mod problems;
mod requests;
mod sweeps;

use crate::*;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, StepCost};
use openloop_testbed::{LlmServer, LlmServerBuilder, Script};
use std::time::Duration;

const SHORT: &str = "--input-tokens fixed:20 --output-tokens fixed:5 --arrivals constant";

/// A first token after so many milliseconds, and then one each millisecond.
fn script(ttft_ms: u64) -> LlmServerBuilder {
    LlmServer::scripted(Script {
        ttft: Duration::from_millis(ttft_ms),
        gap: Duration::from_millis(1),
    })
}

fn scripted() -> LlmServer {
    script(5).start().unwrap()
}

/// An engine that batches, with this many blocks of cache and steps of so many seconds.
fn simulated(blocks: u32, step: f64) -> LlmServer {
    let engine = EngineConfig {
        blocks,
        cost: StepCost {
            base: step,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    };
    LlmServer::simulated(ClusterConfig::single(engine))
        .start()
        .unwrap()
}

/// `loadgen inference URL --model testbed` with these flags, which are parted by spaces.
fn load(server: &LlmServer, flags: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["inference", &server.url(), "--model", "testbed"])
        .args(flags.split_whitespace())
        .output()
        .unwrap()
}
