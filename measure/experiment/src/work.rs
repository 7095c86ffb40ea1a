//! What each arrival does.

use openloop_measurer::{AnyOperation, AnyOutput, Classify, Describe, Described, Kind, Operation};
use openloop_sched::Ticket;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// One request on its way.
pub type Call<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What each arrival does: makes the future that is measured, and says how its output counts.
///
/// Any `Fn(Ticket) -> impl Future` is one whose output [describes](Describe) itself: `()`, an adapter's reply, a
/// `Result` of such. For other outputs wrap it in [`classified`]; for an adapter use [`requests`]; for several kinds
/// of request wrap any of these in [`labelled`].
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

    /// The kind of request that the arrival asks for: its place among the [names](crate::PlanBuilder::kinds) of the
    /// plan. Without a label, unless the work says otherwise.
    ///
    /// It is asked once at the release of each arrival, and for one that is never released: what is shed or unsent
    /// has its kind as well. So it must be quick and depend on the ticket alone. A kind that the plan does not name
    /// counts as none and fails the check `kinds_named` of [`Validity`](crate::Validity), and so does a panic.
    fn kind(&self, ticket: Ticket) -> Option<Kind> {
        let _ = ticket;
        None
    }
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

/// Work whose arrivals have a kind: made by [`labelled`].
#[derive(Clone, Copy, Debug)]
pub struct Labelled<W, K> {
    work: W,
    kind: K,
}

/// Work of several kinds of request: `kind` says which kind each arrival is, by its place among the names of the
/// plan. Results are then told apart by it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::{Lifecycle, Metric, Plan, drive, labelled};
/// use openloop_measurer::Kind;
/// use openloop_sched::{Rate, Ticket};
/// use openloop_workload::Mix;
/// use std::time::Duration;
///
/// let mix = Mix::read_write(0.9, "SELECT", "UPDATE")?;
/// let plan = Plan::open(Rate::per_second(1000.0)?)
///     .lifecycle(Lifecycle::steady_only(Duration::from_millis(200)))
///     .kinds(mix.kinds().iter().map(|kind| kind.name()))
///     .build()?;
/// let seed = plan.seed();
/// let kind = move |ticket: Ticket| Kind::new(mix.pick(seed, ticket.seq).index);
/// let run = drive::shared(&plan, labelled(|_ticket| async { /* a request */ }, kind)).await?;
///
/// let writes = run.plan().kinds().get("write");
/// let share = run.snapshot().of_kind(writes).counts().scheduled as f64
///     / run.snapshot().counts().scheduled as f64;
/// assert!(share < 0.3);
/// assert!(run.series_of(writes, &Metric::Response).whole().count() > 0);
/// # Ok(())
/// # }
/// ```
pub fn labelled<W, K, L>(work: W, kind: K) -> Labelled<W, K>
where
    W: Work,
    K: Fn(Ticket) -> L + 'static,
    L: Into<Option<Kind>>,
{
    Labelled { work, kind }
}

impl<W, K, L> Work for Labelled<W, K>
where
    W: Work,
    K: Fn(Ticket) -> L + 'static,
    L: Into<Option<Kind>>,
{
    type Output = W::Output;
    type Future = W::Future;
    type Classify = W::Classify;

    fn call(&self, ticket: Ticket) -> W::Future {
        self.work.call(ticket)
    }

    fn classify(&self) -> &W::Classify {
        self.work.classify()
    }

    fn kind(&self, ticket: Ticket) -> Option<Kind> {
        (self.kind)(ticket).into()
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
