//! The course of the steady phase in time, for tests of stationarity and of having enough data.

use crate::layout::Span;
use crate::{Outcome, Sample};
use openloop_sched::Offset;

/// How many slices the steady phase is cut into: divisible by ten windows and by twelve batches.
pub const SLICES: usize = 1200;

/// One slice of the steady phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slice {
    /// Arrivals whose intended instant lies in the slice.
    pub arrivals: u64,
    /// Sum of their responses, in nanoseconds; for those without an end, of their ages.
    pub response_ns: u128,
    /// The largest response of an arrival that was served.
    pub max_ok_ns: u64,
    /// Arrivals that were not served.
    pub not_ok: u64,
    /// Change of the number in flight over the slice.
    change: i64,
    /// Sum over changes of (end of slice − instant of change), signed: the slice's own part of the area.
    weighted_ns: i128,
}

/// The steady phase in [`SLICES`] slices of equal length; the last ones are shorter or empty where the length of
/// the phase in nanoseconds is no multiple of their number.
#[derive(Clone, Debug)]
pub struct Course {
    span: Span,
    slice_ns: u64,
    before: i64,
    slices: Vec<Slice>,
}

impl Course {
    pub(crate) fn new(span: Span) -> Self {
        let length = u64::try_from(span.length().as_nanos()).unwrap_or(u64::MAX);
        Course {
            span,
            slice_ns: length.div_ceil(SLICES as u64).max(1),
            before: 0,
            slices: vec![Slice::default(); SLICES],
        }
    }

    /// The slice in which `at` lies; `None` outside the phase.
    #[inline]
    pub(crate) fn index(&self, at: Offset) -> Option<usize> {
        let into = at.as_nanos().checked_sub(self.span.from.as_nanos())?;
        (at < self.span.to).then_some((into / self.slice_ns) as usize)
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
                slice.max_ok_ns = slice.max_ok_ns.max(response);
            } else {
                slice.not_ok += 1;
            }
        }
        if let Some(dispatched) = sample.dispatched {
            self.change(dispatched, 1);
            self.change(sample.ended, -1);
        }
    }

    fn change(&mut self, at: Offset, by: i64) {
        if let Some(index) = self.index(at) {
            let left = self.start(index + 1).saturating_sub(at.as_nanos());
            let slice = &mut self.slices[index];
            slice.change += by;
            slice.weighted_ns += i128::from(by) * i128::from(left);
        } else if at < self.span.from {
            self.before += by;
        }
    }

    /// Start of a slice in nanoseconds of the run, within the phase.
    fn start(&self, index: usize) -> u64 {
        let from = self.span.from.as_nanos();
        from.saturating_add(self.slice_ns.saturating_mul(index as u64))
            .min(self.span.to.as_nanos())
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
                    let width = self.start(index + 1) - self.start(index);
                    area += in_flight as f64 * width as f64 + slice.weighted_ns as f64;
                    length += width as f64;
                    in_flight += slice.change;
                    index += 1;
                }
                if length > 0.0 { area / length } else { 0.0 }
            })
            .collect()
    }

    /// Separate excursions above `ns`: runs of slices in which some arrival took longer or was not served,
    /// parted by slices with arrivals of which none did. Slices without arrivals part nothing.
    ///
    /// A hundred samples above a quantile may all be one stall. It is the number of stalls that says how well
    /// the quantile is known.
    #[must_use]
    pub fn excursions_above(&self, ns: u64) -> u64 {
        let (mut above, mut excursions) = (false, 0);
        for slice in self.slices.iter().filter(|slice| slice.arrivals > 0) {
            let exceeds = slice.max_ok_ns > ns || slice.not_ok > 0;
            if exceeds && !above {
                excursions += 1;
            }
            above = exceeds;
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
    use std::time::Duration;

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
    fn the_mean_response_of_an_empty_part_is_none() {
        let mut course = course();
        record(&mut course, &sample(1000, 1000, 1004, Outcome::Failed("x")));
        record(&mut course, &sample(1001, 1001, 1003, Outcome::Ok));
        let means = course.response_means_ns(12);
        assert_eq!(means[0], Some(3_000_000.0));
        assert!(means[1..].iter().all(Option::is_none));
    }
}
