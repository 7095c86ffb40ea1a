//! A consistent cut through everything recorded.

use crate::kind::slot;
use crate::ledger::Ledger;
use crate::store::Store;
use crate::timeline::{Interval, Stretch};
use crate::{
    Counts, Course, Kind, Kinds, Layout, Outcome, Phase, Population, Quantile, Section, Slow,
};
use openloop_sched::Offset;
use std::time::Duration;

/// Everything that was recorded, at one instant.
///
/// It can only be had from a [`Recorder`](crate::Recorder), and nothing in it is a percentile: those are read from
/// its histograms.
#[derive(Clone, Debug)]
pub struct Snapshot {
    store: Store,
    /// The ledgers of all kinds, merged.
    total: Ledger,
    kinds: Kinds,
    counts: Counts,
    unknown_kinds: u64,
    occupancy_ns: i128,
}

impl Snapshot {
    pub(crate) fn new(
        store: Store,
        kinds: Kinds,
        counts: Counts,
        unknown_kinds: u64,
        occupancy_ns: i128,
    ) -> Self {
        let mut total = Ledger::new(&store.layout);
        for ledger in &store.ledgers {
            total.merge(ledger);
        }
        Snapshot {
            store,
            total,
            kinds,
            counts,
            unknown_kinds,
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
        self.total.outcomes.iter().copied()
    }

    /// Ended arrivals of each phase, by outcome: an arrival belongs to the phase of its intended instant.
    #[must_use]
    pub fn phases(&self) -> &[(Phase, Counts)] {
        &self.total.phases
    }

    /// The kinds of request that were kept apart.
    #[must_use]
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// What there is of one kind of request, or of the arrivals without a label.
    ///
    /// ```
    /// use openloop_measurer::{Kinds, Layout, Outcome, Recorder, Sample};
    /// use openloop_sched::{Offset, Ticket};
    /// use std::time::Duration;
    /// use tokio::time::Instant;
    ///
    /// let layout = Layout::steady_only(Duration::from_secs(1))?;
    /// let kinds = Kinds::new(["read", "write"])?;
    /// let recorder = Recorder::with_kinds(Instant::now(), layout, kinds);
    /// let write = recorder.kinds().get("write");
    /// let ticket = Ticket { seq: 0, intended: Offset::from_nanos(5) };
    /// let (fired, dispatched, ended) = (ticket.intended, ticket.intended, Offset::from_nanos(12));
    /// recorder.write(Sample::new(ticket, fired, dispatched, ended, Outcome::Ok).of_kind(write));
    ///
    /// let snapshot = recorder.snapshot();
    /// assert_eq!(snapshot.of_kind(write).counts().ok, 1);
    /// assert_eq!(snapshot.of_kind(write).steady().response().exact.max_ns(), Some(7));
    /// assert_eq!(snapshot.of_kind(None).counts().scheduled, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_kind(&self, kind: impl Into<Option<Kind>>) -> OfKind<'_> {
        OfKind {
            snapshot: self,
            kind: kind.into(),
        }
    }

    /// Arrivals whose kind the recorder does not know. They count as arrivals without one.
    #[must_use]
    pub fn unknown_kinds(&self) -> u64 {
        self.unknown_kinds
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
        self.total.of_phase(Phase::Steady)
    }

    /// The course of the steady phase in time.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.total.course
    }

    /// The whole run by interval.
    #[must_use]
    pub fn timeline(&self) -> Vec<Interval> {
        self.store.timeline.intervals()
    }

    /// The stretch of the steady phase, of `length` to the whole interval, in which the quantile `q` of the response is
    /// worst: to be shown beside the whole, of which it is a part, and never instead of it. `None` where the steady
    /// phase has no such stretch with arrivals.
    ///
    /// It slides over the [timeline](Snapshot::timeline), so that it begins and ends on an interval of it.
    #[must_use]
    pub fn worst_stretch(&self, length: Duration, q: Quantile) -> Option<Stretch> {
        let steady = self.layout().steady();
        self.store.timeline.worst(steady, length, q)
    }

    /// The slowest arrivals of the steady phase, slowest first, at most [`SLOWEST`](crate::SLOWEST), each with its
    /// stages. One without an end has the age that it had.
    #[must_use]
    pub fn slowest(&self) -> Vec<Slow> {
        self.store.slowest.sorted()
    }

    /// The responses of each interval of the timeline in which any arrival was intended, with its first instant and the
    /// first after it.
    pub fn responses(&self) -> impl Iterator<Item = (Offset, Offset, Population)> + '_ {
        self.store.timeline.responses()
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

/// What there is of one kind of request in a [`Snapshot`]; nothing, if the run has no such kind.
#[derive(Clone, Copy, Debug)]
pub struct OfKind<'a> {
    snapshot: &'a Snapshot,
    kind: Option<Kind>,
}

impl<'a> OfKind<'a> {
    fn ledger(&self) -> Option<&'a Ledger> {
        self.snapshot.store.ledgers.get(slot(self.kind))
    }

    /// The name of the kind; `None` of the arrivals without a label.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.snapshot.kinds.name(self.kind?)
    }

    /// Ended arrivals of the whole run, by outcome: `scheduled` is their sum.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.ledger().map_or(Counts::default(), Ledger::counts)
    }

    /// Ended arrivals whose intended instant lies in `phase`, by outcome.
    #[must_use]
    pub fn phase_counts(&self, phase: Phase) -> Counts {
        self.ledger()
            .map_or(Counts::default(), |ledger| ledger.of_phase(phase))
    }

    /// Ended arrivals of the whole run by outcome, each class apart.
    pub fn outcomes(&self) -> impl Iterator<Item = (Outcome, u64)> + use<'a> {
        let outcomes = self.ledger().map(|ledger| &ledger.outcomes);
        outcomes.into_iter().flatten().copied()
    }

    /// The steady phase in ten contiguous windows of equal length.
    pub fn windows(&self) -> impl Iterator<Item = &'a Section> + use<'a> {
        let kind = self.kind;
        let windows = self.snapshot.windows().iter();
        windows.map(move |window| window.of_kind(kind))
    }

    /// The whole steady phase: its windows, merged.
    #[must_use]
    pub fn steady(&self) -> Section {
        let mut whole = Section::default();
        for window in self.windows() {
            whole.merge(window);
        }
        whole
    }

    /// The course of the steady phase in time; `None` if the run has no such kind.
    #[must_use]
    pub fn course(&self) -> Option<&'a Course> {
        self.ledger().map(|ledger| &ledger.course)
    }
}
