//! The simulator of language-model servers: against the laws that it has in its limits, and against what can be counted.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod clusters;
mod laws;
mod memory;
mod properties;
mod steps;

use openloop_capacity::batching::{
    Cluster, ClusterConfig, Completion, EngineConfig, Outcome, Request, StepCost,
};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// Steps of 10 ms and 1 ms more for a token of a prompt; nothing else costs anything.
const PLAIN: StepCost = StepCost {
    base: 0.010,
    per_prompt_token: 0.001,
    per_sequence: 0.0,
    per_context_token: 0.0,
};

fn engine() -> EngineConfig {
    EngineConfig {
        cost: PLAIN,
        ..EngineConfig::default()
    }
}

fn simulate(config: ClusterConfig, requests: &[(Duration, Request)]) -> Outcome {
    let outcome = Cluster::new(config).unwrap().run(requests.iter().cloned());
    assert_consistent(&outcome);
    outcome
}

/// What holds whatever is simulated.
#[track_caller]
fn assert_consistent(outcome: &Outcome) {
    for done in &outcome.completions {
        assert!(done.queue_wait <= done.time_to_first_token, "{done:?}");
        assert!(done.time_to_first_token <= done.end_to_end, "{done:?}");
        assert!(done.longest_gap <= done.end_to_end, "{done:?}");
        assert!(
            done.time_per_output_token()
                .is_none_or(|tpot| tpot <= done.longest_gap),
            "{done:?}"
        );
    }
    for engine in &outcome.engines {
        assert_eq!(
            (engine.running, engine.waiting, engine.used_blocks),
            (0, 0, 0),
            "{engine:?}"
        );
        assert!(engine.most_used_blocks <= engine.blocks && engine.cached_blocks <= engine.blocks);
        assert!(engine.found_blocks <= engine.looked_up_blocks);
        assert!(engine.busy <= outcome.elapsed);
    }
    let mut ids: Vec<_> = outcome.completions.iter().map(|done| done.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), outcome.completions.len());
}

fn by_id(outcome: &Outcome) -> Vec<&Completion> {
    let mut all: Vec<_> = outcome.completions.iter().collect();
    all.sort_by_key(|done| done.id);
    all
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn exponential(rng: &mut Xoshiro256PlusPlus) -> f64 {
    -uniform(rng).ln()
}

/// Poisson arrivals, `rate` in a second.
fn arrivals(rng: &mut Xoshiro256PlusPlus, rate: f64, count: u64) -> Vec<Duration> {
    let mut now = 0.0;
    (0..count)
        .map(|_| {
            now += exponential(rng) / rate;
            Duration::from_secs_f64(now)
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
