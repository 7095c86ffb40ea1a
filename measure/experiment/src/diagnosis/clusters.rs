//! Whether slow responses come in clusters of time.

use crate::series::Metric;
use crate::sweep::Point;
use openloop_measurer::Quantile;

/// Fewer slow responses say nothing of how they come.
const FEW: u64 = 60;

/// So many slow responses come together, if they do.
const TOGETHER: f64 = 3.0;

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
    slices: u64,
    /// How many stretches of such slices, one after the other, there were.
    pub(super) stretches: u64,
    /// How many there were in each of those.
    pub(super) together: f64,
    /// In how many there would be one, if each response were slow by itself and by chance, over how many there were.
    pub(super) clustering: f64,
}

impl Clusters {
    /// At the lowest threshold at which they are clustered `least` times, and come at least three together; `None` if there
    /// is none. One long request holds up another now and then, and is no pause.
    pub(super) fn of(point: &Point, least: f64) -> Option<Self> {
        let series = point.series(&Metric::ResponseSlo);
        let thresholds = [90, 95, 98, 99].map(|percent| Quantile::new(percent, 100));
        let finer = [995, 998, 999].map(|of_thousand| Quantile::new(of_thousand, 1000));
        let thresholds = thresholds.into_iter().chain(finer).flatten();
        thresholds
            .filter_map(|q| Clusters::above(point, series.quantile(q)?.exact()?))
            .find(|clusters| clusters.clustering >= least && clusters.together >= TOGETHER)
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
        let (mut slices, mut stretches, mut expected) = (0, 0, 0.0);
        for course in point.courses() {
            let mut before = false;
            for slice in course.slices().iter().filter(|slice| slice.arrivals > 0) {
                // Of n by chance none is slow with probability (1 − share)ⁿ.
                expected += 1.0 - (1.0 - share).powf(slice.arrivals as f64);
                let slow = slice.max_ok_ns > ns || slice.not_ok > 0;
                slices += u64::from(slow);
                stretches += u64::from(slow && !before);
                before = slow;
            }
        }
        Some(Clusters {
            above_ns: ns,
            share,
            slices,
            stretches,
            together: slow as f64 / slices.max(1) as f64,
            clustering: expected / slices.max(1) as f64,
        })
    }
}
