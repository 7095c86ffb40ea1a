//! What happened when.

use super::{Arrivals, LowerBounds, finite};
use openloop_experiment::Run;
use openloop_measurer::Interval as Recorded;
use openloop_sched::{Offset, Profile, Schedule};
use serde::{Deserialize, Serialize};

/// One interval of the whole run: a second, or more in a run of hours.
///
/// Counts stand at their own instants, latencies at the intended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Interval {
    /// First instant, in nanoseconds of the run.
    pub from_ns: u64,
    /// First instant after it.
    pub to_ns: u64,
    /// Arrivals per second that were asked for, in the mean of the interval; `None` for a trace, sessions or a closed
    /// loop, which have no such rate.
    #[serde(default)]
    pub asked_rate: Option<f64>,
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

/// Something that happened to the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Event {
    /// When, in nanoseconds of the run.
    pub at_ns: u64,
    /// What, in `snake_case`.
    pub what: String,
}

impl Interval {
    /// The whole run.
    pub(crate) fn all(run: &Run) -> Vec<Self> {
        let plan = run.plan();
        // The rate of sessions is not that of their requests.
        let profile = match plan.sessions() {
            Some(_) => None,
            None => plan.schedule().and_then(Schedule::profile),
        };
        let recorded = run.snapshot().timeline();
        let all = recorded.iter().map(|recorded| Interval {
            asked_rate: profile.and_then(|profile| mean_rate(profile, recorded.from, recorded.to)),
            ..Interval::of(recorded)
        });
        all.collect()
    }

    /// How long it is, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.to_ns.saturating_sub(self.from_ns) as f64 / 1e9
    }

    /// Arrivals that ended here without having been served.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.ended.scheduled.saturating_sub(self.ended.ok)
    }

    /// The same interval of several shards; `None` where counts are too large to be added up.
    ///
    /// The median and the 99th percentile are left out: percentiles cannot be merged.
    pub(crate) fn merged(same: &[&Interval]) -> Option<Self> {
        let first = same.first()?;
        let sum = |of: fn(&Interval) -> u64| {
            same.iter()
                .try_fold(0_u64, |sum, interval| sum.checked_add(of(interval)))
        };
        let is_bound = |interval: &Interval| interval.at_least.contains("max_ns");
        let max = same
            .iter()
            .filter_map(|interval| Some((is_bound(interval), interval.max_ns?)));
        let max = max.max_by_key(|(is_bound, ns)| (*is_bound, *ns));
        let mut at_least = LowerBounds::default();
        if max.is_some_and(|(is_bound, _)| is_bound) {
            at_least.add("max_ns");
        }
        // The largest there is may be a measured one, and yet the truth lie above it.
        let max_ns = same.iter().filter_map(|interval| interval.max_ns).max();
        Some(Interval {
            from_ns: first.from_ns,
            to_ns: first.to_ns,
            asked_rate: first.asked_rate,
            arrivals: sum(|interval| interval.arrivals)?,
            fired: sum(|interval| interval.fired)?,
            dispatched: sum(|interval| interval.dispatched)?,
            ended: Arrivals {
                scheduled: sum(|interval| interval.ended.scheduled)?,
                ok: sum(|interval| interval.ended.ok)?,
                failed: sum(|interval| interval.ended.failed)?,
                timed_out: sum(|interval| interval.ended.timed_out)?,
                rejected: sum(|interval| interval.ended.rejected)?,
                shed: sum(|interval| interval.ended.shed)?,
                abandoned: sum(|interval| interval.ended.abandoned)?,
                unsent: sum(|interval| interval.ended.unsent)?,
                ..Arrivals::default()
            },
            in_flight: sum(|interval| interval.in_flight)?,
            p50_ns: None,
            p99_ns: None,
            max_ns,
            at_least,
            max_lag_ns: same.iter().filter_map(|interval| interval.max_lag_ns).max(),
        })
    }

    fn of(recorded: &Recorded) -> Self {
        let mut at_least = LowerBounds::default();
        let mut note = |name, value: Option<_>| value.map(|value| at_least.note(name, value));
        let p50_ns = note("p50_ns", recorded.p50);
        let p99_ns = note("p99_ns", recorded.p99);
        let max_ns = note("max_ns", recorded.max);
        Interval {
            from_ns: recorded.from.as_nanos(),
            to_ns: recorded.to.as_nanos(),
            asked_rate: None,
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

/// Expected arrivals between two instants, per second.
fn mean_rate(profile: &Profile, from: Offset, to: Offset) -> Option<f64> {
    let expected = profile.integral(to).as_arrivals() - profile.integral(from).as_arrivals();
    finite(expected / to.saturating_since(from).as_secs_f64())
}
