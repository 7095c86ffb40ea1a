//! Kendall's test of a trend.

/// Kendall's τ of a series against time, with its exact two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kendall {
    /// From −1, always falling, to 1, always rising.
    pub(crate) tau: f64,
    /// The probability of a |τ| at least this large without any trend. Ties make it larger than need be.
    pub(crate) p: f64,
}

impl Kendall {
    /// Of `series`; `None` where there are fewer than two values.
    pub(crate) fn of(series: &[f64]) -> Option<Self> {
        let n = series.len();
        if n < 2 {
            return None;
        }
        let pairs = n * (n - 1) / 2;
        let (mut rising, mut falling) = (0_usize, 0_usize);
        for (i, earlier) in series.iter().enumerate() {
            for later in &series[i + 1..] {
                rising += usize::from(later > earlier);
                falling += usize::from(later < earlier);
            }
        }
        let excess = rising.abs_diff(falling);
        let tau = (rising as f64 - falling as f64) / pairs as f64;
        // |rising − falling| ≥ excess means at most this many inversions, or as few non-inversions.
        let inversions = (pairs - excess) / 2;
        let tail = inversion_probability(n, inversions);
        Some(Kendall {
            tau,
            p: if excess == 0 {
                1.0
            } else {
                (2.0 * tail).min(1.0)
            },
        })
    }

    /// Whether the series rises, at the level of 1 %.
    pub(crate) fn rises(&self) -> bool {
        self.tau > 0.0 && self.p < 0.01
    }
}

/// The probability that a random order of `n` things has at most `most` inversions, by the recursion over the
/// place of the last: exact.
fn inversion_probability(n: usize, most: usize) -> f64 {
    let mut probability = vec![0.0; most + 1];
    probability[0] = 1.0;
    for size in 2..=n {
        let before = probability.clone();
        for (inversions, p) in probability.iter_mut().enumerate() {
            let from = inversions.saturating_sub(size - 1);
            *p = before[from..=inversions].iter().sum::<f64>() / size as f64;
        }
    }
    probability.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_of_inversions_is_exact() {
        // Of the 24 orders of four things, 1, 3, 5, 6, 5, 3, 1 have 0, 1, … 6 inversions.
        for (most, orders) in [(0, 1), (1, 4), (2, 9), (3, 15), (6, 24)] {
            let expected = f64::from(orders) / 24.0;
            assert!((inversion_probability(4, most) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_steady_rise_is_significant_and_noise_is_not() {
        let rise: Vec<f64> = (0..12).map(f64::from).collect();
        let kendall = Kendall::of(&rise).unwrap();
        assert_eq!(kendall.tau, 1.0);
        assert!((kendall.p - 2.0 / 479_001_600.0).abs() < 1e-15);
        assert!(kendall.rises());
        let noise = [3.0, 1.0, 4.0, 1.5, 5.0, 0.9, 2.6, 5.3, 0.5, 8.0, 0.7, 3.2];
        assert!(!Kendall::of(&noise).unwrap().rises());
        let fall: Vec<f64> = rise.iter().rev().copied().collect();
        assert!(!Kendall::of(&fall).unwrap().rises());
        assert_eq!(Kendall::of(&[1.0; 12]).unwrap().p, 1.0);
    }
}
