//! One server that takes all who wait at once.

use super::{Served, Simulated, seconds};
use openloop_sched::{Offset, Ticket};
use openloop_workload::{Values, named};
use std::num::NonZeroU32;
use std::time::Duration;

/// One server that, whenever it is free, takes all who wait, up to so many: group commits, batched inference.
///
/// A batch takes a time to set up, whatever its size, and then answers its requests one after the other in the order in
/// which they came. Times are in seconds. An arrival that finds the server idle is a batch of one.
#[derive(Clone, Debug)]
pub struct Batcher {
    most: NonZeroU32,
    set_up: Values,
    each: Values,
    seed: u64,
    batches: u64,
    /// Of the last batch: when it begins, how many it has, and when the last of them is answered.
    begins: Offset,
    size: u32,
    ends: Offset,
}

/// A batch of nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("batches of at most 0 serve nobody: give at least 1")]
pub struct EmptyBatches;

impl Batcher {
    /// Batches of at most `most`, each of which takes a time from `set_up`, and one from `each` for each of its requests.
    ///
    /// # Errors
    /// When batches are to be empty.
    pub fn new(most: u32, set_up: Values, each: Values) -> Result<Self, EmptyBatches> {
        let mut batcher = Batcher {
            most: NonZeroU32::new(most).ok_or(EmptyBatches)?,
            set_up,
            each,
            seed: 0,
            batches: 0,
            begins: Offset::ZERO,
            size: 0,
            ends: Offset::ZERO,
        };
        batcher.begin(0);
        Ok(batcher)
    }

    fn open(&mut self, begins: Offset) {
        let set_up = self.set_up.value(named(self.seed, "batch"), self.batches);
        self.batches += 1;
        (self.begins, self.size) = (begins, 0);
        self.ends = begins.saturating_add(seconds(set_up));
    }
}

impl Simulated for Batcher {
    fn begin(&mut self, seed: u64) {
        self.seed = named(seed, "service");
        self.batches = 0;
        (self.begins, self.size, self.ends) = (Offset::ZERO, 0, Offset::ZERO);
    }

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        if at >= self.ends {
            self.open(at);
        } else if at >= self.begins || self.size >= self.most.get() {
            // It has begun, or is full: who comes now waits for the next.
            self.open(self.ends);
        }
        self.size += 1;
        let each: Duration = seconds(self.each.value(self.seed, ticket.seq));
        self.ends = self.ends.saturating_add(each);
        Served::at(self.ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_taken_together() {
        let law = |text: &str| text.parse::<Values>().unwrap();
        let mut batcher = Batcher::new(3, law("fixed:1"), law("fixed:0.1")).unwrap();
        let mut seq = 0;
        let mut ended = |at_ms: u64| {
            seq += 1;
            let ticket = Ticket {
                seq,
                intended: Offset::from_nanos(at_ms * 1_000_000),
            };
            let served = batcher.serve(ticket, ticket.intended);
            served.ended.as_nanos() / 1_000_000
        };
        // Alone, from 0 to 1.1 s.
        assert_eq!(ended(0), 1100);
        // Three wait for it, and end one after the other; the fourth waits for them.
        assert_eq!([ended(100), ended(200), ended(1099)], [2200, 2300, 2400]);
        assert_eq!(ended(1099), 3500);
        // That one begins at 2.4 s; until then others join it, and later ones do not.
        assert_eq!(ended(2399), 3600);
        assert_eq!(ended(2400), 4700);
        // Long after, alone again.
        assert_eq!(ended(10_000), 11_100);
        assert_eq!(
            Batcher::new(0, law("fixed:1"), law("fixed:1")).unwrap_err(),
            EmptyBatches
        );
    }
}
