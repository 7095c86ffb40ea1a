//! When the kernel received what was read last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// A stamp older than this is not believed: the wall clock was stepped, or the reader was stopped.
const OLDEST: Duration = Duration::from_secs(600);

/// Reading three clocks takes well below a microsecond; where it took this long they do not belong together, or
/// tokio's clock is paused.
const APART: Duration = Duration::from_millis(1);

/// A cheap handle on the kernel's receive stamp of the bytes that were read last from a socket.
///
/// It stays readable after the socket has been handed to a protocol's client. For a stream under TLS the stamp is
/// that of the last TCP segment read. There are stamps on Linux alone; elsewhere [`last`](Self::last) is `None`.
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    /// Nanoseconds of `CLOCK_REALTIME`; 0 is none yet. Without an `Arc` there will never be any.
    realtime_ns: Option<Arc<AtomicU64>>,
}

impl Stamps {
    pub(crate) fn enabled() -> Self {
        Stamps {
            realtime_ns: Some(Arc::new(AtomicU64::new(0))),
        }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn is_enabled(&self) -> bool {
        self.realtime_ns.is_some()
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn set(&self, realtime: Duration) {
        if let Some(cell) = &self.realtime_ns {
            let ns = u64::try_from(realtime.as_nanos()).unwrap_or(0);
            cell.store(ns, Ordering::Relaxed);
        }
    }

    /// When the kernel received the last bytes that were read, on tokio's clock.
    ///
    /// `now` is tokio's clock, read by the caller just before: mostly it has just read it anyway. The stamp is taken
    /// on the wall clock, and moved to the monotonic one by its age at the moment of this call; a step of the wall
    /// clock falsifies it only when it happens between the arrival of the bytes and this call, so call it right
    /// after the read. A stamp from the future, one older than ten minutes, and any stamp while tokio's clock is
    /// paused give `None`.
    #[must_use]
    pub fn last(&self, now: Instant) -> Option<Instant> {
        let raw = self.realtime_ns.as_ref()?.load(Ordering::Relaxed);
        if raw == 0 {
            return None;
        }
        let realtime = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        convert(raw, realtime, now, std::time::Instant::now())
    }
}

/// The stamp `raw` on the monotonic clock. `now` was read from tokio's clock just before `realtime` from the wall
/// clock and `after` from std's.
fn convert(
    raw: u64,
    realtime: Duration,
    now: Instant,
    after: std::time::Instant,
) -> Option<Instant> {
    let apart = after.checked_duration_since(now.into_std())?;
    let age = realtime.checked_sub(Duration::from_nanos(raw))?;
    if apart > APART || age > OLDEST {
        return None;
    }
    now.checked_sub(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: u64 = 1_000_000_000_000;

    /// The conversion with the wall clock `ns` past the stamp and std's clock `apart_ns` past tokio's.
    fn age_of(ns: i64, apart_ns: i64) -> Option<Duration> {
        let now = std::time::Instant::now() + Duration::from_secs(1);
        let shift = Duration::from_nanos(apart_ns.unsigned_abs());
        let after = if apart_ns < 0 {
            now - shift
        } else {
            now + shift
        };
        let realtime = Duration::from_nanos(STAMP.saturating_add_signed(ns));
        let now = Instant::from_std(now);
        Some(now - convert(STAMP, realtime, now, after)?)
    }

    #[test]
    fn a_stamp_keeps_its_age() {
        assert_eq!(age_of(37_000, 60), Some(Duration::from_nanos(37_000)));
        assert_eq!(age_of(0, 0), Some(Duration::ZERO));
    }

    #[test]
    fn a_stamp_from_the_future_is_not_believed() {
        assert_eq!(age_of(-1, 60), None);
    }

    #[test]
    fn an_absurdly_old_stamp_is_not_believed() {
        assert!(age_of(600_000_000_000, 60).is_some());
        assert_eq!(age_of(600_000_000_001, 60), None);
    }

    #[test]
    fn clocks_that_do_not_belong_together_give_no_stamp() {
        assert_eq!(age_of(10, -1), None);
        assert_eq!(age_of(10, 1_000_001), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_has_no_stamps() {
        let stamps = Stamps::enabled();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        stamps.set(wall);
        for ahead in [Duration::from_millis(1), Duration::from_secs(5)] {
            tokio::time::advance(ahead).await;
            assert_eq!(stamps.last(Instant::now()), None);
        }
    }
}
