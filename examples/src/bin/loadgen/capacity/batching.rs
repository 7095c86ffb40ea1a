//! `loadgen capacity batching`.

use super::{nanoseconds, seconds};
use crate::exit::Failure;
use clap::{Args, ValueEnum};
use openloop_capacity::batching::{
    Cluster, ClusterConfig, Completion, EngineConfig, EngineReport, Layout, Prefill, Request,
    Routing, StepCost, Transfer,
};
use openloop_experiment::{Lifecycle, Plan};
use openloop_sched::{Arrivals, Rate, parse_duration};
use openloop_workload::{Keys, Values, numbered};
use serde::Serialize;
use std::time::Duration;

/// The most requests of a simulation: one takes some microseconds and a few hundred bytes.
const MOST: u64 = 2_000_000;

/// What is asked of which servers. What is not given is about a model of eight billion parameters on one GPU.
#[derive(Debug, Args)]
pub(super) struct BatchingArgs {
    /// Requests per second
    #[arg(long)]
    rate: Rate,

    /// For how long they come, in simulated time
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, default_value = "5m")]
    length: Duration,

    /// How they scatter around the rate: constant, poisson or gamma:CV
    #[arg(long, default_value = "poisson")]
    arrivals: Arrivals,

    /// The law of the tokens of prompts (loadgen sample values --help)
    #[arg(long, value_name = "LAW", default_value = "lognormal:mean=1000,cv=1")]
    input_tokens: Values,

    /// The law of the tokens of answers
    #[arg(long, value_name = "LAW", default_value = "exponential:200")]
    output_tokens: Values,

    /// Prompts begin with one of these prefixes: zipf:100:1, uniform:50
    #[arg(long, value_name = "LAW", requires = "prefix_tokens")]
    prefixes: Option<Keys>,

    /// Tokens of a prefix, which come before those of --input-tokens
    #[arg(long, value_name = "N", requires = "prefixes")]
    prefix_tokens: Option<u32>,

    /// What everything random is drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Engines that prefill and decode [default: 1]
    #[arg(long, value_name = "N", conflicts_with_all = ["prefill_engines", "decode_engines"])]
    engines: Option<u32>,

    /// Engines that prefill alone, and hand over to others
    #[arg(long, value_name = "N", requires = "decode_engines")]
    prefill_engines: Option<u32>,

    /// Engines that decode alone
    #[arg(long, value_name = "N", requires = "prefill_engines")]
    decode_engines: Option<u32>,

    /// What handing over takes at least
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "prefill_engines")]
    transfer: Option<Duration>,

    /// And for each block
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "prefill_engines")]
    transfer_per_block: Option<Duration>,

    /// Who gets a request
    #[arg(long, value_name = "RULE", default_value = "least-loaded")]
    routing: RoutingArg,

    /// By prefixes: how many requests more than the least loaded an engine may have [default: no limit]
    #[arg(long, value_name = "N")]
    most_ahead: Option<u32>,

    /// Blocks of KV cache of an engine [default: 8192]
    #[arg(long, value_name = "N")]
    blocks: Option<u32>,

    /// Tokens in a block [default: 16]
    #[arg(long, value_name = "N")]
    block_tokens: Option<u32>,

    /// Sequences in a step at most [default: 256]
    #[arg(long, value_name = "N")]
    max_sequences: Option<u32>,

    /// Tokens computed in a step at most [default: 2048]
    #[arg(long, value_name = "N")]
    max_step_tokens: Option<u32>,

    /// Prefills whole prompts in steps of their own, instead of in chunks beside the decoding
    #[arg(long)]
    whole_prefill: bool,

    /// Keeps no blocks for prompts that begin alike
    #[arg(long)]
    no_prefix_cache: bool,

    /// The time of a step [default: 8ms]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    step: Option<Duration>,

    /// And for each token of a prompt [default: 60us]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    per_prompt_token: Option<Duration>,

    /// And for each sequence that decodes [default: 50us]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    per_sequence: Option<Duration>,

    /// And for each token of their contexts [default: 40ns]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    per_context_token: Option<Duration>,
}

/// `--routing`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoutingArg {
    RoundRobin,
    LeastLoaded,
    PrefixAware,
}

#[derive(Debug, Serialize)]
pub(super) struct BatchingAnswer {
    requests: u64,
    refused: u64,
    /// The first of them, and why.
    first_refusal: Option<String>,
    /// Until the last request had its last token.
    elapsed_ns: u64,
    ttft: Option<Quantiles>,
    tpot: Option<Quantiles>,
    e2e: Option<Quantiles>,
    queue_wait: Option<Quantiles>,
    transfer: Option<Quantiles>,
    preemptions: u64,
    /// Of the blocks of prompts that were looked up.
    prefix_hit_share: Option<f64>,
    /// Of a disaggregated cluster first those that prefill.
    engines: Vec<Engine>,
}

#[derive(Debug, Serialize)]
struct Quantiles {
    mean_ns: f64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

#[derive(Debug, Serialize)]
struct Engine {
    requests: u64,
    utilisation: Option<f64>,
    mean_batch: Option<f64>,
    largest_batch: u32,
    blocks: u32,
    mean_used_blocks: Option<f64>,
    most_used_blocks: u32,
    preemptions: u64,
}

impl BatchingArgs {
    pub(super) fn answer(&self) -> Result<BatchingAnswer, Failure> {
        let mut cluster = Cluster::new(self.config()?).map_err(Failure::usage)?;
        let plan = Plan::open(self.rate)
            .arrivals(self.arrivals)
            .lifecycle(Lifecycle::steady_only(self.length))
            .seed(self.seed)
            .build()
            .map_err(Failure::usage)?;
        let expected = self.rate.as_per_second() * self.length.as_secs_f64();
        if expected > MOST as f64 {
            return Err(Failure::usage(format!(
                "{expected:.0} requests are too many to simulate: give a shorter --length, of {MOST} at most"
            )));
        }
        let schedule = plan.schedule().cloned().into_iter().flatten();
        let requests =
            schedule.map(|ticket| (ticket.intended.as_duration(), self.request(ticket.seq)));
        let outcome = cluster.run(requests);
        let done = &outcome.completions;
        let of = |time: fn(&Completion) -> Option<Duration>| {
            quantiles(done.iter().filter_map(time).collect())
        };
        let sum = |of: fn(&EngineReport) -> u64| outcome.engines.iter().map(of).sum::<u64>();
        let looked_up = sum(|engine| engine.looked_up_blocks);
        Ok(BatchingAnswer {
            requests: done.len() as u64,
            refused: outcome.refused.len() as u64,
            first_refusal: outcome.refused.first().map(ToString::to_string),
            elapsed_ns: nanoseconds(seconds(outcome.elapsed)),
            ttft: of(|done| Some(done.time_to_first_token)),
            tpot: of(Completion::time_per_output_token),
            e2e: of(|done| Some(done.end_to_end)),
            queue_wait: of(|done| Some(done.queue_wait)),
            transfer: self.prefill_engines.and(of(|done| Some(done.transfer))),
            preemptions: sum(|engine| engine.preemptions),
            prefix_hit_share: (looked_up > 0)
                .then(|| sum(|engine| engine.found_blocks) as f64 / looked_up as f64),
            engines: outcome.engines.iter().map(Engine::of).collect(),
        })
    }

    fn config(&self) -> Result<ClusterConfig, Failure> {
        let usual = EngineConfig::default();
        let cost = |given: Option<Duration>, usual: f64| given.map_or(usual, seconds);
        let routing = match (self.routing, self.most_ahead) {
            (RoutingArg::PrefixAware, most_ahead) => Routing::PrefixAware { most_ahead },
            (_, Some(_)) => {
                return Err(Failure::usage(
                    "--most-ahead bounds how far prefixes pile up: give --routing prefix-aware with it",
                ));
            }
            (RoutingArg::RoundRobin, None) => Routing::RoundRobin,
            (RoutingArg::LeastLoaded, None) => Routing::LeastLoaded,
        };
        Ok(ClusterConfig {
            engine: EngineConfig {
                blocks: self.blocks.unwrap_or(usual.blocks),
                block_tokens: self.block_tokens.unwrap_or(usual.block_tokens),
                max_sequences: self.max_sequences.unwrap_or(usual.max_sequences),
                max_step_tokens: self.max_step_tokens.unwrap_or(usual.max_step_tokens),
                prefill: match self.whole_prefill {
                    true => Prefill::Whole,
                    false => Prefill::Chunked,
                },
                prefix_cache: !self.no_prefix_cache,
                cost: StepCost {
                    base: cost(self.step, usual.cost.base),
                    per_prompt_token: cost(self.per_prompt_token, usual.cost.per_prompt_token),
                    per_sequence: cost(self.per_sequence, usual.cost.per_sequence),
                    per_context_token: cost(self.per_context_token, usual.cost.per_context_token),
                },
            },
            layout: match (self.prefill_engines, self.decode_engines) {
                (Some(prefill), Some(decode)) => Layout::Disaggregated {
                    prefill,
                    decode,
                    transfer: Transfer {
                        latency: cost(self.transfer, 0.0),
                        per_block: cost(self.transfer_per_block, 0.0),
                    },
                },
                _ => Layout::Mixed {
                    engines: self.engines.unwrap_or(1),
                },
            },
            routing,
        })
    }

    fn request(&self, seq: u64) -> Request {
        let tokens =
            |law: &Values, salt| law.value(numbered(self.seed, salt), seq).round().max(1.0) as u32;
        let (own, output) = (
            tokens(&self.input_tokens, 1),
            tokens(&self.output_tokens, 2),
        );
        let (Some(prefixes), Some(shared)) = (&self.prefixes, self.prefix_tokens) else {
            return Request::new(seq, own, output);
        };
        let prefix = prefixes.key(self.seed, seq);
        let block = self
            .block_tokens
            .unwrap_or(EngineConfig::default().block_tokens);
        let blocks = u64::from(shared / block.max(1));
        let hashes = (0..blocks).map(|block| numbered(numbered(self.seed, prefix), block));
        Request::new(seq, own.saturating_add(shared), output).with_block_hashes(hashes.collect())
    }
}

fn quantiles(mut times: Vec<Duration>) -> Option<Quantiles> {
    times.sort_unstable();
    let last = times.len().checked_sub(1)?;
    let at = |q: f64| {
        nanoseconds(seconds(
            times[((q * times.len() as f64).ceil() as usize).clamp(1, last + 1) - 1],
        ))
    };
    let sum: f64 = times.iter().map(Duration::as_secs_f64).sum();
    Some(Quantiles {
        mean_ns: 1e9 * sum / times.len() as f64,
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        max_ns: at(1.0),
    })
}

impl Engine {
    fn of(report: &EngineReport) -> Self {
        Engine {
            requests: report.requests,
            utilisation: report.utilisation,
            mean_batch: report.mean_batch,
            largest_batch: report.largest_batch,
            blocks: report.blocks,
            mean_used_blocks: report.mean_used_blocks,
            most_used_blocks: report.most_used_blocks,
            preemptions: report.preemptions,
        }
    }
}
