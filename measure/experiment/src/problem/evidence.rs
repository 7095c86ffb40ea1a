//! What was expected to fail, held against what was seen.

use super::{FailureMode, ProblemStatement};
use crate::diagnosis::{Diagnosis, Tail};
use crate::{Floor, Metric, Run};
use openloop_measurer::{Outcome, Quantile};
use std::time::Duration;

/// A SYN that is not answered is sent again after a second.
const SYN_RETRY: Duration = Duration::from_secs(1);
/// The share of the offered arrivals that may be missing among what was achieved before that is saturation.
const SATURATED: f64 = 0.02;

/// What was seen of one way to fail.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evidence {
    /// Which way.
    pub mode: FailureMode,
    /// Whether the statement anticipated it.
    pub anticipated: bool,
    /// Whether it was seen.
    pub found: Found,
    /// By what.
    pub why: String,
}

/// Whether something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// It was.
    Seen,
    /// What would show it was measured, and does not.
    NotSeen,
    /// What would show it was not measured.
    NotMeasured,
}

impl Found {
    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Found::Seen => "seen",
            Found::NotSeen => "not_seen",
            Found::NotMeasured => "not_measured",
        }
    }
}

/// What an experiment has measured.
#[derive(Clone, Debug, Default)]
pub struct Observed<'a> {
    /// All runs, at whatever rate, but for those of the floor.
    pub runs: Vec<&'a Run>,
    /// The floor, where it was measured.
    pub floor: Option<&'a Floor>,
    /// What a sweep says of the service.
    pub diagnosis: Option<&'a Diagnosis>,
}

impl ProblemStatement {
    /// Every anticipated failure mode with what was observed of it, and every other one that was.
    #[must_use]
    pub fn evidence(&self, observed: &Observed<'_>) -> Vec<Evidence> {
        let anticipated = &self.objective.failure_modes;
        let all = FailureMode::ALL.into_iter().map(|mode| {
            let (found, why) = look(mode, observed);
            Evidence {
                mode,
                anticipated: anticipated.contains(&mode),
                found,
                why,
            }
        });
        all.filter(|evidence| evidence.anticipated || evidence.found == Found::Seen)
            .collect()
    }
}

fn seen(is_seen: bool, why: impl Into<String>) -> (Found, String) {
    let found = match is_seen {
        true => Found::Seen,
        false => Found::NotSeen,
    };
    (found, why.into())
}

fn unmeasured(why: impl Into<String>) -> (Found, String) {
    (Found::NotMeasured, why.into())
}

fn look(mode: FailureMode, observed: &Observed<'_>) -> (Found, String) {
    let runs = observed.runs.as_slice();
    match mode {
        FailureMode::CpuSaturation => saturation(runs),
        FailureMode::PoolExhaustion => pool(runs),
        FailureMode::PortExhaustion => {
            let count = count(runs, |outcome| outcome.is_generators_fault());
            let why = format!("{count} requests failed for want of a port or descriptor");
            seen(count > 0, why)
        }
        FailureMode::AcceptQueue => accept_queue(runs),
        FailureMode::Pauses => pauses(observed.diagnosis),
        FailureMode::HeadOfLine => head_of_line(runs),
        FailureMode::KvCache => kv_cache(runs),
        FailureMode::MemoryBandwidth => match slowest_fastest(runs, "tpot") {
            Some((fast, slow)) => seen(
                slow > 1.5 * fast,
                format!(
                    "the median time per output token went from {} to {}",
                    ms(fast),
                    ms(slow)
                ),
            ),
            None => unmeasured("no time per output token at two loads was measured"),
        },
        FailureMode::Shedding => {
            let count = count(runs, |outcome| matches!(outcome, Outcome::Rejected(_)));
            seen(count > 0, format!("{count} requests were turned away"))
        }
        FailureMode::Crash => {
            let classes = ["reset", "closed", "connect_refused", "goaway"];
            let count = count(
                runs,
                |outcome| matches!(outcome, Outcome::Failed(class) if classes.contains(&class)),
            );
            let why = format!("{count} connections were torn down or refused");
            seen(count > 0, why)
        }
        FailureMode::Timeouts => {
            let count = count(runs, |outcome| outcome == Outcome::TimedOut);
            seen(
                count > 0,
                format!("{count} requests outlasted their timeout"),
            )
        }
    }
}

fn count(runs: &[&Run], is_counted: impl Fn(Outcome) -> bool) -> u64 {
    let outcomes = runs.iter().flat_map(|run| run.snapshot().outcomes());
    let counted = outcomes.filter(|(outcome, _)| is_counted(*outcome));
    counted.map(|(_, count)| count).sum()
}

/// A tail that does not move with the load.
fn pauses(diagnosis: Option<&Diagnosis>) -> (Found, String) {
    match diagnosis.map(|diagnosis| diagnosis.tail) {
        Some(tail @ Tail::Pauses { .. }) => seen(true, format!("the tail is {tail}")),
        Some(tail @ (Tail::Smooth | Tail::OfService)) => seen(false, format!("the tail {tail}")),
        _ => unmeasured(
            "pauses show in a sweep with some low rates, as a tail that does not move with the load",
        ),
    }
}

/// Work that comes faster than it is done.
fn saturation(runs: &[&Run]) -> (Found, String) {
    let behind = runs.iter().filter_map(|run| {
        let (offered, achieved) = (run.offered_per_second()?, run.achieved_per_second()?);
        let grows = run.backlog().is_some_and(|backlog| backlog.grows);
        let missing = 1.0 - achieved / offered;
        (grows || missing > SATURATED).then_some((offered, achieved))
    });
    let lowest = behind.min_by(|(one, _), (other, _)| one.total_cmp(other));
    match lowest {
        Some((offered, achieved)) => seen(
            true,
            format!(
                "at {offered:.1}/s the service achieved {achieved:.1}/s; which of its resources was used up only its own counters tell"
            ),
        ),
        None => seen(false, "everything offered was achieved at every rate"),
    }
}

fn pool(runs: &[&Run]) -> (Found, String) {
    let full = ["pool_full", "pool_get", "pg_53300"];
    let refused = count(runs, |outcome| {
        outcome.class().is_some_and(|class| full.contains(&class))
    });
    if refused > 0 {
        return seen(
            true,
            format!("{refused} requests found the line for a connection full"),
        );
    }
    let acquire = Metric::Named("acquire".to_owned());
    let worst = runs.iter().filter_map(|run| {
        let wait = run.series(&acquire).quantile(Quantile::P99)?.ns();
        let response = run.series(&Metric::Response).quantile(Quantile::P99)?.ns();
        Some((wait, response))
    });
    match worst.max_by_key(|(wait, _)| *wait) {
        // Half of the tail is spent in line before the service is asked at all.
        Some((wait, response)) => seen(
            wait * 2 > response,
            format!(
                "the wait for a connection took {} at p99, of a response of {}",
                ms(wait as f64),
                ms(response as f64)
            ),
        ),
        None => unmeasured("the client has no pool whose wait is measured"),
    }
}

fn accept_queue(runs: &[&Run]) -> (Found, String) {
    let timed_out = count(runs, |outcome| {
        outcome == Outcome::Failed("connect_timeout")
    });
    if timed_out > 0 {
        return seen(
            true,
            format!("{timed_out} connections were not accepted in time"),
        );
    }
    let connect = Metric::Named("connect".to_owned());
    let slowest = runs.iter().filter_map(|run| {
        let series = run.series(&connect);
        Some(series.whole().max()?.ns())
    });
    match slowest.max() {
        Some(ns) => seen(
            Duration::from_nanos(ns) >= SYN_RETRY,
            format!(
                "the slowest connection took {}; a SYN that is dropped is sent again after 1 s",
                ms(ns as f64)
            ),
        ),
        None => {
            unmeasured("no connection was opened in the steady phase: --connect-per-request would")
        }
    }
}

/// A kind that is quick by itself waits as long as the slow one.
fn head_of_line(runs: &[&Run]) -> (Found, String) {
    let pairs = runs.iter().filter_map(|run| {
        let kinds = run.plan().kinds().iter();
        let mut medians: Vec<_> = kinds
            .filter_map(|(kind, name)| {
                let series = run.series_of(kind, &Metric::Response);
                let at = |q| series.quantile(q).map(|value| value.ns() as f64);
                Some((at(Quantile::P50)?, at(Quantile::P99)?, name.to_owned()))
            })
            .collect();
        medians.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (quick, slow) = (medians.first()?.clone(), medians.last()?.clone());
        (medians.len() > 1).then_some((quick, slow))
    });
    let worst = pairs.max_by(|one, other| (one.0.1 / one.0.0).total_cmp(&(other.0.1 / other.0.0)));
    match worst {
        Some(((p50, p99, quick), (slow_p50, _, slow))) => seen(
            // The quick kind's tail is the slow kind's body.
            p99 >= slow_p50 && p99 > 3.0 * p50,
            format!(
                "\"{quick}\" takes {} at p50 and {} at p99; \"{slow}\" takes {} at p50",
                ms(p50),
                ms(p99),
                ms(slow_p50)
            ),
        ),
        None => unmeasured("it shows where kinds of request are told apart: give a mix"),
    }
}

fn kv_cache(runs: &[&Run]) -> (Found, String) {
    let preempted: u64 = runs
        .iter()
        .map(|run| {
            let steady = run.snapshot().steady();
            let counts = steady.counts().filter(|(name, _)| name.contains("preempt"));
            counts.map(|(_, count)| count).sum::<u64>()
        })
        .sum();
    if preempted > 0 {
        return seen(true, format!("{preempted} sequences were preempted"));
    }
    match slowest_fastest(runs, "ttft") {
        Some((fast, slow)) => seen(
            slow > 3.0 * fast,
            format!(
                "the median time to first token went from {} to {}: sequences that wait for blocks wait there",
                ms(fast),
                ms(slow)
            ),
        ),
        None => unmeasured("no time to first token at two loads was measured"),
    }
}

/// The least and the greatest median of a metric over runs at different loads.
fn slowest_fastest(runs: &[&Run], metric: &str) -> Option<(f64, f64)> {
    let metric = Metric::Named(metric.to_owned());
    let medians: Vec<_> = runs
        .iter()
        .filter_map(|run| Some(run.series(&metric).quantile(Quantile::P50)?.ns() as f64))
        .collect();
    let least = medians.iter().copied().min_by(f64::total_cmp)?;
    let greatest = medians.iter().copied().max_by(f64::total_cmp)?;
    (medians.len() > 1).then_some((least, greatest))
}

fn ms(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}
