//! Whether two figures differ, by the windows of both.

use super::{student, variance_of_point};

/// A difference of two figures, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) point: f64,
    /// Half the width of its confidence interval.
    pub(crate) half: f64,
}

/// The difference b − a of the same statistic of two independent wholes, each with the same statistic of its windows,
/// after Welch: half-width t_ν · √(v_a + v_b), where v is the [variance of the point](variance_of_point) and
///
/// ν = (v_a + v_b)² / (v_a² / (n_a − 1) + v_b² / (n_b − 1)).
///
/// `noise` is the variance that each point has by the resolution of its histogram alone. `level` is the probability of a
/// difference outside the interval where there is none. `None` of fewer than three windows.
pub(crate) fn welch(
    a: (f64, &[f64]),
    b: (f64, &[f64]),
    noise: f64,
    level: f64,
) -> Option<Difference> {
    if a.1.len() < 3 || b.1.len() < 3 {
        return None;
    }
    let of = |(point, windows): (f64, &[f64])| {
        let variance = variance_of_point(point, windows) + noise;
        (variance, variance.powi(2) / (windows.len() as f64 - 1.0))
    };
    let ((v_a, f_a), (v_b, f_b)) = (of(a), of(b));
    let freedom = (v_a + v_b).powi(2) / (f_a + f_b);
    Some(Difference {
        point: b.0 - a.0,
        half: student(1.0 - level / 2.0, freedom)? * (v_a + v_b).sqrt(),
    })
}

/// The same where the windows of both are paired: each pair under the same arrivals. `differences` are those of the
/// pairs.
pub(crate) fn paired(
    point: f64,
    differences: &[f64],
    noise: f64,
    level: f64,
) -> Option<Difference> {
    if differences.len() < 3 {
        return None;
    }
    let variance = variance_of_point(point, differences) + 2.0 * noise;
    let freedom = differences.len() as f64 - 1.0;
    Some(Difference {
        point,
        half: student(1.0 - level / 2.0, freedom)? * variance.sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_formula_of_welch() {
        // s² = 2.5 and 10, n = 5: v = 0.5 and 2, ν = 6.25 / (0.0625 + 1) = 5.882.
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let b = [2.0, 4.0, 6.0, 8.0, 10.0];
        let difference = welch((3.0, &a), (6.0, &b), 0.0, 0.05).unwrap();
        assert_eq!(difference.point, 3.0);
        let t = student(0.975, 6.25 / 1.0625).unwrap();
        assert!((difference.half - t * 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(welch((3.0, &a[..2]), (6.0, &b), 0.0, 0.05), None);
    }

    #[test]
    fn what_both_windows_share_is_no_doubt_where_they_are_paired() {
        let difference = paired(0.1, &[0.1; 10], 0.0, 0.02).unwrap();
        assert!(difference.half < 1e-12);
        let difference = paired(0.1, &[0.0, 0.1, 0.2], 0.0, 0.05).unwrap();
        // s² = 0.01, t₂ = 4.303.
        assert!((difference.half - 4.302_65 * (0.01_f64 / 3.0).sqrt()).abs() < 1e-5);
    }
}
