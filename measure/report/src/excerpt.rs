//! Part of a run.

use crate::Report;
use crate::schema::{StoredError, Summary};
use openloop_experiment::Series;
use std::collections::BTreeMap;
use std::ops::Range;

/// The latencies of whole windows of a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Excerpt {
    /// From the start of the first window that was taken, in nanoseconds of the run.
    pub from_ns: u64,
    /// To the end of the last.
    pub to_ns: u64,
    /// The latencies by name, stages among them: those whose windows are in the report.
    pub latencies: BTreeMap<String, Summary>,
}

/// Why there is no such part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExcerptError {
    /// The report has no windows.
    #[error("the report has no windows: only reports of runs with a steady phase have them")]
    NoWindows,
    /// No window lies in it.
    #[error(
        "no whole window of the report lies there: its windows are {} s long, from {} s to {} s of the run",
        seconds(*length_ns), seconds(*from_ns), seconds(*to_ns)
    )]
    Nothing {
        /// The start of the first window.
        from_ns: u64,
        /// The end of the last.
        to_ns: u64,
        /// The length of each.
        length_ns: u64,
    },
    /// The histograms cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Report {
    /// The latencies of those windows that lie whole in `range`, in nanoseconds of the run. The steady phase has ten.
    ///
    /// # Errors
    /// When there are none, or their histograms cannot be read.
    pub fn excerpt(&self, range: Range<u64>) -> Result<Excerpt, ExcerptError> {
        let steady = self.phases.iter().find(|phase| phase.name == "steady");
        let (from, to) = steady
            .map(|phase| (phase.from_ns, phase.to_ns))
            .ok_or(ExcerptError::NoWindows)?;
        let latencies = self.latency.by_name().into_iter();
        let latencies = latencies.filter_map(|(name, summary)| Some((name, summary?)));
        let metrics = self
            .metrics
            .iter()
            .filter_map(|(name, summary)| Some((name.as_str(), summary.as_ref()?)));
        let with_windows = |(_, summary): &(&str, &Summary)| !summary.windows.is_empty();
        let all: Vec<(&str, &Summary)> = latencies.chain(metrics).filter(with_windows).collect();
        let count = all
            .iter()
            .map(|(_, summary)| summary.windows.len())
            .max()
            .ok_or(ExcerptError::NoWindows)?;
        let length = u128::from(to.saturating_sub(from));
        let edge = |index: usize| {
            let into = (index as u128 * length).div_ceil(count as u128);
            u64::try_from(u128::from(from) + into).unwrap_or(u64::MAX)
        };
        let within: Vec<usize> = (0..count)
            .filter(|index| range.start <= edge(*index) && edge(index + 1) <= range.end)
            .collect();
        let (Some(first), Some(last)) = (within.first(), within.last()) else {
            return Err(ExcerptError::Nothing {
                from_ns: from,
                to_ns: to,
                length_ns: edge(1).saturating_sub(from),
            });
        };
        let mut latencies = BTreeMap::new();
        for (name, summary) in all {
            let series = summary.series()?;
            let windows = series.windows().iter().enumerate();
            let windows = windows.filter(|(index, _)| within.contains(index));
            let part = Series::of_windows(windows.map(|(_, window)| window.clone()).collect());
            if let Some(part) = Summary::without_windows(&part) {
                latencies.insert(name.to_owned(), part);
            }
        }
        Ok(Excerpt {
            from_ns: edge(*first),
            to_ns: edge(last + 1),
            latencies,
        })
    }
}
