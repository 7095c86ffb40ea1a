//! `loadgen capacity mm1|md1|mg1|mmc|mmck|ggc`.

use super::{nanoseconds, per_second, seconds};
use crate::exit::Failure;
use clap::Args;
use openloop_capacity::{CapacityError, GGc, MD1, MG1, MM1, MMc, MMcK, Queue};
use openloop_sched::parse_duration;
use serde::Serialize;
use std::time::Duration;

/// What arrives, and how long each takes.
#[derive(Debug, Args)]
pub(super) struct OneArgs {
    /// Arrivals per second
    #[arg(long, value_parser = per_second, allow_hyphen_values = true)]
    rate: f64,

    /// How long a server works on one, in the mean
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    service: Duration,
}

#[derive(Debug, Args)]
pub(super) struct SpreadArgs {
    #[command(flatten)]
    one: OneArgs,

    /// The coefficient of variation of the services, standard deviation over mean: 0 constant, 1 exponential
    #[arg(long, value_name = "CV", allow_hyphen_values = true)]
    cv: f64,
}

#[derive(Debug, Args)]
pub(super) struct PoolArgs {
    #[command(flatten)]
    one: OneArgs,

    /// Servers that share the queue: workers, connections, cores
    #[arg(long, value_name = "N")]
    servers: u32,
}

#[derive(Debug, Args)]
pub(super) struct BoundedArgs {
    #[command(flatten)]
    pool: PoolArgs,

    /// Places in the queue, beside the servers; who finds them taken is turned away. With 0 nobody waits (Erlang B)
    #[arg(long, value_name = "K")]
    waiting: u32,
}

#[derive(Debug, Args)]
pub(super) struct GeneralArgs {
    #[command(flatten)]
    pool: PoolArgs,

    /// The coefficient of variation of the services: 0 constant, 1 exponential
    #[arg(long, value_name = "CV", allow_hyphen_values = true)]
    cv: f64,

    /// The coefficient of variation of the gaps between arrivals: 0 clockwork, 1 Poisson
    #[arg(
        long,
        value_name = "CV",
        default_value_t = 1.0,
        allow_hyphen_values = true
    )]
    arrival_cv: f64,
}

impl OneArgs {
    pub(super) fn mm1(&self) -> Result<Answer, Failure> {
        answer("M/M/1", MM1::new(self.rate, seconds(self.service)))
    }

    pub(super) fn md1(&self) -> Result<Answer, Failure> {
        answer("M/D/1", MD1::new(self.rate, seconds(self.service)))
    }
}

impl SpreadArgs {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let OneArgs { rate, service } = self.one;
        answer("M/G/1", MG1::new(rate, seconds(service), self.cv))
    }
}

impl PoolArgs {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let OneArgs { rate, service } = self.one;
        answer("M/M/c", MMc::new(rate, seconds(service), self.servers))
    }
}

impl BoundedArgs {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let PoolArgs { one, servers } = &self.pool;
        let queue = MMcK::new(one.rate, seconds(one.service), *servers, self.waiting);
        answer("M/M/c/K", queue)
    }
}

impl GeneralArgs {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let PoolArgs { one, servers } = &self.pool;
        let service = seconds(one.service);
        let queue = GGc::new(one.rate, service, *servers, self.arrival_cv, self.cv);
        Ok(Answer {
            approximate: true,
            ..answer("G/G/c", queue)?
        })
    }
}

/// What a model says of a queue in its steady state.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    model: &'static str,
    approximate: bool,
    /// Servers that all arrivals would keep busy.
    offered_load: f64,
    utilisation: f64,
    wait_probability: f64,
    blocking_probability: f64,
    /// Served per second.
    throughput: f64,
    mean_wait_ns: f64,
    mean_response_ns: f64,
    mean_queue: f64,
    mean_in_system: f64,
    p50_response_ns: Option<u64>,
    p90_response_ns: Option<u64>,
    p99_response_ns: Option<u64>,
}

fn answer(
    model: &'static str,
    queue: Result<impl Queue, CapacityError>,
) -> Result<Answer, Failure> {
    let queue = queue.map_err(Failure::usage)?;
    let quantile = |q| match queue.response_quantile(q) {
        // Longer than nanoseconds can count: 585 years.
        Ok(response) if response * 1e9 >= u64::MAX as f64 => Ok(None),
        Ok(response) => Ok(Some(nanoseconds(response))),
        Err(CapacityError::NoClosedForm { .. }) => Ok(None),
        Err(error) => Err(Failure::usage(error)),
    };
    Ok(Answer {
        model,
        approximate: false,
        offered_load: queue.offered_load(),
        utilisation: queue.utilisation(),
        wait_probability: queue.wait_probability(),
        blocking_probability: queue.blocking_probability(),
        throughput: queue.throughput(),
        mean_wait_ns: 1e9 * queue.mean_wait(),
        mean_response_ns: 1e9 * queue.mean_response(),
        mean_queue: queue.mean_queue(),
        mean_in_system: queue.mean_in_system(),
        p50_response_ns: quantile(0.5)?,
        p90_response_ns: quantile(0.9)?,
        p99_response_ns: quantile(0.99)?,
    })
}
