//! Language-model servers that batch continuously, under a plan.

use super::undispatched;
use crate::drive::{DriveError, Users};
use crate::environment::Environment;
use crate::generator::Generator;
use crate::plan::Load;
use crate::run::{Parts, Run};
use crate::{InFlight, Limits, Plan, TimeoutFrom};
use openloop_capacity::batching::{Cluster, EventKind, Request};
use openloop_measurer::{Describe, Outcome, Recorder, Sample};
use openloop_sched::{Offset, Ticket};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::time::SystemTime;
use tokio::time::Instant;

/// When an answer of a simulated language model came: for a [`Describe`] of the caller's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tokens {
    /// Which request it was of.
    pub ticket: Ticket,
    /// When that was sent.
    pub sent: Instant,
    /// When each token came.
    pub at: Vec<Instant>,
}

/// Runs `plan` against the engines of [`openloop_capacity::batching`] in virtual time, exact to the nanosecond: the batch,
/// the blocks of KV cache and the prefix cache are those of the requests that the plan sends. It is for rehearsing an
/// experiment on a language model, and for trying what a faster engine or a larger memory would change.
///
/// `ask` makes request number `ticket.seq`, whose id is set here; `describe` says what is told of an answer. A request that
/// no engine has room for fails as `http_400`.
///
/// ```
/// use openloop_capacity::batching::{Cluster, ClusterConfig, EngineConfig, Request};
/// use openloop_experiment::simulate::simulate_engines;
/// use openloop_experiment::{Lifecycle, Metric, Plan};
/// use openloop_measurer::{Describe, Details, Quantile, Verdict};
/// use openloop_sched::Rate;
/// use std::time::Duration;
///
/// /// When the first token came, since its request was sent.
/// struct FirstToken(Duration);
/// impl Describe for FirstToken {
///     fn verdict(&self) -> Verdict {
///         Verdict::Ok
///     }
///     fn details(&self, into: &mut Details<'_>) {
///         into.of_answer("ttft", self.0);
///     }
/// }
///
/// let plan = Plan::open(Rate::per_second(5.0)?)
///     .lifecycle(Lifecycle::steady_only(Duration::from_secs(60)))
///     .build()?;
/// let cluster = Cluster::new(ClusterConfig::single(EngineConfig::default()))?;
/// let run = simulate_engines(&plan, cluster, |_| Request::new(0, 500, 100), |tokens| {
///     FirstToken(tokens.at[0] - tokens.sent)
/// })?;
/// // A step of 8 ms and 60 us a token of the prompt, and a little for those that decode.
/// let first = run.series(&Metric::Named("ttft".to_owned())).quantile(Quantile::P50).unwrap();
/// assert!((38e6..60e6).contains(&(first.ns() as f64)), "{first:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DriveError::NotSimulated`] where arrivals come in sessions.
pub fn simulate_engines<D: Describe>(
    plan: &Plan,
    cluster: Cluster,
    ask: impl Fn(Ticket) -> Request,
    describe: impl Fn(&Tokens) -> D,
) -> Result<Run, DriveError> {
    let start = Instant::now();
    let recorder = Recorder::with_kinds(start, plan.layout().clone(), plan.kinds().clone());
    let mut hall = Hall {
        recorder: &recorder,
        start,
        cluster,
        limits: plan.limits(),
        ask,
        describe,
        under_way: HashMap::new(),
        waiting: VecDeque::new(),
        deadlines: BTreeSet::new(),
        ended: Vec::new(),
    };
    let closes = plan.layout().end().saturating_add(plan.limits().drain);
    match plan.load() {
        Load::Open { schedule, .. } => {
            for ticket in schedule.clone() {
                hall.run_to(ticket.intended);
                hall.arrive(ticket);
                hall.ended.clear();
            }
        }
        Load::Closed { users, think } => {
            let users = Users::new(*users, *think, plan.layout().clone());
            let mut ready: BinaryHeap<_> = users
                .of_shard(0, 1)
                .map(|user| Reverse((users.begin(user), user)))
                .collect();
            let mut asked: HashMap<u64, usize> = HashMap::new();
            let mut seq = 0;
            loop {
                let next = ready.peek().map(|Reverse((at, _))| *at);
                let happens = hall.next();
                match (next, happens) {
                    (None, None) => break,
                    (Some(at), happens) if happens.is_none_or(|happens| at < happens) => {
                        let Some(Reverse((intended, user))) = ready.pop() else {
                            break;
                        };
                        if intended < users.end(user) {
                            asked.insert(seq, user);
                            hall.arrive(Ticket { seq, intended });
                            seq += 1;
                        }
                    }
                    (_, Some(happens)) if happens < closes => hall.run_to(happens),
                    _ => break,
                }
                for (seq, at) in std::mem::take(&mut hall.ended) {
                    if let Some(user) = asked.remove(&seq) {
                        ready.push(Reverse((at.saturating_add(*think), user)));
                    }
                }
            }
        }
        Load::PartlyOpen { .. } => return Err(DriveError::NotSimulated),
    }
    hall.close(closes);
    Ok(Run::new(Parts {
        plan: plan.clone(),
        snapshot: recorder.finish(),
        start,
        started_at: SystemTime::now(),
        environment: Environment::default(),
        generator: Generator::simulated(plan.layout().end()),
        interrupted: None,
        sessions: None,
    }))
}

/// Where requests are let in, and their ends written down.
struct Hall<'a, A, T> {
    recorder: &'a Recorder,
    start: Instant,
    cluster: Cluster,
    limits: Limits,
    ask: A,
    describe: T,
    under_way: HashMap<u64, UnderWay>,
    waiting: VecDeque<Ticket>,
    /// Who gives up when: those that wait as well.
    deadlines: BTreeSet<(Offset, u64)>,
    /// Requests that have ended since this was last asked, and when.
    ended: Vec<(u64, Offset)>,
}

struct UnderWay {
    ticket: Ticket,
    dispatched: Offset,
    tokens: Vec<Offset>,
}

impl<D: Describe, A: Fn(Ticket) -> Request, T: Fn(&Tokens) -> D> Hall<'_, A, T> {
    /// When something happens next without an arrival.
    fn next(&mut self) -> Option<Offset> {
        let event = self.cluster.next_event().map(Offset::from);
        let deadline = self.deadlines.first().map(|(at, _)| *at);
        [event, deadline].into_iter().flatten().min()
    }

    /// Everything up to `to`, and at it.
    fn run_to(&mut self, to: Offset) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            // Who gives up at an instant does not see what comes at it.
            while let Some(&(due, seq)) = self.deadlines.first()
                && due <= at
            {
                self.deadlines.remove(&(due, seq));
                self.give_up(seq, due);
            }
            let events = self.cluster.advance(at.as_duration());
            for event in events {
                let at = Offset::from(event.at);
                match event.kind {
                    EventKind::Token { .. } => {
                        if let Some(one) = self.under_way.get_mut(&event.id) {
                            one.tokens.push(at);
                        }
                    }
                    EventKind::Finished(_) => self.finish(event.id, at),
                    _ => {}
                }
            }
        }
    }

    fn arrive(&mut self, ticket: Ticket) {
        let at = ticket.intended;
        let is_full = |limit| self.under_way.len() >= limit;
        match self.limits.in_flight {
            InFlight::Shed(limit) if is_full(limit) => {
                self.write(undispatched(ticket, at, Outcome::Shed));
            }
            InFlight::Queue(limit) if is_full(limit) => {
                self.waiting.push_back(ticket);
                if let Some(timeout) = self.limits.timeout
                    && timeout.from == TimeoutFrom::Intended
                {
                    let deadline = at.saturating_add(timeout.after);
                    self.deadlines.insert((deadline, ticket.seq));
                }
            }
            InFlight::Shed(_) | InFlight::Queue(_) | InFlight::Unlimited => {
                self.dispatch(ticket, at);
            }
        }
    }

    fn dispatch(&mut self, ticket: Ticket, at: Offset) {
        if let Some(timeout) = self.limits.timeout {
            let from = match timeout.from {
                TimeoutFrom::Intended => ticket.intended,
                TimeoutFrom::Dispatched => at,
            };
            let deadline = from.saturating_add(timeout.after);
            self.deadlines.insert((deadline, ticket.seq));
        }
        let request = Request {
            id: ticket.seq,
            ..(self.ask)(ticket)
        };
        self.under_way.insert(
            ticket.seq,
            UnderWay {
                ticket,
                dispatched: at,
                tokens: Vec::new(),
            },
        );
        if self.cluster.submit(at.as_duration(), request).is_err() {
            self.end(ticket.seq, at, Outcome::Failed("http_400"));
        }
    }

    fn finish(&mut self, seq: u64, at: Offset) {
        let Some(one) = self.forget(seq) else {
            return;
        };
        let instant = |at: &Offset| self.start + at.as_duration();
        let tokens = Tokens {
            ticket: one.ticket,
            sent: instant(&one.dispatched),
            at: one.tokens.iter().map(instant).collect(),
        };
        let (ticket, dispatched) = (one.ticket, one.dispatched);
        let sample = Sample::new(ticket, ticket.intended, dispatched, at, Outcome::Ok);
        self.recorder
            .write_described(sample, &(self.describe)(&tokens));
        self.ended.push((seq, at));
        self.let_in(at);
    }

    fn give_up(&mut self, seq: u64, at: Offset) {
        if self.under_way.contains_key(&seq) {
            self.cluster.cancel(at.as_duration(), seq);
            self.end(seq, at, Outcome::TimedOut);
        } else if let Some(place) = self.waiting.iter().position(|one| one.seq == seq)
            && let Some(ticket) = self.waiting.remove(place)
        {
            self.write(undispatched(ticket, at, Outcome::TimedOut));
        }
    }

    /// One that was sent ends without an answer.
    fn end(&mut self, seq: u64, at: Offset, outcome: Outcome) {
        if let Some(one) = self.forget(seq) {
            let (ticket, dispatched) = (one.ticket, one.dispatched);
            self.write(Sample::new(
                ticket,
                ticket.intended,
                dispatched,
                at,
                outcome,
            ));
            self.let_in(at);
        }
    }

    fn forget(&mut self, seq: u64) -> Option<UnderWay> {
        let one = self.under_way.remove(&seq)?;
        if let Some(timeout) = self.limits.timeout {
            let from = match timeout.from {
                TimeoutFrom::Intended => one.ticket.intended,
                TimeoutFrom::Dispatched => one.dispatched,
            };
            let deadline = from.saturating_add(timeout.after);
            self.deadlines.remove(&(deadline, seq));
        }
        Some(one)
    }

    /// There is a place for one that waits.
    fn let_in(&mut self, at: Offset) {
        if let Some(ticket) = self.waiting.pop_front() {
            self.dispatch(ticket, at);
        }
    }

    fn write(&mut self, sample: Sample) {
        self.ended.push((sample.seq, sample.ended));
        self.recorder.write(sample);
    }

    /// The drain is over: what has not ended never will.
    fn close(&mut self, closes: Offset) {
        if let Some(before) = closes.as_nanos().checked_sub(1) {
            self.run_to(Offset::from_nanos(before));
        }
        for ticket in std::mem::take(&mut self.waiting) {
            self.write(undispatched(ticket, closes, Outcome::Abandoned));
        }
        let mut left: Vec<u64> = self.under_way.keys().copied().collect();
        left.sort_unstable();
        for seq in left {
            self.end(seq, closes, Outcome::Abandoned);
        }
    }
}
