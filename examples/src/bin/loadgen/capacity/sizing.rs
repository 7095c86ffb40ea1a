//! `loadgen capacity nodes|pool|kv|timeout`.

use super::{nanoseconds, per_second, seconds};
use crate::exit::Failure;
use clap::{ArgGroup, Args};
use openloop_capacity::plan::{Figures, Item, Quantity};
use openloop_capacity::sizing::{ClientTimeout, Concurrency, KvCache, KvShape};
use openloop_capacity::{CapacityError, Plan};
use openloop_sched::parse_duration;
use serde::Serialize;
use std::time::Duration;

/// The peak, and one of the others at least.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("of_one").args(["knee", "highest"]).required(true).multiple(true)))]
pub(super) struct NodesArgs {
    /// Arrivals per second at the peak, of the whole service
    #[arg(long, visible_alias = "peak", value_parser = per_second, allow_hyphen_values = true)]
    rate: f64,

    /// The rate at which the tail of one node departs from its floor
    #[arg(long, value_name = "RATE", value_parser = per_second, allow_hyphen_values = true)]
    knee: Option<f64>,

    /// The highest rate that one node serves
    #[arg(long, visible_alias = "max", value_name = "RATE", value_parser = per_second, allow_hyphen_values = true)]
    highest: Option<f64>,
}

#[derive(Debug, Args)]
pub(super) struct PoolArgs {
    /// Arrivals per second at the peak
    #[arg(long, visible_alias = "peak", value_parser = per_second, allow_hyphen_values = true)]
    rate: f64,

    /// The P99 of the service: from check-out to return, without the wait for the pool
    #[arg(long, visible_alias = "p99", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    service: Duration,
}

#[derive(Debug, Args)]
pub(super) struct KvArgs {
    /// Arrivals per second at the peak
    #[arg(long, visible_alias = "peak", value_parser = per_second, allow_hyphen_values = true)]
    rate: f64,

    /// How long a sequence holds its memory in the mean, prefill and decode
    #[arg(long, visible_alias = "response", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    service: Duration,

    /// The share of the time during which there may be too little room
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.01,
        allow_hyphen_values = true
    )]
    exceeded: f64,

    #[command(flatten)]
    model: Option<ModelArgs>,
}

/// What a sequence takes, for the memory.
#[derive(Debug, Args)]
pub(super) struct ModelArgs {
    /// Tokens that a sequence holds at its longest, prompt and output
    #[arg(long, value_name = "N", required = false, requires_all = ["layers", "kv_heads", "head_dimension"])]
    pub(super) tokens: u64,

    /// Layers with attention
    #[arg(long, value_name = "N", required = false, requires = "tokens")]
    layers: u32,

    /// Heads of keys and values in a layer
    #[arg(long, value_name = "N", required = false, requires = "tokens")]
    kv_heads: u32,

    /// Numbers in a head
    #[arg(long, value_name = "N", required = false, requires = "tokens")]
    head_dimension: u32,

    /// Bits of a number: 16 for bf16, 8 for fp8
    #[arg(long, default_value_t = 16, requires = "tokens")]
    bits: u32,

    /// Tokens in a block
    #[arg(long, value_name = "N", default_value_t = 16, requires = "tokens")]
    pub(super) block_tokens: u32,
}

#[derive(Debug, Args)]
pub(super) struct TimeoutArgs {
    /// The P90 of the response in normal operation
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    p90: Duration,

    /// Its P99.9, where that is known
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    p99_9: Option<Duration>,

    /// How long the server keeps a request in its queue
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    retention: Option<Duration>,
}

#[derive(Debug, Serialize)]
pub(super) struct NodesAnswer {
    nodes: u64,
    by_knee: Option<u64>,
    by_highest_rate: Option<u64>,
    /// At the peak, of those nodes.
    utilisation: Option<f64>,
    steps: Vec<Item>,
}

#[derive(Debug, Serialize)]
pub(super) struct PoolAnswer {
    pool: u64,
    steps: Vec<Item>,
}

#[derive(Debug, Serialize)]
pub(super) struct KvAnswer {
    mean_sequences: f64,
    /// The share of the time during which there are more than the mean.
    mean_exceeded: f64,
    /// Room for so many is too little for the share asked.
    sequences: u64,
    exceeded: f64,
    blocks: Option<u64>,
    bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct TimeoutAnswer {
    timeout_ns: u64,
    /// Of what it is.
    basis: String,
    /// What it would be without the server's limit.
    wanted_ns: u64,
    steps: Vec<Item>,
}

fn plan(figures: &Figures) -> Result<Plan, Failure> {
    Plan::new(figures).map_err(Failure::usage)
}

fn whole(plan: &Plan, quantity: Quantity) -> Option<u64> {
    plan.value(quantity).map(|value| value as u64)
}

/// Those of a plan that were asked for.
fn steps(plan: Plan, asked: &[Quantity]) -> Vec<Item> {
    let mut items = plan.items;
    items.retain(|item| asked.contains(&item.quantity));
    items
}

impl NodesArgs {
    pub(super) fn answer(&self) -> Result<NodesAnswer, Failure> {
        let plan = plan(&Figures {
            knee: self.knee,
            highest_rate: self.highest,
            ..Figures::at_peak(self.rate)
        })?;
        Ok(NodesAnswer {
            nodes: whole(&plan, Quantity::Nodes).unwrap_or_default(),
            by_knee: whole(&plan, Quantity::NodesByKnee),
            by_highest_rate: whole(&plan, Quantity::NodesByHighestRate),
            utilisation: plan.value(Quantity::Utilisation),
            steps: plan.items,
        })
    }
}

impl PoolArgs {
    pub(super) fn answer(&self) -> Result<PoolAnswer, Failure> {
        let plan = plan(&Figures {
            service_p99: Some(seconds(self.service)),
            ..Figures::at_peak(self.rate)
        })?;
        Ok(PoolAnswer {
            pool: whole(&plan, Quantity::Pool).unwrap_or_default(),
            steps: steps(plan, &[Quantity::Pool]),
        })
    }
}

impl KvArgs {
    pub(super) fn answer(&self) -> Result<KvAnswer, Failure> {
        self.calculate().map_err(Failure::usage)
    }

    fn calculate(&self) -> Result<KvAnswer, CapacityError> {
        let number = Concurrency::new(self.rate, seconds(self.service))?;
        let sequences = number.room_for(self.exceeded)?;
        let memory = |model: &ModelArgs| {
            let cache = KvCache::new(model.shape(), model.block_tokens)?;
            Ok((
                cache.blocks(sequences, model.tokens)?,
                cache.bytes(sequences, model.tokens)?,
            ))
        };
        let memory = self.model.as_ref().map(memory).transpose()?;
        Ok(KvAnswer {
            mean_sequences: number.mean(),
            mean_exceeded: number.exceeds(number.mean().ceil() as u64),
            sequences,
            exceeded: number.exceeds(sequences),
            blocks: memory.map(|(blocks, _)| blocks),
            bytes: memory.map(|(_, bytes)| bytes),
        })
    }
}

impl ModelArgs {
    pub(super) fn shape(&self) -> KvShape {
        KvShape {
            layers: self.layers,
            kv_heads: self.kv_heads,
            head_dimension: self.head_dimension,
            bits: self.bits,
        }
    }
}

impl TimeoutArgs {
    pub(super) fn answer(&self) -> Result<TimeoutAnswer, Failure> {
        let (p90, p99_9) = (seconds(self.p90), self.p99_9.map(seconds));
        let retention = self.retention.map(seconds);
        let timeout = ClientTimeout::new(p90, p99_9, retention).map_err(Failure::usage)?;
        let plan = plan(&Figures {
            service_p90: Some(p90),
            service_p99_9: p99_9,
            retention,
            ..Figures::at_peak(1.0)
        })?;
        Ok(TimeoutAnswer {
            timeout_ns: nanoseconds(timeout.seconds()),
            basis: timeout.basis().to_string(),
            wanted_ns: nanoseconds(timeout.wanted_seconds()),
            steps: steps(plan, &[Quantity::Timeout]),
        })
    }
}
