//! When the kernel received what was read last.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// A stamp older than this is not believed: the wall clock was stepped, or the reader was stopped.
const OLDEST: Duration = Duration::from_secs(600);

/// Reading three clocks takes well below a microsecond; where it took this long they do not belong together, or
/// tokio's clock is paused.
const APART: Duration = Duration::from_millis(1);

/// Read closer together than this, they are kept for the stamps that follow.
const CLOSE: Duration = Duration::from_micros(2);

/// For so long it is known how far the wall clock is ahead of the monotonic one. Both are slewed alike: the distance
/// changes only where the wall clock is stepped, or the machine sleeps.
const FRESH: Duration = Duration::from_millis(1);

thread_local! {
    /// The two clocks, as this thread has read them last.
    static CLOCKS: Cell<Option<Clocks>> = const { Cell::new(None) };
}

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
    /// on the wall clock, and moved to the monotonic one by how far the one is ahead of the other, which each thread
    /// looks up once a millisecond. So a step of the wall clock falsifies what arrives before it and is asked for after
    /// it, and what arrives within a millisecond after it: call this right after the read. A stamp from the future and one
    /// older than ten minutes give `None`, and so does any while tokio's clock is paused, from a millisecond on.
    #[must_use]
    pub fn last(&self, now: Instant) -> Option<Instant> {
        let raw = self.realtime_ns.as_ref()?.load(Ordering::Relaxed);
        if raw == 0 {
            return None;
        }
        let known = CLOCKS.get().filter(|clocks| clocks.hold_at(now));
        let clocks = match known {
            Some(clocks) => clocks,
            None => {
                let read = Clocks::read(now)?;
                CLOCKS.set(Some(read));
                read
            }
        };
        clocks.convert(Duration::from_nanos(raw), now)
    }
}

/// One instant on two clocks.
#[derive(Clone, Copy)]
struct Clocks {
    monotonic: Instant,
    realtime: Duration,
    /// By so much at most the second was read after the first.
    apart: Duration,
}

impl Clocks {
    /// Reads the wall clock beside `now`, which was read from tokio's clock just before.
    fn read(now: Instant) -> Option<Self> {
        let realtime = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Self::of(now, realtime, std::time::Instant::now())
    }

    /// `after` was read from std's clock when the others had been read.
    fn of(now: Instant, realtime: Duration, after: std::time::Instant) -> Option<Self> {
        let apart = after.checked_duration_since(now.into_std())?;
        (apart <= APART).then_some(Clocks {
            monotonic: now,
            realtime,
            apart,
        })
    }

    /// Whether a stamp that is read at `now` may be converted by them.
    fn hold_at(&self, now: Instant) -> bool {
        let age = now.checked_duration_since(self.monotonic);
        self.apart <= CLOSE && age.is_some_and(|age| age < FRESH)
    }

    /// A stamp of the wall clock on the monotonic one; it lies before `now`.
    fn convert(&self, stamp: Duration, now: Instant) -> Option<Instant> {
        let at = match stamp.checked_sub(self.realtime) {
            Some(later) => self.monotonic.checked_add(later)?,
            None => self.monotonic.checked_sub(self.realtime - stamp)?,
        };
        let age = now.checked_duration_since(at)?;
        (age <= OLDEST).then_some(at)
    }
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
        let clocks = Clocks::of(now, realtime, after)?;
        Some(now - clocks.convert(Duration::from_nanos(STAMP), now)?)
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

    #[test]
    fn clocks_that_were_read_close_together_hold_for_a_millisecond() {
        let now = Instant::now();
        let clocks = |apart| {
            let after = now.into_std() + Duration::from_nanos(apart);
            Clocks::of(now, Duration::from_nanos(STAMP), after).unwrap()
        };
        let later = |ns| now + Duration::from_nanos(ns);
        assert!(clocks(60).hold_at(now));
        assert!(clocks(2000).hold_at(later(999_999)));
        assert!(!clocks(60).hold_at(later(1_000_000)));
        assert!(!clocks(2001).hold_at(now));
        assert!(!clocks(60).hold_at(now - Duration::from_nanos(1)));

        // What arrives while they hold is where it would be by clocks that are read anew.
        let stamp = Duration::from_nanos(STAMP + 300_000);
        let at = clocks(60).convert(stamp, later(400_000));
        assert_eq!(at, Some(later(300_000)));
        assert_eq!(clocks(60).convert(stamp, later(299_999)), None);
    }

    #[test]
    fn what_a_thread_knows_of_the_clocks_is_used_for_a_millisecond() {
        let now = Instant::now();
        let stamps = Stamps::enabled();
        // By these clocks it is 1970, as it is by no others.
        stamps.set(Duration::from_nanos(STAMP - 5_000));
        let known = Clocks {
            monotonic: now,
            realtime: Duration::from_nanos(STAMP),
            apart: Duration::ZERO,
        };
        CLOCKS.set(Some(known));
        let later = now + Duration::from_micros(999);
        let arrived = now.checked_sub(Duration::from_micros(5));
        assert_eq!((stamps.last(now), stamps.last(later)), (arrived, arrived));
        assert_eq!(stamps.last(now + FRESH), None);
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
