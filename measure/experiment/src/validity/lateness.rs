//! The generator's own part of the response: on the way out, and on the way back.

use super::{Check, Severity, Unit, check};
use crate::run::Run;
use openloop_measurer::{Histogram, Quantile};
use std::time::Duration;

/// A quantile is compared if at least this many responses lie above it.
const ABOVE: u64 = 10;
/// The generator's own part of a response may be this share of it …
pub(super) const SHARE: f64 = 0.02;
/// … or this much in all, whichever is more.
pub(super) const TOLERANCE: Duration = Duration::from_micros(50);

/// The generator's lateness on the way out: response against the same without the lag.
pub(super) fn outbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let with = steady.total(|class| &class.response);
    let without = steady.total(|class| &class.since_fired);
    let worst = worst_error(&with, &without, tolerance)?;
    Some(worst.check(
        "outbound_error",
        "of the response is the generator's own lateness in releasing requests",
    ))
}

/// The generator's lateness on the way back: by receive stamps or, without them, by how long a task that could
/// run waited for its turn.
pub(super) fn inbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let until_received = steady.total(|class| &class.until_received);
    if until_received.count() > 0 {
        let stamped = steady.total(|class| &class.stamped_response);
        let worst = worst_error(&stamped, &until_received, tolerance)?;
        return Some(worst.check(
            "inbound_error",
            "of the response is the generator's own delay in picking up answers that had arrived",
        ));
    }
    if run.plan().limits().in_flight.limit().is_some() {
        // A wait for a permit hides the executor's own.
        return None;
    }
    let admission = steady.total(|class| &class.admission);
    let response = steady.total(|class| &class.response);
    let worst = Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_judged(&response, q))
        .filter_map(|q| {
            let response = response.quantile(q)? as f64;
            Some(Error::new(
                q,
                admission.quantile(q)? as f64,
                response,
                tolerance,
            ))
        })
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
    Some(worst.check(
        "inbound_error",
        "is how long tasks that could run waited for the executor, as much as the answers do on the way back",
    ))
}

/// The generator's part of one quantile of the response.
struct Error {
    q: Quantile,
    part_ns: f64,
    allowed_ns: f64,
}

impl Error {
    fn new(q: Quantile, part_ns: f64, whole_ns: f64, tolerance: Duration) -> Self {
        Error {
            q,
            part_ns,
            allowed_ns: (whole_ns * SHARE).max(tolerance.as_nanos() as f64),
        }
    }

    fn ratio(&self) -> f64 {
        self.part_ns / self.allowed_ns
    }

    fn check(self, name: &'static str, what: &str) -> Check {
        let pass = self.part_ns <= self.allowed_ns;
        let remedy = if pass {
            ""
        } else {
            ": lower the rate, add threads or machines, or use a finer precision"
        };
        let why = format!(
            "at {}, {:.1} µs {what}, and {:.1} µs is allowed{remedy}",
            self.q,
            self.part_ns / 1e3,
            self.allowed_ns / 1e3
        );
        check(name, Severity::Fault, pass, why).figures(
            self.part_ns,
            self.allowed_ns,
            Unit::Nanoseconds,
        )
    }
}

fn worst_error(with: &Histogram, without: &Histogram, tolerance: Duration) -> Option<Error> {
    Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_judged(with, q))
        .filter_map(|q| {
            let (with, without) = (with.quantile(q)? as f64, without.quantile(q)? as f64);
            Some(Error::new(q, (with - without).max(0.0), without, tolerance))
        })
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
}

/// Whether enough responses lie above a quantile to compare it: one long freeze of the generator is enough to spoil
/// a tail, so separate excursions are not asked for. The median always is compared.
fn is_judged(response: &Histogram, q: Quantile) -> bool {
    let n = response.count();
    q == Quantile::P50 || (n > 0 && n - q.rank(n) >= ABOVE)
}
