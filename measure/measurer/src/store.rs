//! Everything that is kept of finished arrivals.

use crate::course::SLICES;
use crate::details::Detail;
use crate::kind::slot;
use crate::layout::Span;
use crate::ledger::Ledger;
use crate::slowest::Slowest;
use crate::timeline::Timeline;
use crate::{Kinds, Layout, Sample, Section};
use std::time::Duration;

/// Windows of the steady phase whose histograms are kept apart, for intervals by sectioning.
pub const WINDOWS: usize = 10;

const INTERVAL: Duration = Duration::from_secs(1);

/// A finished arrival on its way into the store, and how many of the details that follow are its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) sample: Sample,
    pub(crate) details: usize,
    /// The window in which it was intended, as soon as the store has looked.
    window: Option<usize>,
}

impl Finished {
    pub(crate) fn new(sample: Sample, details: usize) -> Self {
        Finished {
            sample,
            details,
            window: None,
        }
    }

    /// Whether both go into the same histograms.
    fn is_like(&self, other: &Finished) -> bool {
        let place = |finished: &Finished| (finished.window, finished.sample.kind);
        place(self) == place(other) && self.sample.outcome == other.sample.outcome
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) layout: Layout,
    steady: Span,
    pub(crate) windows: Vec<Section>,
    /// By [`slot`].
    pub(crate) ledgers: Vec<Ledger>,
    pub(crate) timeline: Timeline,
    pub(crate) slowest: Slowest,
    pub(crate) stays_ns: u128,
    provided: Provided,
}

/// Memory for the windows to come is taken along the way, a histogram at a time: a run of hours then takes what its first
/// minute has taken, and no window begins with page faults.
#[derive(Clone, Copy, Debug, Default)]
struct Provided {
    samples: usize,
    window: usize,
    histogram: usize,
}

impl Provided {
    /// So many samples from one histogram to the next.
    const EVERY: usize = 64;

    /// After a sample in the window number `now`.
    fn go_on(&mut self, windows: &mut [Section], now: usize, samples: usize) {
        self.samples += samples;
        while self.samples >= Self::EVERY {
            self.samples -= Self::EVERY;
            self.step(windows, now);
        }
    }

    fn step(&mut self, windows: &mut [Section], now: usize) {
        let (past, to_come) = windows.split_at_mut(now + 1);
        let (Some(like), false) = (past.last(), to_come.is_empty()) else {
            return;
        };
        let window = self.window % to_come.len();
        let has_more = to_come[window].provide(like, self.histogram);
        (self.window, self.histogram) = match has_more {
            true => (window, self.histogram + 1),
            false => (window + 1, 0),
        };
    }
}

impl Store {
    pub(crate) fn new(layout: Layout, kinds: &Kinds) -> Self {
        let steady = layout.steady();
        Store {
            steady,
            windows: vec![Section::of_kinds(kinds.len()); WINDOWS],
            ledgers: vec![Ledger::new(&layout); kinds.len() + 1],
            timeline: Timeline::new(INTERVAL, &layout),
            slowest: Slowest::default(),
            stays_ns: 0,
            provided: Provided::default(),
            layout,
        }
    }

    /// Takes in what has finished; both buffers are empty afterwards and keep their capacity.
    pub(crate) fn fold(&mut self, finished: &mut Vec<Finished>, details: &mut Vec<Detail>) {
        let mut rest = details.as_slice();
        for finished in finished.iter_mut() {
            let (own, others) = rest.split_at(finished.details);
            rest = others;
            finished.window = self.count(&finished.sample, own);
        }
        let mut rest = details.as_slice();
        for alike in finished.chunk_by(Finished::is_like) {
            let (own, others) = rest.split_at(alike.iter().map(|one| one.details).sum());
            rest = others;
            if let Some(window) = alike[0].window {
                self.windows[window].record(alike, own);
                self.provided.go_on(&mut self.windows, window, alike.len());
            }
        }
        finished.clear();
        details.clear();
    }

    /// Takes it in but for its histograms, and gives the window that has them.
    fn count(&mut self, sample: &Sample, details: &[Detail]) -> Option<usize> {
        // The recorder has taken off every label that it does not know.
        let ledger = &mut self.ledgers[slot(sample.kind)];
        let slice = ledger.course.index(sample.intended);
        ledger.record(sample, self.layout.phase_at(sample.intended), slice);
        if slice.is_some() {
            self.slowest.record(sample, details);
        }
        if let Some(dispatched) = sample.dispatched {
            let stay = self.steady.clamp(sample.ended) - self.steady.clamp(dispatched);
            self.stays_ns += u128::from(stay);
        }
        self.timeline.record(sample);
        slice.map(|slice| slice / (SLICES / WINDOWS))
    }
}
