//! An instant of a run, as nanoseconds since its start.

use std::fmt;
use std::time::Duration;

/// Nanoseconds since the start of the run.
///
/// Holds 584 years. A [`Duration`] past that saturates; no run comes near.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(u64);

impl Offset {
    /// The start of the run.
    pub const ZERO: Offset = Offset(0);
    /// The last instant that an offset can name.
    pub const MAX: Offset = Offset(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Offset(nanos)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time since the start.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The time from `earlier` to `self`; zero where `earlier` is the later one.
    #[must_use]
    pub const fn saturating_since(self, earlier: Offset) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The instant `by` later, or [`Offset::MAX`].
    #[must_use]
    pub fn saturating_add(self, by: Duration) -> Offset {
        Offset(self.0.saturating_add(Offset::from(by).0))
    }
}

impl From<Duration> for Offset {
    fn from(since_start: Duration) -> Self {
        Offset(u64::try_from(since_start.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Offset> for Duration {
    fn from(offset: Offset) -> Self {
        offset.as_duration()
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_duration())
    }
}
