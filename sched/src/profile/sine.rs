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
/// With the angle from the trough, ψ = 2π·q/period − 3π/2 for q = (phase + x) mod period, the rate is
/// (mean − amplitude) + amplitude·(1 − cos ψ), and its integral
/// (mean − amplitude)·q + amplitude·period/2π·(ψ − sin ψ). The first term and whole periods are exact
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
        let (_, q) = self.periods(u128::from(self.phase) + u128::from(x));
        self.rate_in_period(q)
    }

    /// Λ(`x`).
    pub(super) fn integral(self, x: u64) -> u128 {
        let (periods, q) = self.periods(u128::from(self.phase) + u128::from(x));
        periods * self.of_period() + self.in_period(q) - self.in_period(self.phase)
    }

    /// The last `x` with Λ(x) ≤ `target`, for `target` < Λ(`len`).
    pub(super) fn inverse(self, target: u128, len: u64) -> u64 {
        let target = target + self.in_period(self.phase);
        let (periods, target) = (target / self.of_period(), target % self.of_period());
        let guess = self.guess(target);
        let q = last_at_or_below(
            target,
            self.period,
            guess,
            |q| self.in_period(q),
            |q| self.rate_in_period(q) as f64,
        );
        let x = (periods * u128::from(self.period) + u128::from(q))
            .saturating_sub(u128::from(self.phase));
        u64::try_from(x).unwrap_or(u64::MAX).min(len - 1)
    }

    /// Whole periods before `q`, and the rest.
    fn periods(self, q: u128) -> (u128, u64) {
        let (periods, rest) = (q / u128::from(self.period), q % u128::from(self.period));
        (periods, u64::try_from(rest).unwrap_or(0))
    }

    /// Λ of a whole period: the mean, exactly. Not zero, so that it can divide.
    fn of_period(self) -> u128 {
        (2 * u128::from(self.mean) * u128::from(self.period)).max(1)
    }

    /// Λ from phase zero to `q` ≤ period.
    fn in_period(self, q: u64) -> u128 {
        let scale = self.amplitude as f64 * self.period as f64 / PI;
        let swing = scale * (psi_minus_sin(self.psi(q)) - (PSI_0 - 1.0));
        let steady = 2 * u128::from(self.mean - self.amplitude) * u128::from(q);
        // Not below zero, and `as` saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let swing = swing.round() as u128;
        (steady + swing).min(self.of_period())
    }

    fn rate_in_period(self, q: u64) -> u64 {
        let above_trough = self.amplitude as f64 * (1.0 - libm::cos(self.psi(q)));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let above_trough = above_trough.round() as u64;
        (self.mean - self.amplitude).saturating_add(above_trough)
    }

    /// Angle from the trough at `q` after phase zero, from −3π/2 on, by an exact numerator.
    fn psi(self, q: u64) -> f64 {
        let numerator = 4 * i128::from(q) - 3 * i128::from(self.period);
        numerator as f64 / self.period as f64 * (PI / 2.0)
    }

    /// Where Λ reaches `target` within a period, about.
    ///
    /// With e = amplitude/mean and 2π·Λ/(mean·period) = ψ − e·sin ψ + const this is Kepler's equation, solved
    /// by Danby's starter and his iteration of fourth order ("The solution of Kepler's equation, III", 1987).
    fn guess(self, target: u128) -> u64 {
        let e = self.amplitude as f64 / self.mean as f64;
        let y = target as f64 / self.of_period() as f64 * (2.0 * PI) + PSI_0 - e;
        let turn = if y < -PI { 2.0 * PI } else { 0.0 };
        let m = y + turn;
        let mut psi = m + (0.85 * e).copysign(m);
        for _ in 0..3 {
            let (sin, cos) = libm::sincos(psi);
            let (f, f1, f2, f3) = (psi - e * sin - m, 1.0 - e * cos, e * sin, e * cos);
            let d1 = -f / f1;
            let d2 = -f / (f1 + d1 * f2 / 2.0);
            let d3 = -f / (f1 + d2 * f2 / 2.0 + d2 * d2 * f3 / 6.0);
            if !d3.is_finite() {
                break;
            }
            psi += d3;
        }
        // `as` saturates, and the search corrects whatever comes out.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let q = ((psi - turn - PSI_0) / (2.0 * PI) * self.period as f64) as u64;
        q
    }
}

/// The angle from the trough at phase zero; its sine is 1.
const PSI_0: f64 = -1.5 * PI;

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
