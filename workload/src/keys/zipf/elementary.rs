//! The two functions that every key needs: the most that a key costs.
//!
//! They need only addition, multiplication and bits, which every platform rounds alike, and neither branch nor divide:
//! tables of the compiler's making take a number so near to one whose value is known that a short series does the rest.

/// Numbers between 1 and 2 whose powers of two, and steps of 1/128 whose logarithms, are known.
const STEPS: f64 = 128.0;

/// 2^(i/128).
static POWERS: [f64; 128] = {
    let mut powers = [1.0; 128];
    let mut i = 0;
    while i < 128 {
        powers[i] = series_exp((LN_2.0 + LN_2.1) * (i as f64 / STEPS));
        i += 1;
    }
    powers
};

/// 1/c and ln c of c = j/128 from 3/4 to 3/2, in the place of j − 96; longer, so that 7 bits are always within.
static LOGARITHMS: [(f64, f64); 128] = {
    let mut logarithms = [(1.0, 0.0); 128];
    let mut j = 0;
    while j < 128 {
        let c = (j as f64 + 96.0) / STEPS;
        logarithms[j] = (1.0 / c, series_ln(c));
        j += 1;
    }
    logarithms
};

/// Bits of 3/4.
const LOWEST: u64 = 0x3fe8_0000_0000_0000;
const MANTISSA: u64 = (1 << 52) - 1;

/// ln 2 as a sum; k times the first part is exact for |k| < 2²⁰.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

/// 1.5·2⁵²: a number below 2⁵¹ added to it is rounded to a whole one, which stands in the last bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// ln(1 + t) for −1 < t < 10³⁰⁰, within 2⁻⁵¹ of its value, relatively.
///
/// 1 + t = 2ᵏ·m with m from 3/4 to 3/2, and m = c(1 + r) with the nearest c = j/128: k ln 2 + ln c + ln(1 + r), the last
/// by its series to r⁷, whose rest is 10⁻¹⁷ of it. What 1 + t was rounded by is added to the first order.
#[inline(always)]
pub(super) fn ln_1p(t: f64) -> f64 {
    let u = 1.0 + t;
    let t_in_u = u - 1.0;
    let lost = (1.0 - (u - t_in_u)) + (t - t_in_u);
    let bits = u.to_bits().wrapping_sub(LOWEST);
    let power = bits as i64 >> 52;
    let m = f64::from_bits((bits & MANTISSA).wrapping_add(LOWEST));
    let rounded = m + ROUNDING / STEPS;
    let j = rounded.to_bits().wrapping_sub(96) & 127;
    let (inverse, ln_c) = LOGARITHMS[j as usize];
    let r = (m - (rounded - ROUNDING / STEPS)) * inverse;
    let r2 = r * r;
    let high = (-1.0 / 4.0 + r * (1.0 / 5.0)) + r2 * (-1.0 / 6.0 + r * (1.0 / 7.0));
    let rest = r2 * ((-1.0 / 2.0 + r * (1.0 / 3.0)) + r2 * high);
    let k = power as f64;
    let shrink = f64::from_bits(((1023 - power) as u64) << 52);
    let correction = lost * (shrink * inverse) + k * LN_2.1;
    (k * LN_2.0 + ln_c) + (r + (rest + correction))
}

/// eˣ for |x| < 700, within 2⁻⁵¹ of its value, relatively.
///
/// x = k/128 · ln 2 + r with |r| < 0.0028: 2^(k/128) · eʳ, by its series to r⁵, whose rest is 10⁻¹⁸.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let rounded = x * (std::f64::consts::LOG2_E * STEPS) + ROUNDING;
    let k = rounded - ROUNDING;
    let r = (x - k * (LN_2.0 / STEPS)) - k * (LN_2.1 / STEPS);
    let bits = rounded.to_bits();
    let base = POWERS[(bits & 127) as usize].to_bits();
    let power = f64::from_bits(base.wrapping_add((bits & !127) << 45));
    let r2 = r * r;
    let rest = r + r2 * ((1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0)));
    power + power * rest
}

/// eˣ for 0 ≤ x < 1, by its series.
const fn series_exp(x: f64) -> f64 {
    let mut sum = 0.0;
    let mut i = 24;
    while i > 0 {
        // 1 + x/1 (1 + x/2 (1 + …)), less its first 1.
        sum = x / i as f64 * (1.0 + sum);
        i -= 1;
    }
    1.0 + sum
}

/// ln c for c from 3/4 to 3/2: 2 artanh((c − 1)/(c + 1)), by its series.
const fn series_ln(c: f64) -> f64 {
    let s = (c - 1.0) / (c + 1.0);
    let mut sum = 0.0;
    let mut i = 25;
    while i > 1 {
        sum = s * s * (1.0 / i as f64 + sum);
        i -= 2;
    }
    2.0 * (s + s * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn the_tables_are_libm_s_to_the_last_bits() {
        for (i, power) in POWERS.into_iter().enumerate() {
            let exact = libm::exp2(i as f64 / 128.0);
            assert!((power - exact).abs() <= 2.3e-16, "{i}: {power} {exact}");
        }
        for (j, (inverse, ln)) in (96..).zip(LOGARITHMS) {
            let c = f64::from(j) / 128.0;
            assert!(
                (ln - libm::log(c)).abs() <= 3e-16 * libm::log(c).abs(),
                "{j}: {ln}"
            );
            assert_eq!(inverse, 1.0 / c);
        }
    }

    #[test]
    fn the_logarithm_is_libm_s_to_the_last_bits() {
        let mut widest = 0.0_f64;
        for seq in 0..200_000 {
            let mut draws = Draws::of(1, 1, seq);
            let unit = draws.open_unit();
            let wide = libm::exp(1_300.0 * draws.open_unit() - 650.0);
            for t in [
                wide,
                unit,
                0.5 * unit,
                1e-6 * unit,
                -unit,
                -0.3 * unit,
                -1e-9 * unit,
                unit - 1.0,
            ] {
                let exact = libm::log1p(t);
                widest = widest.max((ln_1p(t) - exact).abs() / exact.abs());
            }
        }
        assert!(widest < 4.5e-16, "{widest}");
        assert_eq!(ln_1p(0.0), 0.0);
        assert!((ln_1p(f64::EPSILON / 2.0 - 1.0) + 53.0 * std::f64::consts::LN_2).abs() < 1e-14);
    }

    #[test]
    fn the_exponential_is_libm_s_to_the_last_bits() {
        let mut widest = 0.0_f64;
        for seq in 0..200_000 {
            let unit = Draws::of(1, 2, seq).open_unit();
            for x in [
                700.0 * unit,
                45.0 * unit,
                unit,
                0.34 * unit,
                -1e-9 * unit,
                -700.0 * unit,
            ] {
                widest = widest.max((exp(x) / libm::exp(x) - 1.0).abs());
            }
        }
        assert!(widest < 4.5e-16, "{widest}");
        assert_eq!(exp(0.0), 1.0);
    }
}
