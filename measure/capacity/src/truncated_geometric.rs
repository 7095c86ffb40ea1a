//! The geometric law on 0..=K: how many wait in a bounded queue while all servers are busy.

/// Probabilities ∝ rʲ for j = 0, …, K, where r may be above 1.
///
/// The sums are in closed form, in terms of h = −ln r through `exp_m1`, so that r near 1 costs no digits and a large K
/// no time. For r > 1 the law is that of 1/r counted from the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TruncatedGeometric {
    ratio: f64,
    last: f64,
    /// |ln r|.
    h: f64,
}

impl TruncatedGeometric {
    pub(crate) fn new(ratio: f64, last: u32) -> Self {
        TruncatedGeometric {
            ratio,
            last: f64::from(last),
            h: ratio.ln().abs(),
        }
    }

    /// 1 + r + … + rᴷ; infinite where that is more than `f64` holds.
    pub(crate) fn sum(&self) -> f64 {
        let n = self.last + 1.0;
        if self.ratio == 0.0 {
            1.0
        } else if self.h == 0.0 {
            n
        } else if self.ratio < 1.0 {
            (-n * self.h).exp_m1() / (-self.h).exp_m1()
        } else {
            (n * self.h).exp_m1() / self.h.exp_m1()
        }
    }

    /// The probabilities of K, and of less than K.
    pub(crate) fn last_and_others(&self) -> (f64, f64) {
        let n = self.last + 1.0;
        if self.last == 0.0 {
            (1.0, 0.0)
        } else if self.ratio == 0.0 {
            (0.0, 1.0)
        } else if self.h == 0.0 {
            (1.0 / n, self.last / n)
        } else {
            let all = (-n * self.h).exp_m1();
            let first = (-self.h).exp_m1() / all;
            if self.ratio < 1.0 {
                let last = (-self.last * self.h).exp() * first;
                (last, 1.0 - last)
            } else {
                let others = (-self.h).exp() * (-self.last * self.h).exp_m1() / all;
                (first, others)
            }
        }
    }

    pub(crate) fn mean(&self) -> f64 {
        let n = self.last + 1.0;
        let (h, nh) = (self.h, n * self.h);
        let from_the_likely_end = if nh < 0.1 {
            // Of x/(eˣ − 1) = 1 − x/2 + x²/12 − x⁴/720 + x⁶/30240, the difference at x = h and x = n h, over h.
            let square = n * n;
            0.5 * (n - 1.0) - h * (square - 1.0) / 12.0
                + h.powi(3) * (square * square - 1.0) / 720.0
                - h.powi(5) * (square.powi(3) - 1.0) / 30240.0
        } else {
            1.0 / h.exp_m1() - n / nh.exp_m1()
        };
        if self.ratio > 1.0 {
            self.last - from_the_likely_end
        } else {
            from_the_likely_end
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TruncatedGeometric;

    #[test]
    fn closed_forms_are_the_sums() {
        for ratio in [
            0.0,
            1e-9,
            0.3,
            0.97,
            0.9999,
            1.0 - 1e-9,
            1.0,
            1.000_001,
            1.01,
            1.5,
            7.0,
        ] {
            for last in [0, 1, 2, 10, 100, 300] {
                let weights: Vec<f64> = (0..=last).map(|j| ratio_power(ratio, j)).collect();
                let sum: f64 = weights.iter().sum();
                let mean = weights
                    .iter()
                    .zip(0u32..)
                    .map(|(w, j)| w * f64::from(j))
                    .sum::<f64>()
                    / sum;
                let law = TruncatedGeometric::new(ratio, last as u32);
                let (of_last, others) = law.last_and_others();
                let expected_others = weights[..last as usize].iter().sum::<f64>() / sum;
                for (what, found, expected) in [
                    ("sum", law.sum(), sum),
                    ("mean", law.mean(), mean),
                    ("last", of_last, weights[last as usize] / sum),
                    ("others", others, expected_others),
                ] {
                    let error = (found - expected).abs();
                    assert!(
                        error <= 2e-11 * expected.abs(),
                        "{what} of ratio {ratio} to {last}: {found}, not {expected}"
                    );
                }
            }
        }
    }

    fn ratio_power(ratio: f64, j: i32) -> f64 {
        ratio.powi(j)
    }
}
