//! Several reports as one.

mod circumstances;
mod clocks;
mod counts;
mod latencies;
mod objective;

use crate::Report;
use crate::schema::{self, Merged, Slow, StoredError, finite};
use circumstances::{closed, generator, health, limits, sessions, timeline, validity};
use counts::{arrivals, counts, outcomes, phases};
use latencies::{kinds, latency, metrics, worst, worst_stretch};
use objective::objective;
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
    /// A part of a run, among runs.
    #[error(
        "shard {0} is a part of a run, and no repetition of one: merge the shards of a run as shards"
    )]
    IsAShard(u64),
    /// Parts of different runs.
    #[error("shard {shard} is of another run than shard {other}: {what} differs")]
    OtherRuns {
        /// Which of them.
        shard: u64,
        /// The first that there is.
        other: u64,
        /// What they do not have in common.
        what: &'static str,
    },
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
    /// together. The timeline stays behind, and what the runs do not have in common is `None`. An objective that all were
    /// held against is judged anew: what every run keeps, or breaks, all keep, or break; where they differ, the merged
    /// histograms decide. In which order the reports stand makes no difference.
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
    /// When there is none, one is a shard, their loops differ, or their histograms cannot be read.
    pub fn merge(reports: &[Report]) -> Result<Report, MergeError> {
        let mut shards = reports.iter().filter_map(|report| report.shard.as_ref());
        if let (Some(shard), 2..) = (shards.next(), reports.len()) {
            return Err(MergeError::IsAShard(shard.index));
        }
        merge(reports, Of::Runs)
    }

    /// Reports of the shards of one run as that of the run: all must be there, each once.
    ///
    /// Rates add up, and so do the counts of each interval. Of the latencies of an interval only the largest is known
    /// of all together: the others are `None`, since percentiles cannot be merged. The check `shard_clocks` says how far
    /// apart they may have begun.
    ///
    /// # Errors
    /// When one is missing or there twice, they are not of one run, or their histograms cannot be read.
    pub fn merge_shards(reports: &[Report]) -> Result<Report, MergeError> {
        let first = reports.first().ok_or(MergeError::None)?;
        let of = |report: &Report| report.shard.clone().ok_or(MergeError::NotAShard);
        let agreed = of(first)?;
        let count = agreed.count;
        let mut there = BTreeSet::new();
        for report in reports {
            let shard = of(report)?;
            let layout = |report: &Report| -> Vec<(String, u64, u64)> {
                let phases = report.phases.iter();
                phases
                    .map(|phase| (phase.name.clone(), phase.from_ns, phase.to_ns))
                    .collect()
            };
            for (what, is_same) in [
                ("the number of shards", shard.count == count),
                (
                    "the instant of the start",
                    shard.start_at == agreed.start_at,
                ),
                (
                    "the problem statement",
                    statement(report) == statement(first),
                ),
                ("the seed", report.seed == first.seed),
                ("the rate asked for", report.asked_rate == first.asked_rate),
                ("the length of a phase", layout(report) == layout(first)),
                (
                    "the plan (arrivals, profile, sessions or limits)",
                    shard.plan == agreed.plan,
                ),
                ("the target", report.target == first.target),
                (
                    "what is asked for (the requests, their keys or their mix)",
                    shard.requests == agreed.requests,
                ),
            ] {
                if !is_same {
                    return Err(MergeError::OtherRuns {
                        shard: shard.index,
                        other: agreed.index,
                        what,
                    });
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

/// The problem as it was stated, without what was found of it.
fn statement(report: &Report) -> Option<&serde_json::Value> {
    report.problem.as_ref().map(|problem| &problem.statement)
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
    let mut merged = Report {
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
        worst_stretch: match of {
            Of::Runs => worst_stretch(all),
            Of::Shards => None,
        },
        slowest: Slow::merged(all.iter().flat_map(|report| &report.slowest)),
        latency,
        kinds,
        metrics: metrics("", &each(all, |report| Some(&report.metrics)))?,
        counts: counts(all.iter().map(|report| &report.counts))?,
        formulas: first.formulas.clone(),
        // Shares are not merged without what they are shares of.
        observations: BTreeMap::new(),
        courses: BTreeMap::new(),
        events: Vec::new(),
        validity: validity(all, of),
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
        limits: limits(all, of),
        closed: closed(all, of)?,
        sessions: sessions(all)?,
        problem: common(all, |report| report.problem.clone()),
        rehearsal: common(all, |report| report.rehearsal.clone()),
        replicas: None,
        by_turns: None,
        sweep: None,
        plan: common(all, |report| report.plan.clone()),
        resilience: None,
        seed: all.iter().map(|report| report.seed).min().unwrap_or(0),
    };
    merged.slo = objective(all, of, &merged);
    Ok(merged)
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
