//! What waiting by yielding costs.

use std::time::Duration;

/// Adds up the gaps between polls in which nothing but the pacer ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spin {
    /// When the pacer last yielded, until it is polled again.
    since: Option<i64>,
    shortest: u64,
    total: u64,
}

/// Gaps up to here are spinning on every machine …
const SHORT: u64 = 1_000;
/// … and gaps from here on on none.
const LONG: u64 = 5_000;

impl Default for Spin {
    fn default() -> Self {
        Spin {
            since: None,
            shortest: LONG,
            total: 0,
        }
    }
}

impl Spin {
    /// The pacer yields at `now`.
    pub(super) fn yielded(&mut self, now: i64) {
        self.since = Some(now);
    }

    /// The pacer is polled at `now`. Whether it had yielded and no time has passed since: no clock that runs
    /// stands still for a turn of the runtime.
    pub(super) fn resumed(&mut self, now: i64) -> bool {
        let Some(since) = self.since.take() else {
            return false;
        };
        let gap = now.saturating_sub(since).unsigned_abs();
        self.shortest = self.shortest.min(gap);
        if gap <= (2 * self.shortest).clamp(SHORT, LONG) {
            self.total += gap;
        }
        gap == 0
    }

    pub(super) fn total(self) -> Duration {
        Duration::from_nanos(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spins through `gaps` and gives the sum of those that count.
    fn total(gaps: &[i64]) -> Duration {
        let (mut spin, mut now) = (Spin::default(), -500);
        for gap in gaps {
            spin.yielded(now);
            now += gap;
            assert!(!spin.resumed(now));
            // Time outside the window is nobody's.
            now += 1_000_000;
            assert!(!spin.resumed(now));
        }
        spin.total()
    }

    #[test]
    fn gaps_with_work_in_them_are_not_spinning() {
        assert_eq!(
            total(&[400, 600, 30_000, 1_001, 400]),
            Duration::from_nanos(1_400)
        );
    }

    #[test]
    fn a_slow_machine_has_longer_gaps() {
        assert_eq!(
            total(&[2_000, 3_000, 4_001, 2_000]),
            Duration::from_nanos(7_000)
        );
        assert_eq!(total(&[6_000, 7_000]), Duration::ZERO);
    }

    #[test]
    fn a_clock_that_stands_still_is_seen() {
        let mut spin = Spin::default();
        spin.yielded(5);
        assert!(spin.resumed(5));
    }
}
