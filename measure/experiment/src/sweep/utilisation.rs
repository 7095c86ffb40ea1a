//! How busy the service is at a rate, by every way of telling.

use super::curve::Curve;
use super::fits::Fits;
use super::point::Point;
use crate::series::Metric;
use crate::units::Percent;
use openloop_capacity::{Goodness, utilisation};
use std::fmt;

/// How busy the service is, told in one way, and what has to be so for it to be true.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Utilisation {
    /// The formula.
    pub formula: &'static str,
    /// A share, which may be above 1 where the assumption does not hold.
    pub value: f64,
    /// The assumption.
    pub assumes: String,
}

impl Curve {
    /// How busy the service is at a point, by every way of telling that there are data for, side by side. Where they
    /// disagree, some of their assumptions do not hold: at ρ = 0.90 the first says 0.66 of 4 servers and 0.13 of 32.
    #[must_use]
    pub fn utilisations(&self, point: &Point, fits: &Fits) -> Vec<Utilisation> {
        let mut all = Vec::new();
        let metric = Metric::ResponseSlo;
        let floor = self.floor.as_ref();
        let service = floor.and_then(|floor| floor.s_ns(None, &metric));
        let mean = point
            .mean()
            .filter(|mean| !mean.at_least)
            .map(|mean| mean.ns);
        let rtt = floor.map_or(0.0, |floor| floor.rtt_ns(&metric));
        let offered = point.offered();
        if let (Some(mean), Some(service)) = (mean, service)
            && let Ok(value) = utilisation::from_response(mean - rtt, service)
        {
            all.push(Utilisation {
                formula: "1 - S/W",
                value,
                assumes: "there is one exponential server, or one that shares its processor"
                    .to_owned(),
            });
        }
        if let (Some(offered), true, Some(max)) =
            (offered, self.max().is_found(), self.max().rate())
        {
            all.push(Utilisation {
                formula: "rate / highest rate",
                value: offered / max,
                assumes: "the most that was served is the most that can be".to_owned(),
            });
        }
        if let (Some(offered), Some(service)) = (offered, service) {
            all.push(Utilisation {
                formula: "rate x S",
                value: offered * service / 1e9,
                assumes: "there is one server, and its service takes as long under load".to_owned(),
            });
        }
        if let (Some(offered), Ok(fit)) = (offered, &fits.mmc)
            && fit.goodness > Goodness::Poor
        {
            all.push(Utilisation {
                formula: "rate x S / c of the M/M/c fit",
                value: offered / fit.highest_rate,
                assumes: format!(
                    "{} exponential servers share one queue ({} fit)",
                    fit.servers, fit.goodness
                ),
            });
        }
        all
    }
}

impl fmt::Display for Utilisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (formula, value) = (self.formula, Percent(self.value));
        write!(f, "{value} by {formula}, if {}", self.assumes)
    }
}
