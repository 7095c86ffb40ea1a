//! How far ahead of an instant to wake.

use std::time::Duration;

/// A window that follows the 99th percentile of the timer's own lateness.
///
/// Stochastic approximation of a quantile: up 99 steps when a wake-up was later than the window, down one
/// step when it was not; where both balance, one in a hundred is later. The kernel's wake-up is about 50 µs
/// late on an idle core and less on a busy one, so no fixed window fits both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    now: i64,
    least: i64,
    most: i64,
}

const STEP: i64 = 100;
const FIRST: i64 = 50_000;
const LEAST: i64 = 20_000;

impl Window {
    /// At most `most`; zero for a timer alone.
    pub(super) fn up_to(most: Duration) -> Self {
        let most = i64::try_from(most.as_nanos()).unwrap_or(i64::MAX);
        Window {
            now: FIRST.min(most),
            least: LEAST.min(most),
            most,
        }
    }

    pub(super) fn nanos(self) -> i64 {
        self.now
    }

    /// A wake-up came `late` nanoseconds after it was set for.
    pub(super) fn learn(&mut self, late: i64) {
        self.now = if late > self.now {
            self.now.saturating_add(99 * STEP).min(self.most)
        } else {
            self.now.saturating_sub(STEP).max(self.least)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_settles_at_the_99th_percentile_of_lateness() {
        let mut window = Window::up_to(Duration::from_micros(300));
        // Lateness of 1 … 200 µs, evenly and out of order (a full cycle modulo 200): p99 is 198 µs.
        for k in 0..200_000i64 {
            window.learn((k * 73 % 200 + 1) * 1_000);
        }
        let micros = window.nanos() / 1_000;
        assert!((190..=212).contains(&micros), "{micros}");
    }

    #[test]
    fn it_stays_within_its_limits() {
        let mut window = Window::up_to(Duration::from_micros(300));
        (0..100_000).for_each(|_| window.learn(1_000_000));
        assert_eq!(window.nanos(), 300_000);
        (0..100_000).for_each(|_| window.learn(0));
        assert_eq!(window.nanos(), 20_000);
        assert_eq!(Window::up_to(Duration::ZERO).nanos(), 0);
        let mut narrow = Window::up_to(Duration::from_micros(5));
        narrow.learn(0);
        assert_eq!(narrow.nanos(), 5_000);
    }
}
