//! `loadgen capacity little|utilisation|bounds|curve|plan`.

use super::{nanoseconds, per_second, seconds};
use crate::exit::Failure;
use clap::Args;
use openloop_capacity::mmc_curve::{self, MMcFit, ResponsePoint};
use openloop_capacity::plan::{Figures, Item, KvFigures, Missing};
use openloop_capacity::sizing::{KvShape, LatencyBounds};
use openloop_capacity::{CapacityError, Plan, little, utilisation};
use openloop_sched::parse_duration;
use serde::Serialize;
use std::time::Duration;

/// Two of the three.
#[derive(Debug, Args)]
#[group(id = "known", required = true, multiple = true)]
pub(super) struct LittleArgs {
    /// Arrivals per second that go in
    #[arg(long, group = "known", value_parser = per_second, allow_hyphen_values = true)]
    rate: Option<f64>,

    /// How long each stays, in the mean
    #[arg(long, group = "known", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    stay: Option<Duration>,

    /// How many are inside at once, in the mean
    #[arg(long, group = "known", value_name = "N", allow_hyphen_values = true)]
    number: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct LittleAnswer {
    number: f64,
    rate: f64,
    stay_ns: u64,
    formula: &'static str,
}

impl LittleArgs {
    pub(super) fn answer(&self) -> Result<LittleAnswer, Failure> {
        let stay = self.stay.map(seconds);
        let (number, rate, stay, formula) = match (self.number, self.rate, stay) {
            (None, Some(rate), Some(stay)) => {
                let number = little::number(rate, stay).map_err(Failure::usage)?;
                (number, rate, stay, "L = λ W")
            }
            (Some(number), None, Some(stay)) => {
                let rate = little::rate(number, stay).map_err(Failure::usage)?;
                (number, rate, stay, "λ = L / W")
            }
            (Some(number), Some(rate), None) => {
                let stay = little::stay(number, rate).map_err(Failure::usage)?;
                (number, rate, stay, "W = L / λ")
            }
            _ => {
                return Err(Failure::usage(
                    "Little's law gives one of three from the other two: give two of --rate, --stay and --number",
                ));
            }
        };
        Ok(LittleAnswer {
            number,
            rate,
            stay_ns: nanoseconds(stay),
            formula,
        })
    }
}

/// What was measured; the more of it, the more ways of telling.
#[derive(Debug, Args)]
pub(super) struct UtilisationArgs {
    /// The mean response under load
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    response: Option<Duration>,

    /// S, the mean response of the idle service
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    service: Option<Duration>,

    /// Arrivals per second
    #[arg(long, value_parser = per_second, allow_hyphen_values = true)]
    rate: Option<f64>,

    /// The most per second that the service was seen to serve
    #[arg(long, visible_alias = "max", value_name = "RATE", value_parser = per_second, allow_hyphen_values = true)]
    highest: Option<f64>,

    /// Servers behind the queue, where that is known
    #[arg(long, value_name = "N")]
    servers: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct UtilisationAnswer {
    ways: Vec<Way>,
}

/// One way of telling how busy a service is.
#[derive(Debug, Serialize)]
struct Way {
    formula: &'static str,
    utilisation: f64,
    /// What has to be so for it to be true.
    assumes: &'static str,
}

impl UtilisationArgs {
    /// Side by side: where they disagree, some of their assumptions do not hold.
    pub(super) fn answer(&self) -> Result<UtilisationAnswer, Failure> {
        let (response, service) = (self.response.map(seconds), self.service.map(seconds));
        let mut ways = Vec::new();
        if let (Some(response), Some(service)) = (response, service) {
            ways.push(Way {
                formula: "1 - S/W",
                utilisation: utilisation::from_response(response, service)
                    .map_err(Failure::usage)?,
                assumes: "one exponential server, or one that shares its processor",
            });
        }
        let busy = |rate, service| little::number(rate, service).map_err(Failure::usage);
        if let (Some(rate), Some(highest)) = (self.rate, self.highest) {
            // As many seconds of work a second, if each takes 1/highest.
            let share = little::rate(1.0, highest).map_err(Failure::usage)?;
            ways.push(Way {
                formula: "rate / highest rate",
                utilisation: busy(rate, share)?,
                assumes: "the most that was served is the most that can be",
            });
        }
        if let (Some(rate), Some(service)) = (self.rate, service) {
            let servers = self.servers.unwrap_or(1);
            if servers == 0 {
                return Err(Failure::usage(
                    "0 servers serve nobody: give --servers 1 or more",
                ));
            }
            ways.push(Way {
                formula: "rate x S / servers",
                utilisation: busy(rate, service)? / f64::from(servers),
                assumes: match self.servers {
                    Some(_) => "a service takes as long under load as idle",
                    None => "there is one server, and a service takes as long under load as idle",
                },
            });
        }
        match ways.is_empty() {
            false => Ok(UtilisationAnswer { ways }),
            true => Err(Failure::usage(
                "nothing tells how busy the service is: give --response and --service, --rate and --highest, or --rate and --service",
            )),
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct BoundsArgs {
    /// S, the mean response of the idle service
    #[arg(long, visible_alias = "service", value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    floor: Duration,
}

/// What an objective in multiples of S comes to.
#[derive(Debug, Serialize)]
pub(super) struct BoundsAnswer {
    p50_ns: u64,
    p95_ns: u64,
    p99_ns: u64,
    slo: String,
}

impl BoundsArgs {
    pub(super) fn answer(&self) -> Result<BoundsAnswer, Failure> {
        let bounds = LatencyBounds::new(seconds(self.floor)).map_err(Failure::usage)?;
        let [p50_ns, p95_ns, p99_ns] = [bounds.p50(), bounds.p95(), bounds.p99()].map(nanoseconds);
        Ok(BoundsAnswer {
            p50_ns,
            p95_ns,
            p99_ns,
            slo: format!("p50<={p50_ns}ns,p95<={p95_ns}ns,p99<={p99_ns}ns"),
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct CurveArgs {
    /// A measured point, arrivals per second and the mean response: 750:4ms; repeatable, or parted by commas
    #[arg(long = "point", visible_alias = "points", value_name = "RATE:RESPONSE", value_parser = point, value_delimiter = ',', required = true)]
    points: Vec<ResponsePoint>,
}

fn point(text: &str) -> Result<ResponsePoint, String> {
    let (rate, response) = text
        .split_once(':')
        .ok_or("write the rate and the mean response there, such as 750:4ms")?;
    let response = parse_duration(response.trim()).map_err(|error| error.to_string())?;
    Ok(ResponsePoint {
        rate: per_second(rate)?,
        mean_response: seconds(response),
    })
}

impl CurveArgs {
    pub(super) fn answer(&self) -> Result<MMcFit, Failure> {
        mmc_curve::fit(&self.points).map_err(Failure::usage)
    }
}

/// What was measured of one node, and what is to come.
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// Arrivals per second at the peak, of the whole service
    #[arg(long, visible_alias = "peak", value_parser = per_second, allow_hyphen_values = true)]
    rate: f64,

    /// The rate at which the tail of one node departs from its floor
    #[arg(long, value_name = "RATE", value_parser = per_second, allow_hyphen_values = true)]
    knee: Option<f64>,

    /// The highest rate that one node serves
    #[arg(long, visible_alias = "max", value_name = "RATE", value_parser = per_second, allow_hyphen_values = true)]
    highest: Option<f64>,

    /// S, the mean response of the idle service, without the round trip
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    floor: Option<Duration>,

    /// What of every response is the round trip to the service
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    round_trip: Option<Duration>,

    /// The mean response under the load of the peak
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    response: Option<Duration>,

    /// The P90 of the service, from dispatch to completion
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    p90: Option<Duration>,

    /// Its P99: how long a connection of a pool is held
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    p99: Option<Duration>,

    /// Its P99.9
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    p99_9: Option<Duration>,

    /// How long the server keeps a request in its queue
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    retention: Option<Duration>,

    /// Bytes that a node has for the KV cache of a language model
    #[arg(long, value_name = "N", requires = "tokens")]
    kv_bytes: Option<u64>,

    #[command(flatten)]
    model: Option<super::sizing::ModelArgs>,
}

#[derive(Debug, Serialize)]
pub(super) struct PlanAnswer {
    items: Vec<Item>,
    missing: Vec<Missing>,
}

impl PlanArgs {
    pub(super) fn answer(&self) -> Result<PlanAnswer, Failure> {
        let plan = self.plan().map_err(Failure::usage)?;
        Ok(PlanAnswer {
            items: plan.items,
            missing: plan.missing,
        })
    }

    fn plan(&self) -> Result<Plan, CapacityError> {
        let kv = self.model.as_ref().map(|model| {
            let shape: KvShape = model.shape();
            KvFigures {
                shape,
                block_tokens: model.block_tokens,
                sequence_tokens: model.tokens,
                bytes_per_node: self.kv_bytes,
            }
        });
        Plan::new(&Figures {
            knee: self.knee,
            highest_rate: self.highest,
            floor: self.floor.map(seconds),
            round_trip: self.round_trip.map(seconds),
            mean_response: self.response.map(seconds),
            service_p90: self.p90.map(seconds),
            service_p99: self.p99.map(seconds),
            service_p99_9: self.p99_9.map(seconds),
            retention: self.retention.map(seconds),
            kv,
            ..Figures::at_peak(self.rate)
        })
    }
}
