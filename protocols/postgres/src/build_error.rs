//! Why a client cannot be built.

use openloop_net::DialerError;
use std::time::Duration;

/// Places in the pipelines of a client.
pub(crate) const MOST_PLACES: usize = 1 << 20;

/// Why a client cannot be built. No message repeats the connection string, which may hold a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The connection string does not parse.
    #[error(
        "the connection string cannot be used: {reason}; write it as postgres://user:password@host:port/database, with \
         ?sslmode=disable, prefer or require, or as host=… port=… user=… dbname=…"
    )]
    ConnectionString {
        /// What is wrong with it.
        reason: String,
    },
    /// There is no host in it.
    #[error("the connection string has no host; write it as postgres://user@host:port/database")]
    NoHost,
    /// There are several hosts in it.
    #[error(
        "the connection string has {hosts} hosts; give one, as a load on one server or another is a load on none"
    )]
    SeveralHosts {
        /// How many.
        hosts: usize,
    },
    /// The host is a folder.
    #[error(
        "{path:?} is a Unix socket; give the host and port that the server listens on with TCP"
    )]
    UnixSocket {
        /// The folder.
        path: String,
    },
    /// A pool without a connection serves nothing.
    #[error("a pool of 0 connections serves nothing; give at least 1")]
    NoConnections,
    /// A pipeline without a place carries nothing.
    #[error("a pipeline of depth 0 carries nothing; 1 is one request at a time")]
    NoDepth,
    /// Only the connections of a pool are shared.
    #[error("a pipeline of depth {depth} needs a pool of connections to be shared")]
    PipelineWithoutPool {
        /// What was asked.
        depth: usize,
    },
    /// More places than there will ever be requests.
    #[error(
        "{size} connections with {depth} requests on each are more than {MOST_PLACES}; give fewer of either"
    )]
    TooDeep {
        /// Connections.
        size: usize,
        /// Requests on each.
        depth: usize,
    },
    /// The delays of reconnecting are none.
    #[error(
        "waiting {first:?} and at most {most:?} before connecting again is no back-off; give a first delay above 0 \
         and no more than the longest"
    )]
    BackOff {
        /// The first delay.
        first: Duration,
        /// The longest.
        most: Duration,
    },
    /// TLS settings for a connection string that forbids it.
    #[error("TLS settings are given and the connection string says sslmode=disable")]
    TlsDisabled,
    /// TLS from the first byte needs TLS.
    #[error("sslnegotiation=direct needs TLS; add sslmode=require")]
    DirectWithoutTls,
    /// Channel binding is not spoken here.
    #[error("channel_binding=require is not spoken here; leave it out")]
    ChannelBinding,
    /// The server cannot be dialled as asked.
    #[error(transparent)]
    Dialer(#[from] DialerError),
}
