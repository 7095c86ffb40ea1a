//! A consistent cut through everything recorded.

use crate::store::Store;
use crate::timeline::Interval;
use crate::{Counts, Course, Layout, Outcome, Phase, Section};
use std::time::Duration;

/// Everything that was recorded, at one instant.
///
/// It can only be had from a [`Recorder`](crate::Recorder), and nothing in it is a percentile: those are read from
/// its histograms.
#[derive(Clone, Debug)]
pub struct Snapshot {
    store: Store,
    counts: Counts,
    occupancy_ns: i128,
}

impl Snapshot {
    pub(crate) fn new(store: Store, counts: Counts, occupancy_ns: i128) -> Self {
        Snapshot {
            store,
            counts,
            occupancy_ns,
        }
    }

    /// The phases of the run.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.store.layout
    }

    /// Arrivals of the whole run, by outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Ended arrivals of the whole run by outcome, each class apart.
    pub fn outcomes(&self) -> impl Iterator<Item = (Outcome, u64)> {
        self.store.outcomes.iter().copied()
    }

    /// Ended arrivals of each phase, by outcome: an arrival belongs to the phase of its intended instant.
    #[must_use]
    pub fn phases(&self) -> &[(Phase, Counts)] {
        &self.store.phases
    }

    /// The steady phase in ten contiguous windows of equal length.
    #[must_use]
    pub fn windows(&self) -> &[Section] {
        &self.store.windows
    }

    /// The whole steady phase: its windows, merged.
    #[must_use]
    pub fn steady(&self) -> Section {
        let mut whole = Section::default();
        for window in &self.store.windows {
            whole.merge(window);
        }
        whole
    }

    /// Arrivals whose intended instant lies in the steady phase, by outcome.
    #[must_use]
    pub fn steady_counts(&self) -> Counts {
        self.store
            .phases
            .iter()
            .find(|(phase, _)| *phase == Phase::Steady)
            .map_or(Counts::default(), |(_, counts)| *counts)
    }

    /// The course of the steady phase in time.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.store.course
    }

    /// The whole run by interval.
    #[must_use]
    pub fn timeline(&self) -> Vec<Interval> {
        self.store.timeline.intervals()
    }

    /// Mean number in flight over the steady phase, twice: by the gauge that counts every dispatch and every
    /// end as it happens, and from the stays of the finished arrivals, as far as they overlap the phase.
    ///
    /// Little's law makes the two equal, to the nanosecond, once nothing is in flight: a difference means that
    /// an arrival was lost or counted twice.
    #[must_use]
    pub fn mean_in_flight(&self) -> (f64, f64) {
        let length = self.layout().steady().length();
        let per_length = |area: f64| area / Duration::as_secs_f64(&length) / 1e9;
        (
            per_length(self.occupancy_ns as f64),
            per_length(self.store.stays_ns as f64),
        )
    }

    /// Whether the two sides of [`mean_in_flight`](Snapshot::mean_in_flight) are equal to the nanosecond.
    #[must_use]
    pub fn obeys_littles_law(&self) -> bool {
        u128::try_from(self.occupancy_ns).is_ok_and(|gauge| gauge == self.store.stays_ns)
    }
}
