//! A timer that is not a millisecond late.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Timer, arm};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::Timer;

/// tokio's own timer has slots of 1 ms and fires 0.5 ms late at the median, which would be the
/// service time itself. A timerfd is 20 to 50 µs late.
#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::AsFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe;

    #[derive(Debug)]
    pub(crate) struct Timer {
        // The one safe way to register any descriptor: a timerfd is read like a pipe.
        fd: pipe::Receiver,
    }

    impl Timer {
        /// Must be called inside a runtime with an I/O driver.
        pub(crate) fn new() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            Ok(Self {
                fd: pipe::Receiver::from_owned_fd_unchecked(fd)?,
            })
        }

        /// Waits until `CLOCK_MONOTONIC` reads `at_ns`; can be dropped and asked again.
        pub(crate) async fn until(&mut self, at_ns: u64) -> io::Result<()> {
            arm(&self.fd, at_ns)?;
            // Longer than the counter's 8 bytes: a short read tells the runtime to wait again.
            self.fd.read(&mut [0; 16]).await.map(|_| ())
        }
    }

    /// Lets a timerfd become readable once `CLOCK_MONOTONIC` reads `at_ns`, and not before.
    pub(crate) fn arm(timer: impl AsFd, at_ns: u64) -> io::Result<()> {
        let at = Timespec {
            tv_sec: i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX),
            // A value of zero would disarm the timer.
            tv_nsec: i64::try_from(at_ns % 1_000_000_000).unwrap_or(0).max(1),
        };
        let never = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let setting = Itimerspec {
            it_interval: never,
            it_value: at,
        };
        timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &setting)?;
        Ok(())
    }
}

/// Where there is no timerfd, tokio's timer, 1 ms late at worst; the caller spins over no window
/// that long, so service times below some milliseconds are coarse there.
#[cfg(not(target_os = "linux"))]
mod portable {
    use std::io;
    use std::time::Duration;

    use crate::Clock;

    #[derive(Debug)]
    pub(crate) struct Timer {
        clock: Clock,
    }

    impl Timer {
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self {
                clock: Clock::new(),
            })
        }

        pub(crate) async fn until(&mut self, at_ns: u64) -> io::Result<()> {
            let wait = at_ns.saturating_sub(self.clock.now_ns());
            tokio::time::sleep(Duration::from_nanos(wait)).await;
            Ok(())
        }
    }
}
