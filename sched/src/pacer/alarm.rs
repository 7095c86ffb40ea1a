//! What wakes a pacer.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::clock_is_paused;
use super::fallback::{Fallback, PacerError, unless_no_driver};
use super::precision::Precision;
#[cfg(target_os = "linux")]
use super::timerfd::TimerFd;

/// One timer, set again for each wait.
#[derive(Debug)]
pub(super) enum Alarm {
    Sleep {
        sleep: Pin<Box<Sleep>>,
        start: Instant,
    },
    #[cfg(target_os = "linux")]
    Timer(TimerFd),
}

impl Alarm {
    /// The alarm for a precision, or the coarse one and why.
    pub(super) fn new(
        precision: Precision,
        start: Instant,
    ) -> Result<(Self, Option<Fallback>), PacerError> {
        if precision == Precision::Coarse {
            return Ok((Alarm::sleep(start)?, None));
        }
        match Alarm::timer(start) {
            Ok(alarm) => Ok((alarm, None)),
            Err(fallback) => Ok((Alarm::sleep(start)?, Some(fallback))),
        }
    }

    pub(super) fn sleep(start: Instant) -> Result<Self, PacerError> {
        let sleep = unless_no_driver(|| sleep_until(start)).ok_or(PacerError::NoTimer)?;
        Ok(Alarm::Sleep {
            sleep: Box::pin(sleep),
            start,
        })
    }

    #[cfg(target_os = "linux")]
    fn timer(start: Instant) -> Result<Self, Fallback> {
        if clock_is_paused() {
            return Err(Fallback::PausedClock);
        }
        TimerFd::new(start).map(Alarm::Timer)
    }

    #[cfg(not(target_os = "linux"))]
    fn timer(_: Instant) -> Result<Self, Fallback> {
        Err(if clock_is_paused() {
            Fallback::PausedClock
        } else {
            Fallback::Platform
        })
    }

    /// Ready at about `at` nanoseconds since the start; the caller reads the clock.
    pub(super) fn poll_until(
        &mut self,
        at: i64,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self {
            Alarm::Sleep { sleep, start } => {
                // Centuries ahead may not fit in an Instant; a day ahead is early, and asks again.
                let since = Duration::from_nanos(at.unsigned_abs());
                let deadline = start
                    .checked_add(since)
                    .unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400));
                if sleep.deadline() != deadline || sleep.is_elapsed() {
                    sleep.as_mut().reset(deadline);
                }
                sleep.as_mut().poll(cx).map(Ok)
            }
            #[cfg(target_os = "linux")]
            Alarm::Timer(timer) => timer.poll_until(at, cx),
        }
    }
}
