//! A quantile and the windows that say how well it is known.

use crate::Run;
use crate::series::{Metric, Series};
use openloop_measurer::{Population, Quantile, WINDOWS};

/// A quantile of a whole, and the same of each of its ten windows: what a stored result needs to have, so that a later
/// one can be held against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    whole_ns: f64,
    windows_ns: Vec<f64>,
    is_lower_bound: bool,
}

/// Why there is no figure to compare.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// Not ten windows.
    #[error("{0} windows do not do: a comparison needs the ten of a steady phase")]
    Windows(usize),
    /// A time of no length, or none.
    #[error("a latency of {0} ns cannot be compared by its ratio: it has to be above zero")]
    NotPositive(f64),
    /// A window without data.
    #[error(
        "a tenth of the steady phase has no arrival of that metric: make it longer, or the rate higher"
    )]
    Empty,
    /// No such kind of request.
    #[error("there is no kind of request \"{0}\"")]
    UnknownKind(String),
    /// No run at all.
    #[error("there is no run")]
    NoRun,
}

impl Figure {
    /// A figure from a stored result: the quantile of the whole, and that of each of the ten windows of the steady
    /// phase, in nanoseconds.
    ///
    /// # Errors
    /// Unless there are ten windows and everything is above zero.
    pub fn new(whole_ns: f64, windows_ns: Vec<f64>) -> Result<Self, FigureError> {
        if windows_ns.len() != WINDOWS {
            return Err(FigureError::Windows(windows_ns.len()));
        }
        let all = windows_ns.iter().chain([&whole_ns]);
        let unfit = |ns: &&f64| !(ns.is_finite() && **ns > 0.0);
        if let Some(ns) = all.copied().find(|ns| unfit(&ns)) {
            return Err(FigureError::NotPositive(ns));
        }
        Ok(Figure {
            whole_ns,
            windows_ns,
            is_lower_bound: false,
        })
    }

    /// The same where the quantile falls on arrivals that were not served, so that it is at least that.
    #[must_use]
    pub fn at_least(mut self) -> Self {
        self.is_lower_bound = true;
        self
    }

    /// A figure from the histograms of the ten windows.
    ///
    /// # Errors
    /// Unless there are ten, none is empty, and the quantile is above zero.
    pub fn of_windows(windows: &[Population], q: Quantile) -> Result<Self, FigureError> {
        let mut whole = Population::new();
        for window in windows {
            whole.merge(window);
        }
        let value = whole.quantile(q).ok_or(FigureError::Empty)?;
        let of = |window: &Population| Some(window.quantile(q)?.ns() as f64);
        let windows: Option<Vec<f64>> = windows.iter().map(of).collect();
        let figure = Figure::new(value.ns() as f64, windows.ok_or(FigureError::Empty)?)?;
        Ok(match value.is_lower_bound() {
            true => figure.at_least(),
            false => figure,
        })
    }

    pub(super) fn of(
        runs: &[Run],
        metric: &Metric,
        kind: Option<&str>,
        q: Quantile,
    ) -> Result<Self, FigureError> {
        let series = |run: &Run| match kind {
            None => Ok(run.series(metric)),
            Some(name) => match run.plan().kinds().get(name) {
                Some(kind) => Ok(run.series_of(kind, metric)),
                None => Err(FigureError::UnknownKind(name.to_owned())),
            },
        };
        let runs: Vec<Series> = runs.iter().map(series).collect::<Result<_, _>>()?;
        if runs.is_empty() {
            return Err(FigureError::NoRun);
        }
        Figure::of_windows(&Series::merged_windows(&runs), q)
    }

    /// The quantile of the whole, in nanoseconds.
    #[must_use]
    pub fn whole_ns(&self) -> f64 {
        self.whole_ns
    }

    /// That of each window.
    #[must_use]
    pub fn windows_ns(&self) -> &[f64] {
        &self.windows_ns
    }

    /// Whether the quantile falls on arrivals that were not served.
    #[must_use]
    pub fn is_lower_bound(&self) -> bool {
        self.is_lower_bound
    }

    /// The logarithms of both.
    pub(super) fn logs(&self) -> (f64, Vec<f64>) {
        let windows = self.windows_ns.iter().map(|ns| ns.ln());
        (self.whole_ns.ln(), windows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_is_refused() {
        assert_eq!(Figure::new(1.0, vec![1.0; 9]), Err(FigureError::Windows(9)));
        let zero = Figure::new(1.0, [vec![1.0; 9], vec![0.0]].concat());
        assert_eq!(zero, Err(FigureError::NotPositive(0.0)));
        assert!(Figure::new(f64::NAN, vec![1.0; 10]).is_err());
        let empty = Figure::of_windows(&vec![Population::new(); 10], Quantile::P50);
        assert_eq!(empty, Err(FigureError::Empty));
    }
}
