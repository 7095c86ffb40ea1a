//! The users of a closed loop.

use super::serve::{Alive, Shared};
use super::stop::Stop;
use crate::Work;
use openloop_measurer::{Layout, Phase};
use openloop_sched::{Due, Offset, Ticket};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The users of a whole run, however many drivers it has.
#[derive(Clone, Debug)]
pub(crate) struct Users {
    count: usize,
    think: Duration,
    layout: Layout,
    next_seq: Arc<AtomicU64>,
}

impl Users {
    pub(crate) fn new(count: usize, think: Duration, layout: Layout) -> Self {
        Users {
            count,
            think,
            layout,
            next_seq: Arc::default(),
        }
    }

    /// The users of one of `shards` drivers.
    pub(crate) fn of_shard(
        &self,
        shard: usize,
        shards: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        (shard..self.count).step_by(shards.max(1))
    }

    /// When user `index` begins: spread over the ramp-up or, without one, over a think time, so that users do
    /// not march in step.
    pub(crate) fn begin(&self, index: usize) -> Offset {
        let ramp_up = self.length_of(Phase::RampUp).unwrap_or(self.think);
        Offset::from(share(ramp_up, index, self.count))
    }

    /// When user `index` retires: spread over the cooldown.
    pub(crate) fn end(&self, index: usize) -> Offset {
        let cooldown = self.length_of(Phase::Cooldown).unwrap_or_default();
        let steady = self.layout.steady();
        steady
            .to
            .saturating_add(share(cooldown, index + 1, self.count))
    }

    fn length_of(&self, phase: Phase) -> Option<Duration> {
        let span = self
            .layout
            .spans()
            .iter()
            .find(|span| span.phase == phase)?;
        Some(span.length())
    }

    /// User `index`: asks, waits for the answer, thinks, and asks again. Its intended instants are those at
    /// which it is ready to ask.
    pub(crate) async fn run<W: Work>(self, alive: Alive<W>, index: usize, stop: Stop) {
        let shared: &Shared<W> = alive.shared();
        let start = shared.recorder.start();
        let end = self.end(index);
        let mut ready = self.begin(index);
        while ready < end && !stop.is_stopped() {
            let at = start + ready.as_duration();
            let mut now = Instant::now();
            if now < at {
                tokio::select! {
                    biased;
                    () = stop.stopped() => return,
                    () = sleep_until(at) => {}
                }
                now = Instant::now();
            }
            let ticket = Ticket {
                seq: self.next_seq.fetch_add(1, Ordering::Relaxed),
                intended: ready,
            };
            let fired = Offset::from(now.saturating_duration_since(start)).max(ready);
            let ended = match shared.admit(Due { ticket, fired }) {
                Some((arrival, admission)) => shared.serve(arrival, admission).await.ended,
                None => shared.recorder.now(),
            };
            ready = ended.saturating_add(self.think);
            // First the answers that have come, then the requests that follow them. To write each request as its
            // answer is read would find a quick server asleep each time, and waking it costs more than the write.
            // And a future that is always ready must not keep the other users from their turn.
            after_the_others().await;
        }
    }
}

/// Goes to the end of the queue of tasks. `yield_now` would have the runtime look for events before: a system call for
/// every answer, where answers come one by one.
async fn after_the_others() {
    let mut queued = false;
    poll_fn(|cx| {
        if queued {
            return Poll::Ready(());
        }
        queued = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn share(of: Duration, part: usize, parts: usize) -> Duration {
    let nanos = of.as_nanos() * part as u128 / (parts as u128).max(1);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
