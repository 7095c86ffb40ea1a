//! How an arrival ended.

use crate::Verdict;

/// How an arrival ended: exactly one of these.
///
/// The class of a failure or rejection is a short name, `"connect_refused"` or `"http_503"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Served.
    Ok,
    /// The request failed; `"panic"` if the user's future panicked.
    Failed(&'static str),
    /// A limit on time ran out, perhaps while it still waited for a permit and was never dispatched.
    TimedOut,
    /// The server refused it because it has too much to do.
    Rejected(&'static str),
    /// Never sent: the limit on in-flight requests was reached, and the policy is to shed.
    Shed,
    /// Released, but without an end: unfinished when the drain ended, or its future was dropped.
    Abandoned,
    /// Due, but the generator had not released it when the run ended.
    Unsent,
}

impl Outcome {
    /// Name in reports: `ok`, `failed`, `timed_out`, `rejected`, `shed`, `abandoned`, `unsent`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Failed(_) => "failed",
            Outcome::TimedOut => "timed_out",
            Outcome::Rejected(_) => "rejected",
            Outcome::Shed => "shed",
            Outcome::Abandoned => "abandoned",
            Outcome::Unsent => "unsent",
        }
    }

    /// The class of a failure or a rejection.
    #[must_use]
    pub fn class(self) -> Option<&'static str> {
        match self {
            Outcome::Failed(class) | Outcome::Rejected(class) => Some(class),
            _ => None,
        }
    }

    /// Whether the arrival's true latency is unknown and only known to be at least its age.
    #[must_use]
    pub fn is_open_ended(self) -> bool {
        matches!(self, Outcome::Shed | Outcome::Abandoned | Outcome::Unsent)
    }
}

impl Outcome {
    /// Whether the future returned by itself, as far as the outcome tells.
    pub(crate) fn is_returned(self) -> bool {
        match self {
            Outcome::Ok | Outcome::Rejected(_) => true,
            Outcome::Failed(class) => class != PANIC,
            Outcome::TimedOut | Outcome::Shed | Outcome::Abandoned | Outcome::Unsent => false,
        }
    }

    /// Whether the generator's own machine failed, and not the service: a failure of a class that begins with
    /// `client_`, such as having no file descriptor or port left.
    #[must_use]
    pub fn is_generators_fault(self) -> bool {
        matches!(self, Outcome::Failed(class) if class.starts_with("client_"))
    }
}

/// The class of a future that panicked.
pub(crate) const PANIC: &str = "panic";

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Ok => Outcome::Ok,
            Verdict::Failed(class) => Outcome::Failed(class),
            Verdict::TimedOut => Outcome::TimedOut,
            Verdict::Rejected(class) => Outcome::Rejected(class),
        }
    }
}
