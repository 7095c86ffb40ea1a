//! What differs between protocols.

use crate::exit::Failure;
use openloop_experiment::drive::{DriveError, Monitor, ShardOf};
use openloop_experiment::{Plan, Rtt, Run, Work};
use openloop_report::Report;
use openloop_sched::Offset;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

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

    /// The requests of these numbers in words, without what may be secret, once a run is over: by them the shards of one
    /// run are known to ask for the same.
    fn asked(&self, numbers: &[u64]) -> Vec<String>;

    /// Names of the stages and named durations that requests of the protocol can have, for bounds on them.
    fn stages(&self) -> &'static [&'static str];

    /// Something to know before a run of this plan: its seed and nonce are other ones in every run of an experiment.
    fn begin(&self, plan: &Plan) {
        let _ = plan;
    }

    /// How connections come about.
    fn connecting(&self) -> Connecting;

    /// What a rehearsal simulates, in words, where the protocol has a service of its own kind for that; without one it is a
    /// queue, which has no stages.
    fn engine(&self) -> Option<&'static str> {
        None
    }

    /// Runs a plan on that.
    fn rehearse(&self, plan: &Plan) -> Option<Result<Run, DriveError>> {
        let _ = plan;
        None
    }

    /// Whether it tells which answers are good, as a bound `goodput(ttft<=200ms)>=99%` asks for.
    fn tells_good(&self) -> bool {
        false
    }

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

    /// The report of the last run with what the protocol has to add to it.
    fn conclude(&self, report: Report) -> Report {
        report
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
