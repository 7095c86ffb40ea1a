//! How much the same figure varies from run to run.

use super::chi_squared;

/// The coefficient of variation of one figure over several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// Standard deviation over mean, σ/μ, with n − 1 in the denominator of σ².
    pub cv: f64,
    /// Its 95 % confidence interval, if runs scatter normally. Three runs tell it from half to six times only.
    pub interval: (f64, f64),
}

impl Variation {
    /// Of `values`; `None` of fewer than two, or where their mean is not above zero.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.len() < 2 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        if mean <= 0.0 || !mean.is_finite() {
            return None;
        }
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let freedom = n - 1.0;
        let cv = (squares / freedom).sqrt() / mean;
        let end = |p| Some(cv * (freedom / chi_squared(p, freedom)?).sqrt());
        Some(Variation {
            cv,
            interval: (end(0.975)?, end(0.025)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_runs_tell_little() {
        let variation = Variation::of(&[97.0, 100.0, 103.0]).unwrap();
        assert!((variation.cv - 0.03).abs() < 1e-12);
        // √(2 / 7.378) and √(2 / 0.0506).
        assert!((variation.interval.0 / 0.03 - 0.5207).abs() < 1e-3);
        assert!((variation.interval.1 / 0.03 - 6.285).abs() < 1e-2);
        assert_eq!(Variation::of(&[1.0]), None);
        assert_eq!(Variation::of(&[0.0, 0.0]), None);
    }
}
