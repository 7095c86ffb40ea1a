//! Experiments on simulated services, of which none ever waits.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What a future that is ready at once gives.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a simulation waited"),
    }
}
