//! What happened when: counts and latencies by interval.

mod latencies;
#[cfg(test)]
mod tests;

use crate::grid::Grid;
use crate::layout::Span;
use crate::{Counts, Layout, Outcome, Population, Quantile, Sample, Value};
use latencies::Latencies;
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

/// For an interval to come, so many bytes for each arrival, and so many at the most, are taken beyond those of the largest
/// so far: where a machine has more to do than in the first minute, the latencies of a second are more various.
const SPARE_EACH: u64 = 2;
const MAX_SPARE: u64 = 2048;

/// So many samples from one taking of memory to the next.
const EVERY: u32 = 8;

/// All of it is taken in about so many intervals: where fewer samples come, there is more of it at a time.
const WITHIN: usize = 32;

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
/// hours then takes what the first minute of its steady phase has taken.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    grid: Grid,
    /// Those that have been reached, and behind them some to come.
    cells: Vec<Cell>,
    reached: usize,
    /// How many intervals there will be.
    planned: usize,
    /// The start of the steady phase: before it, there is less of everything than there will be.
    steady: u64,
    /// The most bytes that the latencies of one of its intervals may take, and its lower bounds.
    most_bytes: [usize; 2],
    samples: u32,
    /// For how many intervals to come memory is taken at a time.
    at_once: usize,
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
            steady: layout.steady().from.as_nanos(),
            most_bytes: [0; 2],
            samples: 0,
            at_once: 0,
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

    /// Takes the memory of intervals to come, once one of the steady phase has shown how much that is.
    fn provide(&mut self) {
        let missing = self.planned.saturating_sub(self.cells.len());
        for _ in 0..missing.min(self.at_once) {
            let [exact, at_least] = self.most_bytes.map(Latencies::with_room);
            self.cells.push(Cell {
                exact,
                at_least,
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
        // The plan is over.
        self.planned = 0;
    }

    fn touch(&mut self, index: usize) {
        if self.open.last() == Some(&index) {
            return;
        }
        self.open.retain(|&open| open != index);
        self.open.push(index);
        if self.open.len() > MAX_OPEN {
            let oldest = self.open.remove(0);
            let cell = &mut self.cells[oldest];
            let bytes = [&mut cell.exact, &mut cell.at_least].map(Latencies::pack);
            if self.grid.span(oldest).0 < self.steady {
                return;
            }
            let spare = (SPARE_EACH * cell.arrivals).min(MAX_SPARE) as usize;
            for (most, bytes) in self.most_bytes.iter_mut().zip(bytes) {
                if bytes > 0 {
                    *most = (bytes + spare).max(*most);
                }
            }
            if self.at_once == 0 {
                let takings = WITHIN as u64 * cell.arrivals / u64::from(EVERY);
                self.at_once = self.planned.div_ceil(takings.max(1) as usize);
            }
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
