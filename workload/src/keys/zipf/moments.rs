//! Sums of smooth functions of the key over very many keys.

/// Keys up to this one are added one by one.
const DIRECT: u64 = 1_024;

/// Nodes and weights of the Gauss–Legendre quadrature of order 8 on [−1, 1], those above 0.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Σ f(k) over k = 1, …, n, for f that changes with a power near s of k at most: right to about 10⁻¹⁰, relatively.
///
/// The first 1024 terms one by one. For the others the sum is ∫ f(t) dt between the halves before the first and behind
/// the last, less (f′(end) − f′(begin))/24 (Euler and Maclaurin about midpoints), the integral over panels of equal
/// width in ln t.
pub(super) fn smooth_sum<const M: usize>(n: u64, s: f64, f: impl Fn(f64) -> [f64; M]) -> [f64; M] {
    let mut sum = [0.0; M];
    let mut add = |weight: f64, values: [f64; M]| {
        for (total, value) in sum.iter_mut().zip(values) {
            *total += weight * value;
        }
    };
    for k in (1..=n.min(DIRECT)).rev() {
        add(1.0, f(k as f64));
    }
    // From here on k⁻ˢ is no number above 0.
    if n > DIRECT && s < 110.0 {
        let (first, last) = (DIRECT as f64 + 1.0, n as f64);
        add(1.0 / 24.0, f(first));
        add(-1.0 / 24.0, f(first - 1.0));
        add(-1.0 / 24.0, f(last + 1.0));
        add(1.0 / 24.0, f(last));
        let (begin, end) = (libm::log(first - 0.5), libm::log(last + 0.5));
        let panels = libm::ceil((end - begin) * 4.0 * s.max(1.0));
        let half = (end - begin) / panels / 2.0;
        for panel in 0..panels as u64 {
            let middle = begin + (2.0 * panel as f64 + 1.0) * half;
            for (node, weight) in NODES {
                for t in [
                    libm::exp(middle - half * node),
                    libm::exp(middle + half * node),
                ] {
                    add(half * weight * t, f(t));
                }
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::harmonic::power_sum;
    use super::*;

    #[test]
    fn sums_of_powers_agree_with_euler_and_maclaurin() {
        for s in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0, 20.0] {
            for n in [1, 2, 1_024, 1_025, 1_026, 3_000, 1_000_000_000, u64::MAX] {
                let [found] = smooth_sum(n, s, |key| [key.powf(-s)]);
                let exact = power_sum(1, n, s);
                assert!(
                    (found - exact).abs() < 1e-11 * exact,
                    "{found} {exact} s = {s}, n = {n}"
                );
            }
        }
    }

    #[test]
    fn sums_of_logarithms_agree_with_their_terms() {
        let [found] = smooth_sum(100_000, 0.8, |key| [key.ln().powi(2) * key.powf(-0.8)]);
        let exact: f64 = (1..=100_000)
            .map(|k| f64::from(k).ln().powi(2) * f64::from(k).powf(-0.8))
            .sum();
        assert!((found - exact).abs() < 1e-11 * exact, "{found} {exact}");
    }
}
