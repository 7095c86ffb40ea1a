//! Several reports as one.

use crate::Report;
use crate::schema::{
    self, Arrivals, Check, Closed, Generator, Health, Interval, Kind, Latency, Merged,
    PhaseArrivals, Sessions, StoredError, Summary, Validity, WorstWindow, finite,
};
use openloop_experiment::Series;
use openloop_measurer::Population;
use std::collections::{BTreeMap, BTreeSet};

/// What several reports are of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// One after another: there is more time.
    Runs,
    /// At the same time: there is more load.
    Shards,
}

/// Why reports cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("there is no report to merge: give at least one")]
    None,
    /// Open and closed loops measure different things.
    #[error(
        "a report of an {0} loop and one of a {1} loop cannot be one: their latencies mean different things"
    )]
    Loops(String, String),
    /// Not a part of a run.
    #[error("a report says nothing of being a shard: merge reports of whole runs as runs")]
    NotAShard,
    /// Parts of different runs.
    #[error("the reports are not shards of one run: {0} differs")]
    OtherRuns(&'static str),
    /// A part is not there.
    #[error("shards are missing: of {count} there are all but number {missing}, counted from 0")]
    Missing {
        /// How many there should be.
        count: u64,
        /// Which are not there.
        missing: String,
    },
    /// A part is there twice.
    #[error("shard {0} is there twice")]
    Twice(u64),
    /// The histograms of a report cannot be read.
    #[error("{latency}: {why}")]
    Stored {
        /// Which latency.
        latency: String,
        /// What is wrong with its histograms.
        #[source]
        why: StoredError,
    },
    /// More than can be counted.
    #[error("there are more arrivals than can be counted")]
    TooMany,
}

impl Report {
    /// Reports of runs, one after another, as one: repetitions of the same experiment.
    ///
    /// Histograms are merged, and quantiles read anew from them: never from quantiles. Rates are those of all the time
    /// together. The timeline stays behind, and what the runs do not have in common is `None`; so is the verdict on an
    /// objective, which belongs to a run. In which order they stand makes no difference.
    ///
    /// A mean of percentiles cannot be written: only histograms make a summary.
    /// ```compile_fail,E0308
    /// # fn example(a: openloop_report::schema::Summary, b: openloop_report::schema::Summary) {
    /// use openloop_report::schema::Summary;
    /// let mean = Summary::of(&[a.p99_ns, b.p99_ns]);
    /// # }
    /// ```
    /// ```compile_fail,E0639
    /// # fn example(a: openloop_report::schema::Summary, b: openloop_report::schema::Summary) {
    /// use openloop_report::schema::Summary;
    /// let mean = Summary { p99_ns: (a.p99_ns + b.p99_ns) / 2, ..a };
    /// # }
    /// ```
    /// ```compile_fail,E0369
    /// # fn example(a: openloop_measurer::Value, b: openloop_measurer::Value) {
    /// let mean = (a + b) / 2;
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, their loops differ, or their histograms cannot be read.
    pub fn merge(reports: &[Report]) -> Result<Report, MergeError> {
        merge(reports, Of::Runs)
    }

    /// Reports of the shards of one run as that of the run: all must be there, each once.
    ///
    /// Rates add up, and so do the counts of each interval. Of the latencies of an interval only the largest is known
    /// of all together: the others are `None`, since percentiles cannot be merged.
    ///
    /// # Errors
    /// When one is missing or there twice, they are not of one run, or their histograms cannot be read.
    pub fn merge_shards(reports: &[Report]) -> Result<Report, MergeError> {
        let first = reports.first().ok_or(MergeError::None)?;
        let count = first.shard.ok_or(MergeError::NotAShard)?.count;
        let mut there = BTreeSet::new();
        for report in reports {
            let shard = report.shard.ok_or(MergeError::NotAShard)?;
            let layout = |report: &Report| -> Vec<(String, u64, u64)> {
                let phases = report.phases.iter();
                phases
                    .map(|phase| (phase.name.clone(), phase.from_ns, phase.to_ns))
                    .collect()
            };
            for (what, is_same) in [
                ("the number of shards", shard.count == count),
                ("the seed", report.seed == first.seed),
                ("the rate asked for", report.asked_rate == first.asked_rate),
                ("the length of a phase", layout(report) == layout(first)),
            ] {
                if !is_same {
                    return Err(MergeError::OtherRuns(what));
                }
            }
            if !there.insert(shard.index) {
                return Err(MergeError::Twice(shard.index));
            }
        }
        // The count may be any number: as many as are named are enough to know.
        let missing: Vec<u64> = (0..count)
            .filter(|index| !there.contains(index))
            .take(9)
            .collect();
        if !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(u64::to_string).collect();
            let missing = missing.join(", ");
            return Err(MergeError::Missing { count, missing });
        }
        merge(reports, Of::Shards)
    }
}

fn merge(reports: &[Report], of: Of) -> Result<Report, MergeError> {
    let first = reports.first().ok_or(MergeError::None)?;
    for report in reports {
        if report.loop_kind != first.loop_kind {
            return Err(MergeError::Loops(
                first.loop_kind.clone(),
                report.loop_kind.clone(),
            ));
        }
    }
    let all = in_order(reports);
    let all = all.as_slice();
    let arrivals = arrivals(all.iter().map(|report| report.arrivals))?;
    let kinds = kinds(all, arrivals.scheduled)?;
    let latency = latency("", &each(all, |report| Some(&report.latency)))?;
    Ok(Report {
        schema: schema::tag(),
        tool: Some(format!("openloop {}", env!("CARGO_PKG_VERSION"))),
        title: common(all, |report| report.title.clone()),
        target: common(all, |report| report.target.clone()),
        command: common(all, |report| report.command.clone()),
        started_at: all
            .iter()
            .filter_map(|report| report.started_at.clone())
            .min(),
        shard: None,
        merged: Some(Merged {
            of: match of {
                Of::Runs => "runs".to_owned(),
                Of::Shards => "shards".to_owned(),
            },
            reports: sum(all
                .iter()
                .map(|report| report.merged.as_ref().map_or(1, |merged| merged.reports)))?,
        }),
        loop_kind: first.loop_kind.clone(),
        asked_rate: common(all, |report| report.asked_rate),
        offered_rate: rate(all, of, |report| report.offered_rate),
        achieved_rate: rate(all, of, |report| report.achieved_rate),
        steady_ns: match of {
            Of::Runs => sum(all.iter().map(|report| report.steady_ns))?,
            Of::Shards => most(all, |report| Some(report.steady_ns)).unwrap_or(0),
        },
        interrupted: all.iter().any(|report| report.interrupted),
        interrupted_at_ns: all
            .iter()
            .filter_map(|report| report.interrupted_at_ns)
            .min(),
        planned: sum_if_all(all.iter().map(|report| report.planned))?,
        arrivals,
        phases: phases(all)?,
        outcomes: outcomes(all.iter().map(|report| &report.outcomes))?,
        worst_window: worst(all, of, &latency)?,
        latency,
        kinds,
        metrics: metrics("", &each(all, |report| Some(&report.metrics)))?,
        counts: counts(all.iter().map(|report| &report.counts))?,
        // Shares are not merged without what they are shares of.
        observations: BTreeMap::new(),
        validity: validity(all),
        floor: common(all, |report| report.floor.clone()),
        slo: None,
        backlog: None,
        timeline: match of {
            Of::Runs => Vec::new(),
            Of::Shards => timeline(all)?,
        },
        environment: common(all, |report| report.environment.clone()),
        generator: generator(all, of),
        health: health(all)?,
        limits: common(all, |report| report.limits.clone()),
        closed: closed(all, of)?,
        sessions: sessions(all)?,
        problem: common(all, |report| report.problem.clone()),
        rehearsal: common(all, |report| report.rehearsal.clone()),
        replicas: None,
        sweep: None,
        resilience: None,
        seed: all.iter().map(|report| report.seed).min().unwrap_or(0),
    })
}

/// In an order of their own, so that sums of fractions come out the same in whichever they were given.
fn in_order(reports: &[Report]) -> Vec<&Report> {
    let mut keyed: Vec<(String, &Report)> = reports
        .iter()
        // What cannot be written cannot be ordered; a report can always be written.
        .map(|report| (serde_json::to_string(report).unwrap_or_default(), report))
        .collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed.into_iter().map(|(_, report)| report).collect()
}

fn each<'a, T>(all: &[&'a Report], of: impl Fn(&'a Report) -> Option<&'a T>) -> Vec<&'a T> {
    all.iter().filter_map(|report| of(report)).collect()
}

/// What all have in common.
fn common<T: PartialEq>(all: &[&Report], of: impl Fn(&Report) -> Option<T>) -> Option<T> {
    let first = of(all.first()?)?;
    let same = all
        .iter()
        .all(|report| of(report).is_some_and(|other| other == first));
    same.then_some(first)
}

fn most(all: &[&Report], of: impl Fn(&Report) -> Option<u64>) -> Option<u64> {
    all.iter().filter_map(|report| of(report)).max()
}

fn sum(numbers: impl IntoIterator<Item = u64>) -> Result<u64, MergeError> {
    let sum = numbers.into_iter().try_fold(0_u64, u64::checked_add);
    sum.ok_or(MergeError::TooMany)
}

fn sum_if_all(numbers: impl Iterator<Item = Option<u64>>) -> Result<Option<u64>, MergeError> {
    let all: Option<Vec<u64>> = numbers.collect();
    all.map(sum).transpose()
}

fn rate(all: &[&Report], of: Of, rate: impl Fn(&Report) -> Option<f64>) -> Option<f64> {
    let rates = all
        .iter()
        .filter_map(|report| Some((rate(report)?, report.steady_ns as f64)));
    let rates: Vec<(f64, f64)> = rates.collect();
    let sum: f64 = rates.iter().map(|(rate, _)| rate).sum();
    match of {
        _ if rates.is_empty() => None,
        Of::Shards => finite(sum),
        Of::Runs => {
            let time: f64 = rates.iter().map(|(_, time)| time).sum();
            let weighted: f64 = rates.iter().map(|(rate, time)| rate * time).sum();
            finite(weighted / time)
        }
    }
}

fn arrivals(all: impl Iterator<Item = Arrivals>) -> Result<Arrivals, MergeError> {
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
fn phases(all: &[&Report]) -> Result<Vec<PhaseArrivals>, MergeError> {
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

type Outcomes = BTreeMap<String, BTreeMap<String, u64>>;

fn outcomes<'a>(all: impl Iterator<Item = &'a Outcomes>) -> Result<Outcomes, MergeError> {
    let mut total = Outcomes::new();
    for (outcome, classes) in all.flatten() {
        let into = total.entry(outcome.clone()).or_default();
        *into = counts([&*into, classes].into_iter())?;
    }
    Ok(total)
}

fn counts<'a>(
    all: impl Iterator<Item = &'a BTreeMap<String, u64>>,
) -> Result<BTreeMap<String, u64>, MergeError> {
    let mut total: BTreeMap<String, u64> = BTreeMap::new();
    for (name, n) in all.flatten() {
        let into = total.entry(name.clone()).or_default();
        *into = into.checked_add(*n).ok_or(MergeError::TooMany)?;
    }
    Ok(total)
}

fn kinds(all: &[&Report], scheduled: u64) -> Result<BTreeMap<String, Kind>, MergeError> {
    let names: BTreeSet<&String> = all.iter().flat_map(|report| report.kinds.keys()).collect();
    let of_kind = |name: &String| {
        let of = each(all, |report| report.kinds.get(name));
        let arrivals = arrivals(of.iter().map(|kind| kind.arrivals))?;
        let latencies: Vec<_> = of.iter().map(|kind| &kind.latency).collect();
        let named: Vec<_> = of.iter().map(|kind| &kind.metrics).collect();
        let kind = Kind {
            share: finite(arrivals.scheduled as f64 / scheduled as f64),
            arrivals,
            outcomes: outcomes(of.iter().map(|kind| &kind.outcomes))?,
            latency: latency(name, &latencies)?,
            metrics: metrics(name, &named)?,
            counts: counts(of.iter().map(|kind| &kind.counts))?,
        };
        Ok((name.clone(), kind))
    };
    names.into_iter().map(of_kind).collect()
}

/// Every latency, of one kind or of all.
fn latency(kind: &str, all: &[&Latency]) -> Result<Latency, MergeError> {
    let merged = |name: &str, of: fn(&Latency) -> &Option<Summary>| {
        let summaries: Vec<_> = all.iter().map(|latency| of(latency).as_ref()).collect();
        summary(kind, name, &summaries)
    };
    Ok(Latency {
        response: merged("response", |latency| &latency.response)?,
        response_ok: merged("response_ok", |latency| &latency.response_ok)?,
        response_slo: merged("response_slo", |latency| &latency.response_slo)?,
        service: merged("service", |latency| &latency.service)?,
        exchange: merged("exchange", |latency| &latency.exchange)?,
        schedule_delay: merged("schedule_delay", |latency| &latency.schedule_delay)?,
        lag: merged("lag", |latency| &latency.lag)?,
        pickup: merged("pickup", |latency| &latency.pickup)?,
    })
}

type Metrics = BTreeMap<String, Option<Summary>>;

fn metrics(kind: &str, all: &[&Metrics]) -> Result<Metrics, MergeError> {
    let names: BTreeSet<&String> = all.iter().flat_map(|metrics| metrics.keys()).collect();
    let of_name = |name: &String| {
        let summaries = all
            .iter()
            .map(|metrics| metrics.get(name).and_then(Option::as_ref));
        let merged = summary(kind, name, &summaries.collect::<Vec<_>>())?;
        Ok((name.clone(), merged))
    };
    names.into_iter().map(of_name).collect()
}

/// One latency: of the merged histograms, window by window where all have windows.
fn summary(
    kind: &str,
    name: &str,
    all: &[Option<&Summary>],
) -> Result<Option<Summary>, MergeError> {
    let there: Vec<&Summary> = all.iter().flatten().copied().collect();
    let stored = |why| MergeError::Stored {
        latency: match kind {
            "" => name.to_owned(),
            kind => format!("{name} of {kind}"),
        },
        why,
    };
    let series = there.iter().map(|summary| summary.series().map_err(stored));
    let series: Vec<Series> = series.collect::<Result<_, _>>()?;
    let total = series.iter().map(|series| series.whole().count());
    if sum(total)? > 1 << 62 {
        return Err(MergeError::TooMany);
    }
    let windows = series.first().map_or(0, |series| series.windows().len());
    if windows == 0
        || series
            .iter()
            .any(|series| series.windows().len() != windows)
    {
        let mut whole = Population::new();
        series.iter().for_each(|series| whole.merge(series.whole()));
        return Ok(Summary::without_windows(&Series::of_whole(whole)));
    }
    let window = |index: usize| {
        let mut window = Population::new();
        series
            .iter()
            .for_each(|series| window.merge(&series.windows()[index]));
        window
    };
    Ok(Summary::of(&Series::of_windows(
        (0..windows).map(window).collect(),
    )))
}

/// The worst tenth: of shards, of their common tenths; of runs, the worst that any had.
fn worst(all: &[&Report], of: Of, latency: &Latency) -> Result<Option<WorstWindow>, MergeError> {
    if of == Of::Runs {
        let worst = all.iter().filter_map(|report| report.worst_window.as_ref());
        let worst = worst.max_by_key(|window| (!window.at_least.is_empty(), window.p99_ns));
        return Ok(worst.cloned());
    }
    let steady = all
        .iter()
        .find_map(|report| report.phases.iter().find(|phase| phase.name == "steady"));
    let (Some(steady), Some(response)) = (steady, &latency.response) else {
        return Ok(None);
    };
    let stored = |why| MergeError::Stored {
        latency: "response".to_owned(),
        why,
    };
    let series = response.series().map_err(stored)?;
    Ok(WorstWindow::among(
        series.windows(),
        steady.from_ns,
        steady.to_ns,
    ))
}

/// Every check that any had, as the worst of them found it.
fn validity(all: &[&Report]) -> Validity {
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
    Validity {
        valid: all.iter().all(|report| report.validity.valid),
        checks,
    }
}

fn timeline(all: &[&Report]) -> Result<Vec<Interval>, MergeError> {
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

fn generator(all: &[&Report], of: Of) -> Option<Generator> {
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

fn health(all: &[&Report]) -> Result<Option<Health>, MergeError> {
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

fn closed(all: &[&Report], of: Of) -> Result<Option<Closed>, MergeError> {
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

fn sessions(all: &[&Report]) -> Result<Option<Sessions>, MergeError> {
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
