//! What there is to see of a run in progress.

use crate::text::units::{Ns, count, length, rate};
use openloop_experiment::Plan;
use openloop_experiment::drive::Monitor;
use openloop_measurer::{Counts, Live, Value};
use openloop_sched::Offset;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is being set up.
    Starting,
    /// In the phase of this name.
    Phase(&'static str),
    /// Everything was sent, and what is in flight is waited for.
    Drain,
}

impl Stage {
    pub(super) fn at(plan: &Plan, now: Option<Offset>) -> Self {
        match now {
            None => Stage::Starting,
            Some(now) => match plan.layout().phase_at(now) {
                Some(phase) => Stage::Phase(phase.name()),
                None => Stage::Drain,
            },
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::Starting => "starting",
            Stage::Phase(name) => name,
            Stage::Drain => "drain",
        }
    }
}

/// A glance at a run, as it is shown.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) stage: Stage,
    pub(super) now: Offset,
    pub(super) end: Offset,
    asked: Option<f64>,
    achieved: Option<f64>,
    counts: Counts,
    p50: Option<Value>,
    p99: Option<Value>,
}

impl View {
    /// Of the run, now; `None` while it is being set up.
    pub(super) fn of(monitor: &Monitor) -> Option<Self> {
        Some(View::new(monitor.plan(), &monitor.live()?))
    }

    fn new(plan: &Plan, live: &Live) -> Self {
        let rate_now =
            |profile: &openloop_sched::Profile| profile.rate_at(live.now).as_per_second();
        let achieved = live.latest.as_ref().and_then(|latest| {
            let length = latest.to.saturating_since(latest.from).as_secs_f64();
            (length > 0.0).then(|| latest.ended.ok as f64 / length)
        });
        View {
            stage: Stage::at(plan, Some(live.now)),
            now: live.now,
            end: plan.layout().end(),
            asked: plan
                .schedule()
                .and_then(|schedule| schedule.profile().map(rate_now)),
            achieved,
            counts: live.counts,
            p50: live.latest.as_ref().and_then(|latest| latest.p50),
            p99: live.latest.as_ref().and_then(|latest| latest.p99),
        }
    }

    /// Everything that was not served so far.
    fn errors(&self) -> u64 {
        self.counts.ended() - self.counts.ok
    }

    pub(super) fn time(&self) -> String {
        let end = self.end.as_nanos();
        let of = |ns: u64| length(ns / 100_000_000 * 100_000_000);
        match self.now < self.end {
            true => format!("{} of {}", of(self.now.as_nanos()), of(end)),
            false => format!("{} and {}", of(end), of(self.now.as_nanos() - end)),
        }
    }

    /// The rates, what is in flight, the latencies of the last second, the errors.
    pub(super) fn figures(&self) -> String {
        let mut figures = Vec::new();
        if let Some(asked) = self.asked {
            figures.push(format!("asked {}", rate(asked.round())));
        }
        if let Some(achieved) = self.achieved {
            figures.push(format!("ok {}", rate(achieved.round())));
        }
        figures.push(format!("in flight {}", count(self.counts.in_flight)));
        if self.counts.waiting > 0 {
            figures.push(format!("waiting {}", count(self.counts.waiting)));
        }
        for (name, value) in [("p50", self.p50), ("p99", self.p99)] {
            if let Some(value) = value {
                let bound = if value.is_lower_bound() { "≥ " } else { "" };
                figures.push(format!("{name} {bound}{}", Ns(value.ns() as f64)));
            }
        }
        figures.push(format!("errors {}", count(self.errors())));
        figures.join("  ")
    }
}
