//! The normal distribution.
#![allow(
    clippy::excessive_precision,
    reason = "the coefficients stand as they were published"
)]

use std::f64::consts::FRAC_1_SQRT_2;

/// Φ(z), the share of a standard normal variable that is not above z.
pub(in crate::values) fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// Φ⁻¹(q), to 16 digits, for 0 ≤ q ≤ 1; infinite at both ends.
///
/// Wichura, "Algorithm AS 241: the percentage points of the normal distribution" (1988), its routine PPND16: one ratio
/// of polynomials near the middle and two in the tails.
pub(in crate::values) fn normal_quantile(q: f64) -> f64 {
    let middle = q - 0.5;
    if middle.abs() <= 0.425 {
        let r = 0.180625 - middle * middle;
        return middle * ratio(r, &NEAR);
    }
    // 1 − q is exact here.
    let tail = if middle < 0.0 { q } else { 1.0 - q };
    if tail <= 0.0 {
        return middle.signum() * f64::INFINITY;
    }
    let r = (-libm::log(tail)).sqrt();
    let z = if r <= 5.0 {
        ratio(r - 1.6, &FAR)
    } else {
        ratio(r - 5.0, &FARTHEST)
    };
    if middle < 0.0 { -z } else { z }
}

/// Numerator and denominator, from the highest power down.
type Ratio = [[f64; 8]; 2];

fn ratio(x: f64, [above, below]: &Ratio) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    polynomial(above) / polynomial(below)
}

const NEAR: Ratio = [
    [
        2.509_080_928_730_122_672_7e3,
        3.343_057_558_358_812_810_5e4,
        6.726_577_092_700_870_085_3e4,
        4.592_195_393_154_987_145_7e4,
        1.373_169_376_550_946_112_5e4,
        1.971_590_950_306_551_442_7e3,
        1.331_416_678_917_843_774_5e2,
        3.387_132_872_796_366_608_0,
    ],
    [
        5.226_495_278_852_854_561_0e3,
        2.872_908_573_572_194_267_4e4,
        3.930_789_580_009_271_061_0e4,
        2.121_379_430_158_659_586_7e4,
        5.394_196_021_424_751_107_7e3,
        6.871_870_074_920_579_083_0e2,
        4.231_333_070_160_091_125_2e1,
        1.0,
    ],
];

const FAR: Ratio = [
    [
        7.745_450_142_783_414_076_40e-4,
        2.272_384_498_926_918_458_33e-2,
        2.417_807_251_774_506_117_70e-1,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_50,
        4.630_337_846_156_545_295_90,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24e-9,
        5.475_938_084_995_344_946_00e-4,
        1.519_866_656_361_645_719_66e-2,
        1.481_039_764_274_800_745_90e-1,
        6.897_673_349_851_000_045_50e-1,
        1.676_384_830_183_803_849_40,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
];

const FARTHEST: Ratio = [
    [
        2.010_334_399_292_288_132_65e-7,
        2.711_555_568_743_487_578_15e-5,
        1.242_660_947_388_078_438_60e-3,
        2.653_218_952_657_612_309_30e-2,
        2.965_605_718_285_048_912_30e-1,
        1.784_826_539_917_291_335_80,
        5.463_784_911_164_114_369_90,
        6.657_904_643_501_103_777_20,
    ],
    [
        2.044_263_103_389_939_785_64e-15,
        1.421_511_758_316_445_888_70e-7,
        1.846_318_317_510_054_681_80e-5,
        7.868_691_311_456_132_591_00e-4,
        1.487_536_129_085_061_485_25e-2,
        1.369_298_809_227_358_053_10e-1,
        5.998_322_065_558_879_376_90e-1,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// q and Φ⁻¹(q): roots of erfc found with 60 digits.
    const KNOWN: [(f64, f64); 10] = [
        (9.332636185032189e-302, -37.1110119371647914),
        (1e-16, -8.22208221613043562),
        (1e-5, -4.26489079392282461),
        (0.01, -2.32634787404084109),
        (0.075, -1.43953147093845593),
        (0.3, -0.524400512708040816),
        (0.4999, -0.000250662830088007492),
        (0.9, 1.28155156554460059),
        (0.999, 3.09023230616781328),
        (1.0 - f64::EPSILON / 2.0, 8.20953615160138686),
    ];

    #[test]
    fn the_quantile_is_right_to_the_last_digits() {
        for (q, known) in KNOWN {
            let found = normal_quantile(q);
            assert!(
                (found / known - 1.0).abs() < 1e-15,
                "{q}: {found} is not {known}"
            );
            assert!((normal_cdf(known) / q - 1.0).abs() < 1e-13, "{q}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(f64::NAN).is_nan());
    }
}
