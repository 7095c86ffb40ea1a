//! Opening a connection, each part timed.

use crate::socket::KeepStamping;
use crate::tls::Prepared;
use crate::{
    DialError, DialErrorKind, DialTimings, Socket, SocketCounts, Stream, SynBackoff, Tls, TlsError,
};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

/// Why a dialler cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialerError {
    /// There is no host.
    #[error("the host is empty; give a name or an IP address")]
    EmptyHost,
    /// The host holds something that no name or address holds.
    #[error("{host:?} is not a host: give a name or an IP address, without scheme, port or path")]
    Host {
        /// What was given.
        host: String,
    },
    /// Port 0 cannot be connected to.
    #[error("port 0 cannot be connected to; give the port that the server listens on")]
    Port,
    /// No connect can meet a limit of zero.
    #[error("a connect timeout of zero fails every connection; leave it out for none")]
    ZeroTimeout,
    /// The TLS settings cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Opens connections to one server: resolves, connects, shakes hands, and times each part.
///
/// The name is resolved anew for every connection, as a client without a cache does; an IP address is never
/// resolved. The addresses are tried in the resolver's order, and the error is that of the last one.
/// `TCP_NODELAY` is always on: a request must leave when it is sent.
///
/// Cloning is cheap; clones share the counts.
#[derive(Clone, Debug)]
pub struct Dialer(Arc<Settings>);

#[derive(Debug)]
struct Settings {
    host: String,
    port: u16,
    address: Option<SocketAddr>,
    local: Option<IpAddr>,
    timeout: Option<Duration>,
    tls: Option<Prepared>,
    syn_backoff: SynBackoff,
    counts: SocketCounts,
    _stamping: KeepStamping,
}

/// An open connection and what each part of opening it took.
#[derive(Debug)]
#[non_exhaustive]
pub struct Dialed {
    /// The connection.
    pub stream: Stream,
    /// What each part took.
    pub timings: DialTimings,
    /// The protocol that the server chose by ALPN.
    pub alpn: Option<Vec<u8>>,
}

/// Settings of a [`Dialer`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct DialerBuilder {
    host: String,
    port: u16,
    address: Option<SocketAddr>,
    local: Option<IpAddr>,
    timeout: Option<Duration>,
    tls: Option<Tls>,
    counts: SocketCounts,
}

impl DialerBuilder {
    /// Speaks TLS on the connection; plain TCP by default.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The limit for connecting to one address, and again for the TLS handshake; none by default, and then the
    /// kernel gives up after about two minutes.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Connects to this address instead of resolving the host; the host is still what TLS verifies.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// The local address to connect from: a second address is a second set of ports.
    pub fn local_address(mut self, address: IpAddr) -> Self {
        self.local = Some(address);
        self
    }

    /// Counts sockets into `counts` rather than into new ones.
    pub fn counts(mut self, counts: SocketCounts) -> Self {
        self.counts = counts;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Where the host, the port, the timeout or the TLS settings cannot be used.
    pub fn build(self) -> Result<Dialer, DialerError> {
        let host = self
            .host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(&self.host);
        if host.is_empty() {
            return Err(DialerError::EmptyHost);
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if host.parse::<IpAddr>().is_err() && !host.bytes().all(is_name) {
            return Err(DialerError::Host {
                host: host.to_owned(),
            });
        }
        if self.port == 0 && self.address.is_none() {
            return Err(DialerError::Port);
        }
        if self.timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(DialerError::ZeroTimeout);
        }
        let tls = match &self.tls {
            Some(tls) => Some(tls.prepare(host)?),
            None => None,
        };
        Ok(Dialer(Arc::new(Settings {
            host: host.to_owned(),
            port: self.port,
            address: self.address,
            local: self.local,
            timeout: self.timeout,
            tls,
            syn_backoff: SynBackoff::of_this_machine(),
            counts: self.counts,
            _stamping: KeepStamping::new(),
        })))
    }
}

impl Dialer {
    /// Starts with a host (a name or an IP address) and a port.
    ///
    /// ```
    /// # use openloop_net::{Dialer, Tls};
    /// # use std::time::Duration;
    /// let dialer = Dialer::builder("example.test", 443)
    ///     .tls(Tls::insecure_accept_any_certificate())
    ///     .connect_timeout(Duration::from_secs(5))
    ///     .build()?;
    /// # Ok::<(), openloop_net::DialerError>(())
    /// ```
    pub fn builder(host: impl Into<String>, port: u16) -> DialerBuilder {
        DialerBuilder {
            host: host.into(),
            port,
            address: None,
            local: None,
            timeout: None,
            tls: None,
            counts: SocketCounts::default(),
        }
    }

    /// The sockets that this dialler opened, and how many of them are closed.
    #[must_use]
    pub fn counts(&self) -> &SocketCounts {
        &self.0.counts
    }

    /// Opens one connection.
    ///
    /// Dropping the future closes what was opened.
    ///
    /// # Errors
    ///
    /// [`DialError`], with the part that failed and what each part took until then.
    pub async fn dial(&self) -> Result<Dialed, DialError> {
        let dialed = self.dial_tcp().await?;
        self.secure(dialed).await
    }

    /// Opens TCP alone, for a protocol that asks for TLS in its own words before the handshake: [`secure`](Self::secure)
    /// goes on from there.
    ///
    /// # Errors
    ///
    /// As for [`dial`](Self::dial).
    pub async fn dial_tcp(&self) -> Result<Dialed, DialError> {
        let mut timings = DialTimings::default();
        match self.open(&mut timings).await {
            Ok(socket) => Ok(Dialed {
                stream: Stream::Plain(socket),
                timings,
                alpn: None,
            }),
            Err(kind) => Err(DialError {
                kind: Box::new(kind),
                timings,
            }),
        }
    }

    /// Makes the TLS handshake on a connection of [`dial_tcp`](Self::dial_tcp), where TLS was asked for.
    ///
    /// # Errors
    ///
    /// As for [`dial`](Self::dial).
    pub async fn secure(&self, dialed: Dialed) -> Result<Dialed, DialError> {
        let mut timings = dialed.timings;
        let (tls, socket) = match (&self.0.tls, dialed.stream) {
            (Some(tls), Stream::Plain(socket)) => (tls, socket),
            (_, stream) => return Ok(Dialed { stream, ..dialed }),
        };
        let started = Instant::now();
        let shaken = self.shake_hands(tls, socket).await;
        timings.tls = Some(started.elapsed());
        match shaken {
            Ok(stream) => Ok(Dialed {
                alpn: stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec),
                stream: Stream::Tls(Box::new(stream)),
                timings,
            }),
            Err(kind) => Err(DialError {
                kind: Box::new(kind),
                timings,
            }),
        }
    }

    async fn open(&self, timings: &mut DialTimings) -> Result<Socket, DialErrorKind> {
        let addresses = self.resolve(timings).await?;
        let started = Instant::now();
        let connected = self.connect(&addresses, timings).await;
        timings.connect = Some(started.elapsed());
        Ok(Socket::new(connected?, &self.0.counts))
    }

    async fn resolve(&self, timings: &mut DialTimings) -> Result<Vec<SocketAddr>, DialErrorKind> {
        if let Some(address) = self.0.address {
            return Ok(vec![address]);
        }
        let host = &self.0.host;
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, self.0.port)]);
        }
        let started = Instant::now();
        let found = tokio::net::lookup_host((host.as_str(), self.0.port)).await;
        timings.dns = Some(started.elapsed());
        let addresses: Vec<_> = found
            .map_err(|source| DialErrorKind::Dns {
                host: host.clone(),
                source,
            })?
            .collect();
        if addresses.is_empty() {
            return Err(DialErrorKind::NoAddress { host: host.clone() });
        }
        Ok(addresses)
    }

    async fn connect(
        &self,
        addresses: &[SocketAddr],
        timings: &mut DialTimings,
    ) -> Result<TcpStream, DialErrorKind> {
        let mut last = DialErrorKind::NoAddress {
            host: self.0.host.clone(),
        };
        for &address in addresses {
            let started = Instant::now();
            let attempt = self.connect_one(address);
            let connected = match self.0.timeout {
                None => attempt.await,
                Some(limit) => tokio::time::timeout(limit, attempt)
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
            };
            let took = started.elapsed();
            let mut sent_again = self.0.syn_backoff.retries(took);
            if connected.as_ref().is_err_and(is_kernels_limit) {
                // Its last timer gives up instead of sending once more.
                sent_again = sent_again.saturating_sub(1);
            }
            timings.syn_retries = timings.syn_retries.saturating_add(sent_again);
            match connected {
                Ok(tcp) => return Ok(tcp),
                Err(source) => last = DialErrorKind::of_connect(address, source, took),
            }
        }
        Err(last)
    }

    async fn connect_one(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_nodelay(true)?;
        if let Some(local) = self.0.local {
            socket.bind(SocketAddr::new(local, 0))?;
        }
        socket.connect(address).await
    }

    async fn shake_hands(
        &self,
        tls: &Prepared,
        socket: Socket,
    ) -> Result<tokio_rustls::client::TlsStream<Socket>, DialErrorKind> {
        let handshake =
            TlsConnector::from(Arc::clone(&tls.config)).connect(tls.server_name.clone(), socket);
        let done = match self.0.timeout {
            None => handshake.await,
            Some(limit) => tokio::time::timeout(limit, handshake).await.map_err(|_| {
                DialErrorKind::HandshakeTimedOut {
                    host: tls.name.clone(),
                    after: limit,
                }
            })?,
        };
        done.map_err(|source| DialErrorKind::of_handshake(tls.name.clone(), source))
    }
}

/// Whether the kernel gave a connect up; an error of our own limit has no number.
fn is_kernels_limit(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock is paused: an attempt without an answer takes its limit on the clock, and no time.
    #[tokio::test(start_paused = true)]
    async fn connects_that_ran_into_the_limit_tell_their_retries_over_all_addresses() {
        // One waits in the queue of a backlog of 0; the next SYN gets no answer.
        let full = TcpSocket::new_v4().unwrap();
        full.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let full = full.listen(0).unwrap();
        let address = full.local_addr().unwrap();
        let _waits = std::net::TcpStream::connect(address).unwrap();
        let cases = [
            (500, SynBackoff::EXPONENTIAL, 0),
            (1_000, SynBackoff::EXPONENTIAL, 1),
            (3_000, SynBackoff::EXPONENTIAL, 2),
            (7_000, SynBackoff::EXPONENTIAL, 3),
            (7_000, SynBackoff::linear(4), 6),
        ];
        for (limit, backoff, retries) in cases {
            let mut dialer = Dialer::builder("server.test", 80)
                .connect_timeout(Duration::from_millis(limit))
                .build()
                .unwrap();
            Arc::get_mut(&mut dialer.0).unwrap().syn_backoff = backoff;
            for tried in 1..=2 {
                let mut timings = DialTimings::default();
                let addresses = vec![address; tried as usize];
                let error = dialer.connect(&addresses, &mut timings).await.unwrap_err();
                assert_eq!(error.class(), "connect_timeout");
                assert_eq!(timings.syn_retries, tried * retries, "{limit} ms, {tried}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernels_limit_is_told_from_ours() {
        use nix::errno::Errno;
        assert!(is_kernels_limit(&Errno::ETIMEDOUT.into()));
        assert!(!is_kernels_limit(&io::ErrorKind::TimedOut.into()));
        assert!(!is_kernels_limit(&Errno::ECONNREFUSED.into()));
    }
}
