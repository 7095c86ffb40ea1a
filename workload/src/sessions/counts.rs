//! Values as counts of which there is at least one.

use crate::Values;

/// What is drawn with a probability below 2⁻⁵³ is never drawn: a unit number has 52 bits and a half.
const LARGEST_UNIT: f64 = 1.0 - 1.110_223_024_625_156_5e-16;

/// The value of number `seq`, to the nearest whole number, and at least 1.
pub(crate) fn count(values: &Values, seed: u64, seq: u64) -> u32 {
    // What is taken as a count was checked to fit: see `largest`.
    u32::try_from(values.count(seed, seq).max(1)).unwrap_or(u32::MAX)
}

/// The largest count that is ever drawn.
pub(crate) fn largest(values: &Values) -> f64 {
    libm::round(values.quantile(LARGEST_UNIT))
}

/// The mean of [`count`], E\[max(1, round X)\].
///
/// It is 1 + Σ P(X ≥ k + ½) over k = 1, 2, …. The first thousand terms are summed; what is left is the integral of
/// P(X > x), since the midpoint rule has an error of next to nothing out there:
/// ∫ P(X > x) dx from a = E\[X; X > a\] − a·P(X > a).
pub(crate) fn mean_count(values: &Values) -> f64 {
    const SUMMED: u32 = 1000;
    let mut mean = 1.0;
    for k in 1..=SUMMED {
        // The share from k + ½ on, that value itself included: it is rounded up.
        let share = 1.0 - values.cdf((f64::from(k) + 0.5).next_down());
        if share <= 0.0 {
            return mean;
        }
        mean += share;
    }
    let rest = f64::from(SUMMED + 1);
    let above = values.mean() - values.law().mean_below(rest);
    mean + (above - rest * (1.0 - values.cdf(rest))).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(text: &str) -> f64 {
        mean_count(&text.parse().unwrap())
    }

    #[test]
    fn the_mean_of_counts_is_exact_where_it_is_known() {
        for (text, expected) in [
            ("fixed:0", 1.0),
            ("fixed:1", 1.0),
            ("fixed:1.5", 2.0),
            ("fixed:7", 7.0),
            ("fixed:1000", 1000.0),
            ("fixed:5000", 5000.0),
            // 1 below 1.5, 2 up to 2.5, 3 up to 3.
            ("uniform:lo=0,hi=3", (1.5 + 2.0 + 0.5 * 3.0) / 3.0),
            ("uniform:lo=2000,hi=4000", 3000.0),
        ] {
            let found = mean(text);
            assert!(
                (found - expected).abs() < 1e-9 * expected,
                "{text}: {found}"
            );
        }
        // Exponential, mean m: 1 + Σ e^(−(k + ½)/m) = 1 + e^(−3/(2m))/(1 − e^(−1/m)).
        for m in [0.5_f64, 3.0, 400.0] {
            let expected = 1.0 + (-1.5 / m).exp() / (1.0 - (-1.0 / m).exp());
            let found = mean(&format!("exponential:{m}"));
            assert!(
                (found - expected).abs() < 1e-6 * expected,
                "{m}: {found} {expected}"
            );
        }
    }

    #[test]
    fn the_mean_of_counts_is_that_of_many_drawn() {
        for text in [
            "lognormal:mean=2,cv=1.5",
            "gamma:mean=900,cv=2",
            "pareto:shape=1.5,lo=0.2,hi=500",
        ] {
            let values: Values = text.parse().unwrap();
            let n = 200_000_u64;
            let drawn: Vec<_> = (0..n)
                .map(|seq| f64::from(count(&values, 11, seq)))
                .collect();
            let found = drawn.iter().sum::<f64>() / n as f64;
            let expected = mean_count(&values);
            // Four standard errors of the mean.
            let squares = drawn
                .iter()
                .map(|count| (count - found).powi(2))
                .sum::<f64>()
                / n as f64;
            let tolerance = 4.0 * (squares / n as f64).sqrt();
            assert!(
                (found - expected).abs() < tolerance,
                "{text}: {found} {expected} ± {tolerance}"
            );
        }
    }

    #[test]
    fn no_count_is_0_and_none_above_the_largest() {
        let values: Values = "lognormal:mean=0.7,cv=3".parse().unwrap();
        let largest = largest(&values);
        for seq in 0..10_000 {
            let count = count(&values, 3, seq);
            assert!(count >= 1 && f64::from(count) <= largest);
        }
    }
}
