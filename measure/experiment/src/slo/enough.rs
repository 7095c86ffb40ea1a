//! Whether the data are enough to tell.

use super::bound::Statistic;
use super::subject::Of;
use crate::series::Metric;
use crate::validity::EXCURSIONS;

impl Of<'_> {
    /// Which length would tell, if the figure stays where it is.
    pub(super) fn longer(&self, value: f64, limit: f64, width: f64) -> String {
        let factor = (width / 2.0 / (limit - value).abs()).powi(2);
        let needed = self.steady_seconds() * factor;
        match factor.is_finite() && factor < 1000.0 {
            true => format!(
                ": a steady phase of about {needed:.0} s would tell, if it stays where it is"
            ),
            false => ", and it lies on it: no length would tell".to_owned(),
        }
    }

    /// Why the data do not resolve a figure that seems to keep its bound; `None` if they do.
    pub(super) fn too_few(&self, value: f64, limit: f64) -> Option<String> {
        let q = match self.term.bound.statistic {
            Statistic::Quantile(q) => q,
            Statistic::Errors => return self.too_few_for_errors(value, limit),
            // What is not good is counted like what was not served.
            Statistic::Goodput => return self.too_few_for_errors(1.0 - value, 1.0 - limit),
            Statistic::Mean | Statistic::Achieved | Statistic::GoodputRate => return None,
        };
        let above: u64 = match self.term.bound.metric {
            Metric::Response | Metric::ResponseOk | Metric::ResponseSlo => self
                .courses()
                .map(|course| course.excursions_above(value as u64))
                .sum(),
            // Of other metrics there is no course in time: single values are counted instead.
            _ => {
                let n = self.series.whole().count();
                n - q.rank(n)
            }
        };
        if above >= EXCURSIONS {
            return None;
        }
        // Each excursion is an arrival at least: of fewer arrivals than this there cannot be enough.
        let arrivals = self.scheduled() as f64 * (1.0 - q.as_f64());
        let by_arrivals = EXCURSIONS as f64 / arrivals;
        let (how, factor) = match above {
            0 => ("at least", by_arrivals),
            above => ("about", by_arrivals.max(EXCURSIONS as f64 / above as f64)),
        };
        let needed = (self.steady_seconds() * factor).ceil();
        Some(match needed.is_finite() {
            true => format!(
                "only {above} separate excursion{} above it and {EXCURSIONS} are needed: a steady phase of {how} {needed:.0} s would do",
                if above == 1 { " lies" } else { "s lie" }
            ),
            false => "nothing lies above the largest, so no length would tell: bound a quantile such as p99.9".to_owned(),
        })
    }

    /// Without an error among n arrivals, their share may still be up to 3/n (at 95 %).
    fn too_few_for_errors(&self, share: f64, limit: f64) -> Option<String> {
        let n = self.scheduled() as f64;
        let needed = (3.0 / limit).ceil();
        (share == 0.0 && limit > 0.0 && n < needed).then(|| {
            format!("none among {n:.0} arrivals says no more than that: {needed:.0} are needed")
        })
    }
}
