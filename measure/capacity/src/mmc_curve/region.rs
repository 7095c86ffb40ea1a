//! Which other curves the points would bear.

use super::fit::PARAMETERS;
use super::search::{Curve, MOST_SERVERS, Search};
use crate::{Interval, student};

/// The parameters of all curves whose squares are not above those of the best by more than chance explains.
pub(super) struct Region {
    pub(super) servers: Interval,
    pub(super) service: Interval,
    pub(super) rate: Interval,
}

impl Region {
    pub(super) fn around(search: &mut Search<'_>, best: Curve) -> Self {
        let freedom = search.len() - PARAMETERS;
        let t = student::t_975(freedom);
        // Points without errors leave rounding, which is no reason to trust digits.
        let limit = best.squares * (1.0 + t * t / freedom as f64) + 1e-24;
        let fewest = edge(search, best.servers, 1, limit);
        let most = edge(search, best.servers, MOST_SERVERS, limit);
        let unbounded = most == MOST_SERVERS;
        let mut service = Interval {
            lower: best.service,
            upper: best.service,
        };
        let mut rate = Interval {
            lower: f64::INFINITY,
            upper: 0.0,
        };
        let within: Vec<_> = search
            .tried()
            .into_iter()
            .filter(|curve| (fewest..=most).contains(&curve.servers))
            .collect();
        for curve in within {
            let c = f64::from(curve.servers);
            let low = crossing(search, curve, 0.0, limit);
            let high = crossing(search, curve, c / search.highest(), limit);
            service = Interval {
                lower: service.lower.min(low),
                upper: service.upper.max(high),
            };
            rate = Interval {
                lower: rate.lower.min(c / high),
                upper: rate.upper.max(c / low),
            };
        }
        Region {
            servers: Interval {
                lower: f64::from(fewest),
                upper: if unbounded {
                    f64::INFINITY
                } else {
                    f64::from(most)
                },
            },
            service,
            rate: Interval {
                lower: rate.lower,
                upper: if unbounded { f64::INFINITY } else { rate.upper },
            },
        }
    }
}

/// The number of servers nearest to `end` that is within the limit, seen from `inside`.
fn edge(search: &mut Search<'_>, inside: u32, end: u32, limit: f64) -> u32 {
    if search.with(end).squares <= limit {
        return end;
    }
    let (mut inside, mut outside) = (inside, end);
    // From the best outwards among those tried, and then by halves.
    let mut tried = search.tried();
    if end < inside {
        tried.reverse();
    }
    for curve in tried {
        let beyond = if end < inside {
            curve.servers < inside
        } else {
            curve.servers > inside
        };
        if !beyond {
            continue;
        }
        if curve.squares > limit {
            outside = curve.servers;
            break;
        }
        inside = curve.servers;
    }
    while inside.abs_diff(outside) > 1 {
        let middle = inside.midpoint(outside);
        if search.with(middle).squares <= limit {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

/// The service, from the best of `curve` towards `end`, at which its squares reach the limit.
fn crossing(search: &Search<'_>, curve: Curve, end: f64, limit: f64) -> f64 {
    let (mut inside, mut outside) = (curve.service, end);
    for _ in 0..60 {
        let middle = 0.5 * (inside + outside);
        if search.squares(curve.servers, middle) <= limit {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}
