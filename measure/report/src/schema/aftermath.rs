//! What was left over, and whether more came than was served.

use super::LowerBounds;
use openloop_experiment::{Metric, Run};
use openloop_measurer::{Population, Quantile, Value};
use serde::{Deserialize, Serialize};

/// What was found after the drain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Health {
    /// Whether nothing was left over and the user's own check, if any, found nothing.
    pub healthy: bool,
    /// Arrivals still unfinished when the drain ended.
    pub abandoned: u64,
    /// Open file descriptors more than before the run. Connections that a client keeps open are among them.
    pub descriptors_left: Option<i64>,
    /// Whether the user's own check passed; `None` without one.
    pub check: Option<bool>,
    /// What it said is wrong.
    pub check_error: Option<String>,
}

impl Health {
    pub(crate) fn of(run: &Run) -> Self {
        let health = run.health();
        Health {
            healthy: health.is_healthy(),
            abandoned: health.abandoned,
            descriptors_left: health.descriptors_left,
            check: health.check.as_ref().map(Result::is_ok),
            check_error: health
                .check
                .as_ref()
                .and_then(|check| check.as_ref().err().cloned()),
        }
    }
}

/// Whether more came than was served: Kendall's τ over twelve parts of the steady phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Backlog {
    /// Whether the responses and the number in flight both rose significantly.
    pub grows: bool,
    /// By how many the number in flight grew per second.
    pub per_second: f64,
    /// Kendall's τ of the mean responses.
    pub response_tau: f64,
    /// Its two-sided p-value.
    pub response_p: f64,
    /// Kendall's τ of the mean numbers in flight.
    pub in_flight_tau: f64,
    /// Its two-sided p-value.
    pub in_flight_p: f64,
}

impl Backlog {
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let backlog = run.backlog()?;
        let figures = [
            backlog.per_second,
            backlog.response_tau,
            backlog.response_p,
            backlog.in_flight_tau,
            backlog.in_flight_p,
        ];
        figures.iter().all(|x| x.is_finite()).then_some(Backlog {
            grows: backlog.grows,
            per_second: backlog.per_second,
            response_tau: backlog.response_tau,
            response_p: backlog.response_p,
            in_flight_tau: backlog.in_flight_tau,
            in_flight_p: backlog.in_flight_p,
        })
    }
}

/// The tenth of the steady phase with the highest 99th percentile of the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WorstWindow {
    /// First instant, in nanoseconds of the run.
    pub from_ns: u64,
    /// First instant after it.
    pub to_ns: u64,
    /// How many arrivals it had.
    pub count: u64,
    /// The 99th percentile of their response.
    pub p99_ns: u64,
    /// Whether that is a lower bound.
    pub at_least: LowerBounds,
}

impl WorstWindow {
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let steady = run.snapshot().layout().steady();
        let response = run.series(&Metric::Response);
        let (from_ns, to_ns) = (steady.from.as_nanos(), steady.to.as_nanos());
        WorstWindow::among(response.windows(), from_ns, to_ns)
    }

    /// Among windows of equal length of the steady phase.
    pub(crate) fn among(windows: &[Population], from_ns: u64, to_ns: u64) -> Option<Self> {
        let length = u128::from(to_ns.saturating_sub(from_ns));
        let edge = |index: usize| {
            // The first instant that belongs to the window.
            let into = (index as u128 * length).div_ceil(windows.len().max(1) as u128);
            u64::try_from(u128::from(from_ns) + into).unwrap_or(u64::MAX)
        };
        windows
            .iter()
            .enumerate()
            .filter_map(|(index, response)| {
                Some((index, response.count(), response.quantile(Quantile::P99)?))
            })
            // The earliest of equals; a lower bound is worse than anything measured.
            .rev()
            .max_by_key(|(_, _, p99)| (p99.is_lower_bound(), Value::ns(*p99)))
            .map(|(index, count, p99)| {
                let mut at_least = LowerBounds::default();
                let p99_ns = at_least.note("p99_ns", p99);
                WorstWindow {
                    from_ns: edge(index),
                    to_ns: edge(index + 1),
                    count,
                    p99_ns,
                    at_least,
                }
            })
    }
}
