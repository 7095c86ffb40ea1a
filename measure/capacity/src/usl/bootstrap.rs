//! How far parameters of a fit are to be trusted.

use super::Usl;
use super::least_squares::{Row, solve};
use std::f64::consts::TAU;

const REPLICATES: usize = 1000;
const SEED: u64 = 0x7573_6c20_6669_7473;

/// SplitMix64 (G. L. Steele et al., 2014): all that a bootstrap needs, and the same on every machine.
struct Draws(u64);

impl Draws {
    /// A number in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / 9_007_199_254_740_992.0
    }

    /// A standard normal number (G. E. P. Box, M. E. Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// Curves fitted to what might as well have been measured, if `curve` were the truth and relative errors had the
/// standard deviation `error` at weight 1, itself known from `freedom` differences alone.
///
/// The scale of each replicate is drawn as well, error · √(freedom/χ²): with normal errors and parameters off their
/// bounds, the intervals are then those of Student's t, right for few points too.
pub(super) fn replicates(rows: &[Row], curve: Usl, error: f64, freedom: usize) -> Vec<Usl> {
    let mut draws = Draws(SEED);
    let mut drawn = rows.to_vec();
    (0..REPLICATES)
        .map(|_| {
            let square: f64 = (0..freedom).map(|_| draws.normal().powi(2)).sum();
            let scale = error * (freedom as f64 / square).sqrt();
            for (row, measured) in drawn.iter_mut().zip(rows) {
                let relative = 1.0 + scale / measured.weight.sqrt() * draws.normal();
                // N/X is what is fitted, so that is what errs; a throughput is positive.
                row.throughput = curve.at(row.load) / relative.clamp(0.05, 20.0);
            }
            solve(&drawn).0
        })
        .collect()
}
