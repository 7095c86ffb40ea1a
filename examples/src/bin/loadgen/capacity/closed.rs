//! `loadgen capacity closed`.

use super::{nanoseconds, seconds};
use crate::exit::Failure;
use clap::Args;
use openloop_capacity::closed::{Bounds, Closed, ClosedBounds};
use openloop_sched::parse_duration;
use serde::Serialize;
use std::time::Duration;

/// Users who wait for each answer, and what a request needs.
#[derive(Debug, Args)]
pub(super) struct ClosedArgs {
    /// How many users there are
    #[arg(long, value_name = "N")]
    users: u64,

    /// What one request needs of a station in all, cores, disk, a service behind: 5ms; repeatable, or parted by commas
    #[arg(long = "demand", visible_alias = "demands", value_name = "TIME", value_parser = parse_duration, value_delimiter = ',', required = true, allow_hyphen_values = true)]
    demands: Vec<Duration>,

    /// How long a user thinks between an answer and the next request, in the mean
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "0s", allow_hyphen_values = true)]
    think: Duration,
}

#[derive(Debug, Serialize)]
pub(super) struct ClosedAnswer {
    users: u64,
    /// What a request takes where nobody is in its way.
    demand_ns: u64,
    /// No number of users exceeds it.
    highest_throughput: f64,
    /// From so many users on somebody has to wait.
    saturation_users: f64,
    asymptotic: Answered,
    balanced: Answered,
}

/// Bounds, and what has to be so for them to be true.
#[derive(Debug, Serialize)]
struct Answered {
    /// The least and the most, per second.
    throughput: [f64; 2],
    mean_response_ns: [u64; 2],
    formula: &'static str,
    assumes: &'static str,
}

impl Answered {
    fn of(bounds: ClosedBounds, formula: &'static str, assumes: &'static str) -> Self {
        let both = |bounds: Bounds| [bounds.lower, bounds.upper];
        Answered {
            throughput: both(bounds.throughput),
            mean_response_ns: both(bounds.mean_response).map(nanoseconds),
            formula,
            assumes,
        }
    }
}

impl ClosedArgs {
    pub(super) fn answer(&self) -> Result<ClosedAnswer, Failure> {
        let demands: Vec<f64> = self.demands.iter().copied().map(seconds).collect();
        let closed = Closed::new(&demands, seconds(self.think)).map_err(Failure::usage)?;
        let asymptotic = closed.asymptotic(self.users).map_err(Failure::usage)?;
        let balanced = closed.balanced(self.users).map_err(Failure::usage)?;
        Ok(ClosedAnswer {
            users: self.users,
            demand_ns: nanoseconds(closed.demand()),
            highest_throughput: closed.highest_throughput(),
            saturation_users: closed.saturation(),
            asymptotic: Answered::of(
                asymptotic,
                "N / (N D + Z) <= X <= min(N / (D + Z), 1 / D_max)",
                "demands do not depend on the load",
            ),
            balanced: Answered::of(
                balanced,
                "N / (D + Z + (N - 1) D_max / (1 + Z/(N D))) <= X <= min(1 / D_max, N / (D + Z + (N - 1) D_avg / (1 + Z/D)))",
                "and each station is a queue of exponential services, or shares its processor",
            ),
        })
    }
}
