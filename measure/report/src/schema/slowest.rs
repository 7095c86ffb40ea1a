//! What was worst: single arrivals, and a stretch of time.

use super::LowerBounds;
use openloop_experiment::Run;
use openloop_measurer::{Quantile, SLOWEST};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the stretch is that is held against the whole.
const STRETCH: Duration = Duration::from_secs(10);

/// One of the slowest arrivals of the steady phase: what to look for in the logs of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Slow {
    /// From which the schedule of its run was drawn.
    pub run_seed: u64,
    /// Its place in the schedule.
    pub seq: u64,
    /// The name of its kind.
    pub kind: Option<String>,
    /// When it should have started, in nanoseconds of the run.
    pub intended_ns: u64,
    /// How long it took from then on; of one without an end, its age.
    pub response_ns: u64,
    /// Until it was sent; `None` if it never was.
    pub schedule_delay_ns: Option<u64>,
    /// From then on.
    pub service_ns: Option<u64>,
    /// How it ended: `ok`, `timed_out`, …
    pub outcome: String,
    /// Of a failure or a rejection, its class.
    pub class: Option<String>,
    /// Stages and named durations, in the order in which they came; what repeats is summed.
    pub stages: Vec<(String, u64)>,
}

/// The ten seconds of the steady phase with the highest 99th percentile of the response: a part of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WorstStretch {
    /// First instant, in nanoseconds of the run.
    pub from_ns: u64,
    /// First instant after it.
    pub to_ns: u64,
    /// How many arrivals were intended there.
    pub count: u64,
    /// Their median response.
    pub p50_ns: u64,
    /// Their 99th percentile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Which of them are lower bounds.
    pub at_least: LowerBounds,
}

impl Slow {
    pub(crate) fn all(run: &Run) -> Vec<Self> {
        let kinds = run.plan().kinds();
        let slowest = run.snapshot().slowest().into_iter();
        slowest
            .map(|slow| {
                let sample = slow.sample;
                let since = |from: openloop_sched::Offset, to: openloop_sched::Offset| {
                    to.as_nanos().saturating_sub(from.as_nanos())
                };
                let name = sample.kind.and_then(|kind| kinds.name(kind));
                let stages = slow.stages.iter();
                Slow {
                    run_seed: run.plan().seed(),
                    seq: sample.seq,
                    kind: name.map(str::to_owned),
                    intended_ns: sample.intended.as_nanos(),
                    response_ns: since(sample.intended, sample.ended),
                    schedule_delay_ns: sample.dispatched.map(|at| since(sample.intended, at)),
                    service_ns: sample.dispatched.map(|at| since(at, sample.ended)),
                    outcome: sample.outcome.name().to_owned(),
                    class: sample.outcome.class().map(str::to_owned),
                    stages: stages
                        .map(|(name, length)| ((*name).to_owned(), super::nanos(*length)))
                        .collect(),
                }
            })
            .collect()
    }

    /// The slowest of several reports together.
    pub(crate) fn merged<'a>(all: impl Iterator<Item = &'a Slow>) -> Vec<Self> {
        let mut all: Vec<Slow> = all.cloned().collect();
        all.sort_by_key(|slow| (std::cmp::Reverse(slow.response_ns), slow.run_seed, slow.seq));
        all.truncate(SLOWEST);
        all
    }

    /// Its name and, of a failure, why: `ok`, `failed (reset)`.
    pub(crate) fn ended(&self) -> String {
        match &self.class {
            Some(class) => format!("{} ({class})", self.outcome),
            None => self.outcome.clone(),
        }
    }
}

impl WorstStretch {
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let stretch = run.snapshot().worst_stretch(STRETCH, Quantile::P99)?;
        let mut at_least = LowerBounds::default();
        let mut quantile = |name, q| Some(at_least.note(name, stretch.response.quantile(q)?));
        let p50_ns = quantile("p50_ns", Quantile::P50)?;
        let p99_ns = quantile("p99_ns", Quantile::P99)?;
        Some(WorstStretch {
            from_ns: stretch.from.as_nanos(),
            to_ns: stretch.to.as_nanos(),
            count: stretch.response.count(),
            p50_ns,
            p99_ns,
            max_ns: at_least.note("max_ns", stretch.response.max()?),
            at_least,
        })
    }
}
