//! Which tasks of a run are alive.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;

/// How many tasks are alive, a signal that none is, and one that ends them.
#[derive(Debug, Default)]
pub(crate) struct LiveTasks {
    tasks: AtomicU64,
    draining: AtomicBool,
    none: Notify,
    is_cut: AtomicBool,
    cut: Notify,
}

impl LiveTasks {
    pub(crate) fn begin(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        // Sequentially consistent with `none`: either this sees `draining`, or that sees no task.
        if self.tasks.fetch_sub(1, Ordering::SeqCst) == 1 && self.draining.load(Ordering::SeqCst) {
            self.none.notify_waiters();
        }
    }

    /// How many there are, as far as this thread has seen.
    pub(crate) fn count(&self) -> u64 {
        self.tasks.load(Ordering::Relaxed)
    }

    /// Waits until no task is alive.
    pub(crate) async fn none(&self) {
        self.draining.store(true, Ordering::SeqCst);
        loop {
            let none = self.none.notified();
            tokio::pin!(none);
            none.as_mut().enable();
            if self.tasks.load(Ordering::SeqCst) == 0 {
                return;
            }
            none.await;
        }
    }

    /// Ends all tasks that wait for [`cut_off`](LiveTasks::cut_off).
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        self.cut.notify_waiters();
    }

    /// Waits to be cut off.
    pub(crate) async fn cut_off(&self) {
        let cut = self.cut.notified();
        tokio::pin!(cut);
        // Registered before the check: a cut between the two is not missed.
        cut.as_mut().enable();
        if !self.is_cut.load(Ordering::Acquire) {
            cut.await;
        }
    }
}
