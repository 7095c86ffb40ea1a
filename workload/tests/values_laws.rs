//! Laws against theory, and their draws against the laws, with fixed seeds: a failure is a defect and not bad luck.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::Values;

/// Every law, at C_v below, at and above 1, and within bounds.
const LAWS: [&str; 21] = [
    "uniform:lo=0,hi=1",
    "uniform:lo=100,hi=300",
    "exponential:200",
    "lognormal:mean=200,cv=1.5",
    "lognormal:mean=200,cv=0.01",
    "lognormal:mean=1e-3,cv=20",
    "lognormal:p50=180,p99=900",
    "gamma:mean=200,cv=0.001",
    "gamma:mean=200,cv=0.5",
    "gamma:mean=200,cv=1",
    "gamma:mean=200,cv=1.0001",
    "gamma:mean=200,cv=3",
    "pareto:shape=1,lo=1,hi=1000",
    "pareto:shape=1.1,lo=1000,hi=1e9",
    "pareto:shape=2,lo=1,hi=1e4",
    "pareto:shape=0.001,lo=1,hi=1e4",
    "pareto:shape=30,lo=1,hi=2",
    "hyperexponential:mean=10,cv=1.5",
    "hyperexponential:mean=10,cv=20",
    "exponential:200,min=50,max=600",
    "lognormal:mean=200,cv=1.5,min=1,max=400",
];

const N: u64 = 200_000;

fn law(text: &str) -> Values {
    text.parse().unwrap()
}

fn drawn(values: &Values, seed: u64) -> Vec<f64> {
    let mut drawn: Vec<_> = (0..N).map(|seq| values.value(seed, seq)).collect();
    drawn.sort_by(f64::total_cmp);
    drawn
}

/// The largest distance between the share of `sorted` up to a value and `cdf` there.
fn kolmogorov_smirnov(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let n = sorted.len() as f64;
    let mut largest = 0.0;
    let mut below = 0;
    for equal in sorted.chunk_by(|one, other| one == other) {
        let upto = below + equal.len();
        let law = cdf(equal[0]);
        largest = f64::max(largest, (upto as f64 / n - law).abs());
        // At a bound, where values pile up, the law has a step of its own, and only its top is compared.
        if equal.len() == 1 {
            largest = f64::max(largest, (below as f64 / n - law).abs());
        }
        below = upto;
    }
    largest
}

/// The critical value for α = 0.001: √(−½ ln(α/2)/n). Passing proves nothing; failing by chance is excluded by the seed.
fn critical(n: u64) -> f64 {
    (-0.5 * (0.001_f64 / 2.0).ln() / n as f64).sqrt()
}

#[test]
fn draws_follow_their_law() {
    for (seed, text) in LAWS.into_iter().enumerate() {
        let values = law(text);
        let distance = kolmogorov_smirnov(&drawn(&values, seed as u64), |x| values.cdf(x));
        assert!(
            distance < critical(N),
            "{text}: {distance} above {}",
            critical(N)
        );
    }
}

#[test]
fn the_statistic_finds_the_wrong_law() {
    let drawn = drawn(&law("lognormal:mean=200,cv=1.5"), 1);
    let other = law("lognormal:mean=200,cv=1.6");
    assert!(kolmogorov_smirnov(&drawn, |x| other.cdf(x)) > critical(N));
}

/// ∫₀¹ g(Q(u)) du by the midpoints of cells that are ever finer towards both ends.
fn integral_over_quantiles(values: &Values, g: impl Fn(f64) -> f64) -> f64 {
    // u = w³ (10 − 15 w + 6 w²), whose derivative, and that one's, are 0 at both ends.
    const CELLS: u32 = 20_000;
    let mut sum = 0.0;
    for i in 0..CELLS {
        let w = (f64::from(i) + 0.5) / f64::from(CELLS);
        let u = w * w * w * (10.0 - 15.0 * w + 6.0 * w * w);
        sum += g(values.quantile(u)) * 30.0 * w * w * (1.0 - w) * (1.0 - w);
    }
    sum / f64::from(CELLS)
}

#[test]
fn mean_and_cv_are_those_of_the_quantiles() {
    for text in LAWS {
        // In f64 the last quantile below 1 is at 1 − 2⁻⁵³, and of the heaviest tails part of C_v lies beyond.
        if [
            "lognormal:mean=1e-3,cv=20",
            "hyperexponential:mean=10,cv=20",
            "gamma:mean=200,cv=3",
        ]
        .contains(&text)
        {
            continue;
        }
        let values = law(text);
        let mean = integral_over_quantiles(&values, |x| x);
        let variance = integral_over_quantiles(&values, |x| (x - values.mean()).powi(2));
        let cv = variance.sqrt() / mean;
        assert!(
            (mean / values.mean() - 1.0).abs() < 1e-6,
            "{text}: mean {mean}, not {}",
            values.mean()
        );
        assert!(
            (cv / values.cv() - 1.0).abs() < 1e-4,
            "{text}: C_v {cv}, not {}",
            values.cv()
        );
    }
}

#[test]
fn the_mean_of_draws_is_within_its_standard_error() {
    for (seed, text) in LAWS.into_iter().enumerate() {
        let values = law(text);
        let drawn = drawn(&values, 100 + seed as u64);
        let mean = drawn.iter().sum::<f64>() / N as f64;
        // σ/√n, of which 3.29 are passed once in a thousand.
        let error = values.mean() * values.cv() / (N as f64).sqrt();
        let distance = (mean - values.mean()).abs() / error;
        assert!(
            distance < 3.29,
            "{text}: {mean} is {distance:.2} standard errors from {}",
            values.mean()
        );
    }
}

#[test]
fn the_variance_of_draws_is_within_its_standard_error() {
    for (seed, text) in LAWS.into_iter().enumerate() {
        // The fourth moment of these is carried by values too rare for the sample to show its own error.
        if text.contains("cv=20") || text.contains("1e9") || text.contains("shape=2") {
            continue;
        }
        let values = law(text);
        let drawn = drawn(&values, 200 + seed as u64);
        let square = |x: &f64| (x - values.mean()).powi(2);
        let variance = drawn.iter().map(square).sum::<f64>() / N as f64;
        let theory = (values.mean() * values.cv()).powi(2);
        // √(Var (X − m)²/n), from the sample itself.
        let spread = drawn
            .iter()
            .map(|x| (square(x) - variance).powi(2))
            .sum::<f64>()
            / N as f64;
        let distance = (variance - theory).abs() / (spread / N as f64).sqrt();
        assert!(
            distance < 4.0,
            "{text}: {variance} is {distance:.2} standard errors from {theory}"
        );
    }
}

#[test]
fn quantiles_invert_the_distribution() {
    for text in LAWS {
        let values = law(text);
        for q in [
            1e-6,
            0.01,
            0.1,
            0.25,
            0.5,
            0.75,
            0.9,
            0.99,
            0.999,
            1.0 - 1e-9,
        ] {
            let x = values.quantile(q);
            let is_at_a_bound = x == values.quantile(0.0) || x == values.quantile(1.0);
            let found = values.cdf(x);
            assert!(
                is_at_a_bound || (found - q).abs() < 1e-11,
                "{text}: the quantile {q} is {x}, whose share below is {found}"
            );
        }
        assert_eq!(values.cdf(values.quantile(1.0)), 1.0, "{text}");
        assert_eq!(values.cdf(-1.0), 0.0, "{text}");
        assert_eq!(values.quantile(-1.0), values.quantile(0.0), "{text}");
        assert_eq!(values.quantile(2.0), values.quantile(1.0), "{text}");
        assert!(values.quantile(f64::NAN).is_nan(), "{text}");
        assert!(values.quantile(0.0).is_sign_positive(), "{text}");
    }
}

#[test]
fn partial_moments_grow_to_the_moments() {
    for text in LAWS {
        let values = law(text);
        let law = values.law();
        // ∫ x dF by the trapezoid over a part of the values, from the distribution alone.
        let (from, to) = (values.quantile(0.3), values.quantile(0.7));
        let (mut mean, mut square) = (0.0, 0.0);
        const STEPS: u32 = 20_000;
        for i in 0..STEPS {
            let at = |i: u32| from + (to - from) * f64::from(i) / f64::from(STEPS);
            let (x, share) = (
                0.5 * (at(i) + at(i + 1)),
                law.cdf(at(i + 1)) - law.cdf(at(i)),
            );
            mean += x * share;
            square += x * x * share;
        }
        let close = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-6 * wanted;
        assert!(
            close(law.mean_below(to) - law.mean_below(from), mean),
            "{text}"
        );
        assert!(
            close(law.square_below(to) - law.square_below(from), square),
            "{text}"
        );
        let (all, second) = (
            law.mean_below(f64::INFINITY),
            law.square_below(f64::INFINITY),
        );
        let wanted = values.mean().powi(2) * (1.0 + values.cv().powi(2));
        assert!((all / values.mean() - 1.0).abs() < 1e-12, "{text}: {all}");
        assert!((second / wanted - 1.0).abs() < 1e-12, "{text}: {second}");
        assert_eq!(
            (law.mean_below(0.0), law.square_below(-1.0)),
            (0.0, 0.0),
            "{text}"
        );
    }
}

#[test]
fn figures_known_by_hand() {
    let close = |found: f64, known: f64| {
        assert!(
            (found / known - 1.0).abs() < 1e-12,
            "{found} is not {known}"
        )
    };
    let uniform = law("uniform:0:12");
    close(uniform.mean(), 6.0);
    close(uniform.cv(), 1.0 / 3.0_f64.sqrt());
    close(law("exponential:200").quantile(0.99), 200.0 * 100_f64.ln());
    // The median of a log-normal law is m/√(1 + C_v²).
    close(
        law("lognormal:mean=200,cv=1.5").quantile(0.5),
        200.0 / 3.25_f64.sqrt(),
    );
    let quantiles = law("lognormal:p50=180,p99=900");
    close(quantiles.quantile(0.5), 180.0);
    close(quantiles.quantile(0.99), 900.0);
    // α = 1: the mean is ln(H/L) L/(1 − L/H), and the median 2 L/(1 + L/H).
    let pareto = law("pareto:shape=1,lo=1,hi=1000");
    close(pareto.mean(), 1000_f64.ln() / 0.999);
    close(pareto.quantile(0.5), 2.0 / 1.001);
    // From an independent implementation of the inverse.
    close(
        law("gamma:mean=1,cv=0.5").quantile(0.99),
        2.511_279_378_707_904,
    );
    close(
        law("gamma:mean=1,cv=3").quantile(0.99),
        15.060_393_837_156_061,
    );
    // C_v² = 5/3: p = ¾, means ⅔ and 2; at x = 2 the survival is ¾ e⁻³ + ¼ e⁻¹.
    let hyper = law(&format!(
        "hyperexponential:mean=1,cv={}",
        (5.0_f64 / 3.0).sqrt()
    ));
    close(
        1.0 - hyper.cdf(2.0),
        0.75 * (-3.0_f64).exp() + 0.25 * (-1.0_f64).exp(),
    );
    // Held at m: half of the mean's excess is cut, E[min(X, m)] = m (1 − 1/e).
    close(
        law("exponential:200,max=200").mean(),
        200.0 * (1.0 - (-1.0_f64).exp()),
    );
    close(
        law("exponential:200,min=200").mean(),
        200.0 * (1.0 + (-1.0_f64).exp()),
    );
}

#[test]
fn empirical_values_come_as_often_as_they_were_counted() {
    let values = law("empirical:5x1,1x6,2x3");
    assert_eq!(values.mean(), 1.7);
    // Σ n (x − 1.7)²/10 = (6·0.49 + 3·0.09 + 10.89)/10 = 1.41.
    assert!((values.cv() - 1.41_f64.sqrt() / 1.7).abs() < 1e-15);
    for (q, value) in [
        (0.0, 1.0),
        (0.6, 1.0),
        (0.600_001, 2.0),
        (0.9, 2.0),
        (0.91, 5.0),
        (1.0, 5.0),
    ] {
        assert_eq!(values.quantile(q), value, "{q}");
    }
    assert_eq!(
        [
            values.cdf(0.9),
            values.cdf(1.0),
            values.cdf(4.9),
            values.cdf(5.0)
        ],
        [0.0, 0.6, 0.9, 1.0]
    );
    let mut counts = [0.0; 6];
    for seq in 0..N {
        counts[values.value(3, seq) as usize] += 1.0;
    }
    let chi_square: f64 = [(1, 0.6), (2, 0.3), (5, 0.1)]
        .map(|(value, share)| (counts[value] - share * N as f64).powi(2) / (share * N as f64))
        .iter()
        .sum();
    // The 99.9 % quantile of χ² with 2 degrees of freedom is −2 ln 0.001.
    assert!(chi_square < 13.8, "{chi_square}");
    assert_eq!(counts[0] + counts[3] + counts[4], 0.0);
}

#[test]
fn an_empirical_quantile_is_the_value_of_its_rank() {
    // 1 to 1000: the quantile q is 1000 q wherever that is whole, whatever f64 makes of the product.
    let list: Vec<_> = (1..=1000).map(|value| value.to_string()).collect();
    let values = law(&format!("empirical:{}", list.join(",")));
    for rank in 1..=1000_u32 {
        let q: f64 = format!("{rank}e-3").parse().unwrap();
        assert_eq!(values.quantile(q), f64::from(rank));
    }
}

#[test]
fn bounds_move_what_lies_outside_and_nothing_else() {
    let (free, held) = (
        law("lognormal:mean=200,cv=1.5"),
        law("lognormal:mean=200,cv=1.5,min=50,max=400"),
    );
    for seq in 0..10_000 {
        assert_eq!(held.value(1, seq), free.value(1, seq).clamp(50.0, 400.0));
    }
    // A third of the values, in a closed form that the law within gives.
    let Values::Clamped(clamped) = &held else {
        unreachable!("bounds were given");
    };
    assert!((clamped.moved() - (free.cdf(50.0) + 1.0 - free.cdf(400.0))).abs() < 1e-15);
    assert_eq!(held.quantile(0.001), 50.0);
    assert_eq!(held.quantile(0.999), 400.0);
    // Bounds around bounds are one pair.
    assert_eq!(
        held.clone().clamped(0.0, 300.0).unwrap(),
        law("lognormal:mean=200,cv=1.5,min=50,max=300")
    );
    assert!(held.clamped(500.0, 600.0).is_err());
    // Values that are a bound are not moved by it.
    let Values::Clamped(clamped) = law("empirical:1x3,2x4,9x1,min=1,max=2") else {
        unreachable!("bounds were given");
    };
    assert_eq!(clamped.moved(), 0.125);
}

#[test]
fn whole_numbers_are_the_nearest_and_bounds_commute_with_them() {
    let values = law("exponential:3,min=1,max=8");
    let free = law("exponential:3");
    for seq in 0..10_000 {
        assert_eq!(values.count(5, seq), free.count(5, seq).clamp(1, 8));
        assert!((free.count(5, seq) as f64 - free.value(5, seq)).abs() <= 0.5);
    }
    assert_eq!(law("fixed:2.5").count(1, 1), 3);
    assert_eq!(law("fixed:0.49").count(1, 1), 0);
    assert_eq!(law("fixed:1e30").count(1, 1), u64::MAX);
    // The mean of the nearest whole number of an exponential value is 1/(2 sinh(1/(2 m))), m − 1/(24 m) and less.
    let m = 3.0_f64;
    let mean = (0..N).map(|seq| free.count(6, seq) as f64).sum::<f64>() / N as f64;
    let theory = 0.5 / (0.5 / m).sinh();
    assert!((theory - (m - 1.0 / (24.0 * m))).abs() < 1e-4);
    assert!(
        (mean - theory).abs() < 3.29 * m / (N as f64).sqrt(),
        "{mean}, not {theory}"
    );
}

#[test]
fn the_same_request_is_large_under_every_scale() {
    let (small, large) = (
        law("lognormal:mean=10,cv=1"),
        law("lognormal:mean=1000,cv=1"),
    );
    for seq in 0..1000 {
        assert!((large.value(4, seq) / small.value(4, seq) - 100.0).abs() < 1e-9);
    }
}
