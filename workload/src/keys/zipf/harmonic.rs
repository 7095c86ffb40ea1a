//! Sums and integrals of powers.

/// B₂ⱼ/(2j)! of the Euler–Maclaurin formula.
const COEFFICIENTS: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
];

/// From this exponent on, 2⁻ˢ is no number above 0.
const NOTHING: f64 = 1100.0;

/// ∫ t⁻ˢ dt from 1 to exp(`log`): `log` where s = 1, else (exp((1 − s)·`log`) − 1)/(1 − s), exact near s = 1 as well.
pub(super) fn integral(log: f64, s: f64) -> f64 {
    if s == 1.0 {
        log
    } else {
        libm::expm1((1.0 - s) * log) / (1.0 - s)
    }
}

/// Σ k⁻ˢ over k = first, …, last, right to 10⁻¹³, relatively; `first` is at least 1, and an empty sum is 0.
///
/// Term by term where s is large beside k, and by Euler and Maclaurin from there: at most s + 32 powers.
pub(super) fn power_sum(first: u64, last: u64, s: f64) -> f64 {
    if last < first {
        return 0.0;
    }
    if s == 0.0 {
        return (last - first) as f64 + 1.0;
    }
    if s > NOTHING {
        return if first == 1 { 1.0 } else { 0.0 };
    }
    let smooth = first.max(16 + s as u64);
    let mut sum = 0.0;
    for k in first..smooth.min(last) {
        let term = libm::pow(k as f64, -s);
        sum += term;
        // What follows is at most term·k/(s − 1); for s < 2 this is never so small.
        if term * (k as f64) < sum * 1e-17 {
            return sum;
        }
    }
    if last <= smooth {
        return sum + libm::pow(last as f64, -s);
    }
    let (from, to) = (smooth as f64, last as f64);
    let (at_from, at_to) = (libm::pow(from, -s), libm::pow(to, -s));
    let log = libm::log1p((last - smooth) as f64 / from);
    let mut tail = from * at_from * integral(log, s) + 0.5 * (at_from + at_to);
    // s(s+1)…(s+2j−2)·x⁻ˢ⁻²ʲ⁺¹ at both ends.
    let (mut rise_from, mut rise_to) = (s * at_from / from, s * at_to / to);
    for (j, coefficient) in COEFFICIENTS.into_iter().enumerate() {
        tail += coefficient * (rise_from - rise_to);
        let grown = (s + 2.0 * j as f64 + 1.0) * (s + 2.0 * j as f64 + 2.0);
        rise_from *= grown / (from * from);
        rise_to *= grown / (to * to);
    }
    sum + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_what_its_terms_add_up_to() {
        for s in [
            0.0,
            1e-9,
            0.5,
            0.99,
            1.0,
            1.0 + 1e-13,
            1.2,
            3.0,
            40.0,
            200.0,
        ] {
            for (first, last) in [
                (1, 1),
                (1, 2),
                (1, 17),
                (1, 18),
                (1, 40),
                (1, 5_000),
                (10, 300),
                (777, 5_000),
            ] {
                let exact: f64 = (first..=last).rev().map(|k| (k as f64).powf(-s)).sum();
                let found = power_sum(first, last, s);
                assert!(
                    (found - exact).abs() <= 2e-13 * exact,
                    "{found} {exact} s = {s} {first}..={last}"
                );
            }
        }
        assert_eq!(power_sum(5, 4, 0.99), 0.0);
        assert_eq!(power_sum(1, u64::MAX, 1e300), 1.0);
        assert_eq!(power_sum(2, u64::MAX, 1e300), 0.0);
    }

    #[test]
    fn a_sum_to_infinity_is_the_zeta_function() {
        // ζ(2) = π²/6, and what 2⁶⁴ keys leave of it is 5.4e-20.
        let basel = std::f64::consts::PI.powi(2) / 6.0;
        assert!((power_sum(1, u64::MAX, 2.0) - basel).abs() < 1e-15 * basel);
        // H(n) − ln n → γ.
        let gamma = power_sum(1, 1 << 50, 1.0) - ((1_u64 << 50) as f64).ln();
        assert!((gamma - 0.577_215_664_901_532_9).abs() < 1e-13, "{gamma}");
    }
}
