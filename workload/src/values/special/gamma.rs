//! The incomplete gamma function.

/// Above this shape the sums would take thousands of terms, and the expansion for large shapes is exact to 10⁻¹³.
const LARGE: f64 = 1e5;

/// P(a, x), the share of a gamma variable of shape a and scale 1 that is not above x.
pub(in crate::values) fn gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).0
}

/// P(a, x) and Q(a, x) = 1 − P(a, x), for a > 0 and x ≥ 0, the smaller one to 12 digits or more.
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
    if q.is_nan() || q <= 0.0 {
        return q.max(0.0);
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
