//! Why a connection could not be opened.

use crate::DialTimings;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A connection that could not be opened: why, and what each part took until then.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct DialError {
    /// Why.
    pub kind: Box<DialErrorKind>,
    /// What each part took; the part that failed has its time until the failure.
    pub timings: DialTimings,
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialErrorKind {
    /// The name could not be resolved.
    #[error("cannot resolve {host:?}: {source}; check the name and the resolver")]
    Dns {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name exists and has no address that can be connected to.
    #[error("{host:?} resolves to no address")]
    NoAddress {
        /// The name.
        host: String,
    },
    /// Nobody listens on that port.
    #[error("connection to {address} refused; nothing listens there")]
    Refused {
        /// Where to.
        address: SocketAddr,
    },
    /// No way to that host or network.
    #[error("{address} cannot be reached: {source}")]
    Unreachable {
        /// Where to.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// TCP was not established in time, by our limit or by the kernel's.
    #[error("connecting to {address} took longer than {after:?}")]
    ConnectTimedOut {
        /// Where to.
        address: SocketAddr,
        /// When it was given up.
        after: Duration,
    },
    /// This machine has no local port left for that destination: a limit of the generator, not of the server.
    #[error(
        "no local port is left to connect to {address}; reuse connections, widen \
         net.ipv4.ip_local_port_range or set net.ipv4.tcp_tw_reuse"
    )]
    OutOfPorts {
        /// Where to.
        address: SocketAddr,
    },
    /// This process has no file descriptor left: a limit of the generator, not of the server.
    #[error("no file descriptor is left to connect to {address}; raise it with `ulimit -n`")]
    OutOfDescriptors {
        /// Where to.
        address: SocketAddr,
    },
    /// TCP failed in another way.
    #[error("connecting to {address} failed: {source}")]
    Connect {
        /// Where to.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The server's certificate does not verify.
    #[error(
        "the certificate of {host:?} does not verify: {reason}; give the issuer's certificate as a root, or the \
         name that is in the certificate as the server name"
    )]
    Certificate {
        /// The name it was verified for.
        host: String,
        /// Why not.
        reason: String,
    },
    /// The TLS handshake failed in another way.
    #[error("TLS handshake with {host:?} failed: {source}; is it a TLS port?")]
    Handshake {
        /// The server.
        host: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The TLS handshake was not finished in time.
    #[error("the TLS handshake with {host:?} took longer than {after:?}")]
    HandshakeTimedOut {
        /// The server.
        host: String,
        /// When it was given up.
        after: Duration,
    },
}

impl DialErrorKind {
    /// The kernel's answer to a connect, by its meaning.
    pub(crate) fn of_connect(address: SocketAddr, source: io::Error, after: Duration) -> Self {
        match source.kind() {
            io::ErrorKind::ConnectionRefused => DialErrorKind::Refused { address },
            io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown => DialErrorKind::Unreachable { address, source },
            io::ErrorKind::TimedOut => DialErrorKind::ConnectTimedOut { address, after },
            // The first from a connect, the second from binding to a local address without a port.
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => {
                DialErrorKind::OutOfPorts { address }
            }
            _ if is_out_of_descriptors(&source) => DialErrorKind::OutOfDescriptors { address },
            _ => DialErrorKind::Connect { address, source },
        }
    }

    /// A failed handshake, by its meaning.
    pub(crate) fn of_handshake(host: String, source: io::Error) -> Self {
        let tls = source
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match tls {
            Some(rustls::Error::InvalidCertificate(reason)) => DialErrorKind::Certificate {
                host,
                reason: reason.to_string(),
            },
            _ => DialErrorKind::Handshake { host, source },
        }
    }

    /// The class under which a report counts it: `"dns"`, `"connect_refused"`, `"unreachable"`,
    /// `"connect_timeout"`, `"client_ports"`, `"client_descriptors"`, `"connect"`, `"tls_certificate"` or `"tls"`.
    ///
    /// Those that begin with `client_` are faults of the machine that runs this process, and say nothing of the
    /// server. No other class begins so: the validity of a run is judged by this prefix.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            DialErrorKind::Dns { .. } | DialErrorKind::NoAddress { .. } => "dns",
            DialErrorKind::Refused { .. } => "connect_refused",
            DialErrorKind::Unreachable { .. } => "unreachable",
            DialErrorKind::ConnectTimedOut { .. } => "connect_timeout",
            DialErrorKind::OutOfPorts { .. } => "client_ports",
            DialErrorKind::OutOfDescriptors { .. } => "client_descriptors",
            DialErrorKind::Connect { .. } => "connect",
            DialErrorKind::Certificate { .. } => "tls_certificate",
            DialErrorKind::Handshake { .. } | DialErrorKind::HandshakeTimedOut { .. } => "tls",
        }
    }
}

#[cfg(unix)]
fn is_out_of_descriptors(error: &io::Error) -> bool {
    use nix::errno::Errno;
    let number = error.raw_os_error();
    number == Some(Errno::EMFILE as i32) || number == Some(Errno::ENFILE as i32)
}

#[cfg(not(unix))]
fn is_out_of_descriptors(_: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(error: io::Error) -> &'static str {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        DialErrorKind::of_connect(address, error, Duration::from_secs(1)).class()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_answer_of_the_kernel_has_its_class() {
        use nix::errno::Errno;
        let classes = [
            (Errno::ECONNREFUSED, "connect_refused"),
            (Errno::EHOSTUNREACH, "unreachable"),
            (Errno::ENETUNREACH, "unreachable"),
            (Errno::ENETDOWN, "unreachable"),
            (Errno::ETIMEDOUT, "connect_timeout"),
            (Errno::EADDRNOTAVAIL, "client_ports"),
            (Errno::EADDRINUSE, "client_ports"),
            (Errno::EMFILE, "client_descriptors"),
            (Errno::ENFILE, "client_descriptors"),
            (Errno::EPROTO, "connect"),
        ];
        for (errno, class) in classes {
            assert_eq!(class_of(errno.into()), class, "{errno}");
        }
    }

    #[test]
    fn messages_carry_the_address() {
        let address = SocketAddr::from(([127, 0, 0, 1], 81));
        let refused = DialErrorKind::Refused { address };
        assert_eq!(
            refused.to_string(),
            "connection to 127.0.0.1:81 refused; nothing listens there"
        );
    }
}
