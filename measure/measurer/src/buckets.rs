//! The buckets of an HdrHistogram with three significant digits.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use std::ops::Range;

/// The largest value that keeps its digits: one hour.
pub const LIMIT_NS: u64 = 3_600_000_000_000;

const SIGNIFICANT_DIGITS: u8 = 3;

/// Values below 2 · 2¹⁰ have buckets one nanosecond wide; above, each octave has 2¹⁰ buckets of equal width.
const HALF: u32 = 10;

/// Octaves of buckets, the first two in one; the last holds [`LIMIT_NS`]: as many as the library has.
const LEN: usize = 33 << HALF;

/// Buckets that get their memory together: a quarter of an octave, 2 KiB.
const PART: usize = 256;

type Part = Box<[u64; PART]>;

/// Counts by bucket, laid out as HdrHistogram does.
///
/// A part has memory once a value falls on it. One block for all of them would be above what glibc takes from the kernel
/// by itself, and once such a block is freed it takes the next ones from the heap, where each has to be cleared.
///
/// The library does the encoding; the counting stands here, because it runs a dozen times for each arrival and the
/// library's, which also keeps totals and extremes of its own, takes four times as many instructions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Buckets(Box<[Option<Part>; LEN / PART]>);

impl Buckets {
    pub(crate) fn new() -> Self {
        Buckets(Box::new([const { None }; LEN / PART]))
    }

    /// Adds one value; past [`LIMIT_NS`] it may have no bucket, and then nothing is added.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        if let Some(count) = self.get_mut(index(ns)) {
            *count += 1;
        }
    }

    /// Adds `count` values; past [`LIMIT_NS`] they may have no bucket, and then nothing is added.
    pub(crate) fn add(&mut self, ns: u64, count: u64) {
        if let Some(existing) = self.get_mut(index(ns)) {
            *existing = existing.saturating_add(count);
        }
    }

    #[inline]
    fn get_mut(&mut self, index: usize) -> Option<&mut u64> {
        let part = self.0.get_mut(index / PART)?;
        let part = part.get_or_insert_with(cleared);
        Some(&mut part[index % PART])
    }

    /// Takes memory where `other` has taken it.
    pub(crate) fn provide(&mut self, other: &Buckets) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            if theirs.is_some() {
                ours.get_or_insert_with(cleared);
            }
        }
    }

    /// Adds those of `other`.
    pub(crate) fn merge(&mut self, other: &Buckets) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            match (ours, theirs) {
                (_, None) => {}
                (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
                (Some(ours), Some(theirs)) => {
                    for (ours, theirs) in ours.iter_mut().zip(theirs.iter()) {
                        *ours += theirs;
                    }
                }
            }
        }
    }

    /// Pairs of (highest value of a bucket, values in it), ascending, empty buckets left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let parts = (0..).step_by(PART).zip(self.0.iter());
        parts.flat_map(|(first, part)| {
            let counts = (first..).zip(part.iter().flat_map(|part| part.iter()));
            counts
                .filter(|(_, count)| **count > 0)
                .map(|(index, count)| (highest(index), *count))
        })
    }

    /// The HdrHistogram V2 encoding, uncompressed.
    pub(crate) fn to_v2_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Ok(mut histogram) =
            Histogram::<u64>::new_with_bounds(1, LIMIT_NS, SIGNIFICANT_DIGITS)
        {
            for (value, count) in self.iter() {
                // Every bucket has its like there.
                let recorded = histogram.record_n(value, count);
                debug_assert!(recorded.is_ok());
            }
            // Writing into a Vec cannot fail.
            let written = V2Serializer::new().serialize(&histogram, &mut bytes);
            debug_assert!(written.is_ok());
        }
        bytes
    }

    /// Reads what [`to_v2_bytes`](Buckets::to_v2_bytes) wrote.
    pub(crate) fn from_v2_bytes(mut bytes: &[u8]) -> Self {
        let mut buckets = Buckets::new();
        let read = Deserializer::new().deserialize::<u64, _>(&mut bytes);
        debug_assert!(read.is_ok());
        for bucket in read.iter().flat_map(Histogram::iter_recorded) {
            buckets.add(
                bucket.value_iterated_to(),
                bucket.count_since_last_iteration(),
            );
        }
        buckets
    }
}

#[cold]
fn cleared() -> Part {
    Box::new([0; PART])
}

/// The buckets of the values from `min` to `max`.
pub(crate) fn range(min: u64, max: u64) -> Range<usize> {
    index(min).min(LEN)..(index(max) + 1).min(LEN)
}

/// The bucket of `ns`.
#[inline]
pub(crate) fn index(ns: u64) -> usize {
    let octave = octave(ns);
    ((u64::from(octave) << HALF) + (ns >> octave)) as usize
}

/// How many times the width of the bucket of `ns` has doubled.
#[inline]
fn octave(ns: u64) -> u32 {
    let finest = (2 << HALF) - 1;
    (u64::BITS - 1 - HALF) - (ns | finest).leading_zeros()
}

/// The highest value of a bucket.
fn highest(index: usize) -> u64 {
    let octave = (index >> HALF).saturating_sub(1);
    let step = index - (octave << HALF);
    ((step as u64 + 1) << octave) - 1
}

/// The highest value of the bucket of `ns`.
pub(crate) fn highest_equivalent(ns: u64) -> u64 {
    highest(index(ns))
}

/// The lowest value of the bucket of `ns`.
pub(crate) fn lowest_equivalent(ns: u64) -> u64 {
    let octave = octave(ns);
    (ns >> octave) << octave
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn library() -> Histogram<u64> {
        Histogram::new_with_bounds(1, LIMIT_NS, SIGNIFICANT_DIGITS).unwrap()
    }

    fn check(ns: u64) {
        let library = library();
        assert_eq!(highest(index(ns)), library.highest_equivalent(ns), "{ns}");
        assert_eq!(lowest_equivalent(ns), library.lowest_equivalent(ns), "{ns}");
    }

    #[test]
    fn every_edge_is_where_the_library_has_it() {
        assert_eq!(LEN, library().distinct_values());
        for shift in 0..42 {
            for ns in [
                1_u64 << shift,
                (1 << shift) - 1,
                (1 << shift) + 1,
                3 << shift,
            ] {
                check(ns.min(LIMIT_NS));
            }
        }
        assert!(index(LIMIT_NS) < LEN);
    }

    proptest! {
        #[test]
        fn every_bucket_is_that_of_the_library(ns in 0..=LIMIT_NS, shift in 0_u32..42) {
            check(ns);
            check(ns >> shift);
        }

        #[test]
        fn the_encoding_is_that_of_the_library(values in prop::collection::vec(0..=LIMIT_NS, 0..200)) {
            let (mut ours, mut theirs) = (Buckets::new(), library());
            for ns in values {
                ours.record(ns);
                theirs.record(ns).unwrap();
            }
            let mut expected = Vec::new();
            V2Serializer::new().serialize(&theirs, &mut expected).unwrap();
            prop_assert_eq!(&ours.to_v2_bytes(), &expected);
            prop_assert_eq!(Buckets::from_v2_bytes(&expected), ours);
        }
    }
}
