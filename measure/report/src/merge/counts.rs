//! Counts of several reports as those of one.

use super::{MergeError, sum_if_all};
use crate::Report;
use crate::schema::{Arrivals, PhaseArrivals};
use std::collections::BTreeMap;

type Outcomes = BTreeMap<String, BTreeMap<String, u64>>;

pub(super) fn arrivals(all: impl Iterator<Item = Arrivals>) -> Result<Arrivals, MergeError> {
    let mut total = Arrivals::default();
    for one in all {
        for (into, n) in [
            (&mut total.scheduled, one.scheduled),
            (&mut total.ok, one.ok),
            (&mut total.failed, one.failed),
            (&mut total.timed_out, one.timed_out),
            (&mut total.rejected, one.rejected),
            (&mut total.shed, one.shed),
            (&mut total.abandoned, one.abandoned),
            (&mut total.unsent, one.unsent),
            (&mut total.waiting, one.waiting),
            (&mut total.in_flight, one.in_flight),
        ] {
            *into = into.checked_add(n).ok_or(MergeError::TooMany)?;
        }
    }
    Ok(total)
}

/// Phase by phase; nothing where they had other phases.
pub(super) fn phases(all: &[&Report]) -> Result<Vec<PhaseArrivals>, MergeError> {
    let Some(first) = all.first() else {
        return Ok(Vec::new());
    };
    let span = |phase: &PhaseArrivals| (phase.name.clone(), phase.from_ns, phase.to_ns);
    let is_same = |report: &&Report| {
        report
            .phases
            .iter()
            .map(span)
            .eq(first.phases.iter().map(span))
    };
    if !all.iter().all(is_same) {
        return Ok(Vec::new());
    }
    let of_phase = |(index, phase): (usize, &PhaseArrivals)| {
        let same = || {
            all.iter()
                .filter_map(move |report| report.phases.get(index))
        };
        Ok(PhaseArrivals {
            planned: sum_if_all(same().map(|phase| phase.planned))?,
            arrivals: arrivals(same().map(|phase| phase.arrivals))?,
            ..phase.clone()
        })
    };
    first.phases.iter().enumerate().map(of_phase).collect()
}

pub(super) fn outcomes<'a>(
    all: impl Iterator<Item = &'a Outcomes>,
) -> Result<Outcomes, MergeError> {
    let mut total = Outcomes::new();
    for (outcome, classes) in all.flatten() {
        let into = total.entry(outcome.clone()).or_default();
        *into = counts([&*into, classes].into_iter())?;
    }
    Ok(total)
}

pub(super) fn counts<'a>(
    all: impl Iterator<Item = &'a BTreeMap<String, u64>>,
) -> Result<BTreeMap<String, u64>, MergeError> {
    let mut total: BTreeMap<String, u64> = BTreeMap::new();
    for (name, n) in all.flatten() {
        let into = total.entry(name.clone()).or_default();
        *into = into.checked_add(*n).ok_or(MergeError::TooMany)?;
    }
    Ok(total)
}
