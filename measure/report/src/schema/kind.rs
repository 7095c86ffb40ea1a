//! The arrivals of one kind of request.

use super::{Arrivals, Latency, Summary, finite};
use openloop_experiment::{Metric, Run};
use openloop_measurer as measurer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What stands for the arrivals without a label among [`Report::kinds`](crate::Report::kinds), of a run that has kinds:
/// no kind can be called so.
pub const UNLABELLED: &str = "";

/// The arrivals of one kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Kind {
    /// Its part of all arrivals of the run, from 0 to 1; `None` if there were none at all.
    #[serde(default)]
    pub share: Option<f64>,
    /// Of the whole run. Over all kinds they add up to those of the report.
    pub arrivals: Arrivals,
    /// Of the whole run, by outcome and class, as in the report.
    #[serde(default)]
    pub outcomes: BTreeMap<String, BTreeMap<String, u64>>,
    /// Of the steady phase.
    pub latency: Latency,
    /// Named durations of the steady phase.
    #[serde(default)]
    pub metrics: BTreeMap<String, Option<Summary>>,
    /// Named counts of the steady phase, summed over arrivals.
    #[serde(default)]
    pub counts: BTreeMap<String, u64>,
}

impl Kind {
    /// Every kind of `run` by its name, and what had no label if anything had none; nothing of a run without kinds.
    pub(crate) fn all(run: &Run) -> BTreeMap<String, Kind> {
        let kinds = run.plan().kinds();
        let mut all: BTreeMap<_, _> = kinds
            .iter()
            .map(|(kind, name)| (name.to_owned(), Kind::of(run, Some(kind))))
            .collect();
        if !kinds.is_empty() {
            let unlabelled = Kind::of(run, None);
            if unlabelled.arrivals.scheduled > 0 {
                all.insert(UNLABELLED.to_owned(), unlabelled);
            }
        }
        all
    }

    fn of(run: &Run, kind: Option<measurer::Kind>) -> Self {
        let of_kind = run.snapshot().of_kind(kind);
        let (counts, all) = (of_kind.counts(), run.snapshot().counts());
        let steady = of_kind.steady();
        Kind {
            share: finite(counts.scheduled as f64 / all.scheduled as f64),
            arrivals: counts.into(),
            outcomes: by_class(of_kind.outcomes()),
            latency: Latency::of_kind(|metric| run.series_of(kind, &metric)),
            metrics: metrics(&steady, |metric| {
                Summary::without_windows(&run.series_of(kind, &metric))
            }),
            counts: named(&steady),
        }
    }
}

/// Outcomes that have classes, by outcome and class.
pub(crate) fn by_class(
    outcomes: impl Iterator<Item = (measurer::Outcome, u64)>,
) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut by_class: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (outcome, count) in outcomes {
        if let Some(class) = outcome.class() {
            let classes = by_class.entry(outcome.name().to_owned()).or_default();
            *classes.entry(class.to_owned()).or_default() += count;
        }
    }
    by_class
}

/// The named durations of a section.
pub(crate) fn metrics(
    section: &measurer::Section,
    summary: impl Fn(Metric) -> Option<Summary>,
) -> BTreeMap<String, Option<Summary>> {
    let summary = |name: &str| summary(Metric::Named(name.to_owned()));
    section
        .metrics()
        .map(|(name, _)| (name.to_owned(), summary(name)))
        .collect()
}

/// The named counts of a section.
pub(crate) fn named(section: &measurer::Section) -> BTreeMap<String, u64> {
    section
        .counts()
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}
