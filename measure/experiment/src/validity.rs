//! Whether a run may be believed: checks of the generator and its environment, never of the service.

mod books;
mod lateness;
mod machine;

use crate::run::Run;
use std::time::Duration;

/// A quantile is judged if at least this many separate excursions lie above it.
pub(crate) const EXCURSIONS: u64 = 10;

/// What a failed check means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The run may not be believed.
    Fault,
    /// The reader should know.
    Warning,
}

/// The unit of a check's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// A share, from 0 to 1.
    Share,
    /// A number of things.
    Count,
}

/// One check: what was found, what is allowed, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// Name in reports, and for waiving.
    pub name: &'static str,
    /// Whether what was found is allowed.
    pub pass: bool,
    /// What it means if not.
    pub severity: Severity,
    /// Whether a failure was declared harmless.
    pub waived: bool,
    /// What was found; `None` where it could not be.
    pub value: Option<f64>,
    /// What is allowed.
    pub limit: Option<f64>,
    /// In what.
    pub unit: Unit,
    /// What it is about and, if it failed, what to do.
    pub why: String,
}

/// Whether a run may be believed, check by check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validity {
    checks: Vec<Check>,
}

/// There is no check of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no check named \"{name}\"; there are: {known}")]
pub struct UnknownCheck {
    name: String,
    known: String,
}

impl Validity {
    /// The names of all checks.
    pub const CHECKS: [&'static str; 17] = [
        "outbound_error",
        "inbound_error",
        "all_sent",
        "fired_as_scheduled",
        "books_balance",
        "generator_busy",
        "cpu_wait",
        "precision",
        "steal",
        "throttled",
        "clock_source",
        "wall_clock",
        "resources",
        "target_elsewhere",
        "open_loop",
        "in_range",
        "kinds_named",
    ];

    /// Whether the run may be believed: no check of the severity [`Severity::Fault`] failed that was not waived.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.faults().next().is_none()
    }

    /// All checks.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The checks for which the run may not be believed.
    pub fn faults(&self) -> impl Iterator<Item = &Check> {
        let is_fault = |check: &&Check| !check.pass && !check.waived;
        self.checks
            .iter()
            .filter(is_fault)
            .filter(|check| check.severity == Severity::Fault)
    }

    /// The failed checks that the reader should know of.
    pub fn warnings(&self) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(|check| !check.pass && (check.waived || check.severity == Severity::Warning))
    }

    pub(crate) fn waive(&mut self, name: &str) -> Result<(), UnknownCheck> {
        if !Validity::CHECKS.contains(&name) {
            return Err(UnknownCheck {
                name: name.to_owned(),
                known: Validity::CHECKS.join(", "),
            });
        }
        for check in &mut self.checks {
            if check.name == name {
                check.waived = true;
            }
        }
        Ok(())
    }

    /// Of a run by itself: the generator's own part of each quantile of the response, and of what of an answer comes before
    /// its end, may be 2 % of it, or 50 µs.
    pub(crate) fn of(run: &Run) -> Self {
        Validity::within(run, lateness::TOLERANCE)
    }

    /// Of a run that is judged by bounds on the response, of which `tightest` is the lowest: then the generator's
    /// own part may also be 2 % of that, for the question is whether the bounds are kept, and no more.
    pub(crate) fn for_bound(run: &Run, tightest: Duration) -> Self {
        let tolerance = lateness::TOLERANCE.max(tightest.mul_f64(lateness::SHARE));
        let mut validity = Validity::within(run, tolerance);
        for check in &mut validity.checks {
            let waived = |before: &&Check| before.name == check.name && before.waived;
            check.waived = run.validity().checks().iter().any(|before| waived(&before));
        }
        validity
    }

    fn within(run: &Run, tolerance: Duration) -> Self {
        Validity {
            checks: [
                lateness::outbound(run, tolerance),
                lateness::inbound(run, tolerance),
                Some(books::all_sent(run)),
                books::fired_as_scheduled(run),
                Some(books::books_balance(run)),
                books::in_range(run),
                books::kinds_named(run),
                machine::target(run),
                machine::open_loop(run),
            ]
            .into_iter()
            .chain(machine::all(run))
            .flatten()
            .collect(),
        }
    }
}

fn check(name: &'static str, severity: Severity, pass: bool, why: impl Into<String>) -> Check {
    Check {
        name,
        pass,
        severity,
        waived: false,
        value: None,
        limit: None,
        unit: Unit::Count,
        why: why.into(),
    }
}

impl Check {
    fn figures(mut self, value: f64, limit: f64, unit: Unit) -> Self {
        (self.value, self.limit, self.unit) = (Some(value), Some(limit), unit);
        self
    }
}
