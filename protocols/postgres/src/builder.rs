//! Settings of a client, checked before anything is sent.

use crate::back_off::BackOff;
use crate::build_error::MOST_PLACES;
use crate::engine::{Common, Engine};
use crate::opener::{Handshake, Opener};
use crate::{BuildError, Postgres, Statement};
use openloop_net::{Dialer, DialerBuilder, Tls};
use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, SslMode, SslNegotiation};

/// How requests are spread over connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connections {
    /// `size` connections at most. A request that finds none free waits in line, first come, first served, and the wait
    /// is the stage `acquire`; where `waiting` are in line already it fails with the class `pool_full`
    /// (`usize::MAX`: never). This is the M/M/c/K of queueing theory, with c = `size` and room for `waiting`.
    Pool {
        /// Connections at most.
        size: usize,
        /// Requests in line at most.
        waiting: usize,
    },
    /// A new connection for every request, closed after it: the server starts a process for each.
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
}

impl Default for Connections {
    /// A pool of 10: a server has 100 by default, for everybody.
    fn default() -> Self {
        Connections::pool(10)
    }
}

/// Settings of a client; [`Postgres::builder`] starts one.
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    dsn: String,
    connections: Connections,
    depth: usize,
    statements: Vec<Statement>,
    retries: u32,
    back_off: (Duration, Duration),
    recovery: Duration,
    tls: Option<Tls>,
    connect_timeout: Option<Duration>,
    address: Option<SocketAddr>,
    local_address: Option<IpAddr>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The connection string may hold a password.
        f.debug_struct("Builder")
            .field("connections", &self.connections)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

impl Builder {
    pub(crate) fn new(dsn: &str) -> Self {
        Builder {
            dsn: dsn.to_owned(),
            connections: Connections::default(),
            depth: 1,
            statements: Vec::new(),
            retries: 0,
            back_off: (Duration::from_millis(50), Duration::from_secs(1)),
            recovery: Duration::from_secs(5),
            tls: None,
            connect_timeout: None,
            address: None,
            local_address: None,
        }
    }

    /// How requests are spread over connections; a pool of 10 by default.
    pub fn connections(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// How many requests a connection of the pool carries at once, their answers in the order of the requests; 1 by
    /// default. The line for a place is as long as the pool's.
    ///
    /// In a pipeline a request may wait on the server for those before it, a call that is dropped cancels nothing (what
    /// runs may be another's), transactions are refused, and there are no receive stamps.
    pub fn pipeline(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// A statement that is prepared on every connection when it is opened before the run. Others are prepared by the
    /// first call on each connection that needs them, in its stage `prepare`.
    pub fn prepare(mut self, statement: &Statement) -> Self {
        self.statements.push(statement.clone());
        self
    }

    /// How often a request is run again that lost a serialization conflict or a deadlock (SQLSTATE 40001 and 40P01),
    /// counted under `retries`; never by default, and then it fails with that class.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// How long to wait after a failed attempt to open a connection of the pool: `first`, then twice as long after each
    /// further one, up to `most`; 50 ms and 1 s by default. The call that made the attempt fails; those that need a
    /// connection meanwhile wait, in their stage `acquire`.
    pub fn back_off(mut self, first: Duration, most: Duration) -> Self {
        self.back_off = (first, most);
        self
    }

    /// How long a connection whose call was dropped may take to be usable again, its place taken meanwhile; it is
    /// closed after that. 5 s by default.
    pub fn recovery_limit(mut self, limit: Duration) -> Self {
        self.recovery = limit;
        self
    }

    /// What TLS trusts and asks for; then there is no connection without it. By default TLS is spoken where the
    /// connection string says `sslmode=require`, with this machine's root certificates.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The limit for opening TCP, again for TLS, and again for the startup; that of the connection string by default,
    /// or none.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = Some(limit);
        self
    }

    /// Connects to this address instead of resolving the host.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
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
    pub fn build(self) -> Result<Postgres, BuildError> {
        let mut config = parse(&self.dsn)?;
        self.check()?;
        let limit = self
            .connect_timeout
            .or_else(|| config.get_connect_timeout().copied());
        let (host, port) = server(&config)?;
        let (handshake, tls) = self.handshake(&config)?;
        let mut dialer = self.dialer(&config, &host, port);
        if let Some(tls) = tls {
            dialer = dialer.tls(tls);
        }
        if let Some(limit) = limit {
            dialer = dialer.connect_timeout(limit);
        }
        // The stream that the library gets has TLS already.
        config.ssl_mode(SslMode::Disable);
        if config.get_application_name().is_none() {
            config.application_name("openloop");
        }
        let opener = |dialer: Dialer| Opener {
            dialer,
            config: config.clone(),
            handshake,
            limit,
        };
        let common = Common {
            opener: opener(dialer.clone().build()?),
            canceller: opener(
                dialer
                    .counts(openloop_net::SocketCounts::default())
                    .build()?,
            ),
            ahead: self.statements,
            retries: self.retries,
            recovery: self.recovery,
        };
        let (first, most) = self.back_off;
        let back_off = BackOff::new(first, most);
        let engine = Engine::new(common, self.connections, self.depth, back_off);
        Ok(Postgres::new(engine, host, port))
    }

    fn check(&self) -> Result<(), BuildError> {
        let (first, most) = self.back_off;
        if first.is_zero() || first > most {
            return Err(BuildError::BackOff { first, most });
        }
        match (self.connections, self.depth) {
            (Connections::Pool { size: 0, .. }, _) => Err(BuildError::NoConnections),
            (_, 0) => Err(BuildError::NoDepth),
            (Connections::Pool { size, .. }, depth)
                if depth > 1 && size.saturating_mul(depth) > MOST_PLACES =>
            {
                Err(BuildError::TooDeep { size, depth })
            }
            (Connections::Pool { .. }, _) | (_, 1) => Ok(()),
            (_, depth) => Err(BuildError::PipelineWithoutPool { depth }),
        }
    }

    fn handshake(&self, config: &Config) -> Result<(Handshake, Option<Tls>), BuildError> {
        if config.get_channel_binding() == ChannelBinding::Require {
            return Err(BuildError::ChannelBinding);
        }
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        let tls = match (config.get_ssl_mode(), &self.tls) {
            (SslMode::Disable, Some(_)) => return Err(BuildError::TlsDisabled),
            (SslMode::Require, None) => Some(Tls::native_roots()),
            (_, tls) => tls.clone(),
        };
        match (tls, is_direct) {
            (None, true) => Err(BuildError::DirectWithoutTls),
            (None, false) => Ok((Handshake::Never, None)),
            (Some(tls), true) => Ok((Handshake::Direct, Some(tls.alpn(["postgresql"])))),
            (Some(tls), false) => Ok((Handshake::Asked, Some(tls))),
        }
    }

    fn dialer(&self, config: &Config, host: &str, port: u16) -> DialerBuilder {
        let mut dialer = Dialer::builder(host, port);
        let given = config.get_hostaddrs().first();
        let address = self
            .address
            .or_else(|| given.map(|ip| SocketAddr::new(*ip, port)));
        if let Some(address) = address {
            dialer = dialer.address(address);
        }
        if let Some(address) = self.local_address {
            dialer = dialer.local_address(address);
        }
        dialer
    }
}

fn parse(dsn: &str) -> Result<Config, BuildError> {
    dsn.parse::<Config>().map_err(|error| {
        // The cause names the option and not its value.
        let reason = error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string);
        BuildError::ConnectionString { reason }
    })
}

fn server(config: &Config) -> Result<(String, u16), BuildError> {
    let hosts = config.get_hosts();
    let host = match (hosts, config.get_hostaddrs()) {
        ([], [address]) => address.to_string(),
        ([Host::Tcp(host)], [] | [_]) => host.clone(),
        #[cfg(unix)]
        ([Host::Unix(path)], _) => {
            return Err(BuildError::UnixSocket {
                path: path.display().to_string(),
            });
        }
        ([], []) => return Err(BuildError::NoHost),
        (hosts, addresses) => {
            return Err(BuildError::SeveralHosts {
                hosts: hosts.len().max(addresses.len()),
            });
        }
    };
    Ok((host, config.get_ports().first().copied().unwrap_or(5432)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(dsn: &str) -> String {
        Postgres::builder(dsn).build().unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_used_is_said_without_the_password() {
        for (dsn, named) in [
            ("postgres://u:secret@h:x/d", "port"),
            ("postgres://u:secret@h/d?sslmode=verify-full", "sslmode"),
            ("postgres://u:secret@h/d?ssl_mode=off", "ssl_mode"),
            ("user=u password=secret", "no host"),
            ("postgres://u:secret@a,b/d", "2 hosts"),
            (
                "host=/run/postgresql user=u password=secret",
                "/run/postgresql",
            ),
            (
                "postgres://u:secret@h/d?sslnegotiation=direct",
                "sslmode=require",
            ),
            (
                "postgres://u:secret@h/d?channel_binding=require",
                "channel_binding",
            ),
            ("http://u:secret@h/", "postgres://user"),
        ] {
            let message = refused(dsn);
            assert!(message.contains(named), "{dsn}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
        let builder = Postgres::builder("postgres://u:secret@h/d");
        assert!(!format!("{builder:?}").contains("secret"));
        assert!(!format!("{:?}", builder.build().unwrap()).contains("secret"));
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let builder = || Postgres::builder("postgres://u@127.0.0.1/d");
        let tls = Tls::insecure_accept_any_certificate();
        let disabled = Postgres::builder("postgres://u@h/d?sslmode=disable").tls(tls);
        let second = Duration::from_secs(1);
        for (refused, named) in [
            (builder().connections(Connections::pool(0)), "at least 1"),
            (builder().pipeline(0), "depth 0"),
            (
                builder().connections(Connections::PerRequest).pipeline(4),
                "depth 4",
            ),
            (builder().pipeline(usize::MAX), "fewer"),
            (builder().back_off(Duration::ZERO, second), "0ns"),
            (builder().back_off(second * 2, second), "2s"),
            (builder().connect_timeout(Duration::ZERO), "zero"),
            (disabled, "sslmode=disable"),
        ] {
            let message = refused.build().unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }

    #[test]
    fn both_forms_of_a_connection_string_name_the_server() {
        for (dsn, target) in [
            ("postgres://u:p@h:6432/d", "h:6432"),
            ("postgresql://h/d", "h:5432"),
            ("host=h port=6432 user=u password=p dbname=d", "h:6432"),
            ("hostaddr=127.0.0.1 user=u", "127.0.0.1:5432"),
        ] {
            let postgres = Postgres::builder(dsn).build().unwrap();
            let (host, port) = postgres.server();
            assert_eq!(format!("{host}:{port}"), target);
        }
    }
}
