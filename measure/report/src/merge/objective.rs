//! What several runs, or the shards of one, say of the objective that each was held against.

use super::Of;
use crate::Report;
use crate::schema::{Finding, Latency, Objective, Summary};
use crate::words::units::{Ns, percent, rate};
use openloop_experiment::{Bound, GOOD, Slo, Statistic, section};
use std::collections::BTreeMap;

/// The order in which verdicts are decided.
const LATTICE: [&str; 5] = ["invalid", "infeasible", "fail", "inconclusive", "pass"];

/// Runs whose figures vary by more are no one result.
const DISAGREE: f64 = 0.1;

/// The verdict on all together; `None` where they were not all held against the same objective.
///
/// A quantile of a mixture lies between those of its parts. So what every part keeps, or breaks, all keep, or break. Where
/// parts differ, the figure of the merged histograms decides, with its interval; and it passes only if one of the parts
/// has shown that it had enough data for that.
pub(super) fn objective(all: &[&Report], of: Of, merged: &Report) -> Option<Objective> {
    let each: Vec<&Objective> = all
        .iter()
        .map(|report| report.slo.as_ref())
        .collect::<Option<_>>()?;
    let first = *each.first()?;
    let same = |a: &Finding, b: &Finding| {
        (&a.bound, &a.metric, &a.kind, &a.unit) == (&b.bound, &b.metric, &b.kind, &b.unit)
            && a.limit == b.limit
    };
    let is_same = |other: &&Objective| {
        other.findings.len() == first.findings.len()
            && other
                .findings
                .iter()
                .zip(&first.findings)
                .all(|(a, b)| same(a, b))
    };
    if !each.iter().all(is_same) {
        return None;
    }
    let finding = |index: usize| {
        let parts: Vec<&Finding> = each
            .iter()
            .filter_map(|part| part.findings.get(index))
            .collect();
        found(&parts, of, merged)
    };
    let findings: Vec<Finding> = (0..first.findings.len())
        .map(finding)
        .collect::<Option<_>>()?;
    let mut verdict = worst(findings.iter().map(|finding| finding.verdict.as_str()));
    let mut why = Vec::new();
    let mut lower = |to: &'static str, because: String| {
        verdict = worst([verdict, to].into_iter());
        why.push(because);
    };
    for check in merged.validity.faults() {
        lower("invalid", check.why.clone());
    }
    for (verdict, because) in beside(&each) {
        lower(verdict, because);
    }
    if merged.interrupted {
        lower("inconclusive", "a run was interrupted".to_owned());
    }
    if let Some(because) = disagreement(all, of) {
        lower("inconclusive", because);
    }
    Some(Objective {
        verdict: verdict.to_owned(),
        findings,
        why,
        lints: first.lints.clone(),
    })
}

/// The first of the lattice; a verdict of a newer release decides nothing.
fn worst<'a>(verdicts: impl Iterator<Item = &'a str>) -> &'static str {
    let rank = |verdict: &str| LATTICE.iter().position(|known| *known == verdict);
    let found = verdicts.map(|verdict| rank(verdict).unwrap_or(3)).min();
    LATTICE[found.unwrap_or(3)]
}

/// What decided in the parts beside their bounds: a growing backlog counts if it grew in most of them.
fn beside(each: &[&Objective]) -> Vec<(&'static str, String)> {
    let decided = each.iter().filter_map(|part| {
        let by_bounds = worst(part.findings.iter().map(|finding| finding.verdict.as_str()));
        let verdict = worst([part.verdict.as_str(), by_bounds].into_iter());
        (verdict != by_bounds).then_some((verdict, part.why.join("; ")))
    });
    let decided: Vec<(&str, String)> = decided.collect();
    let failed = decided.iter().filter(|(verdict, _)| *verdict == "fail");
    let failed_mostly = failed.count() * 2 > each.len();
    // What invalidates a part is among the checks of all.
    let counts = |verdict: &str| match verdict {
        "fail" => failed_mostly,
        "invalid" => false,
        _ => true,
    };
    let mut beside: Vec<_> = decided
        .into_iter()
        .filter(|(verdict, _)| counts(verdict))
        .collect();
    beside.sort();
    beside.dedup();
    beside
}

/// That runs, which ought to be alike, are not: throughput or mean vary by more than a tenth.
fn disagreement(all: &[&Report], of: Of) -> Option<String> {
    type Figure = fn(&Report) -> Option<f64>;
    let figures: [(&str, Figure); 2] = [
        ("throughput", |report| report.achieved_rate),
        ("mean response", |report| {
            Some(report.latency.response.as_ref()?.mean_ns)
        }),
    ];
    let varies = |(name, figure): (&str, Figure)| {
        let values: Option<Vec<f64>> = all.iter().map(|report| figure(report)).collect();
        let cv = cv(&values?)?;
        (cv > DISAGREE).then(|| format!("the runs disagree: C_v of the {name} {}", percent(cv)))
    };
    match of {
        Of::Runs => figures.into_iter().find_map(varies),
        // Shards need not have the same share.
        Of::Shards => None,
    }
}

fn cv(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let cv = (squares / (n - 1.0)).sqrt() / mean;
    cv.is_finite().then_some(cv)
}

/// What all say of one bound; `None` if it is of a form that this release does not know.
fn found(parts: &[&Finding], of: Of, merged: &Report) -> Option<Finding> {
    let first = *parts.first()?;
    let slo: Slo = first.bound.parse().ok()?;
    let bound = slo.bounds().first()?;
    let figure = Figure::of(bound, merged);
    let shown = |value: f64| match first.unit.as_str() {
        "share" => percent(value),
        "per_second" => rate(value),
        _ => Ns(value).to_string(),
    };
    let (verdict, reason) = verdict(parts, of, bound, &figure);
    let mut why = match (figure.value, figure.at_least) {
        (None, _) => "nothing was measured".to_owned(),
        (Some(value), true) => format!("at least {}", shown(value)),
        (Some(value), false) => shown(value),
    };
    if let Some([low, high]) = figure.interval {
        let over = match of {
            Of::Runs => "runs",
            Of::Shards => "shards",
        };
        why.push_str(&format!(
            " (95 % interval {} to {}, by sectioning over ten windows, merged over {} {over})",
            shown(low),
            shown(high),
            parts.len()
        ));
    }
    if !reason.is_empty() {
        why.push_str(&format!(": {reason}"));
    }
    let basis = first.basis.clone();
    let is_common = parts.iter().all(|part| part.basis == basis);
    Some(Finding {
        value: figure.value,
        at_least: figure.at_least,
        interval: figure.interval,
        basis: basis.filter(|_| is_common),
        ratio_literal: None,
        ratio_inflation: None,
        verdict: verdict.to_owned(),
        why,
        ..first.clone()
    })
}

fn verdict(parts: &[&Finding], of: Of, bound: &Bound, figure: &Figure) -> (&'static str, String) {
    let each = || parts.iter().map(|part| part.verdict.as_str());
    let told = |verdict, reason: &str| (verdict, reason.to_owned());
    if each().any(|verdict| verdict == "infeasible") {
        return told("infeasible", "an idle service takes longer already");
    }
    let is_rate = matches!(
        bound.statistic,
        Statistic::Achieved | Statistic::GoodputRate
    );
    let is_sum = of == Of::Shards && is_rate;
    let first = worst(each());
    if !is_sum && each().all(|verdict| verdict == first) {
        return match first {
            "inconclusive" => told(first, "no part of it could tell"),
            verdict => told(verdict, ""),
        };
    }
    let limit = parts.first().and_then(|part| part.limit);
    let (Some(value), Some(limit)) = (figure.value, limit) else {
        return told("inconclusive", "");
    };
    if figure.at_least {
        return match bound.statistic {
            Statistic::Mean if value <= limit => told(
                "inconclusive",
                "arrivals that were not served count with the age they had",
            ),
            _ => told("fail", "it falls on arrivals that were not served"),
        };
    }
    let Some([low, high]) = figure.interval else {
        return told(
            "inconclusive",
            "reports do not keep what its interval needs",
        );
    };
    let (is_broken, is_kept) = match bound.statistic.is_at_least() {
        true => (high < limit, low >= limit),
        false => (low > limit, high <= limit),
    };
    match (is_broken, is_kept) {
        (true, _) => told("fail", ""),
        // How much was achieved does not hang on few arrivals, and no shard alone can keep it.
        (_, true) if is_sum || each().any(|verdict| verdict == "pass") => told("pass", ""),
        (_, true) => told("inconclusive", "no part of it had enough data"),
        _ => told("inconclusive", "the interval straddles the bound"),
    }
}

/// A statistic of the merged latencies.
#[derive(Default)]
struct Figure {
    value: Option<f64>,
    at_least: bool,
    interval: Option<[f64; 2]>,
}

impl Figure {
    fn of(bound: &Bound, merged: &Report) -> Self {
        if bound.statistic == Statistic::Achieved {
            let value = merged.achieved_rate.filter(|_| bound.kind.is_none());
            return Figure {
                value,
                at_least: false,
                interval: value.and_then(|value| achieved_interval(value, merged)),
            };
        }
        if let Statistic::Goodput | Statistic::GoodputRate = bound.statistic {
            let per = match bound.statistic {
                Statistic::Goodput => Per::Arrival,
                _ => Per::Second,
            };
            return Figure {
                value: good(bound, merged, per),
                ..Figure::default()
            };
        }
        let kind = bound.kind.as_ref().map(|kind| merged.kinds.get(kind));
        let summary = match kind {
            None => named(&merged.latency, &merged.metrics, bound.metric.name()),
            Some(None) => None,
            Some(Some(kind)) => named(&kind.latency, &kind.metrics, bound.metric.name()),
        };
        let series = summary.and_then(|summary| summary.series().ok());
        let Some(series) = series else {
            return Figure::default();
        };
        let ends = |interval: Option<(f64, f64)>| interval.map(|(low, high)| [low, high]);
        match bound.statistic {
            Statistic::Quantile(q) => {
                let value = series.quantile(q);
                Figure {
                    value: value.map(|value| value.ns() as f64),
                    at_least: value.is_some_and(|value| value.is_lower_bound()),
                    interval: ends(series.interval(q)),
                }
            }
            Statistic::Mean => Figure {
                value: series.whole().mean_ns(),
                at_least: series.whole().at_least.count() > 0,
                interval: ends(series.mean_interval()),
            },
            Statistic::Errors => Figure {
                value: series.error_share(),
                at_least: false,
                interval: ends(series.error_interval()),
            },
            // Younger than this.
            _ => Figure::default(),
        }
    }
}

/// The parts of the steady phase that an interval is taken over.
const SECTIONS: usize = 10;

/// The interval of what was achieved per second: over ten parts of the whole seconds of the steady phase. `None` where
/// there is no timeline, or it has fewer than ten.
fn achieved_interval(achieved: f64, merged: &Report) -> Option<[f64; 2]> {
    let steady = merged.phases.iter().find(|phase| phase.name == "steady")?;
    let timeline = merged.timeline.iter();
    let inside: Vec<_> = timeline
        .filter(|interval| interval.from_ns >= steady.from_ns && interval.to_ns <= steady.to_ns)
        .collect();
    if merged.interrupted || inside.len() < SECTIONS {
        return None;
    }
    let rate = |index: usize| {
        let ends = [index, index + 1].map(|index| index * inside.len() / SECTIONS);
        let part = &inside[ends[0]..ends[1]];
        let ok: u64 = part.iter().map(|interval| interval.ended.ok).sum();
        ok as f64 / part.iter().map(|interval| interval.seconds()).sum::<f64>()
    };
    let rates: Vec<f64> = (0..SECTIONS).map(rate).collect();
    section(achieved, &rates).map(|(low, high)| [low, high])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Per {
    Arrival,
    Second,
}

/// What was good in the steady phase. The count is that of the adapter; without one, all that was served is good.
fn good(bound: &Bound, merged: &Report, per: Per) -> Option<f64> {
    let (counts, latency) = match &bound.kind {
        None => (&merged.counts, &merged.latency),
        Some(kind) => {
            let kind = merged.kinds.get(kind)?;
            (&kind.counts, &kind.latency)
        }
    };
    let served = || latency.response_ok.as_ref().map_or(0, |ok| ok.count);
    let good = counts.get(GOOD).copied().unwrap_or_else(served) as f64;
    let all = match per {
        Per::Arrival => latency.response_slo.as_ref()?.count as f64,
        Per::Second => merged.steady_ns as f64 / 1e9,
    };
    (all > 0.0).then(|| good / all)
}

fn named<'a>(
    latency: &'a Latency,
    metrics: &'a BTreeMap<String, Option<Summary>>,
    name: &str,
) -> Option<&'a Summary> {
    let by_name = latency.by_name();
    match by_name.into_iter().find(|(known, _)| *known == name) {
        Some((_, summary)) => summary,
        None => metrics.get(name)?.as_ref(),
    }
}
