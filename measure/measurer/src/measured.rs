//! A future that writes down how long it took.

use crate::{Arrival, Classify, Described, Sample};
use pin_project::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A future under measurement: it stamps its first poll and its end, and resolves to the future's own output and
/// the [`Sample`].
///
/// It swallows nothing and allocates nothing, and it takes borrowed futures as well as `'static` ones. Dropped
/// before its end it counts as abandoned; if the future panics, the arrival is `Failed("panic")` and the panic
/// goes on.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Measured<F, C = Described> {
    // Before `arrival`, which writes the end down when it is dropped: the future's own drop is part of it.
    #[pin]
    future: F,
    classify: C,
    arrival: Arrival,
}

impl<F, C> Measured<F, C> {
    pub(crate) fn new(arrival: Arrival, future: F, classify: C) -> Self {
        Measured {
            future,
            classify,
            arrival,
        }
    }
}

impl<F, C> Future for Measured<F, C>
where
    F: Future,
    C: Classify<F::Output>,
{
    type Output = (F::Output, Sample);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let arrival = this.arrival;
        arrival.dispatch();
        arrival.enter_user_code();
        let polled = this.future.poll(cx);
        if polled.is_pending() {
            arrival.leave_user_code();
        }
        let output = ready!(polled);
        let ended = arrival.now();
        // The classifier is the user's code as well: if it panics, so did the arrival.
        let verdict = this.classify.verdict(&output);
        let sample = arrival.finish(ended, verdict.into(), |details| {
            this.classify.details(&output, details);
        });
        arrival.leave_user_code();
        Poll::Ready((output, sample))
    }
}
