//! The course of the steady phase in time, for tests of stationarity and of having enough data.

use crate::layout::Span;
use crate::{Outcome, Sample};
use openloop_sched::Offset;
use std::time::Duration;

/// How many slices the steady phase is cut into: divisible by ten windows and by twelve batches.
pub const SLICES: usize = 1200;

/// One slice of the steady phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slice {
    /// Arrivals whose intended instant lies in the slice.
    pub arrivals: u64,
    /// Sum of their responses, in nanoseconds; for those without an end, of their ages.
    pub response_ns: u128,
    /// The smallest response of an arrival that was served; `u64::MAX` if none was.
    pub min_ok_ns: u64,
    /// The largest response of an arrival that was served.
    pub max_ok_ns: u64,
    /// Arrivals that were not served.
    pub not_ok: u64,
    /// Arrivals that were served and whose completion lies in the slice.
    pub ok_completions: u64,
    /// Change of the number in flight over the slice.
    change: i64,
    /// Sum over those changes of their instants, signed.
    moment_ns: i128,
}

impl Slice {
    const EMPTY: Slice = Slice {
        arrivals: 0,
        response_ns: 0,
        min_ok_ns: u64::MAX,
        max_ok_ns: 0,
        not_ok: 0,
        ok_completions: 0,
        change: 0,
        moment_ns: 0,
    };

    fn merge(&mut self, other: &Slice) {
        self.arrivals += other.arrivals;
        self.response_ns += other.response_ns;
        self.min_ok_ns = self.min_ok_ns.min(other.min_ok_ns);
        self.max_ok_ns = self.max_ok_ns.max(other.max_ok_ns);
        self.not_ok += other.not_ok;
        self.ok_completions += other.ok_completions;
        self.change += other.change;
        self.moment_ns += other.moment_ns;
    }
}

/// The steady phase in [`SLICES`] slices of equal length, to the nanosecond.
#[derive(Clone, Debug)]
pub struct Course {
    span: Span,
    length_ns: u64,
    before: i64,
    slices: Vec<Slice>,
}

impl Course {
    pub(crate) fn new(span: Span) -> Self {
        Course {
            span,
            length_ns: (span.to.as_nanos() - span.from.as_nanos()).max(1),
            before: 0,
            slices: vec![Slice::EMPTY; SLICES],
        }
    }

    /// Adds everything of `other`, which is a course of the same phase.
    pub(crate) fn merge(&mut self, other: &Course) {
        self.before += other.before;
        for (into, from) in self.slices.iter_mut().zip(&other.slices) {
            into.merge(from);
        }
    }

    /// The slice in which `at` lies; `None` outside the phase.
    #[inline]
    pub(crate) fn index(&self, at: Offset) -> Option<usize> {
        if at >= self.span.to {
            return None;
        }
        let into = at.as_nanos().checked_sub(self.span.from.as_nanos())?;
        // The first holds for half a year; dividing 128 bits takes several times as long.
        Some(match into.checked_mul(SLICES as u64) {
            Some(scaled) => (scaled / self.length_ns) as usize,
            None => (u128::from(into) * SLICES as u128 / u128::from(self.length_ns)) as usize,
        })
    }

    /// Takes in an arrival that was intended in the slice `index`, if in any.
    pub(crate) fn record(&mut self, sample: &Sample, index: Option<usize>) {
        if let Some(index) = index {
            let slice = &mut self.slices[index];
            let response = sample
                .ended
                .as_nanos()
                .saturating_sub(sample.intended.as_nanos());
            slice.arrivals += 1;
            slice.response_ns += u128::from(response);
            if sample.outcome == Outcome::Ok {
                slice.min_ok_ns = slice.min_ok_ns.min(response);
                slice.max_ok_ns = slice.max_ok_ns.max(response);
            } else {
                slice.not_ok += 1;
            }
        }
        let ended = self.index(sample.ended);
        if sample.outcome == Outcome::Ok
            && let Some(ended) = ended
        {
            self.slices[ended].ok_completions += 1;
        }
        if let Some(dispatched) = sample.dispatched {
            self.change(dispatched, self.index(dispatched), 1);
            self.change(sample.ended, ended, -1);
        }
    }

    fn change(&mut self, at: Offset, index: Option<usize>, by: i64) {
        if let Some(index) = index {
            let slice = &mut self.slices[index];
            slice.change += by;
            slice.moment_ns += i128::from(by) * i128::from(at.as_nanos());
        } else if at < self.span.from {
            self.before += by;
        }
    }

    /// Start of a slice in nanoseconds of the run, within the phase.
    fn start(&self, index: usize) -> u64 {
        // The first instant that `index` is given.
        let into = (u128::from(self.length_ns) * index as u128).div_ceil(SLICES as u128);
        self.span.from.as_nanos() + into as u64
    }

    /// The slices in order.
    #[must_use]
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Mean response of the arrivals of each of `batches` equal parts, in nanoseconds; `None` where a part had
    /// no arrival.
    #[must_use]
    pub fn response_means_ns(&self, batches: usize) -> Vec<Option<f64>> {
        self.batches(batches)
            .map(|part| {
                let arrivals: u64 = part.iter().map(|slice| slice.arrivals).sum();
                let sum: u128 = part.iter().map(|slice| slice.response_ns).sum();
                (arrivals > 0).then(|| sum as f64 / arrivals as f64)
            })
            .collect()
    }

    /// Mean number in flight during each of `batches` equal parts.
    #[must_use]
    pub fn in_flight_means(&self, batches: usize) -> Vec<f64> {
        let mut in_flight = self.before;
        let mut index = 0;
        self.batches(batches)
            .map(|part| {
                let (mut area, mut length) = (0.0, 0.0);
                for slice in part {
                    let (start, end) = (self.start(index), self.start(index + 1));
                    let width = end - start;
                    // Each change counts from its instant to the end of the slice.
                    let changed = i128::from(end) * i128::from(slice.change) - slice.moment_ns;
                    area += in_flight as f64 * width as f64 + changed as f64;
                    length += width as f64;
                    in_flight += slice.change;
                    index += 1;
                }
                if length > 0.0 { area / length } else { 0.0 }
            })
            .collect()
    }

    /// Arrivals that were served and completed before `at` within the phase, and the time that is counted: the
    /// whole slices before it.
    #[must_use]
    pub fn ok_completions_before(&self, at: Offset) -> (u64, Duration) {
        let whole = (0..SLICES)
            .take_while(|&index| self.start(index + 1) <= at.as_nanos())
            .count();
        let completions = self.slices[..whole]
            .iter()
            .map(|slice| slice.ok_completions);
        let counted = self.start(whole) - self.span.from.as_nanos();
        (completions.sum(), Duration::from_nanos(counted))
    }

    /// Separate excursions above `ns`, as far as the slices can tell them apart.
    ///
    /// An excursion begins with an arrival that took longer or was not served, after one that did neither, and
    /// goes on through slices in which every arrival is such. A hundred samples above a quantile may all be one
    /// stall: it is the number of stalls that says how well the quantile is known.
    #[must_use]
    pub fn excursions_above(&self, ns: u64) -> u64 {
        let (mut above, mut excursions) = (false, 0);
        for slice in self.slices.iter().filter(|slice| slice.arrivals > 0) {
            let some_above = slice.max_ok_ns > ns || slice.not_ok > 0;
            if some_above && !above {
                excursions += 1;
            }
            let some_below = slice.min_ok_ns <= ns;
            above = some_above && !some_below;
        }
        excursions
    }

    fn batches(&self, batches: usize) -> impl Iterator<Item = &[Slice]> {
        self.slices
            .chunks((SLICES / batches.clamp(1, SLICES)).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Phase};

    fn sample(intended_ms: u64, dispatched_ms: u64, ended_ms: u64, outcome: Outcome) -> Sample {
        let at = |ms: u64| Offset::from_nanos(ms * 1_000_000);
        Sample {
            seq: 0,
            intended: at(intended_ms),
            fired: at(intended_ms),
            dispatched: Some(at(dispatched_ms)),
            ended: at(ended_ms),
            received: None,
            acquire: Duration::ZERO,
            kind: None,
            outcome,
        }
    }

    fn record(course: &mut Course, sample: &Sample) {
        course.record(sample, course.index(sample.intended));
    }

    fn course() -> Course {
        let layout = Layout::new(&[
            (Phase::WarmUp, Duration::from_secs(1)),
            (Phase::Steady, Duration::from_secs(12)),
        ])
        .unwrap();
        Course::new(layout.steady())
    }

    #[test]
    fn the_mean_in_flight_is_the_area_of_the_stays_that_overlap() {
        let mut course = course();
        record(&mut course, &sample(500, 500, 1500, Outcome::Ok)); // half a second inside
        record(&mut course, &sample(2000, 2000, 4000, Outcome::Ok)); // two seconds
        record(&mut course, &sample(12_500, 12_500, 20_000, Outcome::Ok)); // the last half second
        let means = course.in_flight_means(12);
        let expected = [0.5, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5];
        for (mean, expected) in means.iter().zip(expected) {
            assert!((mean - expected).abs() < 1e-9, "{means:?}");
        }
    }

    #[test]
    fn a_stall_is_one_excursion_however_many_wait() {
        let mut course = course();
        for i in 0..12_000 {
            let intended = 1000 + i;
            let stall = (3000..4000).contains(&intended) || (8000..8100).contains(&intended);
            let took = if stall { 500 } else { 1 };
            record(
                &mut course,
                &sample(intended, intended, intended + took, Outcome::Ok),
            );
        }
        assert_eq!(course.excursions_above(10_000_000), 2);
        assert_eq!(course.excursions_above(600_000_000), 0);
    }

    #[test]
    fn independent_responses_are_told_apart_however_many_fall_into_a_slice() {
        let mut course = course();
        for i in 0..1_200_000_u64 {
            // A thousand to a slice, every hundredth of them slow.
            let at = Offset::from_nanos(1_000_000_000 + i * 10_000);
            let took = if i % 100 == 50 { 5_000_000 } else { 1_000_000 };
            let sample = Sample {
                intended: at,
                fired: at,
                dispatched: Some(at),
                ended: Offset::from_nanos(at.as_nanos() + took),
                ..sample(0, 0, 0, Outcome::Ok)
            };
            record(&mut course, &sample);
        }
        assert_eq!(course.excursions_above(2_000_000), 1200);
        assert_eq!(course.excursions_above(500_000), 1);
    }

    #[test]
    fn completions_are_counted_up_to_an_instant() {
        let mut course = course();
        for second in 1..13 {
            record(
                &mut course,
                &sample(
                    second * 1000,
                    second * 1000,
                    second * 1000 + 500,
                    Outcome::Ok,
                ),
            );
        }
        let (completions, counted) =
            course.ok_completions_before(Offset::from_nanos(4_000_000_000));
        assert_eq!((completions, counted), (3, Duration::from_secs(3)));
    }

    #[test]
    fn every_slice_begins_where_its_first_instant_is_given_to_it() {
        for length in [1, 1199, 1200, 1201, 20_000_000_000, u64::MAX / 2] {
            let span = Span {
                phase: Phase::Steady,
                from: Offset::from_nanos(7),
                to: Offset::from_nanos(7 + length),
            };
            let course = Course::new(span);
            for index in 0..SLICES {
                let (start, next) = (course.start(index), course.start(index + 1));
                if start < next {
                    assert_eq!(course.index(Offset::from_nanos(start)), Some(index));
                    assert_eq!(course.index(Offset::from_nanos(next - 1)), Some(index));
                }
            }
            assert_eq!(course.start(SLICES), 7 + length);
        }
        // Half of twenty seconds is half of the slices, and five of the ten windows.
        let layout = Layout::steady_only(Duration::from_secs(20)).unwrap();
        let course = Course::new(layout.steady());
        assert_eq!(course.index(Offset::from_nanos(10_000_000_000)), Some(600));
    }

    #[test]
    fn the_mean_response_of_an_empty_part_is_none() {
        let mut course = course();
        record(&mut course, &sample(1000, 1000, 1004, Outcome::Failed("x")));
        record(&mut course, &sample(1001, 1001, 1003, Outcome::Ok));
        let means = course.response_means_ns(12);
        assert_eq!(means[0], Some(3_000_000.0));
        assert!(means[1..].iter().all(Option::is_none));
    }
}
