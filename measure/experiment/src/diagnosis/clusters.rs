//! Whether slow responses come in clusters of time.

use crate::series::Metric;
use crate::sweep::Point;
use openloop_measurer::Quantile;

/// Fewer slow responses say nothing of how they come.
const FEW: u64 = 60;

/// How many responses at a rate are above `ns`, and how many there are.
pub(super) fn slow(point: &Point, ns: u64) -> (u64, u64) {
    let series = point.series(&Metric::ResponseSlo);
    let whole = series.whole();
    (
        whole.exact.count_above(ns) + whole.at_least.count(),
        whole.count(),
    )
}

/// How the slow responses at a rate are spread over the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clusters {
    /// Above what a response counts as slow, in nanoseconds.
    pub(super) above_ns: u64,
    /// The share of slow responses.
    pub(super) share: f64,
    /// In how many slices of the time there was a slow one.
    pub(super) slices: u64,
    /// In how many there would be one, if each response were slow by itself and by chance, over how many there were.
    pub(super) clustering: f64,
}

impl Clusters {
    /// At the lowest threshold at which they are clustered `least` times; `None` if there is none.
    pub(super) fn of(point: &Point, least: f64) -> Option<Self> {
        let series = point.series(&Metric::ResponseSlo);
        let thresholds = [90, 95, 98, 99].map(|percent| Quantile::new(percent, 100));
        let finer = [995, 998, 999].map(|of_thousand| Quantile::new(of_thousand, 1000));
        let thresholds = thresholds.into_iter().chain(finer).flatten();
        thresholds
            .filter_map(|q| Clusters::above(point, series.quantile(q)?.exact()?))
            .find(|clusters| clusters.clustering >= least)
    }

    /// Above `ns`; `None` where too few are.
    fn above(point: &Point, ns: u64) -> Option<Self> {
        let whole = point.series(&Metric::ResponseSlo).whole().clone();
        let (slow, all) = (
            whole.exact.count_above(ns) + whole.at_least.count(),
            whole.count(),
        );
        if slow < FEW {
            return None;
        }
        let share = slow as f64 / all as f64;
        let (mut slices, mut expected) = (0, 0.0);
        for slice in point.courses().flat_map(|course| course.slices()) {
            // Of n by chance none is slow with probability (1 − share)ⁿ.
            expected += 1.0 - (1.0 - share).powf(slice.arrivals as f64);
            slices += u64::from(slice.max_ok_ns > ns || slice.not_ok > 0);
        }
        Some(Clusters {
            above_ns: ns,
            share,
            slices,
            clustering: expected / slices.max(1) as f64,
        })
    }
}
