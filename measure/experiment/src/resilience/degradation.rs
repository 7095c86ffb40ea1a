//! How a service is to degrade.

use super::{Resilience, Stage};
use crate::slo::Verdict;
use crate::units::{Ns, Percent};
use openloop_measurer::Quantile;
use std::time::Duration;

/// How a service is to degrade when more comes than it can serve.
#[derive(Clone, Debug, PartialEq)]
pub struct Degradation {
    goodput: f64,
    failed: f64,
    accepted: Vec<(Quantile, Duration)>,
    recovery: Option<Duration>,
}

/// It goes on to serve at least as many as before, 1 % at the most end in another way than by being turned away, and it
/// recovers.
impl Default for Degradation {
    fn default() -> Self {
        Degradation {
            goodput: 1.0,
            failed: 0.01,
            accepted: Vec::new(),
            recovery: None,
        }
    }
}

/// One claim, and whether it held.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// What was claimed.
    pub claim: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
}

impl Degradation {
    /// Under overload at least this share of what was served before it is served still; without it 1, which is the least
    /// that can be asked of a service that was not busy before. One that collapses does not.
    #[must_use]
    pub fn serves_still(mut self, share: f64) -> Self {
        self.goodput = share;
        self
    }

    /// At most this share of arrivals ends in another way than by being served or turned away: in errors, timeouts, or
    /// never; without it 0.01.
    #[must_use]
    pub fn fails_at_most(mut self, share: f64) -> Self {
        self.failed = share;
        self
    }

    /// Of those who are served under overload, the share `q` waits no longer than `limit`. Those who are turned away do
    /// not count.
    #[must_use]
    pub fn accepted(mut self, q: Quantile, limit: Duration) -> Self {
        self.accepted.push((q, limit));
        self
    }

    /// All is as before within this time after the overload; without it, ever.
    #[must_use]
    pub fn recovers_within(mut self, time: Duration) -> Self {
        self.recovery = Some(time);
        self
    }

    pub(super) fn claims(&self, resilience: &Resilience) -> Vec<Claim> {
        let claim = |claim: String, holds: bool, found: String| Claim {
            claim,
            verdict: match holds {
                true => Verdict::Pass,
                false => Verdict::Fail,
            },
            found,
        };
        let (before, during) = (resilience.before(), resilience.during());
        let least = self.goodput * before.achieved();
        // What is served varies by chance as what comes does.
        let chance = 2.0 * (least.max(0.0) / before.seconds()).sqrt();
        let mut claims = vec![
            claim(
                format!("serves at least {} of what it did", Percent(self.goodput)),
                during.achieved() >= least - chance,
                format!(
                    "{:.1}/s after {:.1}/s",
                    during.achieved(),
                    before.achieved()
                ),
            ),
            claim(
                format!(
                    "at most {} fail rather than being turned away",
                    Percent(self.failed)
                ),
                during.failed() <= self.failed,
                format!(
                    "{} failed, {} were turned away",
                    Percent(during.failed()),
                    Percent(during.shed())
                ),
            ),
        ];
        let accepted = self.accepted.iter();
        claims.extend(accepted.map(|(q, limit)| of_accepted(*q, *limit, during)));
        let ns = |time: Duration| Ns(time.as_nanos() as f64);
        let (stated, holds) = match (self.recovery, resilience.recovery()) {
            (Some(within), found) => (
                format!("recovers within {}", ns(within)),
                found.is_some_and(|found| found <= within.max(resilience.resolution())),
            ),
            (None, found) => ("recovers".to_owned(), found.is_some()),
        };
        let found = match resilience.recovery() {
            Some(time) => format!(
                "all was as before after {}, to within {}",
                ns(time),
                ns(resilience.resolution())
            ),
            None => "it never was as before".to_owned(),
        };
        claims.push(claim(stated, holds, found));
        claims
    }
}

/// By the confidence interval over the parts of the overload.
fn of_accepted(q: Quantile, limit: Duration, during: &Stage) -> Claim {
    let bound = limit.as_nanos() as f64;
    let claim = format!("those who are served: {q} <= {}", Ns(bound));
    let Some((value, interval)) = during.estimate(q) else {
        return Claim {
            claim,
            verdict: Verdict::Fail,
            found: "nobody was served".to_owned(),
        };
    };
    let (low, high) = interval.unwrap_or((0.0, f64::INFINITY));
    Claim {
        claim,
        verdict: match () {
            () if high <= bound => Verdict::Pass,
            () if low > bound => Verdict::Fail,
            () => Verdict::Inconclusive,
        },
        found: match interval {
            Some((low, high)) => {
                format!("{} (95 % interval {} to {})", Ns(value), Ns(low), Ns(high))
            }
            None => format!("{}, without an interval", Ns(value)),
        },
    }
}
