//! Whether a read is worth a try.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Tells of a socket whether a read is worth a try.
///
/// Clients poll for bytes wherever bytes might be: four times in vain for each answer, in the case of hyper. What the
/// last try said holds until the socket wakes its reader.
///
/// A handle, which stays good after the socket has been handed to a protocol's client: its other half need not be polled to
/// see whether the server has said anything meanwhile.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The last try found nothing, or is being made, and nothing has woken the reader since.
    is_dry: AtomicBool,
    reader: Mutex<Option<Waker>>,
}

impl Readiness {
    /// Whether the last read found nothing, and nothing has come since, the end of the stream included.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        self.0.is_dry.load(Ordering::Acquire)
    }
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let reader = self.reader.lock();
        // A swap and not a store, as in `Reader::poll`.
        self.is_dry.swap(false, Ordering::AcqRel);
        if let Some(reader) = &*reader {
            reader.wake_by_ref();
        }
    }
}

/// Whoever reads: it looks at its [`Readiness`] first.
#[derive(Debug)]
pub(crate) struct Reader {
    readiness: Readiness,
    /// What `readiness` has noted: mostly the next poll has the same, and needs no lock.
    noted: Option<Waker>,
    /// Of `readiness`.
    readable: Waker,
}

impl Reader {
    pub(crate) fn new() -> Self {
        let readiness = Readiness(Arc::default());
        Reader {
            readable: Waker::from(Arc::clone(&readiness.0)),
            noted: None,
            readiness,
        }
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Polls `read`, if that is worth a try, with a waker that leads back here.
    pub(crate) fn poll<R>(
        &mut self,
        cx: &mut Context<'_>,
        read: impl FnOnce(&mut Context<'_>) -> Poll<R>,
    ) -> Poll<R> {
        self.note(cx.waker());
        let state = &self.readiness.0;
        // Before the try, so that what comes during it is not forgotten. A swap here and one in the wake are one before the
        // other: either this one sees that something has come, or the wake sees all that the reader did before this, such
        // as a relay that says it is polling. Stores and loads would let both miss.
        if state.is_dry.swap(true, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let polled = read(&mut Context::from_waker(&self.readable));
        if polled.is_ready() {
            state.is_dry.store(false, Ordering::Release);
        }
        polled
    }

    /// Under the lock of the wake: one before this has ended the drought, and one after it finds the waker.
    fn note(&mut self, waker: &Waker) {
        let noted = self.noted.as_ref();
        if !noted.is_some_and(|noted| noted.will_wake(waker)) {
            let before = self.readiness.0.reader.lock().replace(waker.clone());
            drop(before);
            self.noted = Some(waker.clone());
        }
    }
}
