//! The generator's own part of the response: on the way out, and on the way back.

use super::{Check, EXCURSIONS, Severity, Unit, check};
use crate::run::Run;
use openloop_measurer::{Histogram, Quantile};
use std::time::Duration;

/// The generator's own part of a response may be this share of it …
pub(super) const SHARE: f64 = 0.02;
/// … or this much in all, whichever is more.
pub(super) const TOLERANCE: Duration = Duration::from_micros(50);

/// The generator's lateness on the way out: response against the same without the lag.
pub(super) fn outbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let with = steady.total(|class| &class.response);
    let without = steady.total(|class| &class.since_fired);
    let worst = worst_error(run, &with, &without, tolerance)?;
    Some(worst.check(
        "outbound_error",
        "of the response is the generator's own lateness in releasing requests",
    ))
}

/// The generator's lateness on the way back: by receive stamps or, without them, by how long a task that could
/// run waited for its turn.
pub(super) fn inbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let stamped = steady.total(|class| &class.until_received);
    if stamped.count() > 0 {
        let mut with = Histogram::new();
        for (_, class) in steady.classes() {
            if class.until_received.count() == class.response.count() {
                with.merge(&class.response);
            }
        }
        // Where a class has answers with and without a stamp, the two cannot be compared arrival by arrival.
        let with = if with.count() == stamped.count() {
            with
        } else {
            steady.total(|class| &class.response)
        };
        let worst = worst_error(run, &with, &stamped, tolerance)?;
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
        .filter(|&q| is_resolved(run, &response, q))
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

fn worst_error(
    run: &Run,
    with: &Histogram,
    without: &Histogram,
    tolerance: Duration,
) -> Option<Error> {
    Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_resolved(run, with, q))
        .filter_map(|q| {
            let (with, without) = (with.quantile(q)? as f64, without.quantile(q)? as f64);
            Some(Error::new(q, (with - without).max(0.0), without, tolerance))
        })
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
}

/// Whether enough values, in enough separate excursions, lie above a quantile for it to mean anything. The median
/// always does.
fn is_resolved(run: &Run, response: &Histogram, q: Quantile) -> bool {
    if q == Quantile::P50 {
        return true;
    }
    let n = response.count();
    n > 0
        && n - q.rank(n) >= EXCURSIONS
        && response
            .quantile(q)
            .is_some_and(|ns| run.snapshot().course().excursions_above(ns) >= EXCURSIONS)
}
