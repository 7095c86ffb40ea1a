//! The best service for each number of servers, and the best of those.

use super::fit::ResponsePoint;
use crate::erlang;
use std::collections::BTreeMap;

/// The most servers that are tried.
pub(super) const MOST_SERVERS: u32 = 10_000;

/// Up to this number each is tried; beyond, in steps of a tenth before the best is closed in on.
const EACH: u32 = 32;

/// The curve of least squares for one number of servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) servers: u32,
    pub(super) service: f64,
    /// Σ ln²(W/W(λ)).
    pub(super) squares: f64,
}

/// What has been found so far.
pub(super) struct Search<'a> {
    points: &'a [ResponsePoint],
    highest: f64,
    found: BTreeMap<u32, Curve>,
}

impl<'a> Search<'a> {
    pub(super) fn new(points: &'a [ResponsePoint]) -> Self {
        let highest = points.iter().map(|point| point.rate).fold(0.0, f64::max);
        let mut search = Search {
            points,
            highest,
            found: BTreeMap::new(),
        };
        let mut servers = 1;
        while servers < MOST_SERVERS {
            search.with(servers);
            servers += if servers < EACH { 1 } else { servers / 10 };
        }
        search.with(MOST_SERVERS);
        search
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The highest rate among them.
    pub(super) fn highest(&self) -> f64 {
        self.highest
    }

    /// The curve for this number of servers.
    pub(super) fn with(&mut self, servers: u32) -> Curve {
        if let Some(curve) = self.found.get(&servers) {
            return *curve;
        }
        let curve = self.solve(servers);
        self.found.insert(servers, curve);
        curve
    }

    /// All that have been tried, by the number of servers.
    pub(super) fn tried(&self) -> Vec<Curve> {
        self.found.values().copied().collect()
    }

    /// The best of all.
    pub(super) fn best(&mut self) -> Curve {
        loop {
            let tried = self.tried();
            let least = tried
                .iter()
                .enumerate()
                .min_by(|a, b| a.1.squares.total_cmp(&b.1.squares));
            let Some((at, best)) = least else {
                return self.with(1);
            };
            // Halves the gaps on both sides until there are none.
            let neighbours = [at.checked_sub(1), at.checked_add(1)];
            let gaps: Vec<u32> = neighbours
                .into_iter()
                .flatten()
                .filter_map(|i| Some(tried.get(i)?.servers))
                .filter(|servers| servers.abs_diff(best.servers) > 1)
                .collect();
            if gaps.is_empty() {
                return *best;
            }
            for servers in gaps {
                self.with(servers.midpoint(best.servers));
            }
        }
    }

    /// Σ ln²(W/W(λ)) of a curve; infinite where it does not carry the highest rate.
    pub(super) fn squares(&self, servers: u32, service: f64) -> f64 {
        let errors = self.points.iter().map(|point| {
            let error = (point.mean_response / response(servers, service, point.rate)).ln();
            error * error
        });
        errors.sum()
    }

    /// The services between which the best lies: those that would explain one point each.
    fn solve(&self, servers: u32) -> Curve {
        // Beyond this the curve has no value at the highest rate.
        let limit = f64::from(servers) / self.highest;
        let explains = |point: &ResponsePoint| {
            let (mut low, mut high) = (0.0, limit.min(point.mean_response));
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if response(servers, middle, point.rate) < point.mean_response {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let services = self.points.iter().map(explains);
        let (low, high) = services.fold((f64::INFINITY, 0.0), |(low, high), s| {
            (f64::min(low, s), f64::max(high, s))
        });
        let service = least(low, high, |service| self.squares(servers, service));
        Curve {
            servers,
            service,
            squares: self.squares(servers, service),
        }
    }
}

/// W(λ), infinite where the servers do not keep up.
fn response(servers: u32, service: f64, rate: f64) -> f64 {
    let (c, load) = (f64::from(servers), rate * service);
    if load >= c {
        return f64::INFINITY;
    }
    service * (1.0 + erlang::wait_probability(c, load) / (c - load))
}

/// Where a function with one valley is least: golden sections.
fn least(low: f64, high: f64, of: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (low, high);
    let mut inner = [high - SECTION * (high - low), low + SECTION * (high - low)];
    let mut values = inner.map(&of);
    for _ in 0..90 {
        if values[0] <= values[1] {
            high = inner[1];
            inner = [high - SECTION * (high - low), inner[0]];
            values = [of(inner[0]), values[0]];
        } else {
            low = inner[0];
            inner = [inner[1], low + SECTION * (high - low)];
            values = [values[1], of(inner[1])];
        }
        if inner[0] >= inner[1] {
            break;
        }
    }
    0.5 * (low + high)
}
