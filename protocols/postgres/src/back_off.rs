//! Fewer attempts to reach a server that is away.

use openloop_net::Backoff;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};

/// After a failed attempt to open a connection the next one waits, twice as long each time, and the others wait for it:
/// a server that is away is not stormed. Each failure is that of the call that made the attempt.
#[derive(Debug)]
pub(crate) struct BackOff {
    spacing: Backoff,
    /// Who makes the next attempt; the others are in line behind.
    turn: Mutex<()>,
}

/// May make an attempt, and has to say how it went.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    attempt: openloop_net::Attempt<'a>,
    _turn: Option<MutexGuard<'a, ()>>,
}

impl BackOff {
    pub(crate) fn new(first: Duration, most: Duration) -> Self {
        BackOff {
            spacing: Backoff::new(first, most),
            turn: Mutex::new(()),
        }
    }

    /// Waits while the server is away and the next attempt is not due.
    pub(crate) async fn attempt(&self) -> Attempt<'_> {
        let turn = match self.spacing.is_failing() {
            // It may have come back while this one was in line.
            true => Some(self.turn.lock().await).filter(|_| self.spacing.is_failing()),
            false => None,
        };
        loop {
            match self.spacing.attempt() {
                Ok(attempt) => {
                    return Attempt {
                        attempt,
                        _turn: turn,
                    };
                }
                Err(left) => tokio::time::sleep(left).await,
            }
        }
    }
}

impl Attempt<'_> {
    pub(crate) fn succeeded(self) {
        self.attempt.succeeded();
    }

    pub(crate) fn failed(self) {
        self.attempt.failed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::time::Instant;

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
