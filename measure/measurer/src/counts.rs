//! How many arrivals ended how.

use crate::Outcome;

/// Arrivals by outcome, at one instant.
///
/// At every instant `scheduled = ok + failed + timed_out + rejected + shed + abandoned + unsent + waiting +
/// in_flight`; at the end of a run the last two are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Arrivals that the generator has taken up. While a run goes on, what is due and not yet released is not
    /// among them; it is when the run has ended, as `unsent`.
    pub scheduled: u64,
    /// Served.
    pub ok: u64,
    /// Failed, panics included.
    pub failed: u64,
    /// Ran out of time.
    pub timed_out: u64,
    /// Refused by the server.
    pub rejected: u64,
    /// Never sent, because of the limit on in-flight requests.
    pub shed: u64,
    /// Released, and without an end.
    pub abandoned: u64,
    /// Due, and never released.
    pub unsent: u64,
    /// Released and not yet dispatched.
    pub waiting: u64,
    /// Dispatched and not yet ended.
    pub in_flight: u64,
}

impl Counts {
    /// All that have ended, one way or another.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.ok
            + self.failed
            + self.timed_out
            + self.rejected
            + self.shed
            + self.abandoned
            + self.unsent
    }

    /// Whether the books balance: see the type's definition.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.scheduled == self.ended() + self.waiting + self.in_flight
    }

    /// The number that ended with `outcome`, whatever its class.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ok => self.ok,
            Outcome::Failed(_) => self.failed,
            Outcome::TimedOut => self.timed_out,
            Outcome::Rejected(_) => self.rejected,
            Outcome::Shed => self.shed,
            Outcome::Abandoned => self.abandoned,
            Outcome::Unsent => self.unsent,
        }
    }

    pub(crate) fn add(&mut self, outcome: Outcome) {
        let field = match outcome {
            Outcome::Ok => &mut self.ok,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::Rejected(_) => &mut self.rejected,
            Outcome::Shed => &mut self.shed,
            Outcome::Abandoned => &mut self.abandoned,
            Outcome::Unsent => &mut self.unsent,
        };
        *field += 1;
    }

    /// Adds those of `other`.
    pub fn merge(&mut self, other: &Counts) {
        self.scheduled += other.scheduled;
        self.ok += other.ok;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.rejected += other.rejected;
        self.shed += other.shed;
        self.abandoned += other.abandoned;
        self.unsent += other.unsent;
        self.waiting += other.waiting;
        self.in_flight += other.in_flight;
    }
}
