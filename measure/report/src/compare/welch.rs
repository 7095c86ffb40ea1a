//! Whether two means of windows differ.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// False alarms: the share of comparisons of equals that find a difference.
const FALSE_ALARMS: f64 = 0.02;

/// A difference and the interval in which it lies but for the share of false alarms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) point: f64,
    pub(super) interval: [f64; 2],
}

/// Of a statistic of two whole runs that differ by `point`, from the same statistic of their windows, by Welch's test:
///
/// point ± t_ν · √(s²ₐ/n + s²ᵦ/m), with the degrees of freedom ν of Welch and Satterthwaite.
///
/// `None` unless there are two windows of each.
pub(super) fn difference(point: f64, a: &[f64], b: &[f64]) -> Option<Difference> {
    let (of_a, of_b) = (of_mean(a)?, of_mean(b)?);
    let both = of_a + of_b;
    if both == 0.0 {
        return Some(Difference {
            point,
            interval: [point; 2],
        });
    }
    let part = |of: f64, n: usize| of * of / (n as f64 - 1.0);
    let freedom = both * both / (part(of_a, a.len()) + part(of_b, b.len()));
    let t = StudentsT::new(0.0, 1.0, freedom)
        .ok()?
        .inverse_cdf(1.0 - FALSE_ALARMS / 2.0);
    let half = t * both.sqrt();
    let interval = [point - half, point + half];
    interval
        .iter()
        .all(|end| end.is_finite())
        .then_some(Difference { point, interval })
}

/// The variance of the mean of `values`.
fn of_mean(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (n - 1.0) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_formula() {
        let a = [9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0];
        let b = a.map(|x| x + 1.0);
        let found = difference(1.0, &a, &b).unwrap();
        // Each mean has the variance 10/9/10; with equal variances, there are 18 degrees of freedom.
        let half = 2.552_379_630_179_453 * (2.0_f64 / 9.0).sqrt();
        assert!((found.interval[1] - 1.0 - half).abs() < 1e-6, "{found:?}");
        assert!((1.0 - found.interval[0] - half).abs() < 1e-6, "{found:?}");
        assert_eq!(difference(0.0, &a, &[1.0]), None);
    }

    #[test]
    fn windows_that_are_all_alike_leave_no_doubt() {
        let found = difference(0.5, &[1.0; 10], &[1.5; 10]).unwrap();
        assert_eq!(found.interval, [0.5, 0.5]);
    }
}
