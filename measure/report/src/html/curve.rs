//! The pictures of a sweep: response, throughput and errors against the rate.

use super::chart::{Band, Line, Marks, Panel, Point, Rule, Scale, XAxis, YAxis};
use super::sweep::{edges, short};
use crate::Report;
use crate::schema::{Estimate, Level, Step, Sweep};
use crate::words;
use crate::words::units::Ns;
use openloop_capacity::{MMc, Queue};

/// Points of the fitted curve.
const FINE: u32 = 120;

/// More servers than any fit has: the law takes a step for each.
const SERVERS: u32 = 100_000;

pub(super) fn responses(report: &Report, sweep: &Sweep, x: &XAxis) -> Panel<'static> {
    let measured: [(&str, &str, Of); 2] = [
        ("p99", "c2", |step| step.p99.as_ref()),
        ("mean", "c1", |step| step.mean.as_ref()),
    ];
    let mut lines: Vec<Line> = measured
        .iter()
        .map(|(name, style, of)| line(sweep, name, style, *of))
        .collect();
    let bands: Vec<Band> = measured
        .iter()
        .map(|(name, style, of)| intervals(sweep, name, style, *of))
        .filter(|band| !band.points.is_empty())
        .collect();
    let ends = bands.iter().flat_map(|band| &band.points);
    let most = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|point| point.y)
        .chain(ends.map(|(_, _, high)| *high))
        .fold(0.0, f64::max);
    lines.extend(fitted(sweep, x, most));
    lines.extend(floors(report, x));
    let values = lines.iter().flat_map(|line| &line.points);
    let least = values.filter_map(|point| point.y).fold(most, f64::min);
    let y = YAxis::Nanoseconds(Scale::of_durations(least, most));
    Panel {
        height: 1.3,
        bands,
        rules: rules(sweep, x),
        ..Panel::new("Response", y, lines)
    }
}

type Of = fn(&Step) -> Option<&Estimate>;

fn line(sweep: &Sweep, name: &str, style: &'static str, of: Of) -> Line {
    let point = |step: &Step| Point {
        x: step.asked_rate,
        y: of(step).map(|estimate| estimate.ns),
        at_least: of(step).is_some_and(|estimate| estimate.at_least),
    };
    Line {
        name: name.to_owned(),
        style,
        points: sweep.points.iter().map(point).collect(),
        marks: Marks::Points,
    }
}

fn intervals(sweep: &Sweep, name: &str, style: &'static str, of: Of) -> Band {
    let points = sweep.points.iter().filter_map(|step| {
        let [low, high] = of(step)?.interval?;
        Some((step.asked_rate, low, high))
    });
    Band {
        name: format!("95 % of the {name}"),
        style,
        reach: None,
        points: points.collect(),
    }
}

/// The mean response of the fitted M/M/c, as far as it lies in the picture.
fn fitted(sweep: &Sweep, x: &XAxis, most: f64) -> Option<Line> {
    let fit = sweep.fits.mmc.as_ref()?;
    let servers = u32::try_from(fit.servers).ok().filter(|c| *c <= SERVERS)?;
    let Scale::Linear(_, end) = x.scale else {
        return None;
    };
    let at = |step: u32| {
        let rate = end * f64::from(step) / f64::from(FINE);
        let law = MMc::new(rate, fit.service_ns / 1e9, servers).ok()?;
        let ns = law.mean_response() * 1e9;
        (ns <= most).then_some(Point {
            x: rate,
            y: Some(ns),
            at_least: false,
        })
    };
    let points: Vec<Point> = (0..=FINE).map_while(at).collect();
    (points.len() > 1).then(|| Line {
        name: format!("mean of M/M/{}, a {} fit", fit.servers, fit.goodness),
        style: "c3",
        points,
        marks: Marks::No,
    })
}

/// What an idle service takes: its 99th percentile and its mean.
fn floors(report: &Report, x: &XAxis) -> Vec<Line> {
    let Scale::Linear(start, end) = x.scale else {
        return Vec::new();
    };
    let floor = report.floor.as_ref();
    let is_whole = |level: &&Level| level.metric == "response" && level.kind.is_none();
    let Some(level) = floor.and_then(|floor| floor.levels.iter().find(is_whole)) else {
        return Vec::new();
    };
    [
        ("floor, p99", "f2", level.p99_ns),
        ("floor, mean", "f1", level.mean_ns),
    ]
    .into_iter()
    .map(|(name, style, ns)| Line {
        name: format!("{name} {}", Ns(ns)),
        style,
        points: [start, end]
            .map(|x| Point {
                x,
                y: Some(ns),
                at_least: false,
            })
            .into(),
        marks: Marks::No,
    })
    .collect()
}

/// The edges that have a rate; those at one rate have one name.
fn rules(sweep: &Sweep, x: &XAxis) -> Vec<Rule> {
    let mut rules: Vec<(f64, String, String)> = Vec::new();
    for (_, name, capacity) in edges(sweep) {
        let Some(at) = capacity.rate else { continue };
        let text = short(capacity);
        match rules.iter_mut().find(|(_, known, _)| *known == text) {
            Some((_, _, names)) => *names = format!("{names}, {name}"),
            None => rules.push((at, text, name)),
        }
    }
    let rule = |(at, text, names)| Rule {
        place: x.scale.place(at),
        name: format!("{names} {text}"),
    };
    rules.into_iter().map(rule).collect()
}

pub(super) fn throughputs(sweep: &Sweep) -> Panel<'static> {
    let line = |name: &str, style, marks, of: fn(&Step) -> Option<f64>| Line {
        name: name.to_owned(),
        style,
        points: sweep
            .points
            .iter()
            .map(|step| Point {
                x: step.asked_rate,
                y: of(step),
                at_least: false,
            })
            .collect(),
        marks,
    };
    let lines = vec![
        line("asked", "c0", Marks::No, |step| Some(step.asked_rate)),
        line("served", "c1", Marks::Points, |step| step.achieved_rate),
    ];
    let values = lines.iter().flat_map(|line| &line.points);
    let most = values.filter_map(|point| point.y).fold(0.0, f64::max);
    Panel {
        height: 0.75,
        ..Panel::new(
            "Served, per second",
            YAxis::Count(Scale::from_zero(most)),
            lines,
        )
    }
}

/// The stages that the objective bounds, each with its limit: where one leaves it, the capacity ends.
pub(super) fn bounded<'a>(sweep: &'a Sweep, x: &XAxis) -> Vec<Panel<'a>> {
    let Scale::Linear(start, end) = x.scale else {
        return Vec::new();
    };
    let panel = |(place, name): (usize, &'a str)| {
        let of = |step: &'a Step| step.bounds.get(place);
        let finding = sweep.points.iter().find_map(of)?;
        let limit = finding.limit?;
        let points = sweep.points.iter().map(|step| Point {
            x: step.asked_rate,
            y: of(step).and_then(|finding| finding.value),
            at_least: of(step).is_some_and(|finding| finding.at_least),
        });
        let measured = Line {
            name: name.to_owned(),
            style: "c2",
            points: points.collect(),
            marks: Marks::Points,
        };
        let ends = [start, end].map(|x| Point {
            x,
            y: Some(limit),
            at_least: false,
        });
        let bound = Line {
            name: "its limit".to_owned(),
            style: "c4",
            points: ends.into(),
            marks: Marks::No,
        };
        let values = measured.points.iter().filter_map(|point| point.y);
        let most = values.clone().fold(limit, f64::max);
        let least = values.fold(limit, f64::min);
        let y = match finding.unit.as_str() {
            "share" => YAxis::Share(Scale::from_zero(most)),
            "per_second" => YAxis::Count(Scale::from_zero(most)),
            _ => YAxis::Nanoseconds(Scale::of_durations(least, most)),
        };
        Some(Panel {
            height: 0.75,
            rules: rules(sweep, x),
            ..Panel::new(name, y, vec![measured, bound])
        })
    };
    words::sweep::bounds(sweep)
        .into_iter()
        .filter_map(panel)
        .collect()
}

/// The share that was not served; `None` where all was.
pub(super) fn errors(sweep: &Sweep) -> Option<Panel<'static>> {
    let shares = || sweep.points.iter().filter_map(|step| step.errors);
    let most = shares().fold(0.0, f64::max);
    let points = sweep.points.iter().map(|step| Point {
        x: step.asked_rate,
        y: step.errors,
        at_least: false,
    });
    let line = Line {
        name: "not served".to_owned(),
        style: "c4",
        points: points.collect(),
        marks: Marks::Points,
    };
    let y = YAxis::Share(Scale::from_zero(most));
    (most > 0.0).then(|| Panel {
        height: 0.5,
        ..Panel::new("Share of arrivals that were not served", y, vec![line])
    })
}
