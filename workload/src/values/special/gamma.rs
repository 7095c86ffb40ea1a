//! The incomplete gamma function.
#![allow(
    clippy::excessive_precision,
    reason = "the coefficients stand as they were published"
)]

/// Above this shape the sums would take thousands of terms, and the expansion for large shapes is exact to 10⁻¹³.
const LARGE: f64 = 1e5;

/// P(a, x), the share of a gamma variable of shape a and scale 1 that is not above x.
pub(in crate::values) fn gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).0
}

/// P(a, x) and Q(a, x) = 1 − P(a, x), for a > 0 and x ≥ 0, to 12 digits where they are above
/// 10⁻³, and within 4·10⁻¹⁵ anywhere.
///
/// The series for P below x = a + 1 and the continued fraction for Q above (Gautschi, "A computational procedure for
/// incomplete gamma functions", 1979); for a large shape Temme's expansion.
fn tails(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    if a > LARGE {
        return large(a, x);
    }
    if x < a + 1.0 {
        // P = xᵃ e⁻ˣ/Γ(a + 1) · (1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …)
        let (mut term, mut sum, mut n) = (1.0, 1.0, a);
        while term > sum * f64::EPSILON * 0.25 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let p = power(a, x) / a * sum;
        (p, 1.0 - p)
    } else {
        let q = power(a, x) * fraction(a, x);
        (1.0 - q, q)
    }
}

/// The continued fraction 1/(x + 1 − a − 1·(1 − a)/(x + 3 − a − …)) by the method of Lentz.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / b;
    let mut product = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let an = i * (a - i);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let factor = c * d;
        product *= factor;
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    product
}

/// xᵃ e⁻ˣ/Γ(a).
fn power(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        return libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    }
    // In the form of Loader, "Fast and accurate computation of binomial probabilities" (2000): no large numbers that
    // cancel, but the distance from the mean and the error of Stirling's formula.
    let exponent = -a * distance(x / a, (x - a) / a) - stirling_error(a);
    libm::exp(exponent) * (a / std::f64::consts::TAU).sqrt()
}

/// λ − 1 − ln λ, with λ − 1 given as it is known best.
fn distance(lambda: f64, over: f64) -> f64 {
    if over.abs() > 0.1 {
        return over - libm::log(lambda);
    }
    // With s = (λ − 1)/(λ + 1), ln λ = 2 (s + s³/3 + s⁵/5 + …) and λ − 1 − 2 s = s (λ − 1).
    let s = over / (2.0 + over);
    let square = s * s;
    let mut sum = 0.0;
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        sum = (sum + 1.0 / odd) * square;
    }
    s * (over - 2.0 * sum)
}

/// ln Γ(a) − (a − ½) ln a + a − ½ ln 2π, for a ≥ 10.
fn stirling_error(a: f64) -> f64 {
    let square = 1.0 / (a * a);
    let mut sum = 0.0;
    for coefficient in [
        1.0 / 156.0,
        -691.0 / 360_360.0,
        1.0 / 1188.0,
        -1.0 / 1680.0,
        1.0 / 1260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ] {
        sum = sum * square + coefficient;
    }
    sum / a
}

/// Both tails for a large shape: Temme, "The asymptotic expansion of the incomplete gamma functions" (1979), with two
/// coefficients as series in η = ±√(2 (λ − 1 − ln λ)), λ = x/a.
fn large(a: f64, x: f64) -> (f64, f64) {
    let over = (x - a) / a;
    let half_square = distance(x / a, over);
    let eta = (2.0 * half_square).sqrt().copysign(over);
    let rest = if eta.abs() > 0.3 {
        // Both tails are beyond 10⁻¹⁰⁰⁰.
        0.0
    } else {
        let first = [
            3.919_263_178_522_437_8e-5,
            -1.787_551_440_329_218_1e-4,
            3.527_336_860_670_194e-4,
            1.157_407_407_407_407_5e-3,
            -1.481_481_481_481_481_5e-2,
            1.0 / 12.0,
            -1.0 / 3.0,
        ];
        let second = [
            -9.902_263_374_485_597e-4,
            1.0 / 378.0,
            -1.0 / 288.0,
            -1.0 / 540.0,
        ];
        let at_eta = |coefficients: &[f64]| coefficients.iter().fold(0.0, |sum, c| sum * eta + c);
        (at_eta(&first) + at_eta(&second) / a) * libm::exp(-a * half_square)
            / (std::f64::consts::TAU * a).sqrt()
    };
    let z = eta * (0.5 * a).sqrt();
    (0.5 * libm::erfc(-z) - rest, 0.5 * libm::erfc(z) + rest)
}

/// The quantile of a gamma variable of shape a and scale 1: x with P(a, x) = q.
///
/// Newton's method for the logarithm of the smaller tail, held in a bracket that every step narrows, from the
/// approximation of Wilson and Hilferty.
pub(in crate::values) fn gamma_quantile(a: f64, q: f64) -> f64 {
    if q.is_nan() {
        return q;
    }
    if q <= 0.0 {
        return 0.0;
    }
    if q >= 1.0 {
        return f64::INFINITY;
    }
    // Near 0, P(a, x) = xᵃ/Γ(a + 1), to a relative error of x.
    let log_near_zero = (libm::log(q) + libm::lgamma(a + 1.0)) / a;
    if log_near_zero < -38.0 {
        return libm::exp(log_near_zero);
    }
    let upper = q > 0.5;
    let target = libm::log(if upper { 1.0 - q } else { q });
    let (mut lo, mut hi) = (0.0, f64::INFINITY);
    let z = super::normal_quantile(q);
    let cube = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * a.sqrt());
    let mut x = if cube > 0.3 {
        a * cube * cube * cube
    } else {
        libm::exp(log_near_zero)
    };
    for _ in 0..200 {
        let (p, rest) = tails(a, x);
        let tail = if upper { rest } else { p };
        // Positive where x is too small.
        let gap = if upper {
            libm::log(tail) - target
        } else {
            target - libm::log(tail)
        };
        if gap > 0.0 {
            lo = x;
        } else {
            hi = x;
        }
        let step = gap * tail * x / power(a, x);
        let newton = x + step;
        let next = if newton > lo && newton < hi {
            newton
        } else if hi < f64::INFINITY {
            0.5 * (lo + hi)
        } else {
            2.0 * x
        };
        let moved = (next - x).abs();
        x = next;
        if moved <= 2.0 * f64::EPSILON * x {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a, x, P and Q: of sums and integrals with 40 digits.
    const KNOWN: [(f64, f64, f64, f64); 19] = [
        (1e-6, 1e-10, 0.99997755161588114, 2.2448384118859914e-5),
        (1e-6, 2.0, 0.99999995109941291, 4.8900587094309739e-8),
        (0.3, 1e-8, 0.0044358793136453295, 0.99556412068635467),
        (0.3, 0.2, 0.65750672426972174, 0.34249327573027826),
        (0.3, 9.0, 0.99999172630399765, 8.2736960023455691e-6),
        (1.0, 2.0, 0.86466471676338731, 0.13533528323661269),
        (2.5, 0.01, 2.9876015319065938e-6, 0.99999701239846809),
        (2.5, 3.0, 0.6937810815867216, 0.3062189184132784),
        (2.5, 40.0, 0.99999999999999916, 8.3918251148316101e-16),
        (30.0, 10.0, 2.5099512015279078e-7, 0.99999974900487985),
        (30.0, 31.5, 0.6293313411887193, 0.3706686588112807),
        (1e3, 900.0, 0.00054990226571178292, 0.99945009773428822),
        (1e3, 1003.0, 0.54193594831747251, 0.45806405168252749),
        (9e4, 91_000.0, 0.99955341015586396, 0.0004465898441360425),
        (9e4, 89_900.0, 0.36981413439009878, 0.63018586560990122),
        (2e5, 199_000.0, 0.012576006291331174, 0.98742399370866883),
        (2e5, 200_100.0, 0.58874384517613018, 0.41125615482386982),
        (
            1e8,
            100_030_000.0,
            0.99864891989839804,
            0.0013510801016019576,
        ),
        (
            1e12,
            999_998_500_000.0,
            0.06680714730313047,
            0.93319285269686953,
        ),
    ];

    #[test]
    fn both_tails_are_right_for_every_shape() {
        for (a, x, p, q) in KNOWN {
            let found = tails(a, x);
            for (found, known) in [(found.0, p), (found.1, q)] {
                let is_close = (found - known).abs() < 1e-12 * known + 4e-15;
                assert!(is_close, "P({a}, {x}): {found} is not {known}");
            }
        }
        assert_eq!(tails(2.0, 0.0), (0.0, 1.0));
        assert_eq!(tails(2.0, f64::INFINITY), (1.0, 0.0));
    }

    #[test]
    fn the_two_methods_meet_where_one_takes_over() {
        for z in [-6.0, -2.0, -0.1, 0.0, 0.1, 2.0, 6.0] {
            let x = LARGE + z * LARGE.sqrt();
            let (sum, expansion) = (tails(LARGE, x), large(LARGE, x));
            for (sum, expansion) in [(sum.0, expansion.0), (sum.1, expansion.1)] {
                assert!(
                    (sum - expansion).abs() < 1e-12,
                    "{z}: {sum} and {expansion}"
                );
            }
        }
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for a in [1e-6, 0.01, 0.3, 1.0, 2.5, 30.0, 1e3, 9e4, 2e5, 1e8, 1e12] {
            for q in [1e-12, 1e-3, 0.1, 0.5, 0.500_001, 0.9, 0.999, 1.0 - 1e-12] {
                let x = gamma_quantile(a, q);
                if x < 1e-300 {
                    // Below what f64 can tell, where the distribution is nearly a step at 0.
                    assert!(a < 0.05 && q <= gamma_p(a, 1e-300));
                    continue;
                }
                let (p, rest) = tails(a, x);
                let (found, wanted) = if q > 0.5 { (rest, 1.0 - q) } else { (p, q) };
                // x itself has 16 digits, of which the tail of a narrow law loses as many as its width.
                let tolerance = 1e-10 + 1e-14 * a.sqrt();
                assert!(
                    (found / wanted - 1.0).abs() < tolerance,
                    "a = {a}, q = {q}: {found}"
                );
            }
        }
    }
}
