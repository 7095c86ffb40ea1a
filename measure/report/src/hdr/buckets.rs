//! The counts of an HdrHistogram of any precision.

use std::collections::BTreeMap;

/// How finely an HdrHistogram tells values apart: histograms of the same precision have the same buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Precision {
    /// Significant decimal digits, from 0 to 5.
    digits: u8,
    /// The smallest buckets are 2 to the power of this wide.
    unit_magnitude: u8,
}

impl Precision {
    /// That of the histograms of a report: three digits from one nanosecond on.
    pub(crate) const OURS: Precision = Precision {
        digits: 3,
        unit_magnitude: 0,
    };

    /// Of `digits` significant digits, where values below `lowest` need not be told apart; `None` if there is no such
    /// histogram.
    pub(crate) fn new(digits: u32, lowest: u64) -> Option<Self> {
        let digits = u8::try_from(digits).ok().filter(|digits| *digits <= 5)?;
        let unit_magnitude = lowest.checked_ilog2()? as u8;
        let precision = Precision {
            digits,
            unit_magnitude,
        };
        let fits = u32::from(unit_magnitude) + precision.half_magnitude() < 61;
        fits.then_some(precision)
    }

    pub(crate) fn digits(self) -> u8 {
        self.digits
    }

    /// The smallest value that is told apart from 0.
    pub(crate) fn lowest(self) -> u64 {
        1 << self.unit_magnitude
    }

    /// An octave has 2 to the power of this buckets.
    fn half_magnitude(self) -> u32 {
        let finest = 2 * 10_u64.pow(u32::from(self.digits));
        finest.next_power_of_two().ilog2() - 1
    }

    /// The octave of the last of the smallest buckets: every histogram reaches up to its end.
    pub(crate) fn finest_octave(self) -> u32 {
        self.half_magnitude() + u32::from(self.unit_magnitude)
    }

    /// The lowest value of the bucket number `index`; `None` past the largest value that there is.
    pub(crate) fn lowest_of(self, index: u64) -> Option<u64> {
        let half = self.half_magnitude();
        let octave = (index >> half).saturating_sub(1);
        let step = index - (octave << half);
        let shift = u32::try_from(octave).ok()? + u32::from(self.unit_magnitude);
        // Values are signed in other languages.
        (shift + half + 1 < 64).then(|| step << shift)
    }

    /// The highest value of the bucket whose lowest is `lowest`.
    pub(crate) fn highest_of(self, lowest: u64) -> u64 {
        let finest = ((2_u64 << self.half_magnitude()) << self.unit_magnitude) - 1;
        let shift = (lowest | finest).ilog2() - self.half_magnitude();
        lowest + ((1 << shift) - 1)
    }
}

/// How many values fell into each bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    precision: Precision,
    /// By the lowest value of each bucket; none is zero.
    counts: BTreeMap<u64, u64>,
    count: u64,
}

impl Buckets {
    pub(crate) fn new(precision: Precision) -> Self {
        Buckets {
            precision,
            counts: BTreeMap::new(),
            count: 0,
        }
    }

    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// Adds `count` values to the bucket whose lowest value is `lowest`; `None` if they are more than can be counted.
    pub(crate) fn add(&mut self, lowest: u64, count: u64) -> Option<()> {
        self.count = self.count.checked_add(count)?;
        if count > 0 {
            *self.counts.entry(lowest).or_default() += count;
        }
        Some(())
    }

    /// Adds all of `other`, which has the same precision; `None` if they are more than can be counted.
    pub(crate) fn merge(&mut self, other: &Buckets) -> Option<()> {
        debug_assert_eq!(self.precision, other.precision);
        let mut counts = other.counts.iter();
        counts.try_for_each(|(lowest, count)| self.add(*lowest, *count))
    }

    /// How many values there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Lowest and highest value of each bucket and how many are in it, ascending, empty ones left out.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64, u64)> + '_ {
        let whole = |(&lowest, &count)| (lowest, self.precision.highest_of(lowest), count);
        self.counts.iter().map(whole)
    }

    /// The highest value of the bucket of rank `rank`, from 1.
    pub(crate) fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        let reached = |(_, _, count): &(u64, u64, u64)| {
            seen += count;
            seen >= rank
        };
        self.iter().find(reached).map(|(_, highest, _)| highest)
    }

    /// The mean and the standard deviation, each value taken as the middle of its bucket; `None` if there is none.
    pub(crate) fn moments(&self) -> Option<(f64, f64)> {
        let n = self.count as f64;
        let middle = |lowest: u64, highest: u64| (lowest + (highest - lowest).div_ceil(2)) as f64;
        let sum: f64 = self
            .iter()
            .map(|(low, high, count)| middle(low, high) * count as f64)
            .sum();
        let mean = sum / n;
        let square = |(low, high, count)| (middle(low, high) - mean).powi(2) * count as f64;
        let squares: f64 = self.iter().map(square).sum();
        (self.count > 0).then(|| (mean, (squares / n).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    #[test]
    fn every_bucket_is_that_of_the_library_whatever_the_precision() {
        for (digits, lowest) in [
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
            (4, 7),
            (5, 1),
            (3, 1024),
            (3, 1000),
        ] {
            let precision = Precision::new(digits, lowest).unwrap();
            let library = Histogram::<u64>::new_with_bounds(lowest, 1 << 52, digits as u8).unwrap();
            let mut indices = vec![0, 1, 2, 100];
            indices.extend((1..40).flat_map(|octave| {
                let edge = octave << precision.half_magnitude();
                [edge - 1, edge, edge + 1]
            }));
            for index in indices {
                let Some(low) = precision.lowest_of(index) else {
                    continue;
                };
                if low < 1 << 52 {
                    assert_eq!(
                        library.lowest_equivalent(low),
                        low,
                        "{digits} {lowest} {index}"
                    );
                    assert_eq!(library.highest_equivalent(low), precision.highest_of(low));
                }
            }
        }
    }

    #[test]
    fn there_is_no_bucket_past_the_largest_value() {
        assert_eq!(Precision::OURS.lowest_of(u64::MAX), None);
        let last = (0..)
            .step_by(1024)
            .take_while(|i| Precision::OURS.lowest_of(*i).is_some())
            .last();
        let lowest = Precision::OURS.lowest_of(last.unwrap() + 1023).unwrap();
        assert_eq!(Precision::OURS.highest_of(lowest), i64::MAX as u64);
        assert_eq!(Precision::new(6, 1), None);
        assert_eq!(Precision::new(3, 0), None);
        assert_eq!(Precision::new(5, 1 << 60), None);
    }

    #[test]
    fn more_than_can_be_counted_is_an_error() {
        let mut buckets = Buckets::new(Precision::OURS);
        buckets.add(1, u64::MAX).unwrap();
        assert_eq!(buckets.add(1, 1), None);
    }
}
