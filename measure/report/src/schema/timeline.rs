//! What happened when.

use super::{Arrivals, LowerBounds};
use openloop_measurer::Interval as Recorded;
use serde::{Deserialize, Serialize};

/// One interval of the whole run: a second, or more in a run of hours.
///
/// Counts stand at their own instants, latencies at the intended one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interval {
    /// First instant, in nanoseconds of the run.
    pub from_ns: u64,
    /// First instant after it.
    pub to_ns: u64,
    /// Arrivals whose intended instant lies here.
    pub arrivals: u64,
    /// Arrivals released here.
    pub fired: u64,
    /// Arrivals dispatched here.
    pub dispatched: u64,
    /// Arrivals that ended here, by outcome; `scheduled` is their sum.
    pub ended: Arrivals,
    /// Dispatched and not yet ended at the end of the interval.
    pub in_flight: u64,
    /// Median response of the arrivals intended here.
    pub p50_ns: Option<u64>,
    /// 99th percentile of it.
    pub p99_ns: Option<u64>,
    /// The largest.
    pub max_ns: Option<u64>,
    /// Which of the three are lower bounds.
    pub at_least: LowerBounds,
    /// The largest lag of an arrival intended here; `None` without arrivals.
    pub max_lag_ns: Option<u64>,
}

impl Interval {
    pub(crate) fn of(recorded: &Recorded) -> Self {
        let mut at_least = LowerBounds::default();
        let mut note = |name, value: Option<_>| value.map(|value| at_least.note(name, value));
        let p50_ns = note("p50_ns", recorded.p50);
        let p99_ns = note("p99_ns", recorded.p99);
        let max_ns = note("max_ns", recorded.max);
        Interval {
            from_ns: recorded.from.as_nanos(),
            to_ns: recorded.to.as_nanos(),
            arrivals: recorded.arrivals,
            fired: recorded.fired,
            dispatched: recorded.dispatched,
            ended: Arrivals {
                scheduled: recorded.ended.ended(),
                ..recorded.ended.into()
            },
            in_flight: recorded.in_flight,
            p50_ns,
            p99_ns,
            max_ns,
            at_least,
            max_lag_ns: (recorded.arrivals > 0).then_some(recorded.max_lag_ns),
        }
    }
}
