//! Quantiles of the distributions that intervals and tests are made of.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, StudentsT};

/// Below this lie the share `p` of values of Student's t with `freedom` degrees of freedom, which need not be whole.
/// `None` where there is no such distribution.
pub(crate) fn student(p: f64, freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(p))
}

/// The same of χ².
pub(crate) fn chi_squared(p: f64, freedom: f64) -> Option<f64> {
    Some(ChiSquared::new(freedom).ok()?.inverse_cdf(p))
}

/// The share of values of F with these degrees of freedom that lie above `value`.
pub(crate) fn fisher_above(value: f64, numerator: f64, denominator: f64) -> Option<f64> {
    Some(FisherSnedecor::new(numerator, denominator).ok()?.sf(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!(
            (value / expected - 1.0).abs() < 1e-6,
            "{value} for {expected}"
        );
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        near(student(0.975, 2.0), 4.302_652_729_911_275);
        near(student(0.975, 9.0), 2.262_157_162_740_992);
        near(student(0.99, 18.0), 2.552_379_630_179_453);
        near(student(0.975, 1.0), 12.706_204_736_432_1);
        let between = student(0.975, 9.5).unwrap();
        assert!((2.228_2..2.262_1).contains(&between), "{between}");
        // χ² with two degrees of freedom is exponential with mean 2.
        near(chi_squared(0.975, 2.0), -2.0 * 0.025_f64.ln());
        near(chi_squared(0.025, 4.0), 0.484_418_557_087_930_5);
        // With two degrees above, F has the closed form (1 + 2x/d)^(-d/2).
        near(
            fisher_above(5.0, 2.0, 27.0),
            (1.0 + 10.0 / 27.0_f64).powf(-13.5),
        );
        assert_eq!(student(0.975, 0.0), None);
    }
}
