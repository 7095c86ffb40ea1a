//! Where every arrival is written down, from any thread.

use crate::details::{Detail, Details};
use crate::store::{Finished, Store};
use crate::timeline::Interval;
use crate::{Arrival, Counts, Describe, Kinds, Layout, Sample, Snapshot};
use crossbeam_utils::CachePadded;
use openloop_sched::{Due, Offset, Ticket};
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How many finished arrivals a slot gathers before it tries to hand them to the store.
const BATCH: usize = 128;

/// How many it gathers at most, while the store is busy, before it waits for it.
const MAX_BATCH: usize = 64 * BATCH;

/// Where the arrivals of one run are written down. A cheap handle: clone it freely.
///
/// Each thread writes to a slot of its own, under a lock that nobody else asks for; finished arrivals go from
/// there in batches into one store of histograms. A [`snapshot`](Recorder::snapshot) holds all slots at once, so
/// it is a consistent cut: the identity of [`Counts`] holds in each.
///
/// # Example
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_measurer::{Layout, Recorder, ok_err};
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// let start = Instant::now();
/// let recorder = Recorder::new(start, Layout::steady_only(Duration::from_secs(60))?);
///
/// let arrival = recorder.arrive_at(0, start);
/// let (output, sample) = arrival.measure_with(async { "7".parse::<u8>() }, ok_err).await;
///
/// assert_eq!(output, Ok(7));
/// assert_eq!(Some(sample.response()), sample.schedule_delay().zip(sample.service()).map(|(a, b)| a + b));
/// assert_eq!(recorder.counts().ok, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    start: Instant,
    steady: crate::layout::Span,
    kinds: Kinds,
    slots: Box<[CachePadded<Mutex<Slot>>]>,
    store: Mutex<Store>,
}

#[derive(Default)]
struct Slot {
    released: u64,
    dispatched: u64,
    /// Ended after having been dispatched.
    ended_dispatched: u64,
    ended: Counts,
    /// Ended with a label that the recorder does not know.
    unknown_kinds: u64,
    /// ∫ (number in flight) dt over the steady phase, as far as this slot's events changed it.
    occupancy_ns: i128,
    finished: Vec<Finished>,
    details: Vec<Detail>,
    /// How many of `details` belong to arrivals in `finished`: the rest is what a panic left behind.
    owned_details: usize,
}

static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A small number for this thread. A future may be dropped while thread-locals are being destroyed: any slot
/// does then.
fn thread_number() -> usize {
    THREAD
        .try_with(|number| {
            if number.get() == usize::MAX {
                number.set(NEXT_THREAD.fetch_add(1, Ordering::Relaxed));
            }
            number.get()
        })
        .unwrap_or(0)
}

impl Recorder {
    /// A recorder of a run that starts at `start`, now or later, with the phases of `layout`.
    #[must_use]
    pub fn new(start: Instant, layout: Layout) -> Self {
        Recorder::with_kinds(start, layout, Kinds::default())
    }

    /// The same for several kinds of request: each has counts and histograms of its own, and totals are merged from
    /// them.
    #[must_use]
    pub fn with_kinds(start: Instant, layout: Layout, kinds: Kinds) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let slots = (threads * 2 + 2).next_power_of_two();
        Recorder(Arc::new(Inner {
            start,
            steady: layout.steady(),
            slots: (0..slots).map(|_| CachePadded::default()).collect(),
            store: Mutex::new(Store::new(layout, &kinds)),
            kinds,
        }))
    }

    /// The instant from which offsets count.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.0.start
    }

    /// The kinds of request that are kept apart.
    #[must_use]
    pub fn kinds(&self) -> &Kinds {
        &self.0.kinds
    }

    /// This instant as an offset; [`Offset::ZERO`] before the start.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Offset {
        self.offset(Instant::now())
    }

    #[inline]
    fn offset(&self, at: Instant) -> Offset {
        Offset::from(at.saturating_duration_since(self.0.start))
    }

    /// Takes up an arrival that the pacer has released.
    #[inline]
    #[must_use = "an arrival that is dropped counts as abandoned"]
    pub fn arrive(&self, due: Due) -> Arrival {
        self.slot().released += 1;
        Arrival::new(self.clone(), due)
    }

    /// Takes up, now, an arrival that should have started at `intended`: the form for a pacer of your own.
    #[must_use = "an arrival that is dropped counts as abandoned"]
    pub fn arrive_at(&self, seq: u64, intended: Instant) -> Arrival {
        let intended = self.offset(intended);
        self.arrive(Due {
            ticket: Ticket { seq, intended },
            fired: self.now().max(intended),
        })
    }

    /// Writes down an arrival that was measured elsewhere: in a simulation, or in another tool's log.
    pub fn write(&self, sample: Sample) {
        let mut slot = self.slot();
        slot.released += 1;
        if let Some(dispatched) = sample.dispatched {
            slot.dispatched += 1;
            slot.occupancy_ns -= i128::from(self.0.steady.clamp(dispatched));
        }
        let owned = slot.owned_details;
        slot.details.truncate(owned);
        self.push(&mut slot, sample, 0);
    }

    /// The same with the inner timings and counts of its answer, as a simulation knows them.
    pub fn write_described(&self, sample: Sample, answer: &impl Describe) {
        {
            let mut slot = self.slot();
            slot.released += 1;
            if let Some(dispatched) = sample.dispatched {
                slot.dispatched += 1;
                slot.occupancy_ns -= i128::from(self.0.steady.clamp(dispatched));
            }
        }
        self.record(sample, |into| answer.details(into));
    }

    /// Writes down an arrival that was due and that the generator never released, given up at `gave_up`.
    pub fn unsent(&self, ticket: Ticket, gave_up: Offset) {
        self.write(Sample::unsent(ticket, gave_up));
    }

    #[inline]
    pub(crate) fn dispatched(&self, at: Offset) {
        let mut slot = self.slot();
        slot.dispatched += 1;
        slot.occupancy_ns -= i128::from(self.0.steady.clamp(at));
    }

    /// Writes down the end of an arrival. `details` runs with the slot locked.
    #[inline]
    pub(crate) fn record(
        &self,
        mut sample: Sample,
        details: impl FnOnce(&mut Details<'_>),
    ) -> Sample {
        let intended = self.0.start + sample.intended.as_duration();
        let mut slot = self.slot();
        let owned = slot.owned_details;
        slot.details.truncate(owned);
        let mut into = Details::new(&mut slot.details, intended, sample.lag());
        details(&mut into);
        let (acquire_ns, received) = into.finish();
        sample.acquire = Duration::from_nanos(acquire_ns);
        // A stamp past the completion is an error of the conversion between clocks, and small.
        sample.received = received.map(|at| self.offset(at).min(sample.ended));
        let details = slot.details.len() - owned;
        self.push(&mut slot, sample, details)
    }

    #[inline]
    fn push(&self, slot: &mut Slot, mut sample: Sample, details: usize) -> Sample {
        if let Some(kind) = sample.kind
            && kind.index() >= self.0.kinds.len()
        {
            sample.kind = None;
            slot.unknown_kinds += 1;
        }
        slot.ended.add(sample.outcome);
        if sample.dispatched.is_some() {
            slot.ended_dispatched += 1;
            slot.occupancy_ns += i128::from(self.0.steady.clamp(sample.ended));
        }
        slot.finished.push(Finished::new(sample, details));
        slot.owned_details += details;
        if slot.finished.len() >= BATCH {
            // Slot before store, always: whoever holds the store never asks for a slot.
            let store = if slot.finished.len() < MAX_BATCH {
                self.0.store.try_lock()
            } else {
                Some(self.0.store.lock())
            };
            if let Some(mut store) = store {
                slot.fold_into(&mut store);
            }
        }
        sample
    }

    #[inline]
    fn slot(&self) -> MutexGuard<'_, Slot> {
        let slots = &self.0.slots;
        slots[thread_number() & (slots.len() - 1)].lock()
    }

    /// Arrivals by outcome, now: a consistent cut.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let slots: Vec<_> = self.0.slots.iter().map(|slot| slot.lock()).collect();
        total(&slots).0
    }

    /// Everything recorded so far: a consistent cut, in which what is still in flight has only its place in the
    /// counts.
    ///
    /// It copies every histogram (some milliseconds and megabytes): to look at a run in progress use
    /// [`live`](Recorder::live), and at its end [`finish`](Recorder::finish).
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.cut(|store| store.clone())
    }

    /// Everything recorded, moved out instead of copied: for the end of a run, when nothing is in flight. The
    /// counts stay; histograms begin anew.
    #[must_use]
    pub fn finish(&self) -> Snapshot {
        self.cut(|store| {
            let empty = Store::new(store.layout.clone(), &self.0.kinds);
            std::mem::replace(store, empty)
        })
    }

    fn cut(&self, take: impl FnOnce(&mut Store) -> Store) -> Snapshot {
        let mut slots: Vec<_> = self.0.slots.iter().map(|slot| slot.lock()).collect();
        let mut store = self.0.store.lock();
        for slot in &mut slots {
            slot.fold_into(&mut store);
        }
        let (counts, mut occupancy_ns) = total(&slots);
        let unknown_kinds = slots.iter().map(|slot| slot.unknown_kinds).sum();
        drop(slots);
        // What is in flight has been so until now, and was taken off at its dispatch.
        occupancy_ns += i128::from(counts.in_flight) * i128::from(self.0.steady.clamp(self.now()));
        let store = take(&mut store);
        Snapshot::new(
            store,
            self.0.kinds.clone(),
            counts,
            unknown_kinds,
            occupancy_ns,
        )
    }

    /// The counts, and the latencies of the interval before the present one: for showing progress. Cheap.
    #[must_use]
    pub fn live(&self) -> Live {
        let mut slots: Vec<_> = self.0.slots.iter().map(|slot| slot.lock()).collect();
        let mut store = self.0.store.lock();
        for slot in &mut slots {
            slot.fold_into(&mut store);
        }
        let (counts, _) = total(&slots);
        drop(slots);
        let now = self.now();
        let before = Offset::from_nanos(now.as_nanos().saturating_sub(1_000_000_000));
        Live {
            now,
            counts,
            latest: store.timeline.interval_at(before),
        }
    }
}

fn total(slots: &[MutexGuard<'_, Slot>]) -> (Counts, i128) {
    let mut counts = Counts::default();
    let (mut released, mut dispatched, mut ended_dispatched) = (0, 0, 0);
    let mut occupancy_ns = 0;
    for slot in slots {
        counts.merge(&slot.ended);
        released += slot.released;
        dispatched += slot.dispatched;
        ended_dispatched += slot.ended_dispatched;
        occupancy_ns += slot.occupancy_ns;
    }
    counts.scheduled = released;
    counts.in_flight = dispatched - ended_dispatched;
    counts.waiting = released - dispatched - (counts.ended() - ended_dispatched);
    (counts, occupancy_ns)
}

impl Slot {
    fn fold_into(&mut self, store: &mut Store) {
        let owned = self.owned_details;
        self.details.truncate(owned);
        store.fold(&mut self.finished, &mut self.details);
        self.owned_details = 0;
    }
}

/// A glance at a run in progress.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Live {
    /// When the glance was taken.
    pub now: Offset,
    /// Arrivals by outcome.
    pub counts: Counts,
    /// The interval that ended last, as far as its arrivals have ended.
    pub latest: Option<Interval>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("start", &self.0.start)
            .field("slots", &self.0.slots.len())
            .finish_non_exhaustive()
    }
}
