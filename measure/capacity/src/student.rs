//! Student's t, for intervals of 95 %.

/// The quantile of 0.975, for 1 to 10 degrees of freedom.
const FEW: [f64; 10] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
    2.262_157, 2.228_139,
];

/// The quantile of 0.975 for `freedom` ≥ 1 degrees, to 10⁻⁴.
pub(crate) fn t_975(freedom: usize) -> f64 {
    if let Some(exact) = FEW.get(freedom.saturating_sub(1)) {
        return *exact;
    }
    // R. A. Fisher and E. A. Cornish, in powers of one over the degrees of freedom.
    let (z, n) = (1.959_963_984_540_054_f64, freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + (first + (second + third / n) / n) / n
}

#[cfg(test)]
mod tests {
    use super::t_975;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [
            (1, 12.706),
            (9, 2.2622),
            (11, 2.2010),
            (20, 2.0860),
            (30, 2.0423),
            (120, 1.9799),
        ] {
            let found = t_975(freedom);
            assert!((found - expected).abs() < 6e-4, "{freedom}: {found}");
        }
    }
}
