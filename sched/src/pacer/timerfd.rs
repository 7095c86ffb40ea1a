//! A timer of the kernel on tokio's I/O driver.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::time::Instant;

use super::fallback::{Fallback, unless_no_driver};

/// One timerfd, set again for each wait.
///
/// tokio's safe `AsyncFd` constructors are deprecated and their successors are `unsafe`. The reading end of
/// a pipe takes any descriptor by a safe function and registers it for reading, which is all that a timer
/// needs.
#[derive(Debug)]
pub(super) struct TimerFd {
    fd: pipe::Receiver,
    /// The start of the run on CLOCK_MONOTONIC, in nanoseconds.
    start: i128,
    /// What it is set for, in nanoseconds since the start, until it has fired.
    armed: Option<i64>,
}

impl TimerFd {
    pub(super) fn new(start: Instant) -> Result<Self, Fallback> {
        let failed = |error: io::Error| Fallback::Timer(error.to_string());
        let fd = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )
        .map_err(|errno| failed(errno.into()))?;
        let fd = unless_no_driver(|| pipe::Receiver::from_owned_fd_unchecked(fd))
            .ok_or(Fallback::NoIoDriver)?
            .map_err(failed)?;
        Ok(TimerFd {
            fd,
            start: monotonic_at(start),
            armed: None,
        })
    }

    /// Ready at `at` nanoseconds since the start or later, by the kernel's clock.
    pub(super) fn poll_until(&mut self, at: i64, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.armed != Some(at) {
            // A value of zero would disarm it; the monotonic clock was there at boot.
            let instant = (self.start + i128::from(at)).max(1);
            let value = Timespec {
                tv_sec: i64::try_from(instant / NANOS).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(instant % NANOS).unwrap_or(0),
            };
            let once = Itimerspec {
                it_interval: Timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                },
                it_value: value,
            };
            timerfd_settime(self.fd.as_fd(), TimerfdTimerFlags::ABSTIME, &once)?;
            self.armed = Some(at);
        }
        // Twice the eight bytes of the counter: a short read tells tokio that no more is there, without a
        // second read(2).
        let mut counter = [0; 16];
        ready!(Pin::new(&mut self.fd).poll_read(cx, &mut ReadBuf::new(&mut counter)))?;
        self.armed = None;
        Poll::Ready(Ok(()))
    }
}

const NANOS: i128 = 1_000_000_000;

/// `instant` on CLOCK_MONOTONIC, from the tightest of a few readings of both clocks.
fn monotonic_at(instant: Instant) -> i128 {
    let mut tightest = i128::MAX;
    let mut result = 0;
    for _ in 0..8 {
        let (before, now, after) = (monotonic(), Instant::now(), monotonic());
        if after - before < tightest {
            tightest = after - before;
            let ahead = instant.saturating_duration_since(now).as_nanos();
            let behind = now.saturating_duration_since(instant).as_nanos();
            result = (before + after) / 2 + ahead.cast_signed() - behind.cast_signed();
        }
    }
    result
}

fn monotonic() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * NANOS + i128::from(now.tv_nsec)
}
