//! Many short values and a few long ones.

use super::law::{draws, positive, within};
use super::special::gamma_p;
use super::{Law, ValuesError};

/// Values that are exponential with one of two means, a short or a long one: C_v above 1.
///
/// | symbol | meaning |
/// | --- | --- |
/// | m, c > 1 | mean and coefficient of variation |
/// | p = ½ (1 + √((c² − 1)/(c² + 1))) | share of the short values, above one half |
/// | m₁ = m/(2p), m₂ = m/(2(1 − p)) | mean of the short and of the long ones |
/// | F(x) = 1 − p e^(−x/m₁) − (1 − p) e^(−x/m₂) | distribution |
///
/// These are the balanced means: both phases add the same to the mean, p m₁ = (1 − p) m₂ = m/2, so that half the work
/// is in the few long values. Three numbers are chosen by two, m and c; Allen, "Probability, statistics and queueing
/// theory" (1990), section 3.2.9. It is the law to make a queue wait by variance alone.
///
/// Of two draws: the phase, and the value by inversion. The quantile has no closed form; it is found by Newton's
/// method to the last digits.
///
/// ```
/// use openloop_workload::values::{HyperExponential, Law};
///
/// let service = HyperExponential::new(10.0, 4.0)?;
/// assert_eq!((service.mean(), service.cv()), (10.0, 4.0));
/// assert!(service.quantile(0.5) < 4.0 && service.quantile(0.99) > 100.0);
/// # Ok::<(), openloop_workload::ValuesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyperExponential {
    mean: f64,
    cv: f64,
    short: Phase,
    long: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Phase {
    share: f64,
    mean: f64,
}

impl HyperExponential {
    /// Values with this mean and this coefficient of variation.
    ///
    /// # Errors
    /// When the mean is not from 10⁻³⁰ to 10³⁰, or `cv` is not above 1 and at most 1000.
    pub fn new(mean: f64, cv: f64) -> Result<Self, ValuesError> {
        let mean = positive("mean", mean)?;
        let expected = "a number above 1 and up to 1000; write exponential for 1, and lognormal or gamma below";
        let cv = within("cv", cv, 1.0 + f64::EPSILON, 1e3, expected)?;
        let square = cv * cv;
        let root = ((square - 1.0) / (square + 1.0)).sqrt();
        let phase = |share| Phase {
            share,
            mean: mean / (2.0 * share),
        };
        Ok(HyperExponential {
            mean,
            cv,
            short: phase(0.5 * (1.0 + root)),
            // ½ (1 − root) without the cancellation.
            long: phase(1.0 / ((square + 1.0) * (1.0 + root))),
        })
    }

    fn phases(&self) -> [Phase; 2] {
        [self.short, self.long]
    }

    fn sum(&self, of: impl Fn(Phase) -> f64) -> f64 {
        self.phases()
            .into_iter()
            .map(|phase| phase.share * of(phase))
            .sum()
    }

    fn survival(&self, x: f64) -> f64 {
        self.sum(|phase| libm::exp(-x / phase.mean))
    }

    fn density(&self, x: f64) -> f64 {
        self.sum(|phase| libm::exp(-x / phase.mean) / phase.mean)
    }
}

impl Law for HyperExponential {
    fn value(&self, seed: u64, seq: u64) -> f64 {
        let mut draws = draws(seed, seq);
        let phase = if draws.open_unit() < self.short.share {
            self.short
        } else {
            self.long
        };
        -phase.mean * libm::log1p(-draws.open_unit())
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn cv(&self) -> f64 {
        self.cv
    }

    fn quantile(&self, q: f64) -> f64 {
        let q = q.clamp(0.0, 1.0);
        if q.is_nan() || q == 0.0 {
            return q;
        }
        if q == 1.0 {
            return f64::INFINITY;
        }
        // F is concave, and so is −ln(1 − F) in the upper half: from the left, Newton's steps only ever go right, and
        // never beyond the root.
        let mut x = 0.0;
        let upper = q > 0.5;
        let target = -libm::log1p(-q);
        if upper {
            for phase in self.phases() {
                x = f64::max(x, phase.mean * (target + libm::log(phase.share)));
            }
        }
        for _ in 0..200 {
            let step = if upper {
                let survival = self.survival(x);
                (target + libm::log(survival)) * survival / self.density(x)
            } else {
                (q - self.cdf(x)) / self.density(x)
            };
            if step <= x * f64::EPSILON {
                break;
            }
            x += step;
        }
        x
    }

    fn cdf(&self, x: f64) -> f64 {
        -self.sum(|phase| libm::expm1(-x.max(0.0) / phase.mean))
    }

    fn mean_below(&self, x: f64) -> f64 {
        self.sum(|phase| phase.mean * gamma_p(2.0, x.max(0.0) / phase.mean))
    }

    fn square_below(&self, x: f64) -> f64 {
        self.sum(|phase| 2.0 * phase.mean * phase.mean * gamma_p(3.0, x.max(0.0) / phase.mean))
    }
}
