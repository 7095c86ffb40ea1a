//! What differs between protocols.

use crate::exit::Failure;
use openloop_experiment::drive::{Monitor, ShardOf};
use openloop_experiment::{Rtt, Work};
use openloop_sched::Offset;
use openloop_workload::Keys;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// How long opening connections may take before the run, and how much longer for each of them.
const SET_UP: Duration = Duration::from_secs(10);
const SET_UP_EACH: Duration = Duration::from_millis(10);
/// How long the target may take to accept a connection after the drain.
pub(crate) const HEALTH: Duration = Duration::from_secs(5);
/// How many no-ops tell the round trip.
pub(crate) const PROBES: usize = 25;
/// How often the beginning of a run is looked for while it is being set up.
const LOOK: Duration = Duration::from_millis(20);

/// What a target said of itself over the steady phase: its name and the number.
pub(crate) type Observed = (&'static str, f64);

/// A protocol that loadgen speaks, with its target and its requests: one file implements it.
///
/// Generic and not `dyn`: the request of an arrival is then made and polled without a box of its own.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// Host and port of the target.
    fn endpoint(&self) -> (&str, u16);

    /// What is loaded, as the user named it.
    fn target(&self) -> &str;

    /// The target and the connections to it in a few words, `http://a.test/ over 50 connections`, and below it in lines
    /// of their own what else should be known before the run.
    fn describe(&self) -> String;

    /// The names of the kinds of request, in order: none where all are of one.
    fn kinds(&self) -> Vec<&str>;

    /// Which of [`kinds`](Protocol::kinds) request number `seq` is of, from 0, whoever sends it; `None` where there are
    /// no kinds.
    fn kind(&self, seq: u64) -> Option<usize>;

    /// How connections come about.
    fn connecting(&self) -> Connecting;

    /// The client of one thread, its connections open: none of this counts.
    ///
    /// # Errors
    /// When the target cannot be reached, or this machine cannot open what is asked.
    fn connect(self: Arc<Self>, shard: ShardOf)
    -> impl Future<Output = Result<impl Work, Failure>>;

    /// Whether the target can still be reached: asked after the drain.
    fn health(self: Arc<Self>) -> impl Future<Output = Result<(), String>> + Send;

    /// The round trip to the target, by a no-op of the protocol; `None` where there is none, or it was not answered.
    fn round_trip(self: Arc<Self>) -> impl Future<Output = Option<Rtt>> {
        std::future::ready(None)
    }

    /// What the target says of itself over the steady phase of the run; ended with the run.
    fn observe(self: Arc<Self>, run: Monitor) -> impl Future<Output = Vec<Observed>> + Send {
        let _ = run;
        std::future::ready(Vec::new())
    }
}

/// Until the steady phase of the run begins, and from then until it ends.
pub(crate) fn steady(
    run: &Monitor,
) -> (
    impl Future<Output = ()> + Send + use<>,
    impl Future<Output = ()> + Send + use<>,
) {
    let steady = run.plan().layout().steady();
    (
        until(run.clone(), steady.from),
        until(run.clone(), steady.to),
    )
}

async fn until(run: Monitor, at: Offset) {
    loop {
        let left = match run.live() {
            None => LOOK,
            Some(live) if live.now >= at => return,
            Some(live) => at.saturating_since(live.now),
        };
        tokio::time::sleep(left).await;
    }
}

/// Refuses keys whose place in time is the number of their request, which in sessions it is not.
pub(crate) fn refuse_order<'a>(keys: impl IntoIterator<Item = &'a Keys>) -> Result<(), String> {
    match keys.into_iter().find(|keys| keys.is_ordered()) {
        None => Ok(()),
        Some(keys) => Err(format!(
            "the keys {keys} follow the order of requests, and those of --sessions have none before they are sent: take uniform, zipf or hotspot keys without a drift"
        )),
    }
}

/// How long opening the connections before a run may take.
pub(crate) fn set_up_limit(connecting: Connecting) -> Duration {
    match connecting {
        Connecting::Pool(size) => {
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            SET_UP + SET_UP_EACH.saturating_mul(size)
        }
        _ => SET_UP,
    }
}

/// How a protocol's connections come about: what the machine must be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connecting {
    /// This many, opened before the run.
    Pool(usize),
    /// One for each request, closed after it.
    PerRequest,
    /// As many as there are requests in flight.
    PerInFlight,
}

impl fmt::Display for Connecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Connecting::Pool(1) => f.write_str("1 connection"),
            Connecting::Pool(size) => write!(f, "{size} connections"),
            Connecting::PerRequest => f.write_str("a new connection for each request"),
            Connecting::PerInFlight => f.write_str("a connection for each request in flight"),
        }
    }
}

/// The part of `total` that falls to one shard: parts differ by at most one, and add up.
pub(crate) fn share(total: usize, shard: ShardOf) -> usize {
    total / shard.count + usize::from(shard.index < total % shard.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_differ_by_at_most_one() {
        for (total, count) in [(50, 1), (50, 3), (4, 4), (7, 2)] {
            let shares: Vec<_> = (0..count)
                .map(|index| share(total, ShardOf { index, count }))
                .collect();
            assert_eq!(shares.iter().sum::<usize>(), total);
            let (most, least) = (shares.iter().max(), shares.iter().min());
            assert!(most.unwrap() - least.unwrap() <= 1, "{shares:?}");
        }
    }
}
