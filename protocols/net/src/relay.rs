//! Polls a connection and its user in one task, without the two waking each other.

use parking_lot::Mutex;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Nobody polls: a wake goes on to the task.
const IDLE: u8 = 0;
/// A round is running: a wake is noted, and another round follows.
const POLLING: u8 = 1;
/// A round is running and something woke in it.
const WOKEN: u8 = 2;

/// Rounds before the task yields; an exchange that moves needs two or three.
const ROUNDS: usize = 16;

/// The one waker that a connection's parts ever see, whatever task holds the lease.
///
/// A client library's two halves, the one that takes requests and the one that moves bytes, speak through channels, and
/// each message wakes the task that waits at the other end. Where one task polls both, that wake is to itself: it
/// returns, is queued, and is polled once more for nothing, with every request. Here such a wake only causes another round within the same poll; wakes from outside
/// (the socket's readiness) go on to the task. As the waker stays the same from lease to lease, nothing has to be
/// registered anew either.
#[derive(Debug)]
pub struct Relay {
    state: AtomicU8,
    task: Mutex<Option<Waker>>,
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let noted =
            self.state
                .compare_exchange(POLLING, WOKEN, Ordering::AcqRel, Ordering::Acquire);
        if noted == Err(IDLE)
            && let Some(task) = &*self.task.lock()
        {
            task.wake_by_ref();
        }
    }
}

impl Relay {
    /// A relay for one connection. `Waker::from` makes of it the waker that the connection's parts are polled with.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Relay {
            state: AtomicU8::new(IDLE),
            task: Mutex::new(None),
        })
    }

    /// Runs `sends` without waking the task: a poll follows anyway.
    pub fn quietly<R>(&self, sends: impl FnOnce() -> R) -> R {
        self.state.store(POLLING, Ordering::Release);
        let result = sends();
        self.state.store(IDLE, Ordering::Release);
        result
    }

    /// Polls `user` to its end, and moves the bytes of its connection meanwhile: `advance` polls the half that does.
    /// `inner` is this relay's own waker.
    ///
    /// The first poll of `user` hands its request over; from then on the connection is what moves, and `user` follows.
    pub fn drive<F: Future>(
        &self,
        inner: &Waker,
        mut user: Pin<&mut F>,
        mut advance: impl FnMut(&mut Context<'_>),
    ) -> impl Future<Output = F::Output> {
        let mut is_handed_over = false;
        poll_fn(move |cx| {
            if !is_handed_over {
                is_handed_over = true;
                let polled = self.quietly(|| user.as_mut().poll(&mut Context::from_waker(inner)));
                if polled.is_ready() {
                    return polled;
                }
            }
            self.poll(inner, cx, |cx| {
                advance(cx);
                user.as_mut().poll(cx)
            })
        })
    }

    /// Polls `round` with `inner`, this relay's own waker, until it is ready or nothing moves any more.
    ///
    /// The task is noted before the first round, so a wake that comes as the last one ends finds it.
    pub fn poll<R>(
        &self,
        inner: &Waker,
        cx: &mut Context<'_>,
        mut round: impl FnMut(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        self.note(cx.waker());
        let mut inner = Context::from_waker(inner);
        for _ in 0..ROUNDS {
            self.state.store(POLLING, Ordering::Release);
            let polled = round(&mut inner);
            if polled.is_ready() {
                self.state.store(IDLE, Ordering::Release);
                return polled;
            }
            let settled =
                self.state
                    .compare_exchange(POLLING, IDLE, Ordering::AcqRel, Ordering::Acquire);
            if settled.is_ok() {
                return Poll::Pending;
            }
        }
        // It moves and moves, or the task's budget is used up: others first.
        self.state.store(IDLE, Ordering::Release);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn note(&self, waker: &Waker) {
        let mut task = self.task.lock();
        match &mut *task {
            Some(noted) => noted.clone_from(waker),
            None => *task = Some(waker.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Setting {
        relay: Arc<Relay>,
        inner: Waker,
        task: Arc<Task>,
        outer: Waker,
    }

    fn setting() -> Setting {
        let relay = Relay::new();
        let task = Arc::new(Task::default());
        Setting {
            inner: Waker::from(Arc::clone(&relay)),
            outer: Waker::from(Arc::clone(&task)),
            relay,
            task,
        }
    }

    impl Setting {
        fn poll<R>(&self, round: impl FnMut(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
            let mut cx = Context::from_waker(&self.outer);
            self.relay.poll(&self.inner, &mut cx, round)
        }

        fn wakes(&self) -> usize {
            self.task.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_wake_from_within_causes_another_round_and_does_not_wake_the_task() {
        let setting = setting();
        let mut rounds = 0;
        let polled = setting.poll(|cx| {
            rounds += 1;
            if rounds < 3 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(rounds)
        });
        assert_eq!((polled, setting.wakes()), (Poll::Ready(3), 0));
    }

    #[test]
    fn a_wake_from_outside_wakes_the_task() {
        let setting = setting();
        assert_eq!(setting.poll(|_| Poll::<()>::Pending), Poll::Pending);
        setting.inner.wake_by_ref();
        assert_eq!(setting.wakes(), 1);
        assert_eq!(setting.poll(|_| Poll::Ready(())), Poll::Ready(()));
        setting.inner.wake_by_ref();
        assert_eq!(setting.wakes(), 2);
    }

    #[test]
    fn rounds_that_never_settle_yield_to_other_tasks() {
        let setting = setting();
        let mut rounds = 0;
        let polled = setting.poll(|cx| {
            rounds += 1;
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(
            (polled, rounds, setting.wakes()),
            (Poll::Pending, ROUNDS, 1)
        );
    }

    #[test]
    fn sending_quietly_wakes_nobody() {
        let setting = setting();
        assert_eq!(setting.poll(|_| Poll::<()>::Pending), Poll::Pending);
        setting.relay.quietly(|| setting.inner.wake_by_ref());
        assert_eq!(setting.wakes(), 0);
    }
}
