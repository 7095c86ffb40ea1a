//! When to try again to open a connection.

use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Spaces the attempts to open connections to a server that cannot be reached: the first waits `first` after a failure,
/// and each failure doubles the wait, up to `most`. A success ends it.
///
/// Nobody waits in it: whoever comes too early is told how long it still lasts, and fails at once. An open-loop load
/// would otherwise open as many connections as it has arrivals, each of them refused, or pile up behind one attempt.
///
/// ```
/// # use openloop_net::Backoff;
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let backoff = Backoff::new(Duration::from_secs(60), Duration::from_secs(600));
/// let attempt = backoff.attempt().unwrap();
/// attempt.failed();
/// assert!(backoff.attempt().unwrap_err() <= Duration::from_secs(60));
/// # }
/// ```
#[derive(Debug)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    state: Mutex<Option<Waiting>>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Instant,
    wait: Duration,
}

/// One attempt, and how it went; an attempt that is dropped says nothing.
#[derive(Debug)]
#[must_use = "say whether it failed"]
pub struct Attempt<'a> {
    backoff: &'a Backoff,
    begun: Instant,
}

impl Default for Backoff {
    /// 10 ms, up to 1 s.
    fn default() -> Self {
        Backoff::new(Duration::from_millis(10), Duration::from_secs(1))
    }
}

impl Backoff {
    /// Waits `first` after a failure, and up to `most` after several.
    #[must_use]
    pub fn new(first: Duration, most: Duration) -> Self {
        Backoff {
            first: first.min(most),
            most,
            state: Mutex::new(None),
        }
    }

    /// Whether the last attempt failed, however long ago.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.state.lock().is_some()
    }

    /// Begins an attempt. Where none failed last, any number of them may run at once.
    ///
    /// # Errors
    ///
    /// How long it is still too early.
    pub fn attempt(&self) -> Result<Attempt<'_>, Duration> {
        let begun = Instant::now();
        if let Some(Waiting { since, wait }) = *self.state.lock() {
            let left = wait.saturating_sub(begun.duration_since(since));
            if !left.is_zero() {
                return Err(left);
            }
        }
        Ok(Attempt {
            backoff: self,
            begun,
        })
    }
}

impl Attempt<'_> {
    /// The server could not be reached. Attempts that ran at the same time count as one.
    pub fn failed(self) {
        let Backoff { first, most, state } = self.backoff;
        let mut state = state.lock();
        let wait = match *state {
            // Nothing begins in the wait, so whatever had begun by then was on its way already.
            Some(Waiting { since, .. }) if self.begun <= since => return,
            Some(Waiting { wait, .. }) => wait.saturating_mul(2).min(*most),
            None => *first,
        };
        *state = Some(Waiting {
            since: Instant::now(),
            wait,
        });
    }

    /// The server was reached.
    pub fn succeeded(self) {
        *self.backoff.state.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_the_longest_and_a_success_ends_them() {
        let backoff = Backoff::new(10 * MS, 50 * MS);
        for wait in [10, 20, 40, 50, 50] {
            backoff.attempt().unwrap().failed();
            assert_eq!(backoff.attempt().unwrap_err(), wait * MS);
            tokio::time::advance((wait - 1) * MS).await;
            assert_eq!(backoff.attempt().unwrap_err(), MS);
            tokio::time::advance(MS).await;
        }
        backoff.attempt().unwrap().succeeded();
        backoff.attempt().unwrap().failed();
        assert_eq!(backoff.attempt().unwrap_err(), 10 * MS);
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_at_the_same_time_are_one_failure() {
        let backoff = Backoff::new(10 * MS, 50 * MS);
        let all: Vec<_> = (0..8).map(|_| backoff.attempt().unwrap()).collect();
        tokio::time::advance(MS).await;
        all.into_iter().for_each(Attempt::failed);
        assert_eq!(backoff.attempt().unwrap_err(), 10 * MS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_attempt_says_nothing() {
        let backoff = Backoff::default();
        drop(backoff.attempt().unwrap());
        assert!(backoff.attempt().is_ok());
    }
}
