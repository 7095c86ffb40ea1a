//! The slowest arrivals, each with its stages.

use crate::Sample;
use crate::details::Detail;
use crate::section::entry;
use std::cmp::Reverse;
use std::time::Duration;

/// How many of the slowest arrivals are kept.
pub const SLOWEST: usize = 20;

/// One of the slowest arrivals of the steady phase: what to look for in the logs of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slow {
    /// The arrival.
    pub sample: Sample,
    /// Its stages and named durations in the order in which they first came; those that repeat are summed.
    pub stages: Vec<(&'static str, Duration)>,
}

impl Slow {
    fn response_ns(&self) -> u64 {
        response_ns(&self.sample)
    }
}

fn response_ns(sample: &Sample) -> u64 {
    sample.ended.as_nanos() - sample.intended.as_nanos().min(sample.ended.as_nanos())
}

/// Keeps the slowest of all that it is shown, by response. Of equals the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slowest {
    /// Responses above this one get in, once all places are taken.
    above_ns: u64,
    /// The place of the one that gives way to the next.
    next: usize,
    kept: Vec<Slow>,
}

impl Slowest {
    /// Costs a comparison, unless the arrival is among the slowest so far.
    #[inline]
    pub(crate) fn record(&mut self, sample: &Sample, details: &[Detail]) {
        if response_ns(sample) > self.above_ns || self.kept.len() < SLOWEST {
            self.keep(sample, details);
        }
    }

    #[cold]
    fn keep(&mut self, sample: &Sample, details: &[Detail]) {
        if self.kept.len() < SLOWEST {
            self.next = self.kept.len();
            self.kept.push(Slow {
                sample: *sample,
                stages: Vec::new(),
            });
        }
        let slow = &mut self.kept[self.next];
        slow.sample = *sample;
        slow.stages.clear();
        for detail in details {
            if let Detail::Duration(name, ns) | Detail::OfAnswer(name, ns) = *detail {
                *entry(&mut slow.stages, name) += Duration::from_nanos(ns);
            }
        }
        // Of equals the one that came last in the schedule gives way.
        let order = |slow: &Slow| (slow.response_ns(), Reverse(slow.sample.seq));
        let places = self.kept.iter().enumerate();
        if let Some((place, quickest)) = places.min_by_key(|(_, slow)| order(slow)) {
            (self.next, self.above_ns) = (place, quickest.response_ns());
        }
    }

    /// Slowest first.
    pub(crate) fn sorted(&self) -> Vec<Slow> {
        let mut slowest = self.kept.clone();
        slowest.sort_by_key(|slow| (Reverse(slow.response_ns()), slow.sample.seq));
        slowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use openloop_sched::{Offset, Ticket};

    fn sample(seq: u64, response: u64) -> Sample {
        let intended = Offset::from_nanos(seq * 10);
        let ended = Offset::from_nanos(seq * 10 + response);
        Sample::new(
            Ticket { seq, intended },
            intended,
            intended,
            ended,
            Outcome::Ok,
        )
    }

    #[test]
    fn the_slowest_are_those_of_a_sort() {
        let mut slowest = Slowest::default();
        // A permutation of 0..1000, with every value twice.
        let responses: Vec<u64> = (0..2000).map(|i| (i * 617) % 1000).collect();
        for (seq, response) in responses.iter().enumerate() {
            slowest.record(&sample(seq as u64, *response), &[]);
        }
        let found = slowest.sorted();
        let found: Vec<_> = found.iter().map(|slow| slow.response_ns()).collect();
        let expected: Vec<u64> = (0..SLOWEST as u64).map(|i| 999 - i / 2).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn stages_go_with_their_arrival_and_repeated_ones_are_summed() {
        let mut slowest = Slowest::default();
        let details = [
            Detail::Duration("connect", 5),
            Detail::Count("bytes", 9),
            Detail::Duration("itl", 1),
            Detail::Duration("itl", 2),
        ];
        for seq in 0..100 {
            slowest.record(&sample(seq, seq), &[]);
        }
        slowest.record(&sample(100, 1000), &details);
        let found = slowest.sorted();
        let stages = vec![
            ("connect", Duration::from_nanos(5)),
            ("itl", Duration::from_nanos(3)),
        ];
        assert_eq!((found[0].sample.seq, &found[0].stages), (100, &stages));
        assert!(found[1].stages.is_empty());
        assert_eq!(found.len(), SLOWEST);
        assert_eq!(found[19].sample.seq, 81);
    }
}
