//! `loadgen sample values`.

use super::ShowArgs;
use super::sheet::{Drawn, Figure, Rows, Section, Sheet, significant};
use openloop_workload::Values;
use serde_json::Value;

const QUANTILES: [(f64, &str); 8] = [
    (0.01, "p1"),
    (0.1, "p10"),
    (0.5, "p50"),
    (0.9, "p90"),
    (0.95, "p95"),
    (0.99, "p99"),
    (0.999, "p99.9"),
    (1.0, "largest"),
];

pub(super) fn sheet(values: &Values, show: &ShowArgs) -> Sheet {
    let drawn: Vec<f64> = (0..show.draws)
        .map(|seq| values.value(show.seed, seq))
        .collect();
    let mut sorted = drawn.clone();
    sorted.sort_by(f64::total_cmp);
    let (mean, cv) = moments(&drawn);
    let finite = |number: f64| Some(number).filter(|number| number.is_finite());
    let quantiles = QUANTILES
        .iter()
        .map(|&(q, name)| Figure::number(name, finite(values.quantile(q)), rank(&sorted, q)));
    let mut notes = vec![format!(
        "behind one server at random instants, work of this law waits {} times as long as work that is always the same",
        significant(1.0 + values.cv().powi(2))
    )];
    if let Values::Clamped(clamped) = values {
        notes.push(format!(
            "the bounds move {:.2} % of the values; all figures are of the values within them",
            100.0 * clamped.moved()
        ));
    }
    let rows = drawn
        .iter()
        .zip(0_u64..)
        .take(show.count().try_into().unwrap_or(usize::MAX));
    Sheet {
        sampler: values.to_string(),
        drawn: Some(Drawn {
            seed: show.seed,
            draws: show.draws,
        }),
        sections: vec![
            Section {
                title: "how large, how uneven",
                figures: vec![
                    Figure::number("mean", values.mean(), mean),
                    Figure::number("C_v", values.cv(), cv),
                    Figure::number(
                        "(1 + C_v\u{b2})/2",
                        values.pollaczek_khinchine(),
                        (1.0 + cv * cv) / 2.0,
                    ),
                ],
            },
            Section {
                title: "quantiles",
                figures: quantiles.collect(),
            },
            Section {
                title: "where they lie",
                figures: bins(values, &sorted),
            },
        ],
        notes,
        sample: Rows {
            columns: vec!["seq", "value"],
            rows: rows
                .map(|(&value, seq)| vec![seq.into(), Value::from(value)])
                .collect(),
        },
        ..Sheet::default()
    }
}

/// Mean and C_v with n as the divisor, as the law's are those of the whole.
fn moments(drawn: &[f64]) -> (f64, f64) {
    let n = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / n;
    let variance = drawn
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / n;
    (
        mean,
        if mean == 0.0 {
            0.0
        } else {
            variance.sqrt() / mean
        },
    )
}

/// The value of rank max(1, ⌈q·n⌉).
fn rank(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The shares between round numbers, from where hardly a value is below to where hardly one is above.
fn bins(values: &Values, sorted: &[f64]) -> Vec<Figure> {
    let (low, high) = (values.quantile(0.01), values.quantile(0.999));
    if !(high > 0.0 && high.is_finite()) {
        return Vec::new();
    }
    let decades = high.log10() - low.max(high * 1e-6).log10();
    let steps: &[f64] = if decades < 4.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let lowest = low.max(high * 1e-6).log10().floor() as i32;
    let highest = high.log10().ceil() as i32;
    let round = (lowest..=highest)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
    let edges: Vec<_> = round.filter(|&edge| edge > low && edge < high).collect();
    let below =
        |edge: f64| sorted.partition_point(|&value| value <= edge) as f64 / sorted.len() as f64;
    let bounds = std::iter::once(None).chain(edges.iter().copied().map(Some));
    let bounds = bounds.zip(edges.iter().copied().map(Some).chain([None]));
    bounds
        .map(|(from, to)| {
            let name = match (from, to) {
                (None, None) => "everywhere".to_owned(),
                (None, Some(to)) => format!("up to {}", significant(to)),
                (Some(from), Some(to)) => format!("{} to {}", significant(from), significant(to)),
                (Some(from), None) => format!("above {}", significant(from)),
            };
            let share = |cdf: &dyn Fn(f64) -> f64| to.map_or(1.0, cdf) - from.map_or(0.0, cdf);
            Figure::share(name, share(&|edge| values.cdf(edge)), share(&below))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_between_round_numbers_add_up() {
        for law in [
            "exponential:200",
            "lognormal:mean=200,cv=9",
            "pareto:shape=1.1,lo=100,hi=1e9",
            "fixed:7",
            "uniform:0:3",
            "fixed:0",
        ] {
            let values: Values = law.parse().unwrap();
            let mut sorted: Vec<_> = (0..1000).map(|seq| values.value(1, seq)).collect();
            sorted.sort_by(f64::total_cmp);
            let bins = bins(&values, &sorted);
            assert!(bins.len() <= 14, "{law}: {}", bins.len());
            let sums = bins.iter().fold((0.0, 0.0), |(law, drawn), bin| {
                (law + bin.law.unwrap(), drawn + bin.drawn.unwrap())
            });
            if law != "fixed:0" {
                assert!(
                    (sums.0 - 1.0).abs() < 1e-12 && (sums.1 - 1.0).abs() < 1e-12,
                    "{law}: {sums:?}"
                );
            }
        }
    }

    #[test]
    fn quantiles_of_draws_are_ranks() {
        assert_eq!(rank(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.0));
        assert_eq!(rank(&[1.0, 2.0, 3.0, 4.0], 1.0), Some(4.0));
        assert_eq!(rank(&[1.0], 0.01), Some(1.0));
        let (mean, cv) = moments(&[1.0, 3.0]);
        assert_eq!((mean, cv), (2.0, 0.5));
    }
}
