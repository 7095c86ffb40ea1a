//! Latencies of several reports as those of one: of their merged histograms.

use super::counts::{arrivals, counts, outcomes};
use super::{MergeError, Of, each, sum};
use crate::Report;
use crate::schema::{Kind, Latency, Summary, WorstStretch, WorstWindow, finite};
use openloop_experiment::Series;
use openloop_measurer::Population;
use std::collections::{BTreeMap, BTreeSet};

type Metrics = BTreeMap<String, Option<Summary>>;

pub(super) fn kinds(all: &[&Report], scheduled: u64) -> Result<BTreeMap<String, Kind>, MergeError> {
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
pub(super) fn latency(kind: &str, all: &[&Latency]) -> Result<Latency, MergeError> {
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

pub(super) fn metrics(kind: &str, all: &[&Metrics]) -> Result<Metrics, MergeError> {
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

/// The worst ten seconds that any of several runs had.
pub(super) fn worst_stretch(all: &[&Report]) -> Option<WorstStretch> {
    let worst = all
        .iter()
        .filter_map(|report| report.worst_stretch.as_ref());
    let is_bound = |stretch: &WorstStretch| stretch.at_least.contains("p99_ns");
    worst
        .max_by_key(|stretch| (is_bound(stretch), stretch.p99_ns))
        .cloned()
}

/// The worst tenth: of shards, of their common tenths; of runs, the worst that any had.
pub(super) fn worst(
    all: &[&Report],
    of: Of,
    latency: &Latency,
) -> Result<Option<WorstWindow>, MergeError> {
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
