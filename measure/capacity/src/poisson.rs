//! The Poisson law, for any mean, in about √n steps.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | a | the mean |
//! | p(n) = e⁻ᵃ aⁿ / n! | the probability of n |
//! | P(N > n) / p(n) = Σ_{j ≥ 1} aʲ / ((n+1) … (n+j)) | quickly convergent where a ≤ n |
//! | P(N < n) / p(n) = Σ_{j ≥ 1} n (n−1) … (n−j+1) / aʲ | quickly convergent where a ≥ n |
//!
//! All terms are positive, so nothing cancels. p(n) itself by C. Loader, *Fast and Accurate Computation of Binomial
//! Probabilities* (2000): its error does not grow with n, while n ln a − a − ln n! loses digits.

use std::f64::consts::TAU;

/// What may be left out of a sum, relative to it.
const NEGLIGIBLE: f64 = 1e-17;

/// n ln(n/a) + a − n, without cancellation where n and a are close.
fn deviance(n: f64, a: f64) -> f64 {
    let difference = n - a;
    if difference.abs() >= 0.1 * (n + a) {
        return -n * (a / n).ln() - difference;
    }
    let v = difference / (n + a);
    let (mut sum, mut term) = (difference * v, 2.0 * n * v);
    for j in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// What Stirling's formula lacks: ln n! − ln(√(2πn) (n/e)ⁿ), for n ≥ 16.
fn stirling_error(n: f64) -> f64 {
    let square = n * n;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square)
            / square)
        / n
}

/// p(n) for a whole n ≥ 0 and a mean a ≥ 0.
pub(crate) fn probability(n: f64, a: f64) -> f64 {
    if a == 0.0 {
        return if n == 0.0 { 1.0 } else { 0.0 };
    }
    if n < 16.0 {
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        return (n * a.ln() - a - factorial.ln()).exp();
    }
    (-stirling_error(n) - deviance(n, a)).exp() / (TAU * n).sqrt()
}

/// P(N > n) / p(n), for a < n + 1.
fn above_ratio(n: f64, a: f64) -> f64 {
    let (mut sum, mut term, mut next) = (0.0, 1.0, n + 1.0);
    loop {
        term *= a / next;
        sum += term;
        // What follows is less than a geometric series.
        if term * a <= NEGLIGIBLE * sum * (next - a) {
            return sum;
        }
        next += 1.0;
    }
}

/// P(N < n) / p(n), for a ≥ n, or for an n so small that all n terms can be taken.
fn below_ratio(n: f64, a: f64) -> f64 {
    let (mut sum, mut term, mut next) = (0.0, 1.0, n);
    while next > 0.0 {
        term *= next / a;
        sum += term;
        if term * next <= NEGLIGIBLE * sum * (a - next) {
            break;
        }
        next -= 1.0;
    }
    sum
}

/// P(N < n) / p(n), for any n ≥ 1 and a > 0; infinite where p(n) is smaller than `f64` can tell.
pub(crate) fn below_to_equal(n: f64, a: f64) -> f64 {
    if a >= n || n <= 64.0 {
        return below_ratio(n, a);
    }
    let equal = probability(n, a);
    // P(N < n) is about a half or more here, so the difference loses no digit.
    (1.0 - equal * (1.0 + above_ratio(n, a))) / equal
}

/// P(N > n).
pub(crate) fn above(n: f64, a: f64) -> f64 {
    if a < n + 1.0 {
        probability(n, a) * above_ratio(n, a)
    } else {
        1.0 - probability(n, a) * (1.0 + below_ratio(n, a))
    }
}
