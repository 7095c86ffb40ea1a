//! The exponent behind an access log.

use super::Zipf;
use super::moments::smooth_sum;
use crate::keys::KeysError;

/// Why an exponent cannot be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Fewer than two keys: every exponent is the same law.
    #[error("{0} keys have no order of popularity: give the counts of at least 2")]
    TooFewKeys(usize),
    /// All counts are 0.
    #[error("no request in the counts of {0} keys: give the counts of a log that is not empty")]
    NoRequests(usize),
    /// Every request asked for the first key: the larger s, the likelier.
    #[error(
        "all {0} requests ask for the first key, which no finite s makes likeliest: fit a longer log"
    )]
    OneKey(u128),
    /// The likeliest exponent would be negative.
    #[error(
        "later keys are asked for more often than earlier ones (mean of ln k {mean_log:.4}, uniform keys have {uniform:.4}): sort the counts, largest first, or take uniform keys"
    )]
    Rising {
        /// The mean of ln k over the requests.
        mean_log: f64,
        /// What it is for uniform keys.
        uniform: f64,
    },
}

/// Zipf's law as fitted to counts, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZipfFit {
    zipf: Zipf,
    standard_error: f64,
    distance: f64,
    requests: u128,
}

impl ZipfFit {
    /// The law with the likeliest exponent, over as many keys as there were counts.
    #[must_use]
    pub const fn zipf(&self) -> Zipf {
        self.zipf
    }

    /// The standard error of the exponent: 1/√(N·Var ln k), from the observed Fisher information of N requests.
    ///
    /// The true s lies within ± 1.96 of it in 95 % of logs, if the law is right at all: see [`Zipf::fit`].
    #[must_use]
    pub const fn standard_error(&self) -> f64 {
        self.standard_error
    }

    /// The largest difference between the cumulative shares counted and those of the law (Kolmogorov and Smirnov).
    ///
    /// Whether the law is right: below about 1/√N it cannot be told from chance; 0.05 is a curve that fits by eye;
    /// and with 0.2, replay the log rather than a law.
    #[must_use]
    pub const fn distance(&self) -> f64 {
        self.distance
    }

    /// How many requests were counted, N.
    #[must_use]
    pub const fn requests(&self) -> u128 {
        self.requests
    }
}

impl Zipf {
    /// The likeliest Zipf law behind `counts`, of which `counts[k - 1]` is how often the key of rank k was asked for.
    ///
    /// It assumes that requests are independent of each other; that every key is in the list, those that were never
    /// asked for too, as zeros; and that the order of the list is the true order of popularity. Counts that are sorted
    /// by themselves are not quite that: keys that are rare come by luck before their equals, so that s reads too high
    /// while most keys have fewer than some ten requests. The cure is to take the order from one half of the log and
    /// the counts from the other.
    ///
    /// At the maximum of the likelihood the mean of ln k over the requests is that of the law (Newton's method on
    /// Σ ln k · k⁻ˢ / H(n, s)). Once through the counts, and a millisecond.
    ///
    /// ```
    /// use openloop_workload::keys::Zipf;
    ///
    /// let fit = Zipf::fit(&[5_000, 2_500, 1_667, 1_250, 1_000])?;
    /// assert!((fit.zipf().exponent() - 1.0).abs() < 0.001);
    /// assert!((fit.standard_error() - 0.0158).abs() < 0.0001);
    /// # Ok::<(), openloop_workload::keys::FitError>(())
    /// ```
    ///
    /// # Errors
    /// When there are fewer than two keys, or no request, or only requests for the first key, or when the counts rise
    /// with the rank.
    pub fn fit(counts: &[u64]) -> Result<ZipfFit, FitError> {
        let n = counts.len() as u64;
        if n < 2 {
            return Err(FitError::TooFewKeys(counts.len()));
        }
        let mut requests = 0_u128;
        let mut log_sum = 0.0;
        for (key, &count) in (1_u64..).zip(counts) {
            requests += u128::from(count);
            if count > 0 {
                log_sum += count as f64 * libm::log(key as f64);
            }
        }
        if requests == 0 {
            return Err(FitError::NoRequests(counts.len()));
        }
        if requests == u128::from(counts[0]) {
            return Err(FitError::OneKey(requests));
        }
        let mean_log = log_sum / requests as f64;
        let (uniform, _) = log_moments(n, 0.0);
        if mean_log > uniform * (1.0 + 1e-9) {
            return Err(FitError::Rising { mean_log, uniform });
        }
        let s = solve(n, mean_log);
        let (_, variance) = log_moments(n, s);
        let zipf = match Zipf::new(n, s) {
            Ok(zipf) => zipf,
            Err(KeysError::Empty) => return Err(FitError::TooFewKeys(0)),
            Err(_) => return Err(FitError::OneKey(requests)),
        };
        Ok(ZipfFit {
            zipf,
            standard_error: 1.0 / libm::sqrt(requests as f64 * variance),
            distance: distance(counts, requests, &zipf),
            requests,
        })
    }
}

/// Mean and variance of ln k under the law.
fn log_moments(n: u64, s: f64) -> (f64, f64) {
    let [total, first, second] = smooth_sum(n, s, |key| {
        let log = libm::log(key);
        let weight = libm::exp(-s * log);
        [weight, weight * log, weight * log * log]
    });
    let mean = first / total;
    (mean, (second / total - mean * mean).max(0.0))
}

/// The s at which the mean of ln k is `mean_log`, which falls as s grows, with the slope −Var ln k.
fn solve(n: u64, mean_log: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Of 2⁶⁴ requests one for key 2 makes s = 64.
    while log_moments(n, high).0 > mean_log && high < 128.0 {
        (low, high) = (high, high * 2.0);
    }
    let mut s = 0.5 * (low + high);
    for _ in 0..100 {
        let (mean, variance) = log_moments(n, s);
        if mean > mean_log {
            low = s;
        } else {
            high = s;
        }
        let newton = s + (mean - mean_log) / variance;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        let moved = (next - s).abs();
        s = next;
        if moved < 1e-13 * (1.0 + s) {
            break;
        }
    }
    s
}

fn distance(counts: &[u64], requests: u128, zipf: &Zipf) -> f64 {
    let (mut counted, mut law, mut widest) = (0_u128, 0.0, 0.0_f64);
    for (key, &count) in (1_u64..).zip(counts) {
        counted += u128::from(count);
        law += zipf.pmf(key);
        widest = widest.max((counted as f64 / requests as f64 - law).abs());
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_counts_give_their_exponent() {
        for (n, s) in [
            (2, 0.5),
            (10, 1.0),
            (1_000, 0.99),
            (5_000, 1.2),
            (100, 3.0),
            (1_000, 0.0),
        ] {
            let zipf = Zipf::new(n, s).unwrap();
            let counts: Vec<u64> = (1..=n)
                .map(|key| (zipf.pmf(key) * 1e15).round() as u64)
                .collect();
            let fit = Zipf::fit(&counts).unwrap();
            assert!((fit.zipf().exponent() - s).abs() < 1e-7, "{fit:?} for {s}");
            assert!(fit.distance() < 1e-9, "{fit:?}");
        }
    }

    #[test]
    fn the_standard_error_is_how_far_fits_of_different_logs_lie_apart() {
        let (zipf, logs) = (Zipf::new(500, 0.9).unwrap(), 200);
        let mut deviations = Vec::new();
        for seed in 0..logs {
            let mut counts = vec![0; 500];
            for seq in 0..2_000 {
                counts[zipf.key(seed, seq) as usize - 1] += 1;
            }
            let fit = Zipf::fit(&counts).unwrap();
            assert!(fit.distance() < 2.0 / 2_000_f64.sqrt());
            deviations.push((fit.zipf().exponent() - 0.9) / fit.standard_error());
        }
        let mean = deviations.iter().sum::<f64>() / logs as f64;
        let variance = deviations.iter().map(|d| d * d).sum::<f64>() / logs as f64;
        // Standard normal: the mean of 200 is within 0.23, the mean square within 1 ± 0.33, at 3.3 standard deviations.
        assert!(
            mean.abs() < 0.23 && (variance - 1.0).abs() < 0.33,
            "{mean} {variance}"
        );
    }

    #[test]
    fn counts_that_are_not_zipf_s_are_far_away() {
        let mut counts = vec![1; 1_000];
        counts[..100].fill(1_000);
        assert!(Zipf::fit(&counts).unwrap().distance() > 0.2);
    }

    #[test]
    fn what_has_no_likeliest_exponent_is_refused() {
        assert_eq!(Zipf::fit(&[]), Err(FitError::TooFewKeys(0)));
        assert_eq!(Zipf::fit(&[5]), Err(FitError::TooFewKeys(1)));
        assert_eq!(Zipf::fit(&[0, 0]), Err(FitError::NoRequests(2)));
        assert_eq!(Zipf::fit(&[9, 0, 0]), Err(FitError::OneKey(9)));
        assert!(matches!(
            Zipf::fit(&[1, 2, 3]),
            Err(FitError::Rising { .. })
        ));
        // The steepest log there is.
        let fit = Zipf::fit(&[u64::MAX - 1, 1]).unwrap();
        assert!((fit.zipf().exponent() - 64.0).abs() < 0.01, "{fit:?}");
        assert!(Zipf::fit(&[u64::MAX, u64::MAX, 7]).is_ok());
    }
}
