//! The percentile spectrum: how long the slowest of so many had to wait.

use super::Section;
use super::chart::{Band, DataTable, Line, Marks, Panel, Point, Row, Scale, XAxis, YAxis, figure};
use crate::Report;
use crate::schema::Summary;
use crate::words::latency::bounded_value;
use crate::words::units::Ns;
use maud::{Markup, html};
use openloop_measurer::{Population, Quantile, Value};

/// The latencies that are shown, what they are called, and how they look.
const SHOWN: [(&str, &str, &str); 3] = [
    ("response", "response: what users waited", "c1"),
    (
        "exchange",
        "exchange: what a naive tool would have said",
        "c2",
    ),
    (
        "schedule_delay",
        "schedule delay: how late requests were sent",
        "c3",
    ),
];

/// The quantiles of reports as one in so many: where intervals stand.
const REPORTED: [(&str, f64); 6] = [
    ("p50_ns", 2.0),
    ("p90_ns", 10.0),
    ("p95_ns", 20.0),
    ("p99_ns", 100.0),
    ("p99_9_ns", 1000.0),
    ("p99_99_ns", 10_000.0),
];

pub(super) fn section(report: &Report) -> Option<Section> {
    let by_name = report.latency.by_name();
    let shown = SHOWN.iter().filter_map(|(name, called, style)| {
        let (_, summary) = by_name.iter().find(|(known, _)| known == name)?;
        Some(((*summary)?, *called, *style))
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    (!shown.is_empty()).then(|| Section {
        id: "spectrum",
        title: "Percentiles",
        body: html! {
            p.lead { "One in how many waited longer: each step to the right is a rarer and slower request." }
            (spectrum("Latency by percentile", &shown))
        },
    })
}

/// A latency, what it is called and means, and how it looks.
pub(super) type Shown<'a> = (&'a Summary, &'a str, &'static str);

/// Latencies by percentile; intervals are those of the first.
pub(super) fn spectrum(title: &str, shown: &[Shown<'_>]) -> Markup {
    let populations: Result<Vec<_>, _> = shown
        .iter()
        .map(|(summary, ..)| summary.population())
        .collect();
    match populations {
        Ok(populations) => drawn(title, shown, &populations),
        Err(why) => html! { p.note { "The histograms of this report cannot be drawn: " (why) } },
    }
}

/// What a latency is called, without what it means.
fn name(called: &str) -> &str {
    called.split(':').next().unwrap_or_default()
}

fn drawn(title: &str, shown: &[Shown<'_>], populations: &[Population]) -> Markup {
    let most = populations
        .iter()
        .map(Population::count)
        .max()
        .unwrap_or(1)
        .max(2);
    let steps = steps(most);
    let lines: Vec<Line> = shown
        .iter()
        .zip(populations)
        .map(|((_, called, style), population)| Line {
            name: (*called).to_owned(),
            style,
            points: steps.iter().map(|step| point(population, *step)).collect(),
            marks: Marks::No,
        })
        .collect();
    let values = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .filter_map(|point| point.y)
    };
    let most_ns = values().fold(0.0, f64::max);
    // What is next to nothing, and the least of many, would take all the room of what is not.
    let medians = lines
        .iter()
        .filter_map(|line| line.points.iter().find(|point| point.x >= 2.0)?.y);
    let least_ns = medians
        .map(|ns| ns / 10.0)
        .filter(|ns| *ns >= most_ns / 1e6)
        .fold(most_ns, f64::min);
    let least_ns = values().fold(most_ns, f64::min).max(least_ns);
    let x = XAxis {
        scale: Scale::Log(1.0, most as f64),
        ticks: ticks(most),
    };
    let y = YAxis::Nanoseconds(Scale::of_durations(least_ns, most_ns));
    let first = shown.first();
    let band = first.and_then(|(first, called, style)| band(first, name(called), style));
    let panel = Panel {
        height: 1.25,
        bands: band.into_iter().collect(),
        ..Panel::new(title, y, lines)
    };
    let data = table(shown, populations, &steps, &x);
    figure(title, &x, std::slice::from_ref(&panel), &data)
}

/// One in 1, 1.2, 1.5, 1.8 … of all: twelve steps a power of ten, the reported ones among them, and the largest.
fn steps(most: u64) -> Vec<f64> {
    let most = most as f64;
    let powers = (0..20).map(|power| 10_f64.powi(power));
    let round = REPORTED.iter().map(|(_, step)| *step).chain(powers);
    let mut steps: Vec<f64> = [most]
        .into_iter()
        .chain(round.filter(|step| *step < most / 1.02))
        .collect();
    let last = (12.0 * most.log10()).floor() as i32;
    for step in (0..=last).map(|k| 10_f64.powf(f64::from(k) / 12.0)) {
        if steps.iter().all(|there| (step / there - 1.0).abs() > 0.02) {
            steps.push(step);
        }
    }
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    steps
}

/// The value that one in `step` is above; at the last step, the largest.
fn value(population: &Population, step: f64) -> Option<Value> {
    let n = population.count();
    let above = (n as f64 / step + 1e-9).floor() as u64;
    match above {
        _ if n == 0 => None,
        0 | 1 if step >= n as f64 => population.max(),
        above => population.quantile(Quantile::new(n.saturating_sub(above).max(1), n).ok()?),
    }
}

fn point(population: &Population, step: f64) -> Point {
    // Past one in all there are of it, nothing is known.
    let value = Some(step)
        .filter(|step| *step <= population.count() as f64 * 1.02)
        .and_then(|step| value(population, step));
    Point {
        x: step,
        y: value.map(|value| value.ns() as f64),
        at_least: value.is_some_and(Value::is_lower_bound),
    }
}

/// The 95 % intervals of the reported quantiles.
fn band(of: &Summary, name: &str, style: &'static str) -> Option<Band> {
    let points: Vec<_> = REPORTED
        .iter()
        .filter(|(_, step)| *step <= of.count as f64)
        .filter_map(|(field, step)| {
            let [low, high] = of.interval.get(*field)?;
            Some((*step, *low as f64, *high as f64))
        })
        .collect();
    (!points.is_empty()).then(|| Band {
        name: format!("95 % intervals of the {name}"),
        style,
        reach: None,
        points,
    })
}

fn ticks(most: u64) -> Vec<Vec<(f64, String)>> {
    let scale = Scale::Log(1.0, most as f64);
    let written = |steps: &[f64]| {
        let within = steps.iter().filter(|step| **step <= most as f64 * 1.001);
        within
            .map(|step| (scale.place(*step), percentile(*step)))
            .collect::<Vec<_>>()
    };
    let powers: Vec<f64> = (0..19).map(|power| 10_f64.powi(power)).collect();
    let with_half = [&[1.0, 2.0], &powers[1..]].concat();
    let every_other: Vec<f64> = powers.iter().copied().step_by(2).collect();
    vec![written(&with_half), written(&powers), written(&every_other)]
}

/// `p99.9` of one in 1000.
fn percentile(step: f64) -> String {
    if step <= 1.0 {
        return "min".to_owned();
    }
    let percent = 100.0 - 100.0 / step;
    let digits = (step.log10() - 1.0).ceil().max(0.0) as usize;
    let is_round = step.log10().fract().abs() < 1e-9;
    let text = format!(
        "{percent:.*}",
        digits.saturating_sub(1) + usize::from(!is_round)
    );
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("p{text}")
}

fn table(shown: &[Shown<'_>], populations: &[Population], steps: &[f64], x: &XAxis) -> DataTable {
    let mut head = vec![("percentile".to_owned(), None)];
    for (_, called, style) in shown {
        head.push((name(called).to_owned(), Some(*style)));
    }
    let first = shown.first();
    let of = first.map_or("", |(_, called, _)| name(called));
    head.push((format!("95 % of the {of}"), None));
    let last = steps.len().saturating_sub(1);
    let row = |(index, step): (usize, &f64)| {
        let name = if index == last {
            "max".to_owned()
        } else {
            percentile(*step)
        };
        let mut cells = vec![name];
        for population in populations {
            let known = *step <= population.count() as f64 * 1.02;
            let value = Some(*step)
                .filter(|_| known)
                .and_then(|step| value(population, step));
            cells.push(value.map_or(String::new(), bounded_value));
        }
        let interval = REPORTED
            .iter()
            .find(|(_, reported)| (reported / step - 1.0).abs() < 1e-9);
        let interval = interval.and_then(|(field, _)| first?.0.interval.get(*field));
        cells.push(interval.map_or(String::new(), |[low, high]| Ns::interval(*low, *high)));
        Row {
            place: x.scale.place(*step),
            cells,
        }
    };
    DataTable {
        head,
        rows: steps.iter().enumerate().map(row).collect(),
        note: Some("The value of rank ⌈q·n⌉ of each population, to three digits; those without an end are ranked last.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_the_digits_that_tell_them_apart() {
        let texts = [1.0, 2.0, 4.0, 10.0, 20.0, 100.0, 1000.0, 10_000.0, 1e6].map(percentile);
        assert_eq!(
            texts,
            [
                "min", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "p99.9999"
            ]
        );
    }

    #[test]
    fn the_reported_quantiles_are_among_the_steps_and_so_is_the_largest() {
        let steps = steps(123_456);
        for (_, step) in REPORTED {
            assert!(steps.contains(&step), "{step}");
        }
        assert_eq!(steps.first(), Some(&1.0));
        assert_eq!(steps.last(), Some(&123_456.0));
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn one_in_so_many_is_the_value_of_its_rank() {
        let mut population = Population::new();
        (1..=1000).for_each(|ns| population.exact.record(ns));
        let at = |step| value(&population, step).unwrap().ns();
        assert_eq!(
            [at(1.0), at(2.0), at(10.0), at(100.0), at(1000.0)],
            [1, 500, 900, 990, 1000]
        );
    }
}
