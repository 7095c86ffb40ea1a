//! The buckets of an HdrHistogram with three significant digits.

use crate::gamma;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::ops::Range;

/// The largest value that keeps its digits: one hour.
pub const LIMIT_NS: u64 = 3_600_000_000_000;

const SIGNIFICANT_DIGITS: u8 = 3;

/// Values below 2 · 2¹⁰ have buckets one nanosecond wide; above, each octave has 2¹⁰ buckets of equal width.
const HALF: u32 = 10;

/// Octaves of buckets, the first two in one; the last holds [`LIMIT_NS`]: as many as the library has.
const LEN: usize = 33 << HALF;

/// Buckets that get their memory together: a quarter of an octave, 512 bytes.
const PART: usize = 256;

/// A part has memory of its own once so many of its buckets have values, or one of them so many: extremes, each of which
/// comes once, are kept at a few bytes.
const FEW: usize = 8;
const OFTEN: u64 = 32;

/// Counts up to what they hold; what is more stands beside. Hardly any bucket of a part has more, and a dozen histograms
/// for each window of a run are to stay near the processor.
type Part = Box<[u16; PART]>;
const HELD: u64 = 1 << u16::BITS;

/// Counts by bucket, laid out as HdrHistogram does.
///
/// One block for all of them would be 66 KiB, for each of a dozen histograms of each window.
///
/// The library does the encoding; the counting stands here, because it runs a dozen times for each arrival and the
/// library's, which also keeps totals and extremes of its own, takes four times as many instructions.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    parts: Box<[Option<Part>; LEN / PART]>,
    /// Buckets, ascending, and what is in them: all of it where their part has no memory, else multiples of [`HELD`].
    few: Vec<(usize, u64)>,
}

impl Buckets {
    pub(crate) fn new() -> Self {
        Buckets {
            parts: Box::new([const { None }; LEN / PART]),
            few: Vec::new(),
        }
    }

    /// Adds one value; past [`LIMIT_NS`] it may have no bucket, and then nothing is added.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        let index = index(ns);
        match self.parts.get_mut(index / PART) {
            Some(Some(part)) => {
                let count = &mut part[index % PART];
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.add_to_few(index, HELD);
                }
            }
            _ => self.add_at(index, 1),
        }
    }

    /// Adds `count` values; past [`LIMIT_NS`] they may have no bucket, and then nothing is added.
    pub(crate) fn add(&mut self, ns: u64, count: u64) {
        self.add_at(index(ns), count);
    }

    #[cold]
    fn add_at(&mut self, index: usize, count: u64) {
        match self.parts.get_mut(index / PART) {
            Some(Some(part)) => {
                let held = &mut part[index % PART];
                let sum = count.saturating_add(u64::from(*held));
                *held = (sum % HELD) as u16;
                if sum >= HELD {
                    self.add_to_few(index, sum - sum % HELD);
                }
            }
            Some(None) => {
                let there = self.add_to_few(index, count);
                let part = index / PART;
                if there >= OFTEN || self.few_of(part).len() >= FEW {
                    self.provide_part(part);
                }
            }
            None => {}
        }
    }

    /// How many are there then.
    #[cold]
    fn add_to_few(&mut self, index: usize, count: u64) -> u64 {
        match self.few.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(place) => {
                let there = &mut self.few[place].1;
                *there = there.saturating_add(count);
                *there
            }
            Err(place) => {
                self.few.insert(place, (index, count));
                count
            }
        }
    }

    /// Which of the few are of a part.
    fn few_of(&self, part: usize) -> Range<usize> {
        let before = |end: usize| self.few.partition_point(|(index, _)| *index < end);
        before(part * PART)..before((part + 1) * PART)
    }

    fn few_in(&self, part: usize) -> &[(usize, u64)] {
        match self.few.is_empty() {
            true => &[],
            false => &self.few[self.few_of(part)],
        }
    }

    /// Gives a part memory of its own.
    fn provide_part(&mut self, part: usize) {
        if self.parts[part].is_none() {
            self.parts[part] = Some(cleared());
            let few = self.few_of(part);
            let few: Vec<_> = self.few.drain(few).collect();
            for (index, count) in few {
                self.add_at(index, count);
            }
        }
    }

    /// Takes memory where `other` has taken it.
    pub(crate) fn provide(&mut self, other: &Buckets) {
        for (part, theirs) in other.parts.iter().enumerate() {
            if theirs.is_some() {
                self.provide_part(part);
            }
        }
    }

    /// Adds those of `other`.
    pub(crate) fn merge(&mut self, other: &Buckets) {
        let mut carried = Vec::new();
        for (number, theirs) in other.parts.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            self.provide_part(number);
            let ours = self.parts[number]
                .iter_mut()
                .flat_map(|part| part.iter_mut());
            for (index, (ours, theirs)) in (number * PART..).zip(ours.zip(theirs.iter())) {
                let (sum, is_carried) = ours.overflowing_add(*theirs);
                *ours = sum;
                if is_carried {
                    carried.push(index);
                }
            }
        }
        for index in carried {
            self.add_to_few(index, HELD);
        }
        for (index, count) in &other.few {
            self.add_at(*index, *count);
        }
    }

    /// Pairs of (highest value of a bucket, values in it), ascending, empty buckets left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counted().map(|(index, count)| (highest(index), count))
    }

    /// Pairs of (bucket, values in it), ascending, empty ones left out.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        (0..self.parts.len()).flat_map(|part| self.counted_in(part))
    }

    /// Those of one part.
    fn counted_in(&self, number: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (part, few) = (&self.parts[number], self.few_in(number));
        let beside = |index| match few.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(place) => few[place].1,
            Err(_) => 0,
        };
        let held = part.iter().flat_map(|part| part.iter());
        let held = (number * PART..).zip(held);
        let held = held.map(move |(index, held)| (index, u64::from(*held) + beside(index)));
        let alone = if part.is_none() { few } else { &[] };
        let buckets = held.chain(alone.iter().copied());
        buckets.filter(|(_, count)| *count > 0)
    }

    /// The highest value of the bucket that holds the value of rank `rank`, from 1, in ascending order; `None` where there
    /// are fewer.
    pub(crate) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let mut left = rank;
        for number in 0..self.parts.len() {
            let all = self.count_in(number);
            if left > all {
                left -= all;
                continue;
            }
            for (index, count) in self.counted_in(number) {
                if left <= count {
                    return Some(highest(index));
                }
                left -= count;
            }
        }
        None
    }

    /// How many values are in a part.
    fn count_in(&self, number: usize) -> u64 {
        let held = self.parts[number].iter().flat_map(|part| part.iter());
        let held: u32 = held.map(|held| u32::from(*held)).sum();
        let few = self.few_in(number).iter().map(|(_, count)| count);
        u64::from(held) + few.sum::<u64>()
    }

    /// Writes to `bytes`, which are empty, for each bucket that has values, how many buckets on from the last such it stands, and how many
    /// values it has.
    pub(crate) fn pack(&self, bytes: &mut Vec<u8>) {
        let mut next = 0;
        let numbers = self.counted().flat_map(|(index, count)| {
            let on = index + 1 - std::mem::replace(&mut next, index + 1);
            [on as u64, count]
        });
        gamma::write(bytes, numbers);
    }

    /// Reads what [`pack`](Buckets::pack) wrote.
    pub(crate) fn unpack(bytes: &[u8]) -> Self {
        let mut buckets = Buckets::new();
        let mut next = 0;
        let mut numbers = gamma::read(bytes);
        while let (Some(on), Some(count)) = (numbers.next(), numbers.next()) {
            next += on as usize;
            buckets.add_at(next - 1, count);
        }
        buckets
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
}

/// By what is in the buckets, wherever it stands.
impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
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

    /// Packed and unpacked.
    fn again(buckets: &Buckets) -> Buckets {
        let mut bytes = Vec::new();
        buckets.pack(&mut bytes);
        Buckets::unpack(&bytes)
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

    #[test]
    fn few_values_take_no_part_and_many_do() {
        let mut buckets = Buckets::new();
        let taken = |buckets: &Buckets| buckets.parts.iter().filter(|part| part.is_some()).count();
        // Extremes, each once and far from the next.
        (20..40).for_each(|shift| buckets.record(1 << shift));
        assert_eq!((taken(&buckets), buckets.few.len()), (0, 20));
        for _ in 1..OFTEN {
            buckets.record(1 << 30);
        }
        assert_eq!((taken(&buckets), buckets.few.len()), (1, 19));
        for i in 1..FEW as u64 {
            buckets.record((1 << 35) + (i << 26));
        }
        assert_eq!((taken(&buckets), buckets.few.len()), (2, 18));
        let counts: u64 = buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counts, 20 + OFTEN - 1 + FEW as u64 - 1);
        // What another has taken is taken, and keeps what was there.
        let mut to_come = Buckets::new();
        to_come.record(1 << 30);
        to_come.provide(&buckets);
        assert_eq!((taken(&to_come), to_come.few.len()), (2, 0));
        assert_eq!(
            to_come.iter().collect::<Vec<_>>(),
            [(highest_equivalent(1 << 30), 1)]
        );
    }

    #[test]
    fn a_bucket_counts_beyond_what_its_part_holds() {
        let (mut one, mut twice) = (Buckets::new(), Buckets::new());
        for _ in 0..3 * HELD + 5 {
            one.record(7_000_000);
        }
        one.add(7_000_000, 1 << 40);
        one.record(9_000_000);
        let value = highest_equivalent(7_000_000);
        let count = 3 * HELD + 5 + (1 << 40);
        let other = (highest_equivalent(9_000_000), 1);
        assert_eq!(one.iter().collect::<Vec<_>>(), [(value, count), other]);
        twice.merge(&one);
        twice.merge(&one);
        assert_eq!(twice.iter().next(), Some((value, 2 * count)));
        assert_eq!(again(&twice), twice);
        // Half and half make a whole one.
        let mut half = Buckets::new();
        half.add(7_000_000, HELD / 2);
        let mut whole = half.clone();
        whole.merge(&half);
        assert_eq!(whole.iter().next(), Some((value, HELD)));
    }

    proptest! {
        #[test]
        fn merged_they_are_as_if_all_had_been_recorded_in_one(
            values in prop::collection::vec((0..=LIMIT_NS, 0_u32..42, any::<bool>()), 0..400)
        ) {
            let (mut one, mut a, mut b) = (Buckets::new(), Buckets::new(), Buckets::new());
            for (ns, shift, is_a) in values {
                let ns = ns >> shift;
                one.record(ns);
                if is_a { &mut a } else { &mut b }.record(ns);
            }
            a.merge(&b);
            prop_assert!(a.iter().is_sorted());
            prop_assert_eq!(a, one);
        }

        #[test]
        fn the_value_of_a_rank_is_that_of_the_bucket_up_to_which_there_are_so_many(
            values in prop::collection::vec((0..=LIMIT_NS, 0_u32..42, 1..=3 * HELD), 0..100),
            share in 0.0..=1.0,
        ) {
            let mut buckets = Buckets::new();
            for (ns, shift, count) in values {
                buckets.add(ns >> shift, if shift % 2 == 0 { 1 } else { count });
            }
            let all: u64 = buckets.iter().map(|(_, count)| count).sum();
            let some = (all as f64 * share) as u64;
            for rank in [1, some.clamp(1, all.max(1)), all.max(1), all + 1] {
                let up_to = buckets.iter().scan(0, |seen, (value, count)| {
                    *seen += count;
                    Some((value, *seen))
                });
                let expected = up_to.into_iter().find(|(_, seen)| *seen >= rank);
                prop_assert_eq!(buckets.value_at_rank(rank), expected.map(|(value, _)| value));
            }
        }

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
            prop_assert_eq!(again(&ours), ours);
        }
    }
}
