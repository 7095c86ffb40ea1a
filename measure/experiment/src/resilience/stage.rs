//! One stage of an overload.

use crate::Run;
use crate::stats::section;
use openloop_measurer::{Outcome, Population, Quantile, SLICES, Section, Value, WINDOWS};
use openloop_sched::Offset;
use std::ops::Range;

/// An overload shows in a P99 of the served that is so many times that before it.
const SLOWER: f64 = 1.5;

/// Or in so large a share that is not served.
const NOT_SERVED: f64 = 0.01;

/// What became of the arrivals of one stage, by their intended instants.
#[derive(Clone, Debug)]
pub struct Stage {
    from: Offset,
    to: Offset,
    offered: f64,
    achieved: f64,
    outcomes: Vec<(Outcome, u64)>,
    arrivals: u64,
    seconds: f64,
    served: Population,
    /// Of each part.
    parts: Vec<Population>,
    counts: Vec<(&'static str, u64)>,
}

impl Stage {
    pub(super) fn of(run: &Run, parts: Range<usize>) -> Self {
        let windows = run.snapshot().windows();
        let windows = windows.get(parts.clone()).unwrap_or(&[]);
        let mut whole = Section::default();
        for window in windows {
            whole.merge(window);
        }
        let mut outcomes: Vec<(Outcome, u64)> = Vec::new();
        for (outcome, class) in whole.classes() {
            let n = class.response.count();
            match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, count)) => *count += n,
                None => outcomes.push((outcome, n)),
            }
        }
        outcomes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let arrivals = outcomes.iter().map(|(_, n)| n).sum();
        let length = run.snapshot().layout().steady().length().as_secs_f64();
        let seconds = length * parts.len() as f64 / WINDOWS as f64;
        let per_window = SLICES / WINDOWS;
        let slices = run.snapshot().course().slices();
        let completions: u64 = slices
            .iter()
            .take(parts.end * per_window)
            .skip(parts.start * per_window)
            .map(|slice| slice.ok_completions)
            .sum();
        let steady = run.snapshot().layout().steady();
        let edge = |part: usize| {
            // Parts are a few.
            let into = steady.length() / WINDOWS as u32 * part as u32;
            steady.from.saturating_add(into)
        };
        Stage {
            from: edge(parts.start),
            to: edge(parts.end),
            offered: arrivals as f64 / seconds,
            achieved: completions as f64 / seconds,
            seconds,
            served: whole.response_ok(),
            parts: windows.iter().map(Section::response_ok).collect(),
            counts: whole.counts().collect(),
            outcomes,
            arrivals,
        }
    }

    /// Its first instant.
    #[must_use]
    pub fn from(&self) -> Offset {
        self.from
    }

    /// The first instant after it.
    #[must_use]
    pub fn to(&self) -> Offset {
        self.to
    }

    /// Arrivals per second.
    #[must_use]
    pub fn offered(&self) -> f64 {
        self.offered
    }

    /// Served arrivals per second, by the instant of their completion: the goodput.
    #[must_use]
    pub fn achieved(&self) -> f64 {
        self.achieved
    }

    /// Its arrivals.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// How many arrivals ended how, each class apart, the most frequent first.
    #[must_use]
    pub fn outcomes(&self) -> &[(Outcome, u64)] {
        &self.outcomes
    }

    fn share(&self, of: impl Fn(Outcome) -> bool) -> f64 {
        let n: u64 = self
            .outcomes
            .iter()
            .filter(|(outcome, _)| of(*outcome))
            .map(|(_, n)| n)
            .sum();
        n as f64 / self.arrivals.max(1) as f64
    }

    /// The share that was served.
    #[must_use]
    pub fn ok(&self) -> f64 {
        self.share(|outcome| outcome == Outcome::Ok)
    }

    /// The share that the service turned away in time: 429, 503, `RESOURCE_EXHAUSTED`.
    #[must_use]
    pub fn shed(&self) -> f64 {
        self.share(|outcome| matches!(outcome, Outcome::Rejected(_)))
    }

    /// The share that came to nothing in any other way: errors, timeouts, what never ended; and what our own limit in
    /// flight did not let out.
    #[must_use]
    pub fn failed(&self) -> f64 {
        self.share(|outcome| outcome != Outcome::Ok && !matches!(outcome, Outcome::Rejected(_)))
    }

    /// What those who were served paid.
    #[must_use]
    pub fn served(&self) -> &Population {
        &self.served
    }

    /// A quantile of what those who were served paid, in nanoseconds.
    #[must_use]
    pub fn quantile_ns(&self, q: Quantile) -> Option<u64> {
        self.served.quantile(q).map(Value::ns)
    }

    /// Its length.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// A quantile of what those who were served paid, with its 95 % confidence interval over the parts.
    pub(super) fn estimate(&self, q: Quantile) -> Option<(f64, Option<(f64, f64)>)> {
        let point = self.served.quantile(q)?.exact()? as f64;
        let of = |part: &Population| Some(part.quantile(q)?.ns() as f64);
        let parts: Option<Vec<f64>> = self.parts.iter().map(of).collect();
        Some((point, parts.and_then(|parts| section(point, &parts))))
    }

    /// Named counts that the work reported, such as preemptions.
    #[must_use]
    pub fn counts(&self) -> &[(&'static str, u64)] {
        &self.counts
    }

    pub(super) fn is_overload_of(&self, before: &Stage) -> bool {
        let p99 = |stage: &Stage| stage.quantile_ns(Quantile::P99).map(|ns| ns as f64);
        let slower = p99(self)
            .zip(p99(before))
            .is_none_or(|(now, then)| now > SLOWER * then);
        slower || before.ok() - self.ok() > NOT_SERVED
    }
}
