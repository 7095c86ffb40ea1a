//! How far wall clocks are apart.

use std::time::{Duration, SystemTime};

/// How far the wall clock of this machine is off from one that all machines of a run can ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Whose clock it is: a name or an address.
    pub reference: String,
    /// What that clock reads less what this one reads, in nanoseconds: negative where this one is ahead.
    pub offset_ns: i64,
    /// By how much that may be wrong at the start of the run, either way.
    pub within: Duration,
}

impl ClockOffset {
    /// What the clock of this machine reads when the reference reads `at`; `None` beyond what a clock can read.
    #[must_use]
    pub fn here(&self, at: SystemTime) -> Option<SystemTime> {
        let by = Duration::from_nanos(self.offset_ns.unsigned_abs());
        match self.offset_ns < 0 {
            true => at.checked_add(by),
            false => at.checked_sub(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_reads_more_when_the_reference_is_there() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
        let here = |offset_ns| {
            let offset = ClockOffset {
                reference: "ntp.test".to_owned(),
                offset_ns,
                within: Duration::ZERO,
            };
            offset.here(at).unwrap()
        };
        assert_eq!(here(-5), at + Duration::from_nanos(5));
        assert_eq!(here(5), at - Duration::from_nanos(5));
        assert_eq!(here(0), at);
    }
}
