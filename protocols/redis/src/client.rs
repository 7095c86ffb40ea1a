//! The client.

use crate::cluster::Cluster;
use crate::node::Node;
use crate::{Builder, RedisError, RedisErrorKind, Reply, Request, RequestError, Stages, reply};
use openloop_measurer::Operation;
use openloop_net::SocketCounts;
use redis::Value;
use std::sync::Arc;

/// A client for one Redis server or cluster, as an [`Operation`]: it shows every wait on our side of the wire.
///
/// Cloning is cheap; clones share the connections.
///
/// ```
/// # use openloop_redis::{Connections, Redis, Request};
/// # use openloop_measurer::Operation;
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let redis = Redis::builder("redis://127.0.0.1:6379")
///     .connections(Connections::pool(50))
///     .build()?;
/// redis.prepare().await?; // opens the connections: what cannot be reached is known before any load
/// let reply = redis.call(Request::command(["GET", "key:41"])?).await?;
/// println!("{:?} after {:?}", reply.value(), reply.stages().reply);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Target,
    endpoint: (String, u16),
    counts: SocketCounts,
}

#[derive(Debug)]
pub(crate) enum Target {
    Server(Node),
    Cluster(Box<Cluster>),
}

impl Redis {
    /// Starts a client for the server of `url`, such as `redis://user:password@host:6379/0`.
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    pub(crate) fn new(target: Target, endpoint: (String, u16), counts: SocketCounts) -> Self {
        Redis(Arc::new(Inner {
            target,
            endpoint,
            counts,
        }))
    }

    /// Opens the connections before the run starts, so that opening them is no part of it, and asks for an answer over
    /// each: all of a pool, and otherwise one. Of a cluster it learns the map, and does so for each of its nodes.
    ///
    /// # Errors
    ///
    /// The first failure: an unreachable host, a wrong password, a server that is loading or has too many clients is
    /// known before any load.
    pub async fn prepare(&self) -> Result<(), RedisError> {
        let prepared = match &self.0.target {
            Target::Server(node) => node.prepare().await,
            Target::Cluster(cluster) => cluster.prepare().await,
        };
        prepared.map_err(|kind| RedisError {
            kind,
            stages: Box::default(),
        })
    }

    /// Whether a request can be carried out at all, as far as can be told without asking: where it cannot, its replies
    /// would all be errors. Meant to be called before a run; calls do not check it again.
    ///
    /// # Errors
    ///
    /// [`RequestError::SeveralSlots`]: of a cluster, a command, a script or a transaction needs all of its keys in one
    /// slot.
    pub fn check(&self, request: &Request) -> Result<(), RequestError> {
        match &self.0.target {
            Target::Server(_) => Ok(()),
            Target::Cluster(_) => request.check_slots(),
        }
    }

    /// Host and port of the URL.
    #[must_use]
    pub fn endpoint(&self) -> (&str, u16) {
        (&self.0.endpoint.0, self.0.endpoint.1)
    }

    /// Sockets opened, closed and used again by this client, [`prepare`](Self::prepare) included.
    #[must_use]
    pub fn sockets(&self) -> &SocketCounts {
        &self.0.counts
    }

    async fn answer(
        &self,
        request: &Request,
        stages: &mut Stages,
    ) -> Result<Value, RedisErrorKind> {
        match &self.0.target {
            Target::Server(node) => node.call(&request.0, false, stages).await,
            Target::Cluster(cluster) => cluster.call(&request.0, stages).await,
        }
    }
}

impl Operation for Redis {
    type Request = Request;
    type Reply = Reply;
    type Error = RedisError;

    async fn call(&self, request: Request) -> Result<Reply, RedisError> {
        let mut stages = Stages::default();
        match self.answer(&request, &mut stages).await {
            Ok(value) => {
                (stages.bytes, stages.nils) = reply::measure(&value);
                Ok(Reply { value, stages })
            }
            Err(kind) => Err(RedisError {
                kind,
                stages: Box::new(stages),
            }),
        }
    }
}
