//! Stopping a run without losing its report.

use openloop_sched::Offset;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A run begins at 0.
const STOPPED: u8 = 1;
const ABORTED: u8 = 2;

/// Stops a run: no more arrivals, then the drain, then the whole report. A cheap handle: clone it freely.
///
/// Dropping the future of a run would lose its report; this does not.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    /// When it was first raised: one instant for all drivers of a run, whenever each gets to see it.
    at: OnceLock<Instant>,
    changed: Notify,
}

impl Stop {
    pub(crate) fn new() -> Self {
        Stop::default()
    }

    /// Sends nothing more and drains what is in flight.
    pub fn stop(&self) {
        self.raise(STOPPED);
    }

    /// Ends the drain now as well: what is still in flight counts as abandoned.
    pub fn abort(&self) {
        self.raise(ABORTED);
    }

    /// Stops on the first Ctrl-C and aborts on the second. Returns when the second came, so spawn it or select
    /// on it.
    ///
    /// # Errors
    /// When the signal cannot be listened to.
    pub async fn on_ctrl_c(&self) -> std::io::Result<()> {
        tokio::signal::ctrl_c().await?;
        self.stop();
        tokio::signal::ctrl_c().await?;
        self.abort();
        Ok(())
    }

    fn raise(&self, to: u8) {
        self.0.at.get_or_init(Instant::now);
        if self.0.state.fetch_max(to, Ordering::AcqRel) < to {
            self.0.changed.notify_waiters();
        }
    }

    /// When the run was stopped, as an offset from its start.
    pub(crate) fn stopped_at(&self, start: Instant) -> Option<Offset> {
        let at = self.0.at.get()?;
        Some(Offset::from(at.saturating_duration_since(start)))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.state.load(Ordering::Acquire) >= STOPPED
    }

    pub(crate) async fn stopped(&self) {
        self.reached(STOPPED).await;
    }

    pub(crate) async fn aborted(&self) {
        self.reached(ABORTED).await;
    }

    async fn reached(&self, state: u8) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            // Registered before the check: a change between the two is not missed.
            changed.as_mut().enable();
            if self.0.state.load(Ordering::Acquire) >= state {
                return;
            }
            changed.await;
        }
    }
}
