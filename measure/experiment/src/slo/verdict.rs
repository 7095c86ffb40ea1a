//! What a run says of an objective, in a word.

use std::fmt;

/// What a run says of an objective.
///
/// In the order in which they are decided: the first that applies is the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The generator or its environment failed, so the run says nothing of the service.
    Invalid,
    /// The service needs longer than the bound even when it is idle.
    Infeasible,
    /// The bound is broken, or the backlog grew.
    Fail,
    /// The data are too few to tell, or runs disagree.
    Inconclusive,
    /// The bound is kept.
    Pass,
}

impl Verdict {
    /// Name in reports: `invalid`, `infeasible`, `fail`, `inconclusive`, `pass`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Invalid => "invalid",
            Verdict::Infeasible => "infeasible",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Pass => "pass",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
