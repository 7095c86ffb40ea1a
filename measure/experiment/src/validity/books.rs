//! Whether everything that was planned was sent, and is accounted for.

use super::{Check, Severity, Unit, check};
use crate::run::Run;
use crate::series::Metric;
use openloop_measurer::Phase;

pub(super) fn all_sent(run: &Run) -> Check {
    let unsent = run.snapshot().counts().unsent;
    let (severity, why) = match (unsent, run.interrupted()) {
        (0, _) => (
            Severity::Fault,
            "everything that was due was sent".to_owned(),
        ),
        // What was due when the stop came, and whose turn had not come yet.
        (_, Some(_)) => (
            Severity::Warning,
            format!("{unsent} arrivals were due when the run was stopped, and were not sent"),
        ),
        (_, None) => (
            Severity::Fault,
            format!(
                "{unsent} arrivals were due and never sent, because the generator was too slow: lower the rate, or add threads or machines"
            ),
        ),
    };
    check("all_sent", severity, unsent == 0, why).figures(unsent as f64, 0.0, Unit::Count)
}

pub(super) fn fired_as_scheduled(run: &Run) -> Option<Check> {
    if run.interrupted().is_some() {
        // Threads stop within microseconds of each other, and each has accounted for its own arrivals.
        return None;
    }
    let preview = run.plan().preview()?;
    let steady = Phase::Steady.name();
    let (_, planned) = *preview.phases.iter().find(|(name, _)| *name == steady)?;
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

pub(super) fn books_balance(run: &Run) -> Check {
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

/// Whether every label was one that the plan names; nothing where none is wrong.
pub(super) fn kinds_named(run: &Run) -> Option<Check> {
    let unknown = run.snapshot().unknown_kinds();
    (unknown > 0).then(|| {
        let named = run.plan().kinds().len();
        check(
            "kinds_named",
            Severity::Fault,
            false,
            format!(
                "{unknown} arrivals have a kind that is none of the {named} that the plan names: they count in the whole and in no kind; name all kinds in the plan"
            ),
        )
        .figures(unknown as f64, 0.0, Unit::Count)
    })
}

pub(super) fn in_range(run: &Run) -> Option<Check> {
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
