//! What happened when: counts and latencies by interval.

use crate::grid::Grid;
use crate::histogram::Packed;
use crate::layout::Span;
use crate::{Counts, Histogram, Layout, Outcome, Population, Quantile, Sample, Value};
use openloop_sched::Offset;
use std::collections::VecDeque;
use std::time::Duration;

/// The most intervals of a plan: they are doubled beforehand until there are no more. To merge thousands in the middle of a
/// run would keep the thread that sends for a second.
const MAX_PLANNED: usize = 7200;

/// The longest timeline: a run that goes on so long after its plan has its intervals doubled and merged in pairs.
const MAX_INTERVALS: usize = 8192;

/// How many intervals keep their histogram at hand; older ones are packed to a few kilobytes each.
const MAX_OPEN: usize = 8;

/// So many samples from one interval to come for which memory is taken to the next.
const EVERY: u32 = 8;

/// One interval of the run: a second, or more in a run of hours, and less at the end of a phase. None lies in two
/// phases.
///
/// Counts stand at their own instants: an arrival is fired in one interval and may end in another. Latencies
/// stand at the *intended* instant, where the user was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Interval {
    /// First instant.
    pub from: Offset,
    /// First instant after it.
    pub to: Offset,
    /// Arrivals whose intended instant lies here.
    pub arrivals: u64,
    /// Arrivals released here.
    pub fired: u64,
    /// Arrivals whose future was first polled here.
    pub dispatched: u64,
    /// Arrivals that ended here, by outcome.
    pub ended: Counts,
    /// Number in flight at the end of the interval.
    pub in_flight: u64,
    /// The largest lag of an arrival that was intended here.
    pub max_lag_ns: u64,
    /// Median response of the arrivals that were intended here.
    pub p50: Option<Value>,
    /// 99th percentile of their response.
    pub p99: Option<Value>,
    /// The largest response.
    pub max: Option<Value>,
}

/// A stretch of the run, and the responses of the arrivals that were intended in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stretch {
    /// First instant.
    pub from: Offset,
    /// First instant after it.
    pub to: Offset,
    /// The responses.
    pub response: Population,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    arrivals: u64,
    fired: u64,
    dispatched: u64,
    ended: Counts,
    ended_dispatched: u64,
    max_lag_ns: u64,
    exact: Latencies,
    at_least: Latencies,
}

/// Responses, and memory to pack them into: that of the last time, or taken beforehand.
#[derive(Clone, Debug)]
enum Latencies {
    Empty(Vec<u8>),
    Open(Box<Histogram>, Vec<u8>),
    Packed(Packed),
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::Empty(Vec::new())
    }
}

impl Latencies {
    /// Nothing yet, and memory to pack so many bytes into.
    fn with_room(bytes: usize) -> Self {
        // Memory that nobody has written to is not there yet.
        let mut room = vec![u8::MAX; bytes];
        room.clear();
        Latencies::Empty(room)
    }

    fn open(&mut self) -> &mut Histogram {
        if !matches!(self, Latencies::Open(..)) {
            let histogram = Box::new(self.histogram());
            let room = match std::mem::take(self) {
                Latencies::Empty(room) | Latencies::Open(_, room) => room,
                Latencies::Packed(packed) => packed.into_room(),
            };
            *self = Latencies::Open(histogram, room);
        }
        match self {
            Latencies::Open(histogram, _) => histogram,
            // Assigned just above.
            Latencies::Empty(_) | Latencies::Packed(_) => unreachable!(),
        }
    }

    fn histogram(&self) -> Histogram {
        match self {
            Latencies::Empty(_) => Histogram::new(),
            Latencies::Open(histogram, _) => (**histogram).clone(),
            Latencies::Packed(packed) => packed.unpack(),
        }
    }

    /// Returns how many bytes they take now.
    fn pack(&mut self) -> usize {
        if let Latencies::Open(histogram, room) = self {
            *self = Latencies::Packed(histogram.pack(std::mem::take(room)));
        }
        match self {
            Latencies::Packed(packed) => packed.len(),
            Latencies::Empty(_) | Latencies::Open(..) => 0,
        }
    }

    fn absorb(&mut self, other: Latencies) {
        match other {
            Latencies::Empty(_) => {}
            other => {
                let from = other.histogram();
                self.open().merge(&from);
            }
        }
    }
}

impl Cell {
    fn absorb(&mut self, other: Cell) {
        self.arrivals += other.arrivals;
        self.fired += other.fired;
        self.dispatched += other.dispatched;
        self.ended.merge(&other.ended);
        self.ended_dispatched += other.ended_dispatched;
        self.max_lag_ns = self.max_lag_ns.max(other.max_lag_ns);
        self.exact.absorb(other.exact);
        self.at_least.absorb(other.at_least);
        self.exact.pack();
        self.at_least.pack();
    }

    fn population(&self) -> Population {
        Population {
            exact: self.exact.histogram(),
            at_least: self.at_least.histogram(),
        }
    }
}

/// Collects intervals. Its memory is bounded, however long the run is, and is taken along the way of the first: a run of
/// hours then takes what its first minute has taken.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    grid: Grid,
    /// Those that have been reached, and behind them some to come.
    cells: Vec<Cell>,
    reached: usize,
    /// How many intervals there will be.
    planned: usize,
    /// The most bytes that the latencies of one took.
    most_bytes: usize,
    samples: u32,
    /// The interval that was asked for last, its start and its length: most questions are about the same one.
    recent: (usize, u64, u64),
    /// Intervals with an open histogram, oldest use first.
    open: Vec<usize>,
}

impl Timeline {
    pub(crate) fn new(interval: Duration, layout: &Layout) -> Self {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let mut grid = Grid::new(layout, interval_ns);
        while grid.index(layout.end()) > MAX_PLANNED {
            grid.coarsen();
        }
        let planned = grid.index(layout.end());
        let mut cells = Vec::with_capacity(planned + 1);
        cells.push(Cell::default());
        Timeline {
            planned,
            grid,
            cells,
            reached: 1,
            most_bytes: 0,
            samples: 0,
            recent: (0, 0, 0),
            open: Vec::new(),
        }
    }

    pub(crate) fn record(&mut self, sample: &Sample) {
        let response = sample
            .ended
            .as_nanos()
            .saturating_sub(sample.intended.as_nanos());
        let lag = sample
            .fired
            .as_nanos()
            .saturating_sub(sample.intended.as_nanos());
        if sample.outcome != Outcome::Unsent {
            self.cell(sample.fired).fired += 1;
        }
        if let Some(dispatched) = sample.dispatched {
            self.cell(dispatched).dispatched += 1;
        }
        let ended = self.cell(sample.ended);
        ended.ended.add(sample.outcome);
        ended.ended_dispatched += u64::from(sample.dispatched.is_some());
        let index = self.index(sample.intended);
        let cell = &mut self.cells[index];
        cell.arrivals += 1;
        cell.max_lag_ns = cell.max_lag_ns.max(lag);
        let latencies = if sample.outcome.is_open_ended() {
            &mut cell.at_least
        } else {
            &mut cell.exact
        };
        latencies.open().record(response);
        self.touch(index);
        self.samples += 1;
        if self.samples == EVERY {
            self.samples = 0;
            self.provide();
        }
    }

    /// Takes the memory of one more interval, if more are to come, and there has been one to see how much that is.
    fn provide(&mut self) {
        if self.most_bytes > 0 && self.cells.len() < self.planned {
            let room = self.most_bytes + self.most_bytes / 8;
            self.cells.push(Cell {
                exact: Latencies::with_room(room),
                ..Cell::default()
            });
        }
    }

    fn cell(&mut self, at: Offset) -> &mut Cell {
        let index = self.index(at);
        &mut self.cells[index]
    }

    /// The interval of `at`, made if there is none yet.
    #[inline]
    fn index(&mut self, at: Offset) -> usize {
        let (index, start, length) = self.recent;
        // Below `start` this wraps around, to more than any interval.
        if at.as_nanos().wrapping_sub(start) < length {
            return index;
        }
        let index = self.find(at);
        let (start, end) = self.grid.span(index);
        self.recent = (index, start, end - start);
        index
    }

    fn find(&mut self, at: Offset) -> usize {
        loop {
            let index = self.grid.index(at);
            if index < self.reached {
                return index;
            }
            if index < MAX_INTERVALS {
                if index >= self.cells.len() {
                    self.cells.resize_with(index + 1, Cell::default);
                }
                self.reached = index + 1;
                return index;
            }
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        let parts = self.grid.coarsen();
        self.recent = (0, 0, 0);
        self.open.clear();
        let mut cells = std::mem::take(&mut self.cells)
            .into_iter()
            .take(self.reached);
        for length in parts.into_iter().chain([usize::MAX]) {
            let mut part = cells.by_ref().take(length);
            while let Some(mut cell) = part.next() {
                cell.absorb(part.next().unwrap_or_default());
                self.cells.push(cell);
            }
        }
        self.reached = self.cells.len();
    }

    fn touch(&mut self, index: usize) {
        if self.open.last() == Some(&index) {
            return;
        }
        self.open.retain(|&open| open != index);
        self.open.push(index);
        if self.open.len() > MAX_OPEN {
            let oldest = self.open.remove(0);
            let bytes = self.cells[oldest].exact.pack();
            self.cells[oldest].at_least.pack();
            self.most_bytes = self.most_bytes.max(bytes);
        }
    }

    fn cells(&self) -> &[Cell] {
        &self.cells[..self.reached]
    }

    /// The intervals so far.
    pub(crate) fn intervals(&self) -> Vec<Interval> {
        let mut in_flight = 0_u64;
        self.cells()
            .iter()
            .enumerate()
            .map(|(index, cell)| {
                in_flight = (in_flight + cell.dispatched).saturating_sub(cell.ended_dispatched);
                self.interval(index, cell, in_flight)
            })
            .collect()
    }

    /// The responses of each interval so far that has any, with its first instant and the first after it: one is
    /// unpacked at a time.
    pub(crate) fn responses(&self) -> impl Iterator<Item = (Offset, Offset, Population)> + '_ {
        let cells = self.cells().iter().enumerate();
        let cells = cells.filter(|(_, cell)| cell.arrivals > 0);
        cells.map(|(index, cell)| {
            let (from, to) = self.grid.span(index);
            let [from, to] = [from, to].map(Offset::from_nanos);
            (from, to, cell.population())
        })
    }

    /// The interval of `at`, if anything of it has been recorded. Its number in flight is left at zero.
    pub(crate) fn interval_at(&self, at: Offset) -> Option<Interval> {
        let index = self.grid.index(at);
        Some(self.interval(index, self.cells().get(index)?, 0))
    }

    /// The stretch of whole intervals within `span` that has the highest quantile `q`: the first of equals.
    pub(crate) fn worst(&self, span: Span, length: Duration, q: Quantile) -> Option<Stretch> {
        let first = self.grid.index(span.from);
        let first = first + usize::from(self.grid.span(first).0 < span.from.as_nanos());
        let end = self.grid.index(span.to).min(self.reached);
        let wanted = length.as_nanos() / u128::from(self.grid.interval_ns());
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).max(1);
        // How bad: a lower bound is worse than anything measured.
        let rank = |value: Value| (value.is_lower_bound(), value.ns());
        let mut worst: Option<((bool, u64), Stretch)> = None;
        let mut recent: VecDeque<(Option<(bool, u64)>, Population)> = VecDeque::new();
        for index in first..end {
            let population = self.cells[index].population();
            recent.push_back((population.quantile(q).map(rank), population));
            if recent.len() > wanted {
                recent.pop_front();
            }
            // The quantile of a whole is at most the greatest of its parts.
            let most = recent.iter().filter_map(|(rank, _)| *rank).max();
            let least = worst.as_ref().map(|(rank, _)| *rank);
            if recent.len() < wanted || most <= least {
                continue;
            }
            let mut response = Population::new();
            for (_, part) in &recent {
                response.merge(part);
            }
            let rank = response.quantile(q).map(rank);
            if let Some(rank) = rank.filter(|rank| Some(*rank) > least) {
                let stretch = Stretch {
                    from: Offset::from_nanos(self.grid.span(index + 1 - wanted).0),
                    to: Offset::from_nanos(self.grid.span(index).1),
                    response,
                };
                worst = Some((rank, stretch));
            }
        }
        worst.map(|(_, stretch)| stretch)
    }

    fn interval(&self, index: usize, cell: &Cell, in_flight: u64) -> Interval {
        let (from, to) = self.grid.span(index);
        let population = cell.population();
        Interval {
            from: Offset::from_nanos(from),
            to: Offset::from_nanos(to),
            arrivals: cell.arrivals,
            fired: cell.fired,
            dispatched: cell.dispatched,
            ended: cell.ended,
            in_flight,
            max_lag_ns: cell.max_lag_ns,
            p50: population.quantile(Quantile::P50),
            p99: population.quantile(Quantile::P99),
            max: population.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(intended_ms: u64, ended_ms: u64, outcome: Outcome) -> Sample {
        let at = |ms: u64| Offset::from_nanos(ms * 1_000_000);
        Sample {
            seq: 0,
            intended: at(intended_ms),
            fired: at(intended_ms + 1),
            dispatched: outcome
                .is_open_ended()
                .then_some(())
                .map_or(Some(at(intended_ms + 2)), |()| None),
            ended: at(ended_ms),
            received: None,
            acquire: Duration::ZERO,
            kind: None,
            outcome,
        }
    }

    /// Seconds, of a run of so many.
    fn of_seconds(seconds: u64) -> Timeline {
        let layout = Layout::steady_only(Duration::from_secs(seconds)).unwrap();
        Timeline::new(Duration::from_secs(1), &layout)
    }

    #[test]
    fn counts_stand_at_their_own_instants_and_latencies_at_the_intended_one() {
        let mut timeline = of_seconds(3);
        timeline.record(&sample(100, 2500, Outcome::Ok));
        timeline.record(&sample(1999, 2002, Outcome::Shed));
        let intervals = timeline.intervals();
        assert_eq!(intervals.len(), 3);
        assert_eq!(intervals[0].max, Some(Value::Exact(2_400_000_000)));
        assert_eq!(
            (
                intervals[0].fired,
                intervals[0].ended.ok,
                intervals[2].ended.ok
            ),
            (1, 0, 1)
        );
        assert_eq!(
            [
                intervals[0].in_flight,
                intervals[1].in_flight,
                intervals[2].in_flight
            ],
            [1, 1, 0]
        );
        assert_eq!(intervals[1].max, Some(Value::AtLeast(3_000_000)));
        assert_eq!(
            (
                intervals[1].arrivals,
                intervals[1].fired,
                intervals[2].fired
            ),
            (1, 0, 1)
        );
        assert_eq!(intervals[2].p50, None);
    }

    #[test]
    fn a_late_end_reopens_a_packed_interval_without_losing_anything() {
        let mut timeline = of_seconds(200);
        for second in 0..200 {
            timeline.record(&sample(second * 1000, second * 1000 + 5, Outcome::Ok));
        }
        timeline.record(&sample(10, 199_000, Outcome::Ok));
        let first = &timeline.intervals()[0];
        assert_eq!(first.arrivals, 2);
        assert_eq!(
            (first.p50, first.max),
            (
                Some(Value::Exact(5_001_215)),
                Some(Value::Exact(198_990_000_000))
            )
        );
    }

    #[test]
    fn the_worst_stretch_is_found_within_the_phase() {
        let mut timeline = of_seconds(60);
        for i in 0..6000 {
            let at = i * 10;
            // Slow before the phase, and from 31 to 35 s; one much slower arrival at 50 s is less than a hundredth.
            let slow = at < 3000 || (31_000..35_000).contains(&at);
            let took = match (slow, at == 50_000) {
                (_, true) => 5000,
                (true, _) => 100 + i % 7,
                (false, _) => 1,
            };
            timeline.record(&sample(at, at + took, Outcome::Ok));
        }
        let span = Span {
            phase: crate::Phase::Steady,
            from: Offset::from_nanos(4_500_000_000),
            to: Offset::from_nanos(60_000_000_000),
        };
        let worst = timeline.worst(span, Duration::from_secs(4), Quantile::P50);
        let worst = worst.unwrap();
        assert_eq!(worst.from.as_nanos(), 31_000_000_000);
        assert_eq!(worst.to.as_nanos(), 35_000_000_000);
        assert_eq!(worst.response.count(), 400);
        // The same by looking at every stretch.
        for q in [Quantile::P50, Quantile::P99, Quantile::P99_9] {
            let mut most = 0;
            for from in 5..=50 {
                let mut whole = Population::new();
                for index in from..from + 10 {
                    whole.merge(&timeline.cells[index].population());
                }
                most = most.max(whole.quantile(q).unwrap().ns());
            }
            let found = timeline.worst(span, Duration::from_secs(10), q).unwrap();
            assert_eq!(found.response.quantile(q).unwrap().ns(), most, "{q}");
        }
        assert!(
            timeline
                .worst(span, Duration::from_secs(56), Quantile::P50)
                .is_none()
        );
    }

    #[test]
    fn a_long_run_is_kept_in_fewer_and_longer_intervals() {
        let mut timeline = of_seconds(36_000);
        for minute in 0..600 {
            timeline.record(&sample(
                minute * 60_000,
                minute * 60_000 + minute,
                Outcome::Ok,
            ));
        }
        let intervals = timeline.intervals();
        assert!(intervals.len() <= MAX_INTERVALS);
        assert_eq!(intervals[0].to.as_duration(), Duration::from_secs(8));
        assert_eq!(intervals.iter().map(|i| i.arrivals).sum::<u64>(), 600);
        assert_eq!(intervals.iter().map(|i| i.ended.ok).sum::<u64>(), 600);
        assert_eq!(intervals.last().unwrap().in_flight, 0);
        assert_eq!(
            intervals.iter().filter_map(|i| i.max).map(Value::ns).max(),
            Some(599_000_000)
        );
    }

    #[test]
    fn no_run_within_its_plan_is_kept_from_sending_by_a_merge_of_intervals() {
        for (seconds, interval_ns) in [(7200, 1), (7201, 2), (86_400, 16)] {
            let timeline = of_seconds(seconds);
            assert_eq!(timeline.grid.interval_ns(), interval_ns * 1_000_000_000);
            assert!(timeline.planned <= MAX_PLANNED);
        }
        // Longer than any clock tells.
        let timeline = of_seconds(u64::MAX / 1_000_000_000);
        assert!(timeline.planned <= MAX_PLANNED);
    }

    #[test]
    fn what_ends_long_after_the_plan_makes_intervals_longer_and_loses_nothing() {
        let mut timeline = of_seconds(10);
        for second in 0..20_000 {
            timeline.record(&sample(second * 1000, second * 1000 + 3, Outcome::Ok));
        }
        let intervals = timeline.intervals();
        assert!(intervals.len() <= MAX_INTERVALS);
        assert_eq!(intervals[0].to.as_duration(), Duration::from_secs(4));
        assert_eq!(intervals.iter().map(|i| i.arrivals).sum::<u64>(), 20_000);
    }

    #[test]
    fn memory_for_what_is_planned_is_taken_once_it_is_known_how_much_that_is() {
        let mut timeline = of_seconds(600);
        for i in 0..60_000_u64 {
            // A thousand a second, between 1 and 2 ms.
            let intended = Offset::from_nanos(i * 1_000_000);
            let took = 1_000_000 + i * 7919 % 1_000_000;
            timeline.record(&Sample {
                intended,
                fired: intended,
                dispatched: Some(intended),
                ended: Offset::from_nanos(intended.as_nanos() + took),
                ..sample(0, 0, Outcome::Ok)
            });
            if i < 8000 {
                assert_eq!(timeline.cells.len(), timeline.reached);
            }
        }
        assert_eq!(timeline.cells.len(), 600);
        let room = |latencies: &Latencies| match latencies {
            Latencies::Empty(room) | Latencies::Open(_, room) => room.capacity(),
            Latencies::Packed(packed) => packed.len(),
        };
        let to_come = timeline.cells[timeline.reached..].iter();
        let least = to_come.map(|cell| room(&cell.exact)).min();
        assert!(least >= Some(timeline.most_bytes));
        // What is to come is no part of what there is: the last ended in the second after its own.
        assert_eq!(timeline.intervals().len(), 61);
    }

    #[test]
    fn longer_intervals_keep_what_the_phases_had() {
        let secs = Duration::from_secs;
        let layout = Layout::new(&[
            (crate::Phase::WarmUp, secs(3)),
            (crate::Phase::Steady, secs(10_000)),
        ]);
        let mut timeline = Timeline::new(secs(1), &layout.unwrap());
        for second in 0..10_003 {
            timeline.record(&sample(second * 1000, second * 1000, Outcome::Ok));
        }
        let intervals = timeline.intervals();
        assert!(intervals.len() <= MAX_INTERVALS);
        let before: u64 = intervals[..2].iter().map(|i| i.arrivals).sum();
        assert_eq!((before, intervals[2].from.as_duration()), (3, secs(3)));
        assert_eq!(intervals.last().unwrap().to.as_duration(), secs(10_003));
        let responses = timeline
            .responses()
            .map(|(_, _, response)| response.count());
        assert_eq!(responses.sum::<u64>(), 10_003);
    }
}
