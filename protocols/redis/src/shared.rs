//! Connections that carry many requests at once, one behind the other.

use crate::connection::send;
use crate::node::{must_answer, ping};
use crate::opener::Opener;
use crate::request::Commands;
use crate::{RedisErrorKind, Stages};
use openloop_net::Pool;
use parking_lot::Mutex;
use redis::Value;
use redis::aio::MultiplexedConnection;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// A few connections, each with a task that drives it and with at most so many requests on their way.
#[derive(Debug)]
pub(crate) struct Shared {
    opener: Arc<Opener>,
    /// A place is the number of its connection; without a limit there are none, and connections take turns.
    places: Pool<usize>,
    connections: Box<[Slot]>,
    turn: AtomicUsize,
}

/// Where a connection is, or will be.
#[derive(Debug, Default)]
struct Slot {
    open: Mutex<Option<Open>>,
    /// Held by the one who opens it.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Open {
    sender: MultiplexedConnection,
    task: Arc<Task>,
}

/// The task that moves the bytes; it ends with the last user.
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open")
            .field("ended", &self.task.0.is_finished())
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// `size` connections with `depth` requests at most on each; `usize::MAX` is unlimited.
    pub(crate) fn new(opener: Arc<Opener>, size: usize, depth: usize, waiting: usize) -> Self {
        let is_bounded = depth != usize::MAX;
        let places = Pool::new(size.saturating_mul(depth), waiting);
        if is_bounded {
            // In turn, so that all connections are used however few requests there are.
            let leases: Vec<_> = std::iter::from_fn(|| places.try_lease()).collect();
            for (place, mut lease) in leases.into_iter().enumerate() {
                lease.put(place % size);
            }
        }
        Shared {
            opener,
            places,
            connections: (0..size).map(|_| Slot::default()).collect(),
            turn: AtomicUsize::new(0),
        }
    }

    /// Opens all connections, and asks for an answer over each.
    pub(crate) async fn prepare(&self) -> Result<(), RedisErrorKind> {
        for slot in &self.connections {
            let mut open = self.connection(slot, &mut Stages::default()).await?;
            must_answer(&send(&mut open.sender, &ping()).await?)?;
        }
        Ok(())
    }

    /// One exchange, its stages filled in as far as it comes.
    ///
    /// A future that is dropped frees its place, and its reply is read by nobody when it comes: until then one more
    /// request than `depth` may be on the wire.
    pub(crate) async fn call(
        &self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let mut lease = self.places.lease().await?;
        stages.acquire += lease.waited();
        let place = lease.take();
        let number = place
            .unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed) % self.connections.len());
        if let Some(place) = place {
            lease.put(place);
        }
        let mut open = self.connection(&self.connections[number], stages).await?;
        let started = Instant::now();
        let answered = send(&mut open.sender, commands).await;
        *stages.reply.get_or_insert_default() += started.elapsed();
        if answered.is_ok() && stages.reused {
            self.opener.dialer().counts().count_reuse();
        }
        answered
    }

    /// The connection of a slot. The first to find it missing opens it, and to wait for that is to wait on our side.
    async fn connection(&self, slot: &Slot, stages: &mut Stages) -> Result<Open, RedisErrorKind> {
        stages.reused = true;
        if let Some(open) = slot.get() {
            return Ok(open);
        }
        let since = Instant::now();
        let _opening = slot.opening.lock().await;
        stages.acquire += since.elapsed();
        if let Some(open) = slot.get() {
            return Ok(open);
        }
        stages.reused = false;
        let opened = self.opener.open(stages).await?;
        let open = Open {
            sender: opened.sender,
            task: Arc::new(Task(tokio::spawn(opened.driver))),
        };
        *slot.open.lock() = Some(open.clone());
        Ok(open)
    }
}

impl Slot {
    fn get(&self) -> Option<Open> {
        let open = self.open.lock();
        open.as_ref()
            .filter(|open| !open.task.0.is_finished())
            .cloned()
    }
}
