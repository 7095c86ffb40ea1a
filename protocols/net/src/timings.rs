//! What each part of opening a connection took.

use std::time::Duration;

/// The time that each part of opening a connection took; `None` where the part was not needed or not reached.
///
/// Where the part failed, its time until then is here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialTimings {
    /// Resolving the name; `None` for an address that was given as such.
    pub dns: Option<Duration>,
    /// Establishing TCP: from the first SYN to the instant at which the kernel reported the connection as
    /// established, over all addresses that were tried.
    pub connect: Option<Duration>,
    /// The TLS handshake.
    pub tls: Option<Duration>,
    /// SYNs that had to be sent again, over all addresses that were tried, as told by how long each connect took
    /// until it succeeded or failed (see [`SynBackoff`](crate::SynBackoff)).
    pub syn_retries: u32,
}

impl DialTimings {
    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> Duration {
        [self.dns, self.connect, self.tls]
            .into_iter()
            .flatten()
            .sum()
    }
}
