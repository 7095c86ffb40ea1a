//! How a run is cut into intervals.

use crate::Layout;
use openloop_sched::Offset;

/// Intervals of one length, counted anew from the start of each phase and from the end of the last: none of them lies
/// in two phases, so the last of each may be shorter.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    interval_ns: u64,
    /// The first instant of each part, and the number of its first interval.
    parts: Vec<(u64, usize)>,
}

impl Grid {
    pub(crate) fn new(layout: &Layout, interval_ns: u64) -> Self {
        let starts = layout.spans().iter().map(|span| span.from.as_nanos());
        let starts = starts.chain([layout.end().as_nanos()]);
        let mut grid = Grid {
            interval_ns: interval_ns.max(1),
            parts: starts.map(|from| (from, 0)).collect(),
        };
        grid.number();
        grid
    }

    /// How long an interval is, but for the last of each phase.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// Numbers the intervals.
    fn number(&mut self) {
        let mut first = 0;
        for index in 1..self.parts.len() {
            first += self.intervals_in(index - 1);
            self.parts[index].1 = first;
        }
    }

    /// How many intervals the part `index` has, which is not the last.
    fn intervals_in(&self, index: usize) -> usize {
        let length = self.parts[index + 1].0 - self.parts[index].0;
        usize::try_from(length.div_ceil(self.interval_ns)).unwrap_or(usize::MAX)
    }

    /// The number of the interval of `at`.
    pub(crate) fn index(&self, at: Offset) -> usize {
        let at = at.as_nanos();
        let part = self.parts.partition_point(|(from, _)| *from <= at);
        let (from, first) = self.parts[part.saturating_sub(1)];
        let into = at.saturating_sub(from) / self.interval_ns;
        first.saturating_add(usize::try_from(into).unwrap_or(usize::MAX))
    }

    /// The first instant of the interval `index`, and the first after it.
    pub(crate) fn span(&self, index: usize) -> (u64, u64) {
        let part = self.parts.partition_point(|(_, first)| *first <= index);
        let (from, first) = self.parts[part.saturating_sub(1)];
        let start = from.saturating_add(self.interval_ns.saturating_mul((index - first) as u64));
        let end = start.saturating_add(self.interval_ns);
        let next = self.parts.get(part).map_or(u64::MAX, |(from, _)| *from);
        (start, end.min(next))
    }

    /// Makes intervals twice as long. Returns how many of the present ones each part has that is not the last: those of
    /// each part become one in pairs, and an odd one at its end stays alone.
    pub(crate) fn coarsen(&mut self) -> Vec<usize> {
        let before = (1..self.parts.len()).map(|part| self.intervals_in(part - 1));
        let before = before.collect();
        self.interval_ns = self.interval_ns.saturating_mul(2);
        self.number();
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;
    use std::time::Duration;

    const SECOND: u64 = 1_000_000_000;

    fn grid() -> Grid {
        let ms = Duration::from_millis;
        let layout = Layout::new(&[
            (Phase::WarmUp, ms(2500)),
            (Phase::Steady, ms(3000)),
            (Phase::Cooldown, ms(700)),
        ]);
        Grid::new(&layout.unwrap(), SECOND)
    }

    fn spans(grid: &Grid, count: usize) -> Vec<(u64, u64)> {
        let ms = |(from, to): (u64, u64)| (from / 1_000_000, to / 1_000_000);
        (0..count).map(|index| ms(grid.span(index))).collect()
    }

    #[test]
    fn no_interval_lies_in_two_phases() {
        let grid = grid();
        assert_eq!(
            spans(&grid, 8),
            [
                (0, 1000),
                (1000, 2000),
                (2000, 2500),
                (2500, 3500),
                (3500, 4500),
                (4500, 5500),
                (5500, 6200),
                (6200, 7200)
            ]
        );
        for index in 0..20 {
            let (from, to) = grid.span(index);
            assert_eq!(grid.index(Offset::from_nanos(from)), index);
            assert_eq!(grid.index(Offset::from_nanos(to - 1)), index);
        }
    }

    #[test]
    fn longer_intervals_are_those_before_in_pairs() {
        let mut grid = grid();
        assert_eq!(grid.coarsen(), [3, 3, 1]);
        assert_eq!(
            spans(&grid, 6),
            [
                (0, 2000),
                (2000, 2500),
                (2500, 4500),
                (4500, 5500),
                (5500, 6200),
                (6200, 8200)
            ]
        );
    }
}
