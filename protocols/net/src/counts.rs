//! Exact numbers of sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many sockets were opened, closed, and used again: a cheap handle, cloned into everything that counts.
///
/// `opened` and `closed` follow the ownership of the socket itself, so they are exact whatever happened to the
/// future that held it. A connection attempt that failed before TCP was established opened nothing.
#[derive(Clone, Debug, Default)]
pub struct SocketCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    opened: AtomicU64,
    closed: AtomicU64,
    reused: AtomicU64,
}

impl SocketCounts {
    /// TCP connections established since the start.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.0.opened.load(Ordering::Acquire)
    }

    /// TCP connections closed on our side since the start.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Exchanges that went over a connection which was open already.
    #[must_use]
    pub fn reused(&self) -> u64 {
        self.0.reused.load(Ordering::Relaxed)
    }

    /// TCP connections open now.
    ///
    /// `closed` is read first, so that a socket that closes in between cannot make this negative.
    #[must_use]
    pub fn open(&self) -> u64 {
        let closed = self.closed();
        self.opened().saturating_sub(closed)
    }

    /// Counts one exchange over a connection that was open already; for adapters.
    pub fn count_reuse(&self) {
        self.0.reused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an opened socket; the guard counts it as closed when dropped.
    pub(crate) fn open_one(&self) -> OpenGuard {
        self.0.opened.fetch_add(1, Ordering::AcqRel);
        OpenGuard(self.clone())
    }
}

/// Lives as long as its socket. Declared after the socket in its owner, so that the socket is closed first.
#[derive(Debug)]
pub(crate) struct OpenGuard(SocketCounts);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.0.closed.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_guard_is_a_closed_socket() {
        let counts = SocketCounts::default();
        let first = counts.open_one();
        let second = counts.open_one();
        assert_eq!((counts.opened(), counts.closed(), counts.open()), (2, 0, 2));
        drop(first);
        assert_eq!((counts.opened(), counts.closed(), counts.open()), (2, 1, 1));
        drop(second);
        assert_eq!(counts.open(), 0);
    }
}
