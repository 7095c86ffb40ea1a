//! The curve through measured points.

use super::curve::check_load;
use super::least_squares::{Row, solve};
use super::{Usl, bootstrap};
use crate::{CapacityError, Goodness, Interval, check};

/// Points beyond this are more than a fit needs, and its intervals would take minutes.
const MOST: usize = 10_000;

/// Parameters of the law.
const PARAMETERS: usize = 3;

/// A measured point: the throughput at a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslPoint {
    row: Row,
}

impl UslPoint {
    /// The throughput, per second, at the load N ≥ 1, with weight 1.
    ///
    /// # Errors
    /// When `load` is not from 1 to 10³⁰ or `throughput` not from 10⁻³⁰ to 10³⁰.
    pub fn new(load: f64, throughput: f64) -> Result<Self, CapacityError> {
        Self::weighted(load, throughput, 1.0)
    }

    /// The same with a weight: 1 over the square of its *relative* error, in any unit; so twice for two runs.
    ///
    /// # Errors
    /// As [`UslPoint::new`], and when `weight` is not from 10⁻³⁰ to 10³⁰.
    pub fn weighted(load: f64, throughput: f64, weight: f64) -> Result<Self, CapacityError> {
        Ok(UslPoint {
            row: Row {
                load: check_load(load)?,
                throughput: check::positive("the throughput", throughput)?,
                weight: check::positive("the weight", weight)?,
            },
        })
    }
}

/// A fitted curve, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UslFit {
    /// The curve of least squares.
    pub curve: Usl,
    /// γ, throughput at N = 1, per second.
    pub single: Interval,
    /// σ.
    pub contention: Interval,
    /// κ.
    pub coherence: Interval,
    /// N*, the load of the highest throughput. Where its upper end is infinite or far above the loads measured, no
    /// peak has been seen.
    pub peak_load: Interval,
    /// The relative error of a point of weight 1 about the curve, √(Σ w e² / (n − 3)). Where it is well above what
    /// repeated runs at one load differ by, the law does not describe the service.
    pub relative_error: f64,
    /// What that error says of the fit, in a word.
    pub goodness: Goodness,
}

/// Between the values that one in forty is below, and one in forty above.
fn interval(mut values: Vec<f64>) -> Interval {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = (share * values.len() as f64).ceil() as usize;
        values
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or(f64::NAN)
    };
    Interval {
        lower: at(0.025),
        upper: at(0.975),
    }
}

/// The curve of the universal scalability law through `points`.
///
/// Weighted least squares of *relative* errors of N/X, which is linear in 1/γ, σ/γ and κ/γ, with γ > 0, 0 ≤ σ ≤ 1 and
/// κ ≥ 0. Intervals of 95 % from 1000 parametric bootstrap replicates with a fixed seed: normal errors of the size that
/// the residuals have, that size drawn anew as Student's t has it; so the same points give the same intervals.
/// Errors of the points are assumed to be independent.
///
/// ```
/// use openloop_capacity::usl::{self, UslPoint};
///
/// let measured = [(1.0, 995.0), (2.0, 1930.0), (4.0, 3700.0), (8.0, 6500.0), (16.0, 10_400.0), (32.0, 14_800.0)];
/// let points = measured.map(|(load, throughput)| UslPoint::new(load, throughput));
/// let fit = usl::fit(&points.into_iter().collect::<Result<Vec<_>, _>>()?)?;
/// assert!(fit.contention.holds(0.03) && fit.relative_error < 0.02);
/// # Ok::<(), openloop_capacity::CapacityError>(())
/// ```
///
/// # Errors
/// When there are fewer than 4 points, more than 10 000, or fewer than 3 different loads.
pub fn fit(points: &[UslPoint]) -> Result<UslFit, CapacityError> {
    let rows: Vec<Row> = points.iter().map(|point| point.row).collect();
    let mut loads: Vec<f64> = rows.iter().map(|row| row.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if points.len() <= PARAMETERS || points.len() > MOST || loads.len() < PARAMETERS {
        return Err(CapacityError::Points {
            curve: "scalability curve",
            points: points.len(),
            loads: loads.len(),
            needed: "4 to 10000 points, at 3 or more different loads",
        });
    }
    let freedom = points.len() - PARAMETERS;
    let (curve, squares) = solve(&rows);
    let relative_error = (squares / freedom as f64).sqrt();
    let others = bootstrap::replicates(&rows, curve, relative_error, freedom);
    let spread = |of: fn(&Usl) -> f64| interval(others.iter().map(of).collect());
    Ok(UslFit {
        curve,
        single: spread(Usl::single),
        contention: spread(Usl::contention),
        coherence: spread(Usl::coherence),
        peak_load: spread(|curve| curve.peak_load().unwrap_or(f64::INFINITY)),
        relative_error,
        goodness: Goodness::of(relative_error),
    })
}
