//! Settings of a client, checked before anything is sent.

use crate::Redis;
use crate::client::Target;
use crate::cluster::Cluster;
use crate::node::Node;
use openloop_net::{Dialer, DialerError, SocketCounts, Tls};
use redis::{ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo};
use std::net::IpAddr;
use std::time::Duration;

/// Places in the pipelines of a client, where they have a limit.
const MOST_PLACES: usize = 1 << 20;

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The URL is none of a Redis server over TCP. It is told without its password.
    #[error("{url:?} is no URL of a Redis server ({reason}); write it as redis://host:6379/0")]
    Url {
        /// What was given, without user and password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pool without a connection serves nothing.
    #[error("a pool of 0 connections serves nothing; give at least 1")]
    NoConnections,
    /// A pipeline without room for a request serves nothing.
    #[error("a pipeline of depth 0 carries nothing; give at least 1")]
    NoDepth,
    /// More places than there will ever be requests.
    #[error(
        "{size} connections with {depth} requests on each are more than {MOST_PLACES}; for no limit on few connections give a \
         depth of usize::MAX"
    )]
    TooDeep {
        /// Connections.
        size: usize,
        /// Requests on each.
        depth: usize,
    },
    /// TLS settings for a URL that has none.
    #[error("TLS settings are given and {url:?} is not rediss")]
    TlsWithoutRediss {
        /// What was given, without user and password.
        url: String,
    },
    /// A cluster has one database.
    #[error("a cluster has the database 0 alone; leave out /{database}")]
    DatabaseOfCluster {
        /// What was given.
        database: i64,
    },
    /// The server cannot be dialled as asked.
    #[error(transparent)]
    Dialer(#[from] DialerError),
}

/// How requests are spread over connections; of a cluster, over those to each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connections {
    /// `size` connections at most, each with one request at a time. A request that finds none free waits in line, first
    /// come, first served, and the wait is the stage `acquire`; where `waiting` are in line already it fails with the
    /// class `pool_full` (`usize::MAX`: never).
    Pool {
        /// Connections at most.
        size: usize,
        /// Requests in line at most.
        waiting: usize,
    },
    /// `size` connections, each with up to `depth` requests on their way at once, answered one after the other: a slow
    /// one holds up those behind it. Beyond `size` · `depth` requests wait in line, as in a pool.
    Pipelined {
        /// Connections.
        size: usize,
        /// Requests on their way at most, on each; `usize::MAX` is unlimited.
        depth: usize,
        /// Requests in line at most.
        waiting: usize,
    },
    /// A new connection for every request, closed after it.
    PerRequest,
    /// As many connections as there are requests in flight; free ones are used again.
    PerInFlight,
}

impl Connections {
    /// A pool of `size` connections with an unlimited line.
    #[must_use]
    pub const fn pool(size: usize) -> Self {
        Connections::Pool {
            size,
            waiting: usize::MAX,
        }
    }

    /// `size` connections with up to `depth` requests on each, and an unlimited line.
    #[must_use]
    pub const fn pipelined(size: usize, depth: usize) -> Self {
        Connections::Pipelined {
            size,
            depth,
            waiting: usize::MAX,
        }
    }

    /// One connection that all requests share, as most clients of Redis do by default.
    #[must_use]
    pub const fn multiplexed() -> Self {
        Connections::pipelined(1, usize::MAX)
    }
}

impl Default for Connections {
    /// A pool of 50.
    fn default() -> Self {
        Connections::pool(50)
    }
}

/// Settings of a client; [`Redis::builder`] starts one.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    url: String,
    connections: Connections,
    is_cluster: bool,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    local_address: Option<IpAddr>,
}

impl Builder {
    pub(crate) fn new(url: &str) -> Self {
        Builder {
            url: url.to_owned(),
            connections: Connections::default(),
            is_cluster: false,
            tls: None,
            connect_timeout: None,
            local_address: None,
        }
    }

    /// How requests are spread over connections; a pool of 50 by default.
    pub fn connections(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// The URL is that of any node of a cluster: requests go to the node that has their first key, and follow `MOVED`
    /// and `ASK`.
    pub fn cluster(mut self) -> Self {
        self.is_cluster = true;
        self
    }

    /// What TLS trusts and asks for, where the URL is `rediss`; this machine's root certificates by default.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The limit for opening TCP, and again for TLS; none by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// The local address to connect from.
    pub fn local_address(mut self, address: IpAddr) -> Self {
        self.local_address = Some(address);
        self
    }

    /// Checks everything; nothing is sent and no connection opened.
    ///
    /// # Errors
    ///
    /// [`BuildError`], with what is wrong and what to write instead.
    pub fn build(self) -> Result<Redis, BuildError> {
        match self.connections {
            Connections::Pool { size: 0, .. } | Connections::Pipelined { size: 0, .. } => {
                return Err(BuildError::NoConnections);
            }
            Connections::Pipelined { depth: 0, .. } => return Err(BuildError::NoDepth),
            Connections::Pipelined { size, depth, .. }
                if size > MOST_PLACES
                    || depth != usize::MAX && size.saturating_mul(depth) > MOST_PLACES =>
            {
                return Err(BuildError::TooDeep { size, depth });
            }
            _ => {}
        }
        let Parsed {
            host,
            port,
            is_tls,
            settings,
        } = parse(&self.url)?;
        if self.is_cluster && settings.db() != 0 {
            return Err(BuildError::DatabaseOfCluster {
                database: settings.db(),
            });
        }
        let tls = match (is_tls, self.tls) {
            (true, tls) => Some(tls.unwrap_or_else(Tls::native_roots)),
            (false, None) => None,
            (false, Some(_)) => {
                return Err(BuildError::TlsWithoutRediss {
                    url: without_password(&self.url),
                });
            }
        };
        let maker = NodeMaker {
            host,
            port,
            settings,
            connections: self.connections,
            tls,
            connect_timeout: self.connect_timeout,
            local_address: self.local_address,
            counts: SocketCounts::default(),
        };
        let (endpoint, counts) = (maker.seed(), maker.counts.clone());
        // Of a cluster as well, so that what is wrong with the settings is told now.
        let node = maker.node(&maker.host, maker.port)?;
        let target = match self.is_cluster {
            true => Target::Cluster(Box::new(Cluster::new(maker))),
            false => Target::Server(node),
        };
        Ok(Redis::new(target, endpoint, counts))
    }
}

/// Makes clients of single servers, all with the same settings and counting into the same counts.
#[derive(Debug)]
pub(crate) struct NodeMaker {
    host: String,
    port: u16,
    settings: RedisConnectionInfo,
    connections: Connections,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    local_address: Option<IpAddr>,
    counts: SocketCounts,
}

impl NodeMaker {
    /// The server of the URL.
    pub(crate) fn seed(&self) -> (String, u16) {
        (self.host.clone(), self.port)
    }

    pub(crate) fn node(&self, host: &str, port: u16) -> Result<Node, DialerError> {
        let mut dialer = Dialer::builder(host, port).counts(self.counts.clone());
        if let Some(tls) = &self.tls {
            dialer = dialer.tls(tls.clone());
        }
        if let Some(limit) = self.connect_timeout {
            dialer = dialer.connect_timeout(limit);
        }
        if let Some(address) = self.local_address {
            dialer = dialer.local_address(address);
        }
        let settings = self.settings.clone();
        Ok(Node::new(dialer.build()?, settings, self.connections))
    }
}

struct Parsed {
    host: String,
    port: u16,
    is_tls: bool,
    settings: RedisConnectionInfo,
}

fn parse(url: &str) -> Result<Parsed, BuildError> {
    let wrong = |reason: String| BuildError::Url {
        url: without_password(url),
        reason,
    };
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| wrong("it has no scheme".to_owned()))?;
    let is_tls = match scheme {
        "redis" | "valkey" => false,
        "rediss" | "valkeys" => true,
        other => return Err(wrong(format!("its scheme is {other:?}"))),
    };
    // TLS is ours: the library parses the rest of the URL.
    let info = format!("redis://{rest}")
        .into_connection_info()
        .map_err(|error| wrong(error.to_string()))?;
    let ConnectionAddr::Tcp(host, port) = info.addr() else {
        return Err(wrong("it is not over TCP".to_owned()));
    };
    Ok(Parsed {
        host: host.clone(),
        port: *port,
        is_tls,
        settings: info.redis_settings().clone(),
    })
}

/// The URL without its user and password.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.rsplit_once('@') {
        Some((_, server)) => format!("{scheme}://{server}"),
        None => url.to_owned(),
    }
}
