//! The timeout of a client.

use crate::{CapacityError, check};
use std::fmt;

/// What a timeout was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutBasis {
    /// 3 · P90, since the tail is no heavier than an exponential one, or since P99.9 is not known.
    ThreeTimesP90,
    /// P99.9, since the tail is heavier than an exponential one.
    P99_9,
    /// The time for which the server keeps a request in its queue, since the quantiles are above it.
    Retention,
}

impl fmt::Display for TimeoutBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeoutBasis::ThreeTimesP90 => "3 x P90",
            TimeoutBasis::P99_9 => "P99.9",
            TimeoutBasis::Retention => "the server's queue retention",
        })
    }
}

/// How long a client should wait for a response before it gives up.
///
/// | symbol | meaning |
/// | --- | --- |
/// | max(3 P90, P99.9) | from the responses in normal operation, so that one healthy request in 1000 is given up at most |
/// | 3 P90 | where P99.9 is not known: for an exponential tail it *is* P99.9, since ln 1000 = 3 ln 10, and needs a hundredth of the data |
/// | min(…, T) | T, how long the server keeps a request in its queue |
///
/// A client that waits longer than the server keeps the request waits for nothing. And when it gives up, the server
/// has to stop working on the request: a deadline has to travel with it.
///
/// ```
/// use openloop_capacity::sizing::{ClientTimeout, TimeoutBasis};
///
/// // P90 = 40 ms; the tail is heavy: P99.9 = 300 ms. The server drops what has waited for 1 s.
/// let timeout = ClientTimeout::new(0.040, Some(0.300), Some(1.0))?;
/// assert_eq!((timeout.seconds(), timeout.basis()), (0.300, TimeoutBasis::P99_9));
/// // With a server that drops after 200 ms, waiting longer is in vain.
/// let timeout = ClientTimeout::new(0.040, Some(0.300), Some(0.2))?;
/// assert_eq!((timeout.seconds(), timeout.basis()), (0.2, TimeoutBasis::Retention));
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientTimeout {
    wanted: f64,
    seconds: f64,
    basis: TimeoutBasis,
}

impl ClientTimeout {
    /// From the quantiles of the response in seconds, and the time in seconds for which the server keeps a request in
    /// its queue, where it has such a limit.
    ///
    /// # Errors
    /// When a time is not in the range of 10⁻³⁰ to 10³⁰, or P99.9 is below P90.
    pub fn new(
        p90: f64,
        p99_9: Option<f64>,
        retention: Option<f64>,
    ) -> Result<Self, CapacityError> {
        let by_p90 = 3.0 * check::positive("the P90", p90)?;
        let mut chosen = (by_p90, TimeoutBasis::ThreeTimesP90);
        if let Some(p99_9) = p99_9 {
            let p99_9 = check::positive("the P99.9", p99_9)?;
            if p99_9 < p90 {
                return Err(CapacityError::Contradiction {
                    larger: "the P99.9",
                    larger_value: p99_9,
                    smaller: "the P90",
                    smaller_value: p90,
                    remedy: "take both from one histogram",
                });
            }
            if p99_9 > by_p90 {
                chosen = (p99_9, TimeoutBasis::P99_9);
            }
        }
        let wanted = chosen.0;
        if let Some(retention) = retention {
            let retention = check::positive("the server's queue retention", retention)?;
            if retention < wanted {
                chosen = (retention, TimeoutBasis::Retention);
            }
        }
        Ok(ClientTimeout {
            wanted,
            seconds: chosen.0,
            basis: chosen.1,
        })
    }

    /// The timeout, in seconds.
    #[must_use]
    pub const fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Which of the three it is.
    #[must_use]
    pub const fn basis(&self) -> TimeoutBasis {
        self.basis
    }

    /// max(3 P90, P99.9) in seconds: what it would be without the server's limit. Where it is above
    /// [`ClientTimeout::seconds`], healthy requests will be given up, and the server should keep them longer.
    #[must_use]
    pub const fn wanted_seconds(&self) -> f64 {
        self.wanted
    }
}
