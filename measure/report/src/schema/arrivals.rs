//! How many arrivals ended how.

use openloop_measurer::Counts;
use serde::{Deserialize, Serialize};

/// Arrivals by outcome.
///
/// Always `scheduled = ok + failed + timed_out + rejected + shed + abandoned + unsent + waiting + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Arrivals {
    /// Arrivals that were due.
    pub scheduled: u64,
    /// Served.
    pub ok: u64,
    /// Failed.
    pub failed: u64,
    /// Ran out of time.
    pub timed_out: u64,
    /// Refused by the server because it had too much to do.
    pub rejected: u64,
    /// Never sent, because of the limit on what is in flight.
    pub shed: u64,
    /// Released, and without an end.
    pub abandoned: u64,
    /// Due, and never released.
    pub unsent: u64,
    /// Released and not yet dispatched: 0 at the end of a run.
    pub waiting: u64,
    /// Dispatched and not yet ended: 0 at the end of a run.
    pub in_flight: u64,
}

impl Arrivals {
    /// The number of each outcome, by its name, in the order of the fields.
    #[must_use]
    pub fn by_outcome(&self) -> [(&'static str, u64); 9] {
        [
            ("ok", self.ok),
            ("failed", self.failed),
            ("timed_out", self.timed_out),
            ("rejected", self.rejected),
            ("shed", self.shed),
            ("abandoned", self.abandoned),
            ("unsent", self.unsent),
            ("waiting", self.waiting),
            ("in_flight", self.in_flight),
        ]
    }

    /// Whether the books balance: see the type's definition.
    #[must_use]
    pub fn balances(&self) -> bool {
        let sum = self
            .by_outcome()
            .iter()
            .try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n));
        sum == Some(self.scheduled)
    }
}

impl From<Counts> for Arrivals {
    fn from(counts: Counts) -> Self {
        Arrivals {
            scheduled: counts.scheduled,
            ok: counts.ok,
            failed: counts.failed,
            timed_out: counts.timed_out,
            rejected: counts.rejected,
            shed: counts.shed,
            abandoned: counts.abandoned,
            unsent: counts.unsent,
            waiting: counts.waiting,
            in_flight: counts.in_flight,
        }
    }
}

/// The arrivals whose intended instants lie in one phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PhaseArrivals {
    /// `ramp_up`, `warm_up`, `steady` or `cooldown`.
    pub name: String,
    /// First instant, in nanoseconds of the run.
    pub from_ns: u64,
    /// First instant after it, as planned.
    pub to_ns: u64,
    /// How many arrivals the schedule has in it; `None` where some depend on the service.
    pub planned: Option<u64>,
    /// How they ended.
    pub arrivals: Arrivals,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_books_balance_only_if_every_arrival_has_one_outcome() {
        let mut arrivals = Arrivals {
            scheduled: 10,
            ok: 4,
            failed: 3,
            timed_out: 1,
            in_flight: 2,
            ..Arrivals::default()
        };
        assert!(arrivals.balances());
        arrivals.shed = 1;
        assert!(!arrivals.balances());
        arrivals.unsent = u64::MAX;
        assert!(!arrivals.balances());
    }
}
