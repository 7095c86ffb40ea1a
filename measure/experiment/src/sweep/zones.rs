//! In which zone a service works at a rate.

use super::curve::Curve;
use super::point::Point;
use std::fmt;

/// In which zone a service works, by P99 under load over the floor, in the [ratio in use](Curve::ratio_in_use).
///
/// | zone | ratio | one exponential server is then used |
/// | --- | --- | --- |
/// | free | up to 1.5 | up to 33 % |
/// | working | up to 3 | up to 67 %: the knee |
/// | sizing | up to 4 | up to 75 %, the most to plan for |
/// | steep | up to 10 | up to 90 % |
/// | cliff | above | above |
/// | saturated | | 100 %: more comes than is served |
///
/// The utilisations are those of one exponential server; a pool of many comes to the same ratios at higher ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Zone {
    /// Hardly anybody waits.
    Free,
    /// Bursts are absorbed.
    Working,
    /// Between the knee and the most to plan for.
    Sizing,
    /// Waiting is most of the response.
    Steep,
    /// A little more load, or a slower service, and it collapses.
    Cliff,
    /// More comes than is served.
    Saturated,
}

impl Zone {
    /// Of a ratio of a service that keeps up.
    #[must_use]
    pub fn of_ratio(ratio: f64) -> Self {
        match ratio {
            ratio if ratio <= 1.5 => Zone::Free,
            ratio if ratio <= 3.0 => Zone::Working,
            ratio if ratio <= 4.0 => Zone::Sizing,
            ratio if ratio <= 10.0 => Zone::Steep,
            _ => Zone::Cliff,
        }
    }

    /// Name in reports: `free`, `working`, `sizing`, `steep`, `cliff`, `saturated`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Zone::Free => "free",
            Zone::Working => "working",
            Zone::Sizing => "sizing",
            Zone::Steep => "steep",
            Zone::Cliff => "cliff",
            Zone::Saturated => "saturated",
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Curve {
    /// In which zone the service works at a point; `None` where that may not be believed, or there is no floor.
    #[must_use]
    pub fn zone(&self, point: &Point) -> Option<Zone> {
        if !point.is_valid() {
            return None;
        }
        match point.is_saturated() {
            true => Some(Zone::Saturated),
            false => self.ratio(point).map(Zone::of_ratio),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_exponential_server_passes_through_the_zones_as_it_should() {
        // Every quantile of M/M/1 is 1/(1 − ρ) times that of the idle server.
        let zone = |utilisation: f64| Zone::of_ratio(1.0 / (1.0 - utilisation));
        assert_eq!(zone(0.33), Zone::Free);
        assert_eq!(zone(0.34), Zone::Working);
        assert_eq!(zone(0.66), Zone::Working);
        assert_eq!(zone(0.67), Zone::Sizing);
        assert_eq!(zone(0.749), Zone::Sizing);
        assert_eq!(zone(0.751), Zone::Steep);
        assert_eq!(zone(0.899), Zone::Steep);
        assert_eq!(zone(0.901), Zone::Cliff);
    }
}
