//! A rate that swings around a mean.

use std::f64::consts::PI;

use super::solve::last_at_or_below;

/// λ(x) = mean + amplitude·sin(2π·(phase + x)/period), with amplitude ≤ mean.
///
/// | symbol | unit |
/// | --- | --- |
/// | mean, amplitude | nHz |
/// | period, phase, x | ns |
///
/// The integral is taken from the trough, ψ = 2π·q/period − 3π/2 for q = (phase + x) mod period:
/// λ = (mean − amplitude) + amplitude·(1 − cos ψ), and
/// Λ = (mean − amplitude)·x + amplitude·period/2π·(ψ − sin ψ). The first term and whole periods are exact
/// integers; the second is computed to a relative 10⁻¹⁵, also at the trough, where the rate may be zero
/// and an error that is not relative would make Λ fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sine {
    mean: u64,
    amplitude: u64,
    period: u64,
    phase: u64,
}

impl Sine {
    /// Requires amplitude ≤ mean, period > 0, phase < period.
    pub(super) fn new(mean: u64, amplitude: u64, period: u64, phase: u64) -> Self {
        debug_assert!(amplitude <= mean && phase < period);
        Sine {
            mean,
            amplitude,
            period,
            phase,
        }
    }

    /// The same swing, `x` nanoseconds on, times `factor`. The result may exceed every rate limit.
    pub(super) fn from(self, x: u64, factor: f64) -> Self {
        let phase = (u128::from(self.phase) + u128::from(x)) % u128::from(self.period);
        // Rounding is monotone, so amplitude ≤ mean holds still; `as` saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let times = |rate: u64| (rate as f64 * factor).round() as u64;
        Sine {
            mean: times(self.mean),
            amplitude: times(self.amplitude),
            phase: u64::try_from(phase).unwrap_or(0),
            ..self
        }
    }

    /// The highest rate it can reach, nHz.
    pub(super) fn peak(self) -> u64 {
        self.mean.saturating_add(self.amplitude)
    }

    /// Λ(`len`); `None` where it, or a value on the way to it, does not fit.
    pub(super) fn area(self, len: u64) -> Option<u128> {
        let span = u128::from(len) + 2 * u128::from(self.period);
        let bound = span.checked_mul(2 * u128::from(self.mean))?;
        (bound < u128::MAX / 4).then(|| self.integral(len))
    }

    /// λ(`x`) to the nearest nano-hertz.
    pub(super) fn rate(self, x: u64) -> u64 {
        let psi = self.psi(u128::from(self.phase) + u128::from(x));
        let above_trough = self.amplitude as f64 * (1.0 - libm::cos(psi));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let above_trough = above_trough.round() as u64;
        (self.mean - self.amplitude).saturating_add(above_trough)
    }

    /// Λ(`x`).
    pub(super) fn integral(self, x: u64) -> u128 {
        let from = u128::from(self.phase);
        (self.since_origin(from + u128::from(x)) - self.since_origin(from)).unsigned_abs()
    }

    /// The last `x` with Λ(x) ≤ `target`, for `target` < Λ(`len`).
    pub(super) fn inverse(self, target: u128, len: u64) -> u64 {
        let guess = target / (2 * u128::from(self.mean.max(1)));
        let guess = u64::try_from(guess).unwrap_or(u64::MAX);
        last_at_or_below(
            target,
            len,
            guess,
            |x| self.integral(x),
            |x| self.rate(x) as f64,
        )
    }

    /// Λ from a trough-based origin to `q` nanoseconds after phase zero, in half units.
    fn since_origin(self, q: u128) -> i128 {
        let period = u128::from(self.period);
        let steady = 2 * u128::from(self.mean - self.amplitude) * q;
        let whole_periods = 2 * u128::from(self.amplitude) * period * (q / period);
        let swing = self.amplitude as f64 * self.period as f64 / PI * psi_minus_sin(self.psi(q));
        // Within ±1.5·amplitude·period, which `area` has checked.
        #[allow(clippy::cast_possible_truncation)]
        let swing = swing.round() as i128;
        (steady + whole_periods).cast_signed() + swing
    }

    /// Angle from the trough, in [−3π/2, π/2), from an exact numerator.
    fn psi(self, q: u128) -> f64 {
        let period = i128::from(self.period);
        let numerator = 4 * (q % u128::from(self.period)).cast_signed() - 3 * period;
        numerator as f64 / self.period as f64 * (PI / 2.0)
    }
}

/// ψ − sin ψ without cancellation: the Taylor series near zero.
fn psi_minus_sin(psi: f64) -> f64 {
    if psi.abs() > 0.5 {
        return psi - libm::sin(psi);
    }
    let s = psi * psi;
    // ψ³/3! − ψ⁵/5! + …, nested; the term left out is below 10⁻¹⁷ of the first.
    let mut sum = 1.0;
    for k in [156.0, 110.0, 72.0, 42.0, 20.0] {
        sum = 1.0 - s / k * sum;
    }
    psi * s / 6.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_period_is_exactly_the_mean() {
        let sine = Sine::new(1_000_000_000_000, 1_000_000_000_000, 10_000_000_000, 0);
        assert_eq!(
            sine.area(10_000_000_000),
            Some(2 * 1_000_000_000_000 * 10_000_000_000)
        );
    }

    #[test]
    fn the_integral_never_falls_even_where_the_rate_touches_zero() {
        // The trough of a full swing lies at 3/4 of the period.
        let sine = Sine::new(1_000_000_000_000, 1_000_000_000_000, 10_000_000_000, 0);
        let mut last = 0;
        for x in 7_499_990_000..7_500_010_000 {
            let now = sine.integral(x);
            assert!(now >= last, "{x}");
            last = now;
        }
        assert_eq!(sine.rate(7_500_000_000), 0);
        assert_eq!(sine.rate(2_500_000_000), 2_000_000_000_000);
    }

    #[test]
    fn the_two_forms_of_psi_minus_sin_meet() {
        for psi in [0.499_999, 0.500_001, -0.499_999, -0.500_001] {
            let direct = psi - libm::sin(psi);
            assert!((psi_minus_sin(psi) / direct - 1.0).abs() < 1e-13);
        }
        assert!((psi_minus_sin(1e-5) / (1e-15 / 6.0) - 1.0).abs() < 1e-10);
    }

    #[test]
    fn inverse_is_the_last_nanosecond_at_or_below() {
        let (period, len) = (3_000_000_001, 10_000_000_000);
        let sine = Sine::new(250_000_000_000, 249_000_000_000, period, 1_234_567);
        let area = sine.area(len).unwrap();
        for k in 0..1_000 {
            let target = area / 1_000 * k;
            let x = sine.inverse(target, len);
            assert!(
                sine.integral(x) <= target && sine.integral(x + 1) > target,
                "{k}"
            );
        }
    }
}
