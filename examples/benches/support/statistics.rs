//! The few statistics that the tables are made of.

use openloop_measurer::Quantile;

/// The quantile `q` of values in ascending order: the one of rank max(1, ⌈q·n⌉). 0 where there are none.
pub(crate) fn quantile(ascending: &[u64], q: Quantile) -> u64 {
    let rank = q.rank(ascending.len() as u64) as usize;
    ascending.get(rank - 1).copied().unwrap_or(0)
}

/// The median; NaN where there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    // Of an even number, half way between the middle two.
    let lower = upper.saturating_sub(usize::from(values.len().is_multiple_of(2)));
    match (values.get(lower), values.get(upper)) {
        (Some(lower), Some(upper)) => lower.midpoint(*upper),
        _ => f64::NAN,
    }
}

/// The gaps between instants, in ascending order.
#[derive(Debug)]
pub(crate) struct Gaps(Vec<u64>);

impl Gaps {
    /// Between instants in nanoseconds; the first second and the last 0.2 s are left out.
    pub(crate) fn of(mut instants_ns: Vec<u64>) -> Self {
        const HEAD_NS: u64 = 1_000_000_000;
        const TAIL_NS: u64 = 200_000_000;
        instants_ns.sort_unstable();
        let from = instants_ns.first().map_or(0, |first| first + HEAD_NS);
        let to = instants_ns
            .last()
            .map_or(0, |last| last.saturating_sub(TAIL_NS));
        instants_ns.retain(|at| (from..to).contains(at));
        let mut gaps: Vec<u64> = instants_ns
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        gaps.sort_unstable();
        Gaps(gaps)
    }

    pub(crate) fn quantile_us(&self, q: Quantile) -> f64 {
        quantile(&self.0, q) as f64 / 1e3
    }

    pub(crate) fn max_us(&self) -> f64 {
        self.0.last().copied().unwrap_or(0) as f64 / 1e3
    }

    /// Coefficient of variation, standard deviation over mean: 0 for an even flow, 1 for a Poisson one.
    pub(crate) fn variation(&self) -> f64 {
        let n = self.0.len() as f64;
        let mean = self.0.iter().sum::<u64>() as f64 / n;
        let squares = self.0.iter().map(|gap| (*gap as f64 - mean).powi(2));
        (squares.sum::<f64>() / n).sqrt() / mean
    }
}
