//! Connections that carry one request at a time.

use crate::connection::Connection;
use crate::node::{must_answer, ping};
use crate::opener::Opener;
use crate::request::Commands;
use crate::{RedisErrorKind, Stages};
use openloop_net::{Lease, Pool};
use redis::Value;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Connections that are opened at the same time before a run: fewer than the shortest accept queue in use holds.
const AT_ONCE: usize = 32;

type Place = Lease<Box<Connection>>;

/// A lease of a connection for each request.
#[derive(Clone, Debug)]
pub(crate) struct Exclusive {
    opener: Arc<Opener>,
    pool: Pool<Box<Connection>>,
    /// Connections to open before a run.
    ahead: usize,
    keep: bool,
}

impl Exclusive {
    pub(crate) fn pooled(opener: Arc<Opener>, size: usize, waiting: usize) -> Self {
        Exclusive {
            opener,
            pool: Pool::new(size, waiting),
            ahead: size,
            keep: true,
        }
    }

    pub(crate) fn without_limit(opener: Arc<Opener>, keep: bool) -> Self {
        Exclusive {
            opener,
            pool: Pool::new(usize::MAX, 0),
            ahead: 1,
            keep,
        }
    }

    /// Opens the connections of the pool, or one to see that it can be done, and asks for an answer over each.
    ///
    /// Every place is held until all are open, so that no connection is counted for two.
    pub(crate) async fn prepare(&self) -> Result<(), RedisErrorKind> {
        // The first alone: a target that cannot be reached is then tried once, not `ahead` times.
        let mut open = vec![self.open_ahead(self.pool.lease().await?).await?];
        let mut opening = JoinSet::new();
        let mut more = self.ahead.saturating_sub(1);
        loop {
            while more > 0 && opening.len() < AT_ONCE {
                more -= 1;
                let (this, lease) = (self.clone(), self.pool.lease().await?);
                opening.spawn(async move { this.open_ahead(lease).await });
            }
            let Some(opened) = opening.join_next().await else {
                return Ok(());
            };
            open.push(opened.map_err(|error| RedisErrorKind::Client(error.to_string()))??);
        }
    }

    async fn open_ahead(&self, mut lease: Place) -> Result<Place, RedisErrorKind> {
        let stages = &mut Stages::default();
        let mut connection = match lease.take() {
            Some(rested) => rested,
            None => self.open(stages).await?,
        };
        if !connection.is_open() {
            connection = self.open(stages).await?;
        }
        must_answer(&connection.exchange(&ping(), stages).await?)?;
        if self.keep {
            lease.put(connection);
        }
        Ok(lease)
    }

    /// One exchange over a connection of its own, its stages filled in as far as it comes.
    pub(crate) async fn call(
        &self,
        commands: &Commands,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        let mut lease = self.pool.lease().await?;
        stages.acquire += lease.waited();
        // One that the server has closed while it rested is replaced: nothing was sent over it.
        let mut rested = lease.take();
        let is_open = rested.as_mut().is_some_and(|rested| rested.is_open());
        stages.reused = is_open;
        let mut connection = match rested {
            Some(rested) if is_open => rested,
            _ => self.open(stages).await?,
        };
        // While the exchange runs the lease is empty: a call that is dropped closes its connection.
        let value = connection.exchange(commands, stages).await?;
        if is_open {
            self.opener.dialer().counts().count_reuse();
        }
        if self.keep && connection.was_open() {
            lease.put(connection);
        }
        Ok(value)
    }

    async fn open(&self, stages: &mut Stages) -> Result<Box<Connection>, RedisErrorKind> {
        Ok(Box::new(Connection::new(self.opener.open(stages).await?)))
    }
}
