//! How exactly to wait.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How a [`Pacer`](super::Pacer) waits for the next instant: the trade of lateness against CPU time.
///
/// Figures are lateness at the median and at p99 at 20 000/s on an idle two-core virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// tokio's timer, whose wheel has slots of 1 ms: 0.6 ms and 1.8 ms late. Works everywhere.
    Coarse,
    /// A timer of the kernel with an absolute deadline (timerfd, Linux): 35 µs and 80 µs late.
    Timer,
    /// The same timer set a little ahead, and then yielding to the other tasks until the instant is there:
    /// 0.3 µs and 20 µs late, for CPU time that [`Pacer::spun`](super::Pacer::spun) reports.
    ///
    /// How far ahead follows the 99th percentile of the timer's own lateness, between 20 µs and `window`.
    Spin {
        /// The longest time to yield before an instant.
        window: Duration,
    },
}

impl Precision {
    /// [`Precision::Spin`] with a window of up to 300 µs.
    pub const SPIN: Precision = Precision::Spin {
        window: Duration::from_micros(300),
    };
}

/// [`Precision::SPIN`] on Linux, [`Precision::Coarse`] elsewhere.
impl Default for Precision {
    fn default() -> Self {
        if cfg!(target_os = "linux") {
            Precision::SPIN
        } else {
            Precision::Coarse
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Coarse => "coarse",
            Precision::Timer => "timer",
            Precision::Spin { .. } => "spin",
        })
    }
}

/// `coarse`, `timer` or `spin`.
impl FromStr for Precision {
    type Err = PrecisionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "coarse" => Ok(Precision::Coarse),
            "timer" => Ok(Precision::Timer),
            "spin" => Ok(Precision::SPIN),
            _ => Err(PrecisionError(text.to_owned())),
        }
    }
}

/// A text that names no precision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a precision: write coarse, timer or spin")]
pub struct PrecisionError(pub String);
