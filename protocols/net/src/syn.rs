//! SYN retransmissions, read off the time that a connect took.

use std::time::Duration;

/// The kernel's timers fire on a tick: a retransmission at 1 s may show as 0.996 s.
const TICK: Duration = Duration::from_millis(10);

/// When the kernel sends a SYN again, if no answer came.
///
/// A full accept queue drops SYNs without a word, and the client's kernel tries again after 1 s. A connect that took
/// longer than that on a healthy network says that the server's `listen` backlog was full, which looks like a slow
/// server if nobody names it.
///
/// Retransmission k (from 1) leaves after the sum of the first k waits. The waits are, in seconds:
///
/// ```text
/// exponential (up to Linux 6.4)              1  2  4  8 …          so at   1  3  7  15 …
/// linear n = 4 (since 6.5, the default)      1  1  1  1  1  2  4 … so at   1  2  3  4  5  7  11 …
/// ```
///
/// Source: RFC 6298 section 2 (initial timeout of 1 s) and the kernel's `ip-sysctl` on `tcp_syn_linear_timeouts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynBackoff {
    linear: u32,
}

impl SynBackoff {
    /// Doubling from the first: retransmissions at 1, 3, 7, 15 … s.
    pub const EXPONENTIAL: Self = SynBackoff { linear: 0 };

    /// `linear` waits of one second before the doubling starts.
    #[must_use]
    pub const fn linear(linear: u32) -> Self {
        SynBackoff { linear }
    }

    /// What this machine's kernel does: reads `/proc/sys/net/ipv4/tcp_syn_linear_timeouts`.
    ///
    /// Where there is no such file it is [`EXPONENTIAL`](Self::EXPONENTIAL).
    #[must_use]
    pub fn of_this_machine() -> Self {
        let linear = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_syn_linear_timeouts")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        SynBackoff { linear }
    }

    /// How many SYNs were sent again within a connect that took `connect`.
    ///
    /// ```
    /// # use openloop_net::SynBackoff;
    /// # use std::time::Duration;
    /// let classic = SynBackoff::EXPONENTIAL;
    /// assert_eq!(classic.retries(Duration::from_millis(40)), 0);
    /// assert_eq!(classic.retries(Duration::from_millis(1003)), 1);
    /// assert_eq!(classic.retries(Duration::from_millis(3010)), 2);
    /// assert_eq!(classic.retries(Duration::from_millis(7020)), 3);
    /// ```
    #[must_use]
    pub fn retries(self, connect: Duration) -> u32 {
        let mut sent_again = 0;
        let mut wait = Duration::from_secs(1);
        let mut at = wait;
        while connect.saturating_add(TICK) >= at {
            sent_again += 1;
            if sent_again > self.linear {
                wait = wait.saturating_mul(2);
            }
            let Some(next) = at.checked_add(wait) else {
                break;
            };
            at = next;
        }
        sent_again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(backoff: SynBackoff, millis: u64) -> u32 {
        backoff.retries(Duration::from_millis(millis))
    }

    #[test]
    fn doubling_waits_put_retransmissions_at_1_3_7_and_15_seconds() {
        let classic = SynBackoff::EXPONENTIAL;
        let expected = [
            (0, 0),
            (980, 0),
            (990, 1),
            (1_000, 1),
            (2_980, 1),
            (3_000, 2),
            (6_980, 2),
            (7_000, 3),
            (15_000, 4),
            (31_000, 5),
            (63_000, 6),
        ];
        for (millis, retries) in expected {
            assert_eq!(at(classic, millis), retries, "{millis} ms");
        }
    }

    #[test]
    fn linear_waits_put_them_at_1_2_3_4_5_7_and_11_seconds() {
        let linear = SynBackoff::linear(4);
        let expected = [
            (980, 0),
            (1_000, 1),
            (2_000, 2),
            (3_000, 3),
            (4_000, 4),
            (5_000, 5),
            (6_980, 5),
            (7_000, 6),
            (11_000, 7),
        ];
        for (millis, retries) in expected {
            assert_eq!(at(linear, millis), retries, "{millis} ms");
        }
    }

    #[test]
    fn the_longest_duration_ends() {
        assert!(SynBackoff::EXPONENTIAL.retries(Duration::MAX) > 60);
    }
}
