//! What each arrival does.

use openloop_measurer::{AnyOperation, AnyOutput, Classify, Describe, Described, Operation};
use openloop_sched::Ticket;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// One request on its way.
pub type Call<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What each arrival does: makes the future that is measured, and says how its output counts.
///
/// Any `Fn(Ticket) -> impl Future` is one whose output [describes](Describe) itself: `()`, an adapter's reply, a
/// `Result` of such. For other outputs wrap it in [`classified`]; for an adapter use [`requests`].
pub trait Work: 'static {
    /// What the future returns.
    type Output;
    /// The future.
    type Future: Future<Output = Self::Output> + 'static;
    /// How the output counts.
    type Classify: Classify<Self::Output> + 'static;

    /// Begins the work of one arrival. It is called at the arrival's dispatch, inside its measurement: a panic
    /// here is a panic of that arrival.
    fn call(&self, ticket: Ticket) -> Self::Future;

    /// How outputs count.
    fn classify(&self) -> &Self::Classify;
}

impl<F, Fut> Work for F
where
    F: Fn(Ticket) -> Fut + 'static,
    Fut: Future + 'static,
    Fut::Output: Describe,
{
    type Output = Fut::Output;
    type Future = Fut;
    type Classify = Described;

    fn call(&self, ticket: Ticket) -> Fut {
        self(ticket)
    }

    fn classify(&self) -> &Described {
        &Described
    }
}

/// Work whose outputs are counted by a classifier: made by [`classified`].
#[derive(Clone, Copy, Debug)]
pub struct Classified<F, C> {
    make: F,
    classify: C,
}

/// Work of futures of any type, with a closure that says what their output means.
///
/// ```
/// use openloop_experiment::classified;
/// use openloop_measurer::ok_err;
///
/// let parse = classified(|_ticket| async { "7".parse::<u8>() }, ok_err);
/// ```
pub fn classified<F, Fut, C>(make: F, classify: C) -> Classified<F, C>
where
    F: Fn(Ticket) -> Fut + 'static,
    Fut: Future + 'static,
    C: Fn(&Fut::Output) -> openloop_measurer::Verdict + 'static,
{
    Classified { make, classify }
}

impl<F, Fut, C> Work for Classified<F, C>
where
    F: Fn(Ticket) -> Fut + 'static,
    Fut: Future + 'static,
    C: Classify<Fut::Output> + 'static,
{
    type Output = Fut::Output;
    type Future = Fut;
    type Classify = C;

    fn call(&self, ticket: Ticket) -> Fut {
        (self.make)(ticket)
    }

    fn classify(&self) -> &C {
        &self.classify
    }
}

/// Requests to an adapter: `request` makes request number `seq`, the same whoever sends it.
pub fn requests<O, R>(
    operation: O,
    request: R,
) -> impl Fn(Ticket) -> Call<Result<O::Reply, O::Error>> + Send + Sync + 'static
where
    O: Operation,
    R: Fn(u64) -> O::Request + Send + Sync + 'static,
{
    let operation = Arc::new(operation);
    move |ticket| {
        let operation = operation.clone();
        let request = request(ticket.seq);
        Box::pin(async move { operation.call(request).await })
    }
}

/// Requests to an adapter that was chosen at run time.
pub fn any_requests(
    operation: Arc<dyn AnyOperation>,
) -> impl Fn(Ticket) -> Call<AnyOutput> + Send + Sync + 'static {
    move |ticket| {
        let operation = operation.clone();
        Box::pin(async move { operation.call(ticket.seq).await })
    }
}
