//! The exponent behind "80 % of the requests on 20 % of the keys".

use super::Zipf;
use super::harmonic::power_sum;
use crate::keys::KeysError;

/// Why no exponent of Zipf's law gives a share.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The hottest keys are none or all.
    #[error(
        "top = {top} of {n} keys leaves no key on one side: give a fraction between 0 and 1 that is at least one key and not every key"
    )]
    Top {
        /// The fraction of the keys.
        top: f64,
        /// How many keys there are.
        n: u64,
    },
    /// The hottest keys would take less than their number, or all.
    #[error(
        "share = {share} of the requests cannot fall on the {hot} hottest of {n} keys: give a share from {hot}/{n}, which is uniform, to below 1"
    )]
    Share {
        /// The share of the requests.
        share: f64,
        /// How many keys are to take it.
        hot: u64,
        /// How many keys there are.
        n: u64,
    },
}

impl Zipf {
    /// The keys `1..=n` of which the hottest fraction `top` takes the share `share` of the requests: 0.2 and 0.8 for
    /// "80 % on 20 %".
    ///
    /// `top` is rounded to whole keys. The answer depends on n: 80/20 is s = 1.02 of 10³ keys and 0.89 of 10⁶.
    ///
    /// ```
    /// use openloop_workload::keys::Zipf;
    ///
    /// let keys = Zipf::from_share(1_000_000, 0.2, 0.8)?;
    /// assert!((keys.hit_rate(200_000) - 0.8).abs() < 1e-12);
    /// # Ok::<(), openloop_workload::KeysError>(())
    /// ```
    ///
    /// # Errors
    /// When `n` is 0, when `top` is no key or every key, and when `share` is below the part that the keys are, at
    /// which they are uniform, or is 1.
    pub fn from_share(n: u64, top: f64, share: f64) -> Result<Self, KeysError> {
        if n == 0 {
            return Err(KeysError::Empty);
        }
        let hot = libm::round(top * n as f64);
        if !(top > 0.0 && top < 1.0 && hot >= 1.0 && hot < n as f64) {
            return Err(ShareError::Top { top, n }.into());
        }
        let hot = hot as u64;
        let uniform = hot as f64 / n as f64;
        // What is written as a decimal may be less than uniform by its rounding.
        if !(share >= uniform * (1.0 - 1e-14) && share < 1.0) {
            return Err(ShareError::Share { share, hot, n }.into());
        }
        // The odds grow with s; they keep their digits at both ends.
        let odds = share / (1.0 - share);
        let too_small = |s: f64| power_sum(1, hot, s) < odds * power_sum(hot + 1, n, s);
        let (mut low, mut high) = (0.0, 1.0);
        while too_small(high) {
            (low, high) = (high, high * 2.0);
        }
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high || high < 1e-15 {
                return Zipf::new(n, low);
            }
            if too_small(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_keys_take_their_share() {
        for n in [2, 10, 1_000, 1_000_000, 1_000_000_000, u64::MAX] {
            for (top, share) in [
                (0.5, 0.5),
                (0.5, 0.9),
                (0.2, 0.8),
                (0.1, 0.1 + 1e-9),
                (0.001, 0.999_999_999),
                (0.01, 0.5),
            ] {
                let Ok(zipf) = Zipf::from_share(n, top, share) else {
                    assert!(top * (n as f64) < 0.5, "{top} {share} of {n}");
                    continue;
                };
                let hot = (top * n as f64).round() as u64;
                let found = zipf.hit_rate(hot);
                assert!(
                    (found - share).abs() < 1e-12,
                    "{found} for {share} on {top} of {n}"
                );
            }
        }
    }

    #[test]
    fn an_exponent_comes_back() {
        for s in [0.5, 0.99, 1.0, 1.2, 3.0] {
            let share = Zipf::new(10_000, s).unwrap().hit_rate(2_000);
            let found = Zipf::from_share(10_000, 0.2, share).unwrap().exponent();
            // What 52 bits of a share near 1 tell of s: at s = 3, 1 − share is 1e-7.
            assert!((found - s).abs() < 1e-8, "{found} for {s}");
        }
        assert!(Zipf::from_share(10, 0.3, 0.3).unwrap().exponent() < 1e-14);
    }

    #[test]
    fn what_no_exponent_gives_is_refused() {
        assert_eq!(Zipf::from_share(0, 0.2, 0.8), Err(KeysError::Empty));
        for (n, top) in [
            (1, 0.2),
            (2, 0.2),
            (2, 0.9),
            (10, 0.0),
            (10, 1.0),
            (10, -0.2),
            (10, f64::INFINITY),
        ] {
            let expected = KeysError::Share(ShareError::Top { top, n });
            assert_eq!(Zipf::from_share(n, top, 0.95), Err(expected));
        }
        for share in [-1.0, 0.0, 0.19, 1.0, 1.5, f64::INFINITY] {
            let expected = KeysError::Share(ShareError::Share {
                share,
                hot: 2,
                n: 10,
            });
            assert_eq!(Zipf::from_share(10, 0.2, share), Err(expected));
        }
        assert!(Zipf::from_share(10, f64::NAN, 0.8).is_err());
        assert!(Zipf::from_share(10, 0.2, f64::NAN).is_err());
    }
}
