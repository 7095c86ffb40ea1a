//! How much a service carries, as far as that is known.

use std::fmt;

/// How much a service carries within an objective, as far as a sweep can tell. Rates are those asked for, per second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Capacity {
    /// It was found.
    Found {
        /// The highest rate at which the objective was surely kept, and surely broken at none below.
        rate: f64,
        /// The lowest rate above it at which the objective was surely broken: the capacity lies between the two.
        not_at: f64,
        /// What was broken first, there; empty where the figures say it themselves.
        why: String,
    },
    /// It was not found: the objective was kept as far as was looked.
    AtLeast {
        /// The highest rate at which it was kept.
        rate: f64,
        /// Why nothing is known of higher ones.
        why: String,
    },
    /// It was not found: the objective was broken at the lowest rate that was tried.
    Below {
        /// That rate.
        rate: f64,
        /// What was found there.
        why: String,
    },
    /// The idle service breaks the objective.
    Infeasible {
        /// By what.
        why: String,
    },
    /// Nothing can be said.
    Unknown {
        /// Why.
        why: String,
    },
}

impl Capacity {
    /// A rate per second that the service surely carries; `None` where none is known.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        match self {
            Capacity::Found { rate, .. } | Capacity::AtLeast { rate, .. } => Some(*rate),
            Capacity::Below { .. } | Capacity::Infeasible { .. } | Capacity::Unknown { .. } => None,
        }
    }

    /// Whether it was found, and not only how much it is at least or at most.
    #[must_use]
    pub fn is_found(&self) -> bool {
        matches!(self, Capacity::Found { .. })
    }
}

/// `769.7/s (and less than 772.4/s: p99 <= 20 ms: 20.4 ms)`, `not found, at least 2000/s: …`, `below 50/s: …`, `infeasible: …`, `unknown: …`.
impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Found { rate, not_at, why } => {
                let (rate, not_at) = (PerSecond(*rate), PerSecond(*not_at));
                match why.as_str() {
                    "" => write!(f, "{rate} (and less than {not_at})"),
                    why => write!(f, "{rate} (and less than {not_at}: {why})"),
                }
            }
            Capacity::AtLeast { rate, why } => {
                write!(f, "not found, at least {}: {why}", PerSecond(*rate))
            }
            Capacity::Below { rate, why } => write!(f, "below {}: {why}", PerSecond(*rate)),
            Capacity::Infeasible { why } => write!(f, "infeasible: {why}"),
            Capacity::Unknown { why } => write!(f, "unknown: {why}"),
        }
    }
}

/// A rate with four digits.
pub(crate) struct PerSecond(pub(crate) f64);

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = match self.0.abs() {
            x if x >= 1000.0 => 0,
            x if x >= 100.0 => 1,
            x if x >= 10.0 => 2,
            _ => 3,
        };
        let text = format!("{:.places$}", self.0);
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => &text,
        };
        f.pad(&format!("{text}/s"))
    }
}
