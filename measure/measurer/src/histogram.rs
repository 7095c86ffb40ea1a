//! A histogram of nanoseconds with exact extremes.

use crate::Quantile;
use crate::buckets::{self, Buckets, LIMIT_NS, lowest_equivalent};
use std::fmt;

/// A histogram of nanoseconds: three significant digits from 1 ns to 1 h, and exact count, sum and extremes.
///
/// A quantile is read as the highest value of its bucket, so that at least the share *q* of all values is at
/// most what is printed; it errs by at most 0.1 %, never below the smallest nor above the largest value. A value
/// above [`LIMIT_NS`] keeps its place in the count, the sum and the exact maximum and is counted by
/// [`over_range`](Histogram::over_range); a quantile that falls on one is [`LIMIT_NS`] as a lower bound.
///
/// Empty means [`None`], never 0. The buckets take 512 bytes for each quarter of a power of two that many values fall in, and a few
/// bytes for each value elsewhere. Recording takes about 10 ns.
///
/// There is no way to merge or average quantiles: only histograms [`merge`](Histogram::merge).
#[derive(Clone)]
pub struct Histogram {
    /// Made when the first value comes.
    buckets: Option<Buckets>,
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    sum_of_squares: u128,
    over_range: u64,
}

impl Histogram {
    /// An empty histogram: free until the first value comes.
    #[must_use]
    pub const fn new() -> Self {
        Histogram {
            buckets: None,
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            sum_of_squares: 0,
            over_range: 0,
        }
    }

    /// Adds one value.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.record_all(std::iter::once(ns));
    }

    /// Adds values. Many at once cost less each: what is summed up stays in registers.
    #[inline]
    pub(crate) fn record_all(&mut self, values: impl Iterator<Item = u64>) {
        let (mut count, mut min, mut max) = (self.count, self.min, self.max);
        let (mut sum, mut sum_of_squares) = (self.sum, self.sum_of_squares);
        for ns in values {
            count += 1;
            min = min.min(ns);
            max = max.max(ns);
            sum += u128::from(ns);
            sum_of_squares = sum_of_squares.saturating_add(u128::from(ns) * u128::from(ns));
            if ns > LIMIT_NS {
                self.over_range += 1;
            } else {
                self.buckets.get_or_insert_with(Buckets::new).record(ns);
            }
        }
        (self.count, self.min, self.max) = (count, min, max);
        (self.sum, self.sum_of_squares) = (sum, sum_of_squares);
    }

    /// Takes the memory that values like those of `other` will need.
    pub(crate) fn provide(&mut self, other: &Histogram) {
        if let Some(theirs) = &other.buckets {
            let ours = self.buckets.get_or_insert_with(Buckets::new);
            ours.provide(theirs);
        }
    }

    /// Adds every value of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.over_range += other.over_range;
        if let Some(theirs) = &other.buckets {
            let ours = self.buckets.get_or_insert_with(Buckets::new);
            ours.merge(theirs);
        }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many values lie above [`LIMIT_NS`].
    #[must_use]
    pub fn over_range(&self) -> u64 {
        self.over_range
    }

    /// The smallest value, exact.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, exact.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean, from the exact sum.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The standard deviation of the values (divided by n, not n − 1), from exact sums.
    #[must_use]
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let mean_of_squares = self.sum_of_squares as f64 / self.count as f64;
        Some((mean_of_squares - mean * mean).max(0.0).sqrt())
    }

    /// The exact sum of all values.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum
    }

    /// The quantile `q`: the value of rank max(1, ⌈q·n⌉).
    #[must_use]
    pub fn quantile(&self, q: Quantile) -> Option<u64> {
        (self.count > 0).then(|| self.value_at_rank(q.rank(self.count)))
    }

    /// How many values lie above `ns`, to the resolution of the buckets.
    #[must_use]
    pub fn count_above(&self, ns: u64) -> u64 {
        if self.count == 0 || ns >= self.max {
            return 0;
        }
        if ns < self.min {
            return self.count;
        }
        let above = lowest_equivalent(ns.min(LIMIT_NS));
        let higher = self
            .buckets()
            .filter(|(value, _)| lowest_equivalent(*value) > above);
        higher.map(|(_, count)| count).sum::<u64>() + self.over_range
    }

    /// The value of rank `rank`, from 1, in ascending order.
    pub(crate) fn value_at_rank(&self, rank: u64) -> u64 {
        if rank >= self.count {
            return self.max;
        }
        let buckets = self.buckets.as_ref();
        match buckets.and_then(|buckets| buckets.value_at_rank(rank)) {
            Some(value) => value.clamp(self.min, self.max),
            None => LIMIT_NS,
        }
    }

    /// A value that the one of rank `rank` is not below: the lowest of its bucket.
    pub(crate) fn lower_bound_at_rank(&self, rank: u64) -> u64 {
        let value = self.value_at_rank(rank).min(LIMIT_NS);
        let lowest = lowest_equivalent(value);
        lowest.max(if self.count > 0 { self.min } else { 0 })
    }

    /// Pairs of (highest value of a bucket in nanoseconds, values in it), ascending, empty buckets left out.
    ///
    /// Values above [`LIMIT_NS`] are in no bucket.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().flat_map(|buckets| buckets.iter())
    }

    /// The buckets in the HdrHistogram V2 encoding, uncompressed.
    #[must_use]
    pub fn to_v2_bytes(&self) -> Vec<u8> {
        match &self.buckets {
            Some(buckets) => buckets.to_v2_bytes(),
            None => Buckets::new().to_v2_bytes(),
        }
    }
}

impl Histogram {
    /// What is kept exactly beside the buckets; `None` of an empty histogram.
    #[must_use]
    pub fn exact(&self) -> Option<Exact> {
        (self.count > 0).then_some(Exact {
            count: self.count,
            min_ns: self.min,
            max_ns: self.max,
            sum_ns: self.sum,
            sum_of_squares: self.sum_of_squares,
            over_range: self.over_range,
        })
    }

    /// A histogram that was written down: its [`buckets`](Histogram::buckets) in any order, and what was
    /// [`exact`](Histogram::exact) of it. Nothing is lost on the way.
    ///
    /// ```
    /// use openloop_measurer::Histogram;
    ///
    /// let mut histogram = Histogram::new();
    /// histogram.record(123_456);
    /// let exact = histogram.exact().ok_or("empty")?;
    /// let again = Histogram::from_parts(histogram.buckets(), exact)?;
    /// assert_eq!((again.max_ns(), again.to_v2_bytes()), (Some(123_456), histogram.to_v2_bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the two contradict each other, or count more than 2⁵⁶ values.
    pub fn from_parts(
        buckets: impl IntoIterator<Item = (u64, u64)>,
        exact: Exact,
    ) -> Result<Self, HistogramError> {
        let Exact { min_ns, max_ns, .. } = exact;
        let range = buckets::range(min_ns, max_ns);
        let mut read = Buckets::new();
        let mut counted = exact.over_range;
        for (value, count) in buckets {
            if value > buckets::highest_equivalent(LIMIT_NS)
                || !range.contains(&buckets::index(value))
            {
                return Err(HistogramError::Outside {
                    value,
                    min_ns,
                    max_ns,
                });
            }
            counted = counted.saturating_add(count);
            read.add(value, count);
        }
        if counted != exact.count || counted == 0 {
            let count = exact.count;
            return Err(HistogramError::Count { counted, count });
        }
        if counted > MOST {
            return Err(HistogramError::TooMany(counted));
        }
        let possible = min_ns <= max_ns
            && (exact.over_range > 0) == (max_ns > LIMIT_NS)
            && exact.sum_ns >= u128::from(min_ns) + u128::from(max_ns) * u128::from(counted > 1)
            && exact.sum_ns <= u128::from(max_ns) * u128::from(counted);
        if !possible {
            return Err(HistogramError::Extremes);
        }
        Ok(Histogram {
            buckets: (exact.over_range < counted).then_some(read),
            count: exact.count,
            min: min_ns,
            max: max_ns,
            sum: exact.sum_ns,
            sum_of_squares: exact.sum_of_squares,
            over_range: exact.over_range,
        })
    }

    /// The same values in a few kilobytes: into `room`, whose content is lost and whose memory is used.
    pub(crate) fn pack(&self, mut room: Vec<u8>) -> Packed {
        room.clear();
        let taken = room.capacity();
        if let Some(buckets) = &self.buckets {
            buckets.pack(&mut room);
        }
        if room.capacity() > taken {
            room.shrink_to_fit();
        }
        Packed {
            bytes: room,
            count: self.count,
            min: self.min,
            max: self.max,
            sum: self.sum,
            sum_of_squares: self.sum_of_squares,
            over_range: self.over_range,
        }
    }
}

/// More values than any run has; below it, sums of many histograms fit.
const MOST: u64 = 1 << 56;

/// What a [`Histogram`] keeps exactly, beside its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// How many values.
    pub count: u64,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The sum of their squares, in square nanoseconds; [`u128::MAX`] where it would be more.
    pub sum_of_squares: u128,
    /// How many lie above [`LIMIT_NS`]: they are in no bucket.
    pub over_range: u64,
}

/// Why something is no histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// A value in the buckets lies where none can be.
    #[error(
        "there is a value of {value} ns, but all lie between {min_ns} and {max_ns} ns, and in buckets up to an hour"
    )]
    Outside {
        /// The value.
        value: u64,
        /// The smallest that there is.
        min_ns: u64,
        /// The largest.
        max_ns: u64,
    },
    /// The number of values is another.
    #[error("there are {counted} values, and {count} were said")]
    Count {
        /// In the buckets and past them.
        counted: u64,
        /// As it was written down.
        count: u64,
    },
    /// More than can be added up safely.
    #[error("{0} values are more than any run has")]
    TooMany(u64),
    /// The extremes, the sum and what lies past the range do not go together.
    #[error(
        "the smallest value, the largest, the sum and what lies above an hour contradict each other"
    )]
    Extremes,
}

/// A histogram that is rarely touched, in a few kilobytes.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    sum_of_squares: u128,
    over_range: u64,
}

impl Packed {
    /// How many bytes it takes, but for what every one has.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The memory that it was packed into.
    pub(crate) fn into_room(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn unpack(&self) -> Histogram {
        Histogram {
            buckets: (!self.bytes.is_empty()).then(|| Buckets::unpack(&self.bytes)),
            count: self.count,
            min: self.min,
            max: self.max,
            sum: self.sum,
            sum_of_squares: self.sum_of_squares,
            over_range: self.over_range,
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min_ns())
            .field("max_ns", &self.max_ns())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
