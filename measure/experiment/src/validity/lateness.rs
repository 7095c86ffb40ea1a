//! The generator's own part of the response: on the way out, and on the way back.

use super::{Check, Severity, Unit, check};
use crate::run::Run;
use openloop_measurer::{Histogram, Quantile, Section};
use std::time::Duration;

/// A quantile is compared if at least this many responses lie above it.
const ABOVE: u64 = 10;
/// The generator's own part of a response may be this share of it …
pub(super) const SHARE: f64 = 0.02;
/// … or this much in all, whichever is more.
pub(super) const TOLERANCE: Duration = Duration::from_micros(50);
/// What every run has; all else has the name that its adapter gives it.
const RESPONSE: &str = "response";

/// The generator's lateness on the way out: the response, and what of an answer comes before its end, against the same
/// without the lag.
pub(super) fn outbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let with = steady.total(|class| &class.response);
    let without = steady.total(|class| &class.since_fired);
    let response = worst_error(RESPONSE, &with, &without, tolerance);
    let named = steady.metrics().filter_map(|(name, with)| {
        worst_error(name, &with, &*steady.metric_since_fired(name)?, tolerance)
    });
    let worst = worst(response.into_iter().chain(named))?;
    let of = worst.of();
    Some(worst.check(
        "outbound_error",
        &format!("of {of} is the generator's own lateness in releasing requests"),
    ))
}

/// The generator's lateness on the way back: by receive stamps or, without them, by how long a task that could
/// run waited for its turn.
///
/// What came in the middle of an answer is picked up as late as its end. It has the kernel's stamp, but where it waits so
/// long that more comes meanwhile, both are read at once and have the stamp of the last.
pub(super) fn inbound(run: &Run, tolerance: Duration) -> Option<Check> {
    let steady = run.snapshot().steady();
    let until_received = steady.total(|class| &class.until_received);
    if until_received.count() > 0 {
        let stamped = steady.total(|class| &class.stamped_response);
        let response = worst_error(RESPONSE, &stamped, &until_received, tolerance);
        let pickup = steady.total(|class| &class.pickup);
        let parts = worst_parts(&steady, &pickup, tolerance);
        let worst = worst(response.into_iter().chain(parts))?;
        let of = worst.of();
        return Some(worst.check(
            "inbound_error",
            &format!("of {of} is the generator's own delay in picking up answers that had arrived"),
        ));
    }
    if run.plan().limits().in_flight.limit().is_some() {
        // A wait for a permit hides the executor's own.
        return None;
    }
    let admission = steady.total(|class| &class.admission);
    let response = steady.total(|class| &class.response);
    let response = worst_part(RESPONSE, &response, &admission, tolerance);
    let parts = worst_parts(&steady, &admission, tolerance);
    Some(worst(response.into_iter().chain(parts))?.check(
        "inbound_error",
        "is how long tasks that could run waited for the executor, as much as the answers do on the way back",
    ))
}

/// The generator's part of one quantile of what is measured.
struct Error {
    of: &'static str,
    q: Quantile,
    part_ns: f64,
    allowed_ns: f64,
}

impl Error {
    fn new(
        of: &'static str,
        q: Quantile,
        part_ns: f64,
        whole_ns: f64,
        tolerance: Duration,
    ) -> Self {
        Error {
            of,
            q,
            part_ns,
            allowed_ns: (whole_ns * SHARE).max(tolerance.as_nanos() as f64),
        }
    }

    /// What the part is of.
    fn of(&self) -> &'static str {
        match self.of {
            RESPONSE => "the response",
            _ => "it",
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
            "at {}{}, {:.1} µs {what}, and {:.1} µs is allowed{remedy}",
            self.q,
            match self.of {
                RESPONSE => String::new(),
                named => format!(" of {named}"),
            },
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

fn worst(errors: impl Iterator<Item = Error>) -> Option<Error> {
    errors.max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
}

/// What the same distribution with the generator's part has more than without it.
fn worst_error(
    of: &'static str,
    with: &Histogram,
    without: &Histogram,
    tolerance: Duration,
) -> Option<Error> {
    let judged = Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_judged(with, q));
    worst(judged.filter_map(|q| {
        let (with, without) = (with.quantile(q)? as f64, without.quantile(q)? as f64);
        Some(Error::new(
            of,
            q,
            (with - without).max(0.0),
            without,
            tolerance,
        ))
    }))
}

/// The part itself, against the whole that it may be in.
fn worst_part(
    of: &'static str,
    whole: &Histogram,
    part: &Histogram,
    tolerance: Duration,
) -> Option<Error> {
    let judged = Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_judged(whole, q));
    worst(judged.filter_map(|q| {
        let (whole, part) = (whole.quantile(q)? as f64, part.quantile(q)? as f64);
        Some(Error::new(of, q, part, whole, tolerance))
    }))
}

/// The same for what of an answer comes before its end.
fn worst_parts(steady: &Section, part: &Histogram, tolerance: Duration) -> Option<Error> {
    let named = steady.metrics();
    let named = named.filter(|(name, _)| steady.metric_since_fired(name).is_some());
    worst(named.filter_map(|(name, whole)| worst_part(name, &whole, part, tolerance)))
}

/// Whether enough responses lie above a quantile to compare it: one long freeze of the generator is enough to spoil
/// a tail, so separate excursions are not asked for. The median always is compared.
fn is_judged(response: &Histogram, q: Quantile) -> bool {
    let n = response.count();
    q == Quantile::P50 || (n > 0 && n - q.rank(n) >= ABOVE)
}
