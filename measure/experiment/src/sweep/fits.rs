//! Laws through the points of a curve.

use super::curve::Curve;
use super::point::Point;
use crate::units::{Ns, Percent, Short};
use openloop_capacity::mmc_curve::{self, MMcFit, ResponsePoint};
use openloop_capacity::usl::{self, UslFit, UslPoint};
use openloop_capacity::{Goodness, Interval};
use std::fmt;

/// A mean response counts as that of a served request up to this share of others.
const ERRORS: f64 = 0.01;

/// Laws through the points of a curve, each with its confidence, or why there is none.
///
/// A fit is a description and no proof: one that is [poor](Goodness::Poor) says that the service is of another kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fits {
    /// Response against rate, by the curve of M/M/c: servers, service and highest rate.
    pub mmc: Result<MMcFit, String>,
    /// Throughput against the number in flight, by the universal scalability law.
    pub usl: Result<UslFit, String>,
}

impl Curve {
    /// Laws through its points: through those that may be believed and at which the service kept up; for the universal
    /// scalability law also through those beyond, where throughput shows whether it falls.
    #[must_use]
    pub fn fits(&self) -> Fits {
        let response = |point: &Point| {
            let mean = point.mean().filter(|mean| !mean.at_least)?;
            Some(ResponsePoint {
                rate: point.offered()?,
                mean_response: mean.ns / 1e9,
            })
        };
        let responses: Vec<_> = self.stable().filter_map(response).collect();
        let throughput = |point: &Point| {
            let is_served = point.errors().is_some_and(|(share, _)| share <= ERRORS);
            // Less than one in flight says nothing of contention.
            let load = point.in_flight().filter(|load| *load >= 1.0 && is_served)?;
            UslPoint::new(load, point.achieved()?).ok()
        };
        let throughputs: Vec<_> = self.stable().filter_map(throughput).collect();
        Fits {
            mmc: mmc_curve::fit(&responses).map_err(|error| error.to_string()),
            usl: usl::fit(&throughputs).map_err(|error| error.to_string()),
        }
    }
}

fn between(interval: Interval, shown: impl Fn(f64) -> String) -> String {
    let upper = match interval.upper.is_finite() {
        true => shown(interval.upper),
        false => "no bound".to_owned(),
    };
    format!("{} to {upper}", shown(interval.lower))
}

fn caveat(goodness: Goodness) -> &'static str {
    match goodness {
        Goodness::Good => "",
        Goodness::Fair => "; take it as a rough description",
        Goodness::Poor => "; this law does not describe the service",
    }
}

impl fmt::Display for Fits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |x: f64| Short(x).to_string();
        match &self.mmc {
            Err(why) => writeln!(f, "M/M/c: none, {why}")?,
            Ok(fit) => writeln!(
                f,
                "M/M/c: c = {} ({}), S = {}, c/S = {}/s ({}); {} fit, {} off{}",
                fit.servers,
                between(fit.servers_interval, short),
                Ns(fit.mean_service * 1e9),
                short(fit.highest_rate),
                between(fit.rate_interval, short),
                fit.goodness,
                Percent(fit.relative_error),
                caveat(fit.goodness),
            )?,
        }
        match &self.usl {
            Err(why) => writeln!(f, "USL:   none, {why}"),
            Ok(fit) => {
                let three = |x: f64| format!("{x:.3e}");
                let peak = fit.peak_load;
                writeln!(
                    f,
                    "USL:   contention {} ({}), coherence {} ({}), peak at {} in flight; {} fit, {} off{}",
                    Percent(fit.curve.contention()),
                    between(fit.contention, |x| Percent(x).to_string()),
                    three(fit.curve.coherence()),
                    between(fit.coherence, three),
                    between(peak, short),
                    fit.goodness,
                    Percent(fit.relative_error),
                    caveat(fit.goodness),
                )
            }
        }
    }
}
