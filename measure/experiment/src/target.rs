//! Where the service under test runs.

use std::net::{IpAddr, UdpSocket};

/// Where the service under test runs, as seen from the generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Nobody has said.
    #[default]
    Unknown,
    /// In this process: a test suite.
    SameProcess,
    /// On this host: it competes with the generator for cores and caches.
    SameHost,
    /// On another host, as it should be.
    Elsewhere,
}

impl Target {
    /// Whether `address` is one of this host's own.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        // Only an address of this host can be bound to.
        if address.is_loopback() || UdpSocket::bind((address, 0)).is_ok() {
            Target::SameHost
        } else {
            Target::Elsewhere
        }
    }

    /// Whether it competes with the generator for the same machine.
    #[must_use]
    pub fn shares_host(self) -> bool {
        matches!(self, Target::SameProcess | Target::SameHost)
    }

    /// Name in reports; `None` where nobody has said.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Target::Unknown => None,
            Target::SameProcess => Some("same_process"),
            Target::SameHost => Some("same_host"),
            Target::Elsewhere => Some("elsewhere"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_host_is_told_from_one_of_another() {
        assert_eq!(Target::of([127, 0, 0, 1].into()), Target::SameHost);
        // Reserved for documentation: nobody's.
        assert_eq!(Target::of([192, 0, 2, 1].into()), Target::Elsewhere);
    }
}
