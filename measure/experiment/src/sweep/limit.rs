//! Where a limit lies, as far as that is known.

use std::fmt;

/// Where a limit lies, as far as a sweep can tell. Rates are those asked for, per second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Limit {
    /// It was found.
    Found {
        /// The highest rate at which the rule was surely kept, and at every lower one that was tried.
        rate: f64,
        /// The lowest rate at which it was not surely kept. The limit of the service lies above `rate`; by how much
        /// at most, the distance of the two and the width of the intervals say.
        not_at: f64,
    },
    /// It was not found: the rule was kept as far as was looked.
    AtLeast {
        /// The highest rate at which the rule was kept.
        rate: f64,
        /// Why nothing is known of higher ones.
        why: String,
    },
    /// It was not found: the rule was not kept at the lowest rate that was tried.
    Below {
        /// That rate.
        rate: f64,
        /// What was found there.
        why: String,
    },
    /// Nothing can be said.
    Unknown {
        /// Why.
        why: String,
    },
}

impl Limit {
    /// A rate per second that the service surely carries within the rule; `None` where none is known.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        match self {
            Limit::Found { rate, .. } | Limit::AtLeast { rate, .. } => Some(*rate),
            Limit::Below { .. } | Limit::Unknown { .. } => None,
        }
    }

    /// Whether it was found, and not only how far it is at least or at most.
    #[must_use]
    pub fn is_found(&self) -> bool {
        matches!(self, Limit::Found { .. })
    }
}

/// `769.7/s (no longer at 772.4/s)`, `not found, at least 2000/s: …`, `below 50/s: …`, `unknown: …`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Found { rate, not_at } => {
                write!(f, "{}/s (no longer at {}/s)", Plain(*rate), Plain(*not_at))
            }
            Limit::AtLeast { rate, why } => {
                write!(f, "not found, at least {}/s: {why}", Plain(*rate))
            }
            Limit::Below { rate, why } => write!(f, "below {}/s: {why}", Plain(*rate)),
            Limit::Unknown { why } => write!(f, "unknown: {why}"),
        }
    }
}

/// A rate with four digits.
pub(crate) struct Plain(pub(crate) f64);

impl fmt::Display for Plain {
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
        f.pad(text)
    }
}
