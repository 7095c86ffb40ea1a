//! The simulated server on the test's own clock, which may be paused.

use openloop_inference::{Content, Course};
use openloop_testbed::batching::{Cluster, ClusterConfig, EngineConfig, EventKind, Request};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// The engine of `testbed`'s server without its sockets; its time stands still in one stretch.
#[derive(Clone)]
pub(crate) struct VirtualServer(Arc<Inner>);

struct Inner {
    start: Instant,
    stall: Range<Instant>,
    state: Mutex<State>,
    sooner: Notify,
}

struct State {
    cluster: Cluster,
    streams: HashMap<u64, UnboundedSender<Instant>>,
}

impl VirtualServer {
    pub(crate) fn start(engine: EngineConfig, stall: Range<Instant>) -> Self {
        let inner = Arc::new(Inner {
            start: Instant::now(),
            stall,
            state: Mutex::new(State {
                cluster: Cluster::new(ClusterConfig::single(engine)).unwrap(),
                streams: HashMap::new(),
            }),
            sooner: Notify::new(),
        });
        tokio::spawn(inner.clone().serve());
        VirtualServer(inner)
    }

    /// One answer to a request that was sent at `sent`. A paused clock wakes whoever waits up to a millisecond late: all
    /// instants are those of the simulation.
    pub(crate) async fn ask(
        &self,
        id: u64,
        sent: Instant,
        prompt_tokens: u32,
        output_tokens: u32,
    ) -> Course {
        let (sender, mut tokens) = unbounded_channel();
        {
            let mut state = self.0.state.lock();
            let request = Request::new(id, prompt_tokens, output_tokens);
            let at = self.0.model_time(sent);
            state.cluster.submit(at, request).unwrap();
            state.streams.insert(id, sender);
        }
        self.0.sooner.notify_one();
        let mut course = Course::new(sent);
        while let Some(at) = tokens.recv().await {
            course.tokens(at, Content::Visible, Some(1));
        }
        course.finish(Some(u64::from(output_tokens)), false);
        course
    }
}

impl Inner {
    fn model_time(&self, at: Instant) -> Duration {
        let stood = at.clamp(self.stall.start, self.stall.end) - self.stall.start;
        at - self.start - stood
    }

    fn instant(&self, model: Duration) -> Instant {
        let at = self.start + model;
        match at >= self.stall.start {
            true => at + (self.stall.end - self.stall.start),
            false => at,
        }
    }

    async fn serve(self: Arc<Self>) {
        loop {
            // Whoever arrives at this instant is in the step that begins at it.
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            let next = self.state.lock().cluster.next_event();
            let Some(next) = next else {
                self.sooner.notified().await;
                continue;
            };
            tokio::select! {
                () = tokio::time::sleep_until(self.instant(next)) => {}
                () = self.sooner.notified() => continue,
            }
            let state = &mut *self.state.lock();
            for event in state.cluster.advance(next) {
                let at = self.instant(event.at);
                match event.kind {
                    EventKind::Token { .. } => drop(state.streams[&event.id].send(at)),
                    EventKind::Finished(_) => drop(state.streams.remove(&event.id)),
                    _ => {}
                }
            }
        }
    }
}
