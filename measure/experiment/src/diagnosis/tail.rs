//! Why the tail is long.

use super::Notes;
use super::clusters::{Clusters, slow};
use crate::sweep::{Curve, PerSecond, Point};
use crate::units::{Ns, Percent, Short};
use openloop_measurer::Quantile;
use std::fmt;
use std::time::Duration;

/// A rate is low up to this share of the highest.
const LOW: f64 = 0.35;

/// Slow responses come in clusters if there is one in so many times fewer slices of the time than by chance.
const CLUSTERED: f64 = 2.0;

/// A share of slow responses depends on the load if, from one low rate to another, it grows by more than this.
const GROWTH: f64 = 1.6;

/// So many slow responses are expected at a rate for it to say whether their share is the same.
const ENOUGH: f64 = 25.0;

/// The tail rises with the load if P99 under load is so many times that at the lowest rate.
const RISE: f64 = 1.5;

/// A tail is long if P99 of the idle service is above so many times its median.
const LONG: f64 = 3.0;

/// Why the tail is long.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Tail {
    /// It rises smoothly with the load: requests wait for each other.
    Smooth,
    /// A mode of its own that does not depend on the load: the service stops from time to time.
    Pauses {
        /// About how often.
        every: Duration,
        /// About how long, at most.
        length: Duration,
    },
    /// It is long at any load, and slow responses do not come together: some requests take longer by themselves.
    OfService,
    /// The measurements do not tell.
    Unsure,
}

impl Tail {
    /// Name in reports: `smooth`, `pauses`, `of_service`, `unsure`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tail::Smooth => "smooth",
            Tail::Pauses { .. } => "pauses",
            Tail::OfService => "of_service",
            Tail::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tail::Smooth => f.write_str("rises smoothly with the load: queueing"),
            Tail::Pauses { every, length } => write!(
                f,
                "a mode of its own: pauses of up to {} about every {}",
                Ns(length.as_nanos() as f64),
                Ns(every.as_nanos() as f64)
            ),
            Tail::OfService => {
                f.write_str("that of the requests themselves, some of which take long")
            }
            Tail::Unsure => f.write_str("unsure"),
        }
    }
}

pub(super) fn of(curve: &Curve, notes: &mut Notes) -> Tail {
    let Some(highest) = curve.max().rate() else {
        notes
            .doubts
            .push("nothing that may be believed was measured".to_owned());
        return Tail::Unsure;
    };
    let low: Vec<&Point> = curve
        .stable()
        .filter(|point| point.per_second() <= LOW * highest)
        .collect();
    if low.len() < 2 {
        notes.doubts.push(format!(
            "fewer than two rates lie below {}: pauses show best at low ones",
            PerSecond(LOW * highest)
        ));
    } else if let Some(pauses) = pauses(&low, notes) {
        return pauses;
    }
    let p99 = |point: &Point| Some(point.quantile(Quantile::P99).filter(|p| !p.at_least)?.ns);
    let lowest = curve.stable().next();
    let first = lowest.and_then(p99);
    let median = lowest.and_then(|point| Some(point.quantile(Quantile::P50)?.ns));
    let Some((first, last)) = first.zip(curve.stable().filter_map(p99).next_back()) else {
        return Tail::Unsure;
    };
    let rise = last / first;
    if rise >= RISE {
        notes.evidence.push(format!(
            "p99 rises smoothly with the load, to {} times that at the lowest rate",
            Short(rise)
        ));
        return Tail::Smooth;
    }
    match median {
        Some(median) if first > LONG * median => {
            notes.evidence.push(format!(
                "p99 is {} at any rate, the median {}, and slow responses do not come together",
                Ns(first),
                Ns(median)
            ));
            Tail::OfService
        }
        _ => {
            notes
                .doubts
                .push("p99 does not rise: the rates may be too low to see any queue".to_owned());
            Tail::Unsure
        }
    }
}

/// Slow responses that come in clusters at a low rate, and are as many of all at another.
fn pauses(low: &[&Point], notes: &mut Notes) -> Option<Tail> {
    let mut clustered: Vec<(&Point, Clusters)> = low
        .iter()
        .filter_map(|point| Some((*point, Clusters::of(point, CLUSTERED)?)))
        .collect();
    clustered.sort_by(|a, b| b.1.clustering.total_cmp(&a.1.clustering));
    let mut doubts = Vec::new();
    for (point, clusters) in clustered {
        match is_of_any_load(point, clusters, low) {
            Ok(evidence) => {
                notes.evidence.push(evidence);
                let every = point.steady().as_secs_f64() / clusters.stretches.max(1) as f64;
                let longest = point.quantile(Quantile::P99_99).map_or(0.0, |q| q.ns);
                return Some(Tail::Pauses {
                    every: Duration::try_from_secs_f64(every).unwrap_or_default(),
                    length: Duration::from_nanos(longest as u64),
                });
            }
            Err(doubt) => doubts.push(doubt),
        }
    }
    // One is enough: they say the same.
    notes.doubts.extend(doubts.into_iter().next());
    None
}

/// Whether the share of slow responses at `point` is that at another low rate: with the figures, or why not.
fn is_of_any_load(point: &Point, clusters: Clusters, low: &[&Point]) -> Result<String, String> {
    // At the rate that is furthest from it, and has enough to compare.
    let share_at = |other: &Point| {
        let (slow, all) = slow(other, clusters.above_ns);
        (clusters.share * all as f64 >= ENOUGH).then(|| slow as f64 / all as f64)
    };
    let others = low
        .iter()
        .filter(|other| other.per_second() != point.per_second());
    let distance = |other: &Point| (other.per_second() / point.per_second()).ln().abs();
    let Some((other, there)) = others
        .filter_map(|other| Some((*other, share_at(other)?)))
        .max_by(|a, b| distance(a.0).total_cmp(&distance(b.0)))
    else {
        return Err(format!(
            "slow responses come together at {}, and no other low rate has enough of them to compare: measure for longer",
            PerSecond(point.per_second())
        ));
    };
    let facts = format!(
        "at {} responses above {} are {} of all, and fall into {} times fewer stretches of time than chance would spread them over; at {} they are {}",
        PerSecond(point.per_second()),
        Ns(clusters.above_ns as f64),
        Percent(clusters.share),
        Short(clusters.clustering),
        PerSecond(other.per_second()),
        Percent(there),
    );
    match (1.0 / GROWTH..GROWTH).contains(&(clusters.share / there)) {
        true => Ok(format!("{facts}: the load has no part in it")),
        false => Err(format!("{facts}: so they come with the load")),
    }
}
