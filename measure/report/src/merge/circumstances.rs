//! What stood around several runs, as that of one: checks, generators, their health, the course in
//! time, and how they were loaded.

use super::clocks::shard_clocks;
use super::{MergeError, Of, common, sum, sum_if_all};
use crate::Report;
use crate::schema::{
    Check, Closed, Generator, Health, Interval, Limits, Sessions, Validity, finite,
};
use crate::words::units::length;
use std::collections::BTreeMap;

/// Every check that any had, as the worst of them found it, and which shards did not pass it.
pub(super) fn validity(all: &[&Report], of: Of) -> Validity {
    let names = all
        .first()
        .map_or(&[][..], |report| &report.validity.checks)
        .iter();
    let others = all.iter().flat_map(|report| &report.validity.checks);
    let mut checks: Vec<Check> = Vec::new();
    for check in names.chain(others) {
        match checks.iter_mut().find(|known| known.name == check.name) {
            None => checks.push(check.clone()),
            Some(known) => {
                let badness = |check: &Check| (!check.pass, !check.waived);
                let (ours, theirs) = (badness(known), badness(check));
                let is_worse = theirs > ours || (theirs == ours && check.value > known.value);
                if is_worse {
                    *known = check.clone();
                }
            }
        }
    }
    let mut valid = all.iter().all(|report| report.validity.valid);
    if of == Of::Shards {
        for check in &mut checks {
            name_shards(all, check);
        }
        let check = shard_clocks(all);
        valid &= check.pass || check.severity.as_deref() == Some("warning");
        checks.push(check);
        checks.extend(interrupted(all));
    }
    Validity { valid, checks }
}

/// Where some shards did not pass a check and others did, these are named.
fn name_shards(all: &[&Report], check: &mut Check) {
    let failed = |report: &&&Report| {
        let mut checks = report.validity.checks.iter();
        checks.any(|other| other.name == check.name && !other.pass && other.waived == check.waived)
    };
    let failed: Vec<&&Report> = all.iter().filter(failed).collect();
    if check.pass || failed.len() == all.len() {
        return;
    }
    let shards = failed.iter().filter_map(|report| report.shard.as_ref());
    let mut shards: Vec<u64> = shards.map(|shard| shard.index).collect();
    shards.sort_unstable();
    check.why = match shards.as_slice() {
        [one] => format!("in shard {one}: {}", check.why),
        several => {
            let several: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("in shards {}; the worst: {}", several.join(", "), check.why)
        }
    };
}

/// That some shards were interrupted, if any were.
fn interrupted(all: &[&Report]) -> Option<Check> {
    let mut stopped: Vec<(u64, String)> = all
        .iter()
        .filter(|report| report.interrupted)
        .filter_map(|report| {
            let at = report
                .interrupted_at_ns
                .map(|at| format!(" at {}", length(at)));
            Some((report.shard.as_ref()?.index, at.unwrap_or_default()))
        })
        .collect();
    stopped.sort_unstable();
    let shards: Vec<String> = stopped
        .iter()
        .map(|(index, at)| format!("shard {index} was interrupted{at}"))
        .collect();
    (!shards.is_empty()).then(|| Check {
        name: "shards_whole".to_owned(),
        pass: false,
        value: Some(stopped.len() as f64),
        limit: Some(0.0),
        why: format!(
            "{}: its part of the load is missing from then on",
            shards.join(", ")
        ),
        unit: Some("count".to_owned()),
        severity: Some("warning".to_owned()),
        waived: false,
    })
}

pub(super) fn timeline(all: &[&Report]) -> Result<Vec<Interval>, MergeError> {
    let mut cells: BTreeMap<(u64, u64), Vec<&Interval>> = BTreeMap::new();
    for interval in all.iter().flat_map(|report| &report.timeline) {
        cells
            .entry((interval.from_ns, interval.to_ns))
            .or_default()
            .push(interval);
    }
    cells
        .values()
        .map(|same| Interval::merged(same))
        .collect::<Option<_>>()
        .ok_or(MergeError::TooMany)
}

pub(super) fn generator(all: &[&Report], of: Of) -> Option<Generator> {
    let each: Vec<&Generator> = all
        .iter()
        .map(|report| report.generator.as_ref())
        .collect::<Option<_>>()?;
    let first = each.first()?;
    let seconds = |of: fn(&Generator) -> Option<f64>| {
        let all: Option<Vec<f64>> = each.iter().map(|generator| of(generator)).collect();
        all.map(|all| all.iter().sum())
    };
    let same = |of: fn(&Generator) -> &Option<String>| {
        of(first).clone().filter(|text| {
            each.iter()
                .all(|generator| of(generator).as_ref() == Some(text))
        })
    };
    let sending = each.iter().map(|generator| generator.sending_ns);
    let cores = each.iter().map(|generator| generator.cores);
    Some(Generator {
        own_threads: each.iter().all(|generator| generator.own_threads),
        cores: match of {
            Of::Runs => cores.max()?,
            Of::Shards => cores.fold(0, u64::saturating_add),
        },
        precision: same(|generator| &generator.precision),
        fallback: each.iter().find_map(|generator| generator.fallback.clone()),
        max_lag_ns: each.iter().map(|generator| generator.max_lag_ns).max()?,
        cpu_seconds: seconds(|generator| generator.cpu_seconds),
        waited_for_cpu_seconds: seconds(|generator| generator.waited_for_cpu_seconds),
        spun_seconds: each.iter().map(|generator| generator.spun_seconds).sum(),
        sending_ns: match of {
            Of::Runs => sending.fold(0, u64::saturating_add),
            Of::Shards => sending.max()?,
        },
        busy: each
            .iter()
            .filter_map(|generator| generator.busy)
            .max_by(f64::total_cmp),
    })
}

pub(super) fn health(all: &[&Report]) -> Result<Option<Health>, MergeError> {
    let each: Option<Vec<&Health>> = all.iter().map(|report| report.health.as_ref()).collect();
    let Some(each) = each else {
        return Ok(None);
    };
    let left: Option<Vec<i64>> = each.iter().map(|health| health.descriptors_left).collect();
    let checks: Option<Vec<bool>> = each.iter().map(|health| health.check).collect();
    Ok(Some(Health {
        healthy: each.iter().all(|health| health.healthy),
        abandoned: sum(each.iter().map(|health| health.abandoned))?,
        descriptors_left: left.map(|left| left.into_iter().fold(0, i64::saturating_add)),
        check: checks.map(|checks| checks.into_iter().all(|passed| passed)),
        check_error: each.iter().find_map(|health| health.check_error.clone()),
    }))
}

/// Each shard has a limit of its own: together they have as many in flight.
pub(super) fn limits(all: &[&Report], of: Of) -> Option<Limits> {
    let mut limits = common(all, |report| report.limits.clone())?;
    if of == Of::Shards {
        let most = limits.max_in_flight.as_mut();
        most.into_iter()
            .for_each(|most| *most = most.saturating_mul(all.len() as u64));
    }
    Some(limits)
}

pub(super) fn closed(all: &[&Report], of: Of) -> Result<Option<Closed>, MergeError> {
    let same = common(all, |report| report.closed.map(|closed| closed.think_ns));
    let users = sum_if_all(
        all.iter()
            .map(|report| report.closed.map(|closed| closed.users)),
    )?;
    Ok(match of {
        Of::Runs => common(all, |report| report.closed),
        Of::Shards => same
            .zip(users)
            .map(|(think_ns, users)| Closed { users, think_ns }),
    })
}

pub(super) fn sessions(all: &[&Report]) -> Result<Option<Sessions>, MergeError> {
    let each: Option<Vec<&Sessions>> = all.iter().map(|report| report.sessions.as_ref()).collect();
    let Some(each) = each else {
        return Ok(None);
    };
    let total = |of: fn(&Sessions) -> u64| sum(each.iter().map(|sessions| of(sessions)));
    let Some(first) = each.first() else {
        return Ok(None);
    };
    let started = total(|sessions| sessions.started)?;
    let requests: f64 = each
        .iter()
        .filter_map(|sessions| Some(sessions.steps? * sessions.started as f64))
        .sum();
    let same_rate = each
        .iter()
        .all(|sessions| sessions.asked_rate == first.asked_rate);
    Ok(Some(Sessions {
        asked_rate: first.asked_rate.filter(|_| same_rate),
        planned: sum_if_all(each.iter().map(|sessions| sessions.planned))?,
        started,
        finished: total(|sessions| sessions.finished)?,
        ended_early: total(|sessions| sessions.ended_early)?,
        unfinished: total(|sessions| sessions.unfinished)?,
        steps: finite(requests / started as f64),
        ..(*first).clone()
    }))
}
