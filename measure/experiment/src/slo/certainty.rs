//! How surely bounds are kept: what a search for a capacity goes by.

use super::Evidence;
use super::bound::Statistic;
use super::objective::{Basis, Objective, Term};
use super::subject::Of;
use crate::series::Series;
use crate::stats::{Exceedance, correlated, student, variance_of_point};
use openloop_measurer::{Course, Histogram, Population, Quantile, SLICES, Value};

/// One-sided level of the limits.
const LEVEL: f64 = 0.995;

/// Halvings of the interval in which the upper limit of a quantile lies, on a scale of logarithms.
const HALVINGS: usize = 24;

/// How surely an objective is kept, bound by bound, at the level of 99.5 % on one side. A search looks at many runs, and
/// takes the highest rate that passes: at the 97.5 % of a single judgement every third search would be above the truth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Certainty {
    margins: Vec<Margin>,
}

/// Of one bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margin {
    /// What was measured, over the limit.
    pub(crate) share: f64,
    /// How much more it may be by chance, as a logarithm; infinite where the run is too short to say.
    pub(crate) by_chance: f64,
    /// How much less the limit may be, where it is a multiple of a floor that was measured, as a logarithm.
    pub(crate) of_limit: f64,
}

impl Margin {
    /// The upper confidence limit over the limit: both doubts, which are independent, together.
    pub(crate) fn at_most(&self) -> f64 {
        self.share * self.by_chance.hypot(self.of_limit).exp()
    }
}

impl Margin {
    /// Whether the limit would be in doubt however long the run was.
    pub(crate) fn is_left_open_by_floor(&self) -> bool {
        self.share * self.of_limit.exp() >= 1.0
    }
}

impl Certainty {
    pub(crate) fn of(objective: &Objective<'_>, evidence: &impl Evidence) -> Self {
        let margins = objective.terms.iter().map(|term| {
            let of = Of::find(term, evidence.runs()).ok()?;
            margin(term, &of)
        });
        Certainty {
            margins: margins.flatten().collect(),
        }
    }

    /// Whether every bound is kept for sure.
    pub(crate) fn is_kept(&self) -> bool {
        self.margins.iter().all(|margin| margin.at_most() <= 1.0)
    }

    /// The bound that is nearest to its limit, or furthest beyond it.
    pub(crate) fn tightest(&self) -> Option<&Margin> {
        let margins = self.margins.iter();
        margins.max_by(|a, b| {
            a.at_most()
                .total_cmp(&b.at_most())
                .then(a.share.total_cmp(&b.share))
        })
    }
}

fn margin(term: &Term<'_>, of: &Of<'_>) -> Option<Margin> {
    let limit = term.limit.filter(|limit| *limit > 0.0)?;
    let parts: f64 = of
        .responses()
        .map(|(course, responses)| independent_parts(course, &responses))
        .sum();
    let (value, at_most) = match term.bound.statistic {
        Statistic::Quantile(q) => {
            let Value::Exact(ns) = of.series.quantile(q)? else {
                return None;
            };
            (ns as f64, quantile_at_most(&of.series, q, ns, parts))
        }
        Statistic::Mean => {
            let mean = of.series.whole().mean_ns()?;
            (mean, mean_at_most(of, mean))
        }
        Statistic::Errors => {
            let sections = of.series.windows().iter();
            let sections: Vec<_> = sections
                .map(|section| (section.at_least.count(), section.count()))
                .collect();
            let share = of.series.error_share()?;
            // Where there are none, there is nothing that the queue could have bundled.
            let parts = if share > 0.0 { parts } else { f64::INFINITY };
            let at_most = Exceedance::of(&sections, parts).map(|known| known.at_most());
            // Of none the limit alone speaks.
            let share = share.max(limit * 1e-3);
            (share, at_most)
        }
        // Of what must be at least so much the judgement alone speaks.
        Statistic::Achieved | Statistic::Goodput | Statistic::GoodputRate => return None,
    };
    let by_chance = at_most.map_or(f64::INFINITY, |at_most| (at_most / value).ln().max(0.0));
    Some(Margin {
        share: value / limit,
        by_chance,
        of_limit: term.basis.map_or(0.0, |basis| doubt(&basis, term, limit)),
    })
}

/// The upper limit of a quantile: what is exceeded by no more than its share, for sure. `None` if nothing measured is.
fn quantile_at_most(series: &Series, q: Quantile, ns: u64, parts: f64) -> Option<f64> {
    let share = 1.0 - q.as_f64();
    let is_sure = |ns: u64| {
        let sections = series.windows().iter();
        let sections: Vec<_> = sections
            .map(|section| {
                let above = section.exact.count_above(ns) + section.at_least.count();
                (above, section.count())
            })
            .collect();
        Exceedance::of(&sections, parts).is_some_and(|known| known.at_most() <= share)
    };
    // Those that were not served lie above it.
    let most = series.whole().exact.max_ns()?;
    if !is_sure(most) {
        return None;
    }
    let (mut low, mut high) = (ns as f64, most.max(ns) as f64);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        match is_sure(middle as u64) {
            true => high = middle,
            false => low = middle,
        }
    }
    Some(high)
}

/// The upper limit of a mean, whose error is that of its windows, or of its memory where that says more.
fn mean_at_most(of: &Of<'_>, mean: f64) -> Option<f64> {
    let means = of.series.section_means()?;
    let z = student(LEVEL, means.len() as f64 - 1.0)?;
    let by_windows = variance_of_point(mean, &means);
    let (mut squares, mut arrivals) = (0.0, 0.0);
    for course in of.courses() {
        let deviations = deviations(course);
        let variance: f64 = deviations.iter().map(|x| x * x).sum();
        squares += variance * correlated(&deviations);
        arrivals += arrivals_of(course);
    }
    let by_memory = squares / (arrivals * arrivals);
    // Of other latencies than the response it is as much, relatively.
    let response: f64 = of.courses().map(sum_of_responses).sum::<f64>() / arrivals;
    let relative = (by_windows / mean.powi(2)).max(by_memory / response.powi(2));
    relative
        .is_finite()
        .then(|| mean * (z * relative.sqrt()).exp())
}

fn arrivals_of(course: &Course) -> f64 {
    let arrivals = course.slices().iter().map(|slice| slice.arrivals);
    arrivals.sum::<u64>() as f64
}

fn sum_of_responses(course: &Course) -> f64 {
    let sums = course.slices().iter().map(|slice| slice.response_ns);
    sums.sum::<u128>() as f64
}

/// By how much the responses of each slice exceed what so many have on the average.
fn deviations(course: &Course) -> Vec<f64> {
    let mean = sum_of_responses(course) / arrivals_of(course).max(1.0);
    let slices = course.slices().iter();
    slices
        .map(|slice| slice.response_ns as f64 - mean * slice.arrivals as f64)
        .collect()
}

/// Into how many parts that are independent of each other a steady phase falls, by the memory of its responses: as many
/// independent responses would let the mean scatter as much. At least as many as there are slices that do not resemble
/// each other, and at most as many as there are arrivals.
fn independent_parts(course: &Course, responses: &Population) -> f64 {
    let deviations = deviations(course);
    let memory = correlated(&deviations).max(1.0);
    let n = arrivals_of(course);
    let squares: f64 = deviations.iter().map(|x| x * x).sum();
    let parts = n * n * variance(responses) / (squares * memory);
    parts.max(SLICES as f64 / memory).min(n)
}

fn variance(responses: &Population) -> f64 {
    let n = responses.count() as f64;
    let mean = responses.mean_ns().unwrap_or(0.0);
    let of = |histogram: &Histogram| {
        let (Some(own), Some(spread)) = (histogram.mean_ns(), histogram.stddev_ns()) else {
            return 0.0;
        };
        histogram.count() as f64 * (spread.powi(2) + (own - mean).powi(2))
    };
    (of(&responses.exact) + of(&responses.at_least)) / n.max(1.0)
}

/// How much less a limit may be, as a logarithm, if the floor that it is a multiple of is as much less as its trials
/// allow.
fn doubt(basis: &Basis, term: &Term<'_>, limit: f64) -> f64 {
    if basis.is_noise_floor {
        return 0.0;
    }
    let Some(level) = term.level else {
        return 0.0;
    };
    let least = match (term.bound.statistic, basis.ratio) {
        (Statistic::Quantile(q), crate::floor::Ratio::Inflation) => level.quantile_at_least(q),
        _ => level.mean_at_least(),
    };
    let Some(least) = least else {
        return 0.0;
    };
    let least = basis.times * (least - basis.rtt_ns).max(0.0) + basis.rtt_ns;
    (limit / least).ln().max(0.0)
}
