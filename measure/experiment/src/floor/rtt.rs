//! How long a message is on its way.

use crate::units::Ns;
use crate::{ProtocolError, Target};
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// The fewest no-ops that an estimate rests on.
const PROBES: usize = 20;

/// An estimate of the round trip between generator and service.
///
/// It is part of every response and grows with no load, so it is taken off the floor before a multiple is formed and
/// put back after: a bound is k·S + RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtt {
    estimate: Duration,
    source: RttSource,
}

/// Where an estimate of the round trip comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RttSource {
    /// The quickest of so many no-ops of the protocol.
    Probed(usize),
    /// The user's word.
    Stated,
    /// Generator and service share a host: 0.
    SameHost,
    /// Nobody has estimated it: 0 is taken for it, and S holds the network as well.
    Unknown,
}

impl Rtt {
    /// The quickest of `probes` no-ops of the protocol, one after the other: `PING`, `SELECT 1`, `OPTIONS`.
    ///
    /// A no-op is served as well, so this is a little too much; the time to connect is not a round trip of requests.
    ///
    /// # Errors
    /// When there are fewer than 20 probes, or one fails.
    pub async fn probe<E: fmt::Display>(
        probes: usize,
        mut no_op: impl AsyncFnMut() -> Result<(), E>,
    ) -> Result<Self, ProtocolError> {
        if probes < PROBES {
            return Err(ProtocolError::Options(format!(
                "{probes} probes of the round trip are too few: send at least {PROBES}"
            )));
        }
        let mut quickest = Duration::MAX;
        for _ in 0..probes {
            let sent = Instant::now();
            no_op()
                .await
                .map_err(|error| ProtocolError::NothingServed {
                    step: "probe of the round trip",
                    why: error.to_string(),
                })?;
            quickest = quickest.min(sent.elapsed());
        }
        Ok(Rtt {
            estimate: quickest,
            source: RttSource::Probed(probes),
        })
    }

    /// As the user says.
    #[must_use]
    pub fn stated(estimate: Duration) -> Self {
        Rtt {
            estimate,
            source: RttSource::Stated,
        }
    }

    /// 0: generator and service share a host.
    #[must_use]
    pub fn same_host() -> Self {
        Rtt {
            estimate: Duration::ZERO,
            source: RttSource::SameHost,
        }
    }

    /// Without an estimate: 0, with a warning unless the service is known to be on this host.
    pub(crate) fn assumed(target: Target) -> Self {
        match target.shares_host() {
            true => Rtt::same_host(),
            false => Rtt {
                estimate: Duration::ZERO,
                source: RttSource::Unknown,
            },
        }
    }

    /// The estimate.
    #[must_use]
    pub fn estimate(&self) -> Duration {
        self.estimate
    }

    /// Where it comes from.
    #[must_use]
    pub fn source(&self) -> RttSource {
        self.source
    }
}

impl fmt::Display for Rtt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimate = Ns(self.estimate.as_nanos() as f64);
        match self.source {
            RttSource::Probed(n) => {
                write!(f, "{estimate}: an estimate, the quickest of {n} no-ops")
            }
            RttSource::Stated => write!(f, "{estimate}, as stated"),
            RttSource::SameHost => f.write_str("0: generator and service share a host"),
            RttSource::Unknown => f.write_str("not estimated, 0 taken for it: S holds the network"),
        }
    }
}
