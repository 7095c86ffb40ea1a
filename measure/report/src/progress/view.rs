//! What there is to see of a run in progress.

use crate::words::units::{Ns, count, rate};
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

    /// The same behind the name of the step, if there is one.
    pub(super) fn within(self, step: &str) -> String {
        match step {
            "" => self.name().to_owned(),
            step => format!("{step}, {}", self.name()),
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
    /// Whether what is asked for are sessions.
    in_sessions: bool,
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
            in_sessions: plan.sessions().is_some(),
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

    /// How much of the run is over, in whole seconds, and how much is left.
    pub(super) fn time(&self) -> String {
        let secs = |ns: u64| format!("{} s", ns / 1_000_000_000);
        let (now, end) = (self.now.as_nanos(), self.end.as_nanos());
        match end.checked_sub(now).filter(|left| *left > 0) {
            Some(left) => {
                let left = left.div_ceil(1_000_000_000);
                format!("{} of {}, {left} s left", secs(now), secs(end))
            }
            None => format!(
                "{}, and {} of drain",
                secs(end),
                secs(now.saturating_sub(end))
            ),
        }
    }

    /// The rates, what is in flight, the latencies of the last second, the errors.
    pub(super) fn figures(&self) -> String {
        let mut figures = Vec::new();
        if let Some(asked) = self.asked {
            let what = if self.in_sessions {
                "sessions"
            } else {
                "asked"
            };
            figures.push(format!("{what} {}", rate(asked.round())));
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

#[cfg(test)]
impl View {
    /// A run of 40 s at 2000/s, `secs` after its start.
    pub(super) fn example(stage: Stage, secs: u64) -> Self {
        let at = |secs: u64| Offset::from_nanos(secs * 1_000_000_000);
        let mut counts = Counts::default();
        (counts.scheduled, counts.ok, counts.failed, counts.in_flight) = (24_010, 23_998, 2, 10);
        View {
            stage,
            now: at(secs),
            end: at(40),
            asked: Some(2000.0),
            in_sessions: false,
            achieved: Some(1998.4),
            counts,
            p50: Some(Value::Exact(1_230_000)),
            p99: Some(Value::AtLeast(4_560_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_shows_rates_latencies_and_errors_and_marks_lower_bounds() {
        let view = View::example(Stage::Phase("steady"), 12);
        assert_eq!(
            view.figures(),
            "asked 2000/s  ok 1998/s  in flight 10  p50 1.23 ms  p99 ≥ 4.56 ms  errors 2"
        );
        assert_eq!(view.time(), "12 s of 40 s, 28 s left");
        assert_eq!(
            View::example(Stage::Drain, 43).time(),
            "40 s, and 3 s of drain"
        );
    }
}
