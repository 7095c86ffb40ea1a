//! One monotonic clock, readable both as an `Instant` and as raw nanoseconds.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The tie between [`Instant`] and the raw `CLOCK_MONOTONIC` of the kernel.
///
/// `Instant` does not show its value, another process and a timerfd need it. The two are read as a
/// bracketed pair, the tightest of eight, so that a conversion is off by a constant of some tens of
/// nanoseconds at most, and two conversions by the same clock differ by exactly what the instants do.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    anchor: Instant,
    anchor_ns: u64,
}

impl Clock {
    /// Reads the tie between the two clocks.
    #[must_use]
    pub fn new() -> Self {
        let mut best = (Duration::MAX, Instant::now(), 0);
        for _ in 0..8 {
            let before = Instant::now();
            let raw = monotonic_ns();
            let width = before.elapsed();
            if width < best.0 {
                best = (width, before + width / 2, raw);
            }
        }
        Self {
            anchor: best.1,
            anchor_ns: best.2,
        }
    }

    /// Now, in nanoseconds of `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.monotonic_ns(Instant::now())
    }

    /// The value of an instant in nanoseconds of `CLOCK_MONOTONIC`; 0 for an instant before boot.
    #[must_use]
    pub fn monotonic_ns(&self, instant: Instant) -> u64 {
        match instant.checked_duration_since(self.anchor) {
            Some(after) => self.anchor_ns.saturating_add(nanos(after)),
            None => self
                .anchor_ns
                .saturating_sub(nanos(self.anchor.duration_since(instant))),
        }
    }

    /// The instant at which `CLOCK_MONOTONIC` reads `ns`.
    #[must_use]
    pub fn instant(&self, ns: u64) -> Instant {
        if ns >= self.anchor_ns {
            self.anchor + Duration::from_nanos(ns - self.anchor_ns)
        } else {
            let before = Duration::from_nanos(self.anchor_ns - ns);
            self.anchor.checked_sub(before).unwrap_or(self.anchor)
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// A duration in nanoseconds; one of more than 584 years reads as `u64::MAX`.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_survives_the_way_to_nanoseconds_and_back() {
        let clock = Clock::new();
        for offset in [0, 1, 999, 1_000_000_007] {
            let instant = Instant::now() + Duration::from_nanos(offset);
            assert_eq!(clock.instant(clock.monotonic_ns(instant)), instant);
        }
        let earlier = clock.instant(clock.anchor_ns - 5);
        assert_eq!(clock.monotonic_ns(earlier), clock.anchor_ns - 5);
    }

    #[test]
    fn the_raw_clock_is_the_one_behind_instant() {
        let clock = Clock::new();
        let before = monotonic_ns();
        let between = clock.now_ns();
        let after = monotonic_ns();
        // The tie is half a bracket off at most, and the tightest of eight is far below 20 µs.
        assert!(between + 20_000 >= before && between <= after + 20_000);
    }
}
