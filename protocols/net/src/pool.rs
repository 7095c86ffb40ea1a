//! A first-come-first-served pool whose wait is visible.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Why there was no place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// Every place is in use and as many callers wait as may wait.
    #[error(
        "all {size} places are in use and {waiting} callers wait already; allow more of either"
    )]
    Full {
        /// Places in the pool.
        size: usize,
        /// Callers that were waiting.
        waiting: usize,
    },
}

/// At most `size` leases at once, at most `waiting` callers in line for one, first come, first served.
///
/// The pool makes no `T` by itself: a lease is a *place*, which holds a `T` that somebody put back, or nothing, and
/// then the holder makes a new one. Items rest in the order in which they came back, so that all are used in turn
/// and none is left to the server's idle timeout.
///
/// A place that comes free goes straight to the caller who has waited longest; a newcomer cannot overtake. A caller
/// that gives up (whose future is dropped) leaves the line, and a lease that was already on its way to it goes on to
/// the next one.
///
/// ```
/// # use openloop_net::Pool;
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let pool = Pool::new(2, usize::MAX);
/// let mut lease = pool.lease().await.unwrap();
/// let connection = lease.take().unwrap_or_else(|| String::from("a new connection"));
/// lease.put(connection); // not put back after a failure: then the place is free and empty
/// drop(lease);
/// assert_eq!((pool.in_use(), pool.idle()), (0, 1));
/// # }
/// ```
#[derive(Debug)]
pub struct Pool<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    /// Changed under the lock of `state` alone.
    size: AtomicUsize,
    line: usize,
    /// Callers in line who have not given up.
    waiting: AtomicUsize,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    in_use: usize,
    idle: VecDeque<T>,
    /// The line; those who gave up stay in it until it is swept.
    line: VecDeque<Waiter<T>>,
}

/// A caller in line.
#[derive(Debug)]
struct Waiter<T> {
    sender: oneshot::Sender<Lease<T>>,
    counted: Counted,
}

/// Whether a caller still counts as one in line: until it has been given a place, or has given up.
#[derive(Clone, Debug)]
struct Counted(Arc<AtomicBool>);

impl Counted {
    fn count_out(&self, waiting: &AtomicUsize) {
        if self.0.swap(false, Ordering::AcqRel) {
            waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Pool(Arc::clone(&self.0))
    }
}

impl<T> Pool<T> {
    /// A pool of `size` places with room for `waiting` callers in line; `usize::MAX` is unlimited for either.
    ///
    /// A pool of size 0 never has a place.
    #[must_use]
    pub fn new(size: usize, waiting: usize) -> Self {
        Pool(Arc::new(Shared {
            size: AtomicUsize::new(size),
            line: waiting,
            waiting: AtomicUsize::new(0),
            state: Mutex::new(State {
                in_use: 0,
                idle: VecDeque::new(),
                line: VecDeque::new(),
            }),
        }))
    }

    /// The number of places.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.size.load(Ordering::Acquire)
    }

    /// Changes the number of places, as when a server tells a new limit. Callers in line get the places that are new;
    /// places that are in use beyond a smaller size go as they come free.
    pub fn resize(&self, size: usize) {
        if self.size() == size {
            return;
        }
        let mut state = self.0.state.lock();
        self.0.size.store(size, Ordering::Release);
        while let Some(lease) = self.place(&mut state) {
            if state.line.is_empty() {
                // Dropping it takes the lock.
                drop(state);
                return;
            }
            drop(state);
            // Freeing a place serves whoever is first in line.
            drop(lease);
            state = self.0.state.lock();
        }
    }

    /// Leases held now, those on their way to a waiting caller included.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.0.state.lock().in_use
    }

    /// Callers in line now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Acquire)
    }

    /// Items at rest in the pool.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.0.state.lock().idle.len()
    }

    /// Takes a place at once, or says that there is none.
    #[must_use]
    pub fn try_lease(&self) -> Option<Lease<T>> {
        self.place(&mut self.0.state.lock())
    }

    /// A free place, if there is one. Whoever waits is served by the release itself, so a free place means that
    /// nobody does.
    fn place(&self, state: &mut State<T>) -> Option<Lease<T>> {
        if state.in_use >= self.size() {
            return None;
        }
        state.in_use += 1;
        Some(Lease {
            pool: Arc::clone(&self.0),
            item: state.idle.pop_front(),
            waited: Duration::ZERO,
            holds_place: true,
        })
    }

    /// Takes a place, waiting in line for one; the lease says how long that took.
    ///
    /// Cancel-safe: dropping the future leaves the line.
    ///
    /// # Errors
    ///
    /// [`PoolError::Full`] where the line is full.
    pub async fn lease(&self) -> Result<Lease<T>, PoolError> {
        if let Some(lease) = self.try_lease() {
            return Ok(lease);
        }
        let since = Instant::now();
        let (receiver, _in_line) = match self.join()? {
            Joined::Lease(lease) => return Ok(lease),
            Joined::Line(receiver, in_line) => (receiver, in_line),
        };
        // A sender is dropped unsent only with the pool, which `self` keeps alive.
        let mut lease = receiver.await.map_err(|_| PoolError::Full {
            size: self.size(),
            waiting: self.waiting(),
        })?;
        lease.waited = since.elapsed();
        Ok(lease)
    }

    fn join(&self) -> Result<Joined<'_, T>, PoolError> {
        let mut state = self.0.state.lock();
        // One may have come free since the first look.
        if let Some(lease) = self.place(&mut state) {
            return Ok(Joined::Lease(lease));
        }
        let waiting = self.0.waiting.load(Ordering::Acquire);
        if waiting >= self.0.line {
            return Err(PoolError::Full {
                size: self.size(),
                waiting,
            });
        }
        // Callers who gave up are swept once they are half of the line, so that a stalled server whose callers all
        // time out does not grow it for ever.
        if state.line.len() > 2 * waiting + 64 {
            state.line.retain(|waiter| !waiter.sender.is_closed());
        }
        let (sender, receiver) = oneshot::channel();
        let counted = Counted(Arc::new(AtomicBool::new(true)));
        state.line.push_back(Waiter {
            sender,
            counted: counted.clone(),
        });
        self.0.waiting.fetch_add(1, Ordering::AcqRel);
        let waiting = &self.0.waiting;
        Ok(Joined::Line(receiver, InLine { waiting, counted }))
    }
}

enum Joined<'a, T> {
    Lease(Lease<T>),
    Line(oneshot::Receiver<Lease<T>>, InLine<'a>),
}

/// Counts a caller out of the line that gives up.
struct InLine<'a> {
    waiting: &'a AtomicUsize,
    counted: Counted,
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.counted.count_out(self.waiting);
    }
}

/// One place in the pool. Dropping it frees the place, with the item that is in it if there is one.
#[derive(Debug)]
pub struct Lease<T> {
    pool: Arc<Shared<T>>,
    item: Option<T>,
    waited: Duration,
    holds_place: bool,
}

impl<T> Lease<T> {
    /// How long the lease was waited for; zero where a place was free.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Takes the item out, if there is one. The place stays held; without a [`put`](Self::put) it comes back empty.
    #[must_use]
    pub fn take(&mut self) -> Option<T> {
        self.item.take()
    }

    /// Puts an item into the place, to rest in the pool once the lease is dropped.
    pub fn put(&mut self, item: T) {
        self.item = Some(item);
    }
}

impl<T> Drop for Lease<T> {
    fn drop(&mut self) {
        if !self.holds_place {
            return;
        }
        let mut item = self.item.take();
        loop {
            let mut state = self.pool.state.lock();
            let shrunk = state.in_use > self.pool.size.load(Ordering::Acquire);
            let next = if shrunk { None } else { state.line.pop_front() };
            let Some(next) = next else {
                state.in_use -= 1;
                state.idle.extend(item);
                return;
            };
            drop(state);
            // Its room in the line is free from now on, and not only when its task gets to run.
            next.counted.count_out(&self.pool.waiting);
            // The place stays in use while it is handed over, so nobody can overtake.
            let lease = Lease {
                pool: Arc::clone(&self.pool),
                item,
                waited: Duration::ZERO,
                holds_place: true,
            };
            let Err(mut refused) = next.sender.send(lease) else {
                return;
            };
            // It gave up before: on to the next in line.
            refused.holds_place = false;
            item = refused.item.take();
        }
    }
}
