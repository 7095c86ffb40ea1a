//! What a bound is judged by: one run, or several at the same rate.

use crate::run::Run;
use crate::series::{Metric, Series};
use openloop_measurer::{Course, Kind, Kinds, Phase};
use std::time::Duration;

/// What a bound is judged by. A kind of `None` means all arrivals.
pub(crate) trait Evidence {
    /// The kinds of request that are told apart.
    fn kinds(&self) -> &Kinds;
    /// One latency over the steady phase.
    fn series(&self, kind: Option<Kind>, metric: &Metric) -> Series;
    /// Separate excursions of the response above `ns`; `None` where nobody kept count.
    fn excursions_above(&self, kind: Option<Kind>, ns: u64) -> Option<u64>;
    /// Arrivals of the steady phase.
    fn scheduled(&self, kind: Option<Kind>) -> u64;
    /// How long the steady phase is.
    fn steady(&self) -> Duration;
}

impl Evidence for Run {
    fn kinds(&self) -> &Kinds {
        self.plan().kinds()
    }

    fn series(&self, kind: Option<Kind>, metric: &Metric) -> Series {
        match kind {
            None => Run::series(self, metric),
            Some(kind) => self.series_of(kind, metric),
        }
    }

    fn excursions_above(&self, kind: Option<Kind>, ns: u64) -> Option<u64> {
        let course: Option<&Course> = match kind {
            None => Some(self.snapshot().course()),
            Some(kind) => self.snapshot().of_kind(kind).course(),
        };
        Some(course?.excursions_above(ns))
    }

    fn scheduled(&self, kind: Option<Kind>) -> u64 {
        match kind {
            None => self.snapshot().steady_counts().scheduled,
            Some(kind) => {
                let of_kind = self.snapshot().of_kind(kind);
                of_kind.phase_counts(Phase::Steady).scheduled
            }
        }
    }

    fn steady(&self) -> Duration {
        self.snapshot().layout().steady().length()
    }
}
