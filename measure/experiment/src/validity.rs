//! Whether a run may be believed: checks of the generator and its environment, never of the service.

use crate::Target;
use crate::plan::Load;
use crate::run::Run;
use crate::series::Metric;
use openloop_measurer::{Histogram, Outcome, Quantile};
use std::time::Duration;

/// The generator's own share of a response may be this much of it …
const SHARE_OF_RESPONSE: f64 = 0.02;
/// … or this much in all, whichever is more.
const SHARE_FLOOR: Duration = Duration::from_micros(50);
/// A generator that is busier than this cannot be told from the service it measures.
const BUSY_LIMIT: f64 = 0.6;
/// Time taken by the hypervisor that shows in a tail.
const STEAL_LIMIT: f64 = 0.01;
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
    pub const CHECKS: [&'static str; 13] = [
        "outbound_error",
        "inbound_error",
        "all_sent",
        "fired_as_scheduled",
        "books_balance",
        "generator_busy",
        "precision",
        "steal",
        "throttled",
        "descriptors",
        "target_elsewhere",
        "open_loop",
        "in_range",
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

    pub(crate) fn of(run: &Run) -> Self {
        Validity {
            checks: [
                outbound(run),
                inbound(run),
                Some(all_sent(run)),
                fired_as_scheduled(run),
                Some(books_balance(run)),
                target(run),
                closed_loop(run),
                in_range(run),
            ]
            .into_iter()
            .chain(machine(run))
            .flatten()
            .collect(),
        }
    }
}

/// What the machine did to the run: nothing, where time was simulated.
fn machine(run: &Run) -> [Option<Check>; 5] {
    if run.generator().simulated {
        return [const { None }; 5];
    }
    [
        busy(run),
        precision(run),
        steal(run),
        throttled(run),
        descriptors(run),
    ]
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

/// The generator's lateness on the way out: response against the same without the lag.
fn outbound(run: &Run) -> Option<Check> {
    let steady = run.snapshot().steady();
    let with = steady.total(|class| &class.response);
    let without = steady.total(|class| &class.since_fired);
    let worst = worst_error(run, &with, &without)?;
    Some(worst.check(
        "outbound_error",
        "of the response is the generator's own lateness in releasing requests",
    ))
}

/// The generator's lateness on the way back: by receive stamps or, without them, by how long a task that could
/// run waited for its turn.
fn inbound(run: &Run) -> Option<Check> {
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
        let worst = worst_error(run, &with, &stamped)?;
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
            Some(Error::new(q, admission.quantile(q)? as f64, response))
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
    fn new(q: Quantile, part_ns: f64, whole_ns: f64) -> Self {
        let floor = SHARE_FLOOR.as_nanos() as f64;
        Error {
            q,
            part_ns,
            allowed_ns: (whole_ns * SHARE_OF_RESPONSE).max(floor),
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
            "at {}, {:.1} µs {what}, and {:.1} µs is allowed (2 % or 50 µs){remedy}",
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

fn worst_error(run: &Run, with: &Histogram, without: &Histogram) -> Option<Error> {
    Quantile::REPORTED
        .into_iter()
        .filter(|&q| is_resolved(run, with, q))
        .filter_map(|q| {
            let (with, without) = (with.quantile(q)? as f64, without.quantile(q)? as f64);
            Some(Error::new(q, (with - without).max(0.0), without))
        })
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
}

/// Whether there are enough separate excursions above a quantile for it to mean anything. The median always is.
fn is_resolved(run: &Run, response: &Histogram, q: Quantile) -> bool {
    q == Quantile::P50
        || response
            .quantile(q)
            .is_some_and(|ns| run.snapshot().course().excursions_above(ns) >= EXCURSIONS)
}

fn all_sent(run: &Run) -> Check {
    let unsent = run.snapshot().counts().unsent;
    let why = if unsent == 0 {
        "everything that was due was sent".to_owned()
    } else {
        format!(
            "{unsent} arrivals were due and never sent, because the generator was too slow: lower the rate, or add threads or machines"
        )
    };
    check("all_sent", Severity::Fault, unsent == 0, why).figures(unsent as f64, 0.0, Unit::Count)
}

fn fired_as_scheduled(run: &Run) -> Option<Check> {
    if run.interrupted().is_some() {
        // Threads stop within microseconds of each other, and each has accounted for its own arrivals.
        return None;
    }
    let steady = run.snapshot().layout().steady();
    let planned = run.plan().schedule()?.count_within(steady.from, steady.to);
    let counted = run.snapshot().steady_counts().scheduled;
    let difference = planned.abs_diff(counted);
    Some(
        check(
            "fired_as_scheduled",
            Severity::Fault,
            difference == 0,
            format!("the schedule has {planned} arrivals in the steady phase, and {counted} were taken up"),
        )
        .figures(difference as f64, 0.0, Unit::Count),
    )
}

fn books_balance(run: &Run) -> Check {
    let counts = run.snapshot().counts();
    let (gauge, stays) = run.snapshot().mean_in_flight();
    let balances = counts.balances() && counts.waiting == 0 && counts.in_flight == 0;
    let why = format!(
        "every arrival has one outcome, and the mean in flight is {gauge:.3} by the gauge and {stays:.3} by the stays (Little's law)"
    );
    check(
        "books_balance",
        Severity::Fault,
        balances && run.snapshot().obeys_littles_law(),
        why,
    )
    .figures((gauge - stays).abs(), 0.0, Unit::Count)
}

fn busy(run: &Run) -> Option<Check> {
    let generator = run.generator();
    let busy = generator.busy()?;
    // On a shared runtime the time of the process is that of the service as well.
    let severity = if generator.own_threads && !run.plan().target().shares_host() {
        Severity::Fault
    } else {
        Severity::Warning
    };
    let whose = if generator.own_threads {
        "the generator's threads were"
    } else {
        "the process, whatever else it holds, was"
    };
    let why = format!(
        "{whose} busy for {:.0} % of {} core(s) while sending, waiting left out: above {:.0} %, add threads or machines",
        busy * 100.0,
        generator.cores,
        BUSY_LIMIT * 100.0
    );
    Some(
        check("generator_busy", severity, busy <= BUSY_LIMIT, why).figures(
            busy,
            BUSY_LIMIT,
            Unit::Share,
        ),
    )
}

fn precision(run: &Run) -> Option<Check> {
    let fallback = run.generator().fallback.as_ref()?;
    Some(check(
        "precision",
        Severity::Warning,
        false,
        fallback.clone(),
    ))
}

fn steal(run: &Run) -> Option<Check> {
    let steal = run.environment().steal?;
    let why = format!(
        "the hypervisor took {:.2} % of the machine's time: above {:.0} %, use a quieter one",
        steal * 100.0,
        STEAL_LIMIT * 100.0
    );
    Some(
        check("steal", Severity::Fault, steal <= STEAL_LIMIT, why).figures(
            steal,
            STEAL_LIMIT,
            Unit::Share,
        ),
    )
}

fn throttled(run: &Run) -> Option<Check> {
    let throttled = run.environment().throttled?;
    let why = format!(
        "the process was stopped {throttled} times because its share of CPU time was used up: if ever, raise the limit"
    );
    Some(
        check("throttled", Severity::Fault, throttled == 0, why).figures(
            throttled as f64,
            0.0,
            Unit::Count,
        ),
    )
}

fn descriptors(run: &Run) -> Option<Check> {
    let (_, open) = run.environment().descriptors?;
    let limit = run.environment().descriptor_limit?;
    let exhausted: u64 = run
        .snapshot()
        .steady()
        .classes()
        .filter(|(outcome, _)| *outcome == Outcome::Failed("descriptors"))
        .map(|(_, class)| class.response.count())
        .sum();
    let why = format!(
        "{open} of {limit} file descriptors were open at the end, and {exhausted} requests found none left: if any did, raise the limit (ulimit -n)"
    );
    Some(
        check(
            "descriptors",
            Severity::Fault,
            exhausted == 0 && open < limit,
            why,
        )
        .figures(open as f64, limit as f64, Unit::Count),
    )
}

fn target(run: &Run) -> Option<Check> {
    let shares = match run.plan().target() {
        Target::Unknown => return None,
        target => target.shares_host(),
    };
    let why = if shares {
        "the service runs on the generator's own host, and they take cores and caches from each other: run it elsewhere"
    } else {
        "the service runs on another host"
    };
    Some(check("target_elsewhere", Severity::Warning, !shares, why))
}

fn closed_loop(run: &Run) -> Option<Check> {
    match run.plan().load() {
        Load::Open { .. } => None,
        Load::Closed { users, .. } => Some(check(
            "open_loop",
            Severity::Warning,
            false,
            format!(
                "a closed loop of {users} users: when the service slows down, so does the load, and the requests that would have come are missing"
            ),
        )),
    }
}

fn in_range(run: &Run) -> Option<Check> {
    let response = run.series(&Metric::Response);
    let over = response.whole().exact.over_range() + response.whole().at_least.over_range();
    (over > 0).then(|| {
        check(
            "in_range",
            Severity::Warning,
            false,
            format!("{over} responses took more than an hour: they are counted, and keep the maximum only"),
        )
        .figures(over as f64, 0.0, Unit::Count)
    })
}
