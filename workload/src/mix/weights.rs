//! A choice by weight.

/// Chooses one of few by weight.
///
/// Cumulative shares and a binary search: with tens of entries nothing is faster, and a weight that changes a little
/// changes few choices, which those of an alias table do not promise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights {
    shares: Box<[f64]>,
    /// The sum of the shares up to each; exactly 1 from the last positive one on.
    sums: Box<[f64]>,
}

/// What is wrong with weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unfit {
    /// This one is negative, infinite or NaN.
    Weight(usize),
    /// None is above 0.
    AllZero,
}

impl Weights {
    pub(super) fn new(weights: &[f64]) -> Result<Self, Unfit> {
        let is_fit = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if let Some(at) = weights.iter().position(|weight| !is_fit(weight)) {
            return Err(Unfit::Weight(at));
        }
        let Some(last) = weights.iter().rposition(|&weight| weight > 0.0) else {
            return Err(Unfit::AllZero);
        };
        // As they are, so that 95 of 100 is 0.95 exactly; relative to the largest number where they add up to more.
        let scale = if weights.iter().sum::<f64>().is_finite() {
            1.0
        } else {
            f64::MAX
        };
        let relative: Vec<f64> = weights.iter().map(|weight| weight / scale).collect();
        let total: f64 = relative.iter().sum();
        let mut sum = 0.0;
        let mut sums: Vec<f64> = relative
            .iter()
            .map(|weight| {
                sum += weight;
                sum / total
            })
            .collect();
        sums[last..].fill(1.0);
        Ok(Weights {
            shares: relative.into_iter().map(|weight| weight / total).collect(),
            sums: sums.into(),
        })
    }

    /// The chosen one's index, of a number strictly between 0 and 1.
    pub(super) fn pick(&self, unit: f64) -> usize {
        self.sums.partition_point(|&sum| sum <= unit)
    }

    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: f64 = 0.5 / (1_u64 << 52) as f64;

    #[test]
    fn what_has_no_weight_is_never_picked() {
        let weights = Weights::new(&[0.0, 1.0, 0.0, 3.0, 0.0]).unwrap();
        assert_eq!(weights.shares(), [0.0, 0.25, 0.0, 0.75, 0.0]);
        for (unit, picked) in [(LEAST, 1), (0.249, 1), (0.25, 3), (1.0 - LEAST, 3)] {
            assert_eq!(weights.pick(unit), picked, "{unit}");
        }
    }

    #[test]
    fn the_largest_and_the_smallest_weights_keep_their_shares() {
        let weights = Weights::new(&[f64::MAX; 4]).unwrap();
        assert_eq!(weights.shares(), [0.25; 4]);
        let weights = Weights::new(&[f64::MIN_POSITIVE; 4]).unwrap();
        assert_eq!(weights.shares(), [0.25; 4]);
        assert_eq!(Weights::new(&[95.0, 5.0]).unwrap().shares(), [0.95, 0.05]);
        // The sum of ten tenths is below 1, which must leave no gap at the end.
        let tenths = Weights::new(&[0.1; 10]).unwrap();
        assert_eq!(tenths.pick(1.0 - LEAST), 9);
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Weights::new(&[1.0, bad]), Err(Unfit::Weight(1)));
        }
        assert_eq!(Weights::new(&[0.0, -0.0]), Err(Unfit::AllZero));
        assert_eq!(Weights::new(&[]), Err(Unfit::AllZero));
    }
}
