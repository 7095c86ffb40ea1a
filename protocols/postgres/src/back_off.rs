//! Fewer attempts to reach a server that is away.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::MutexGuard;
use tokio::time::Instant;

/// After a failed attempt to open a connection the next one waits, twice as long each time, and the others wait for it:
/// a server that is away is not stormed. Each failure is that of the call that made the attempt.
#[derive(Debug)]
pub(crate) struct BackOff {
    first: Duration,
    most: Duration,
    failing: Mutex<Option<Failing>>,
    /// Who makes the next attempt; the others are in line behind.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
struct Failing {
    delay: Duration,
    until: Instant,
}

/// May make an attempt, and has to say how it went.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    back_off: &'a BackOff,
    turn: Option<MutexGuard<'a, ()>>,
}

impl BackOff {
    pub(crate) fn new(first: Duration, most: Duration) -> Self {
        BackOff {
            first,
            most,
            failing: Mutex::new(None),
            turn: tokio::sync::Mutex::new(()),
        }
    }

    /// Waits while the server is away and the next attempt is not due.
    pub(crate) async fn attempt(&self) -> Attempt<'_> {
        if self.failing.lock().is_none() {
            return Attempt {
                back_off: self,
                turn: None,
            };
        }
        let turn = self.turn.lock().await;
        let failing = *self.failing.lock();
        let Some(failing) = failing else {
            // It came back while this one was in line.
            return Attempt {
                back_off: self,
                turn: None,
            };
        };
        tokio::time::sleep_until(failing.until).await;
        Attempt {
            back_off: self,
            turn: Some(turn),
        }
    }
}

impl Attempt<'_> {
    pub(crate) fn succeeded(self) {
        *self.back_off.failing.lock() = None;
    }

    pub(crate) fn failed(self) {
        let BackOff {
            first,
            most,
            failing,
            ..
        } = self.back_off;
        let mut failing = failing.lock();
        let delay = match &*failing {
            // Those that were on their way together are one failure.
            Some(known) if self.turn.is_none() => known.delay,
            Some(known) => known.delay.saturating_mul(2).min(*most),
            None => *first,
        };
        *failing = Some(Failing {
            delay,
            until: Instant::now() + delay,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const FIRST: Duration = Duration::from_millis(50);

    #[tokio::test(start_paused = true)]
    async fn delays_double_up_to_a_limit_and_are_forgotten_after_a_success() {
        let back_off = BackOff::new(FIRST, Duration::from_millis(300));
        let mut waits = Vec::new();
        for _ in 0..6 {
            let since = Instant::now();
            let attempt = back_off.attempt().await;
            waits.push(since.elapsed().as_millis());
            attempt.failed();
        }
        assert_eq!(waits, [0, 50, 100, 200, 300, 300]);
        back_off.attempt().await.succeeded();
        let since = Instant::now();
        back_off.attempt().await.failed();
        assert_eq!(since.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn one_attempt_at_a_time_while_it_fails_and_all_at_once_when_it_has_come_back() {
        let back_off = Arc::new(BackOff::new(FIRST, Duration::from_secs(1)));
        // All on their way when it went away: one failure, one delay.
        let (a, b) = (back_off.attempt().await, back_off.attempt().await);
        a.failed();
        b.failed();
        let begun = Instant::now();
        let calls = (0..4).map(|_| {
            let back_off = Arc::clone(&back_off);
            tokio::spawn(async move {
                let attempt = back_off.attempt().await;
                let at = begun.elapsed().as_millis();
                if at < 100 {
                    attempt.failed();
                } else {
                    attempt.succeeded();
                }
                at
            })
        });
        let mut times = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            times.push(call.await.unwrap());
        }
        assert_eq!(times, [50, 150, 150, 150]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_gives_up_while_waiting_leaves_its_turn_to_the_next() {
        let back_off = BackOff::new(FIRST, Duration::from_secs(1));
        back_off.attempt().await.failed();
        let limit = Duration::from_millis(10);
        let given_up = tokio::time::timeout(limit, back_off.attempt()).await;
        assert!(given_up.is_err());
        let since = Instant::now();
        back_off.attempt().await.succeeded();
        assert_eq!(since.elapsed(), Duration::from_millis(40));
    }
}
