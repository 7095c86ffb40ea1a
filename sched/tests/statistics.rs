//! Gaps of the random processes against their distributions, with fixed seeds: passing proves nothing, failing does.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::time::Duration;

use openloop_sched::{
    Arrivals, Bursts, CoefficientOfVariation, Gamma, Offset, OpTime, Poisson, Process, Profile,
    Rate, Schedule, stream,
};

fn points(mut process: impl Process, n: usize) -> Vec<f64> {
    // Gaps in arrivals, from the exact points.
    let mut last = OpTime::ZERO;
    (0..n)
        .map(|_| {
            let point = process.next_point().unwrap();
            let gap = OpTime::from_units(point.as_units() - last.as_units()).as_arrivals();
            last = point;
            gap
        })
        .collect()
}

/// The Kolmogorov–Smirnov statistic √n·sup|Fₙ − F|. Its limit distribution is exceeded with probability
/// 2·Σ (−1)^(k−1)·exp(−2k²x²): 0.001 at x = 1.9495.
///
/// Gaps below 10⁻¹² of the mean are left out of the supremum: points are whole units of 5·10⁻¹⁹, and at a
/// coefficient of variation of 3 about 1 % of the gaps are smaller than that.
fn kolmogorov_smirnov(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let visible = sample.iter().enumerate().filter(|&(_, &x)| x > 1e-12);
    let distance = visible.map(|(i, &x)| {
        let f = cdf(x);
        (f - i as f64 / n).max((i as f64 + 1.0) / n - f)
    });
    distance.fold(0.0, f64::max) * n.sqrt()
}

const CRITICAL: f64 = 1.9495;

/// P(k, x), the regularised lower incomplete gamma function, by its series (Abramowitz and Stegun 6.5.29).
fn gamma_cdf(k: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut term, mut sum, mut n) = (1.0 / k, 1.0 / k, k);
    while term > sum * 1e-16 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    (sum.ln() + k * x.ln() - x - libm::lgamma(k)).exp().min(1.0)
}

fn moments(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, variance.sqrt() / mean)
}

#[test]
fn poisson_gaps_are_exponential() {
    for seed in [1, 2, 3] {
        let gaps = points(Poisson::new(seed), 1_000_000);
        let statistic = kolmogorov_smirnov(gaps, |x| -(-x).exp_m1());
        assert!(statistic < CRITICAL, "seed {seed}: {statistic}");
    }
}

#[test]
fn the_tail_of_poisson_gaps_is_whole() {
    // One in 10⁴ gaps exceeds −ln 10⁻⁴ = 9.2103 means: 100 ± 50 of a million (5 standard deviations).
    let gaps = points(Poisson::new(4), 1_000_000);
    let beyond = gaps.iter().filter(|&&gap| gap > 9.2103).count();
    assert!((50..=150).contains(&beyond), "{beyond}");
    assert!(gaps.iter().any(|&gap| gap > 12.0));
}

/// The correlation of each gap with the one `lag` later.
fn autocorrelation(gaps: &[f64], lag: usize) -> f64 {
    let (mean, cv) = moments(gaps);
    let pairs = gaps.iter().zip(&gaps[lag..]);
    let covariance = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / gaps.len() as f64;
    covariance / (cv * mean).powi(2)
}

#[test]
fn gaps_are_independent_of_the_ones_before() {
    let gamma = |cv| Gamma::new(CoefficientOfVariation::new(cv).unwrap(), 5);
    let samples = [
        points(Poisson::new(5), 1_000_000),
        points(gamma(0.5), 1_000_000),
        points(gamma(2.0), 1_000_000),
    ];
    for (k, gaps) in samples.iter().enumerate() {
        for lag in [1, 2, 7] {
            // Standard error 1/√n = 0.001.
            let r = autocorrelation(gaps, lag);
            assert!(r.abs() < 0.004, "sample {k}, lag {lag}: {r}");
        }
    }
}

#[test]
fn gamma_gaps_have_their_distribution() {
    for cv in [0.1, 0.5, 1.0, 1.5, 3.0] {
        let process = Gamma::new(CoefficientOfVariation::new(cv).unwrap(), 11);
        let gaps = points(process, 200_000);
        let shape = 1.0 / (cv * cv);
        let (mean, measured) = moments(&gaps);
        let standard_error = cv / (gaps.len() as f64).sqrt();
        assert!(
            (mean - 1.0).abs() < 4.0 * standard_error,
            "cv {cv}: mean {mean}"
        );
        assert!((measured / cv - 1.0).abs() < 0.05, "cv {cv}: {measured}");
        let statistic = kolmogorov_smirnov(gaps, |x| gamma_cdf(shape, x * shape));
        assert!(statistic < CRITICAL, "cv {cv}: {statistic}");
    }
}

#[test]
fn extreme_coefficients_of_variation_keep_their_mean() {
    let gaps = points(
        Gamma::new(CoefficientOfVariation::new(1e-6).unwrap(), 1),
        10_000,
    );
    let (mean, cv) = moments(&gaps);
    assert!(
        (mean - 1.0).abs() < 1e-7 && (cv / 1e-6 - 1.0).abs() < 0.05,
        "{mean} {cv}"
    );
    let gaps = points(
        Gamma::new(CoefficientOfVariation::new(30.0).unwrap(), 1),
        1_000_000,
    );
    let (mean, _) = moments(&gaps);
    // Standard error 30/√10⁶ = 0.03.
    assert!((mean - 1.0).abs() < 0.12, "{mean}");
}

#[test]
fn a_poisson_process_under_a_ramp_follows_it() {
    // Given their number, the instants of an inhomogeneous Poisson process are independent with
    // distribution Λ(t)/Λ(end).
    let profile: Profile = "0->20000/10s".parse().unwrap();
    let end = profile.expected();
    let instants: Vec<f64> = Schedule::new(profile.clone(), Arrivals::Poisson, 12)
        .map(|ticket| ticket.intended.as_nanos() as f64)
        .collect();
    let n = instants.len() as f64;
    assert!((n - end).abs() < 4.0 * end.sqrt(), "{n} of {end}");
    let statistic = kolmogorov_smirnov(instants, |t| {
        profile.integral(Offset::from_nanos(t as u64)).as_arrivals() / end
    });
    assert!(statistic < CRITICAL, "{statistic}");
}

#[test]
fn bursts_have_mean_one_and_dwell_in_seconds() {
    let bursts = Bursts {
        on: Duration::from_millis(100),
        off: Duration::from_millis(300),
        factor: 3.0,
    };
    for per_second in [10.0, 1000.0] {
        let rate = Rate::per_second(per_second).unwrap();
        let profile = Profile::hold(rate, Duration::from_secs(20_000)).unwrap();
        let profile = profile.bursts(bursts, 3).unwrap();
        // While on 3 times the rate, while off (1 − 3/4)/(3/4) = 1/3 of it.
        let mut on = 0u32;
        let samples = 200_000u32;
        for k in 0..samples {
            let now = profile.rate_at(Offset::from_nanos(u64::from(k) * 100_000_000));
            if now == Rate::per_second(3.0 * per_second).unwrap() {
                on += 1;
            } else {
                let off = now.as_per_second() / per_second;
                assert!((off - 1.0 / 3.0).abs() < 1e-6, "{off}");
            }
        }
        // Cycles of 0.4 s: 50 000 of them, so the share on has a standard error of about 0.0012.
        let share = f64::from(on) / f64::from(samples);
        assert!((share - 0.25).abs() < 0.006, "{share}");
        let mean = profile.expected() / (per_second * 20_000.0);
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
    }
}

#[test]
fn streams_of_one_seed_are_independent() {
    let a = points(Poisson::new(stream(1, "arrivals")), 100_000);
    let b = points(Poisson::new(stream(1, "bursts")), 100_000);
    let product: f64 = a.iter().zip(&b).map(|(a, b)| (a - 1.0) * (b - 1.0)).sum();
    // Standard error 1/√n = 0.0032.
    assert!((product / 1e5).abs() < 0.013, "{product}");
}
