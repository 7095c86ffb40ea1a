//! The run in time: rates, latencies, what was in flight, what was not served.

use super::Section;
use super::chart::{
    DataTable, Line, Marks, Panel, Point, Row, Scale, Shade, Stack, XAxis, YAxis, axis_time, figure,
};
use crate::Report;
use crate::schema::{Arrivals, Interval};
use crate::words::latency::bounded;
use crate::words::units::{count, length, rate};
use maud::html;

/// More points than that can neither be seen nor hovered over.
const POINTS: usize = 240;

/// Outcomes that are errors, and how they look.
const ERRORS: [(&str, &str); 6] = [
    ("failed", "o-failed"),
    ("timed_out", "o-timed-out"),
    ("rejected", "o-rejected"),
    ("shed", "o-shed"),
    ("abandoned", "o-abandoned"),
    ("unsent", "o-unsent"),
];

pub(super) fn section(report: &Report) -> Option<Section> {
    let (points, each) = spots(report);
    let end_ns = points.last()?.to_ns;
    let x = axis_time(end_ns as f64);
    let shades = shades(report, &x);
    let mut panels = vec![
        rates(&points, &shades),
        latencies(&points, &shades),
        in_flight(&points, &shades),
    ];
    let errors = errors(&points, &shades);
    let has_errors = errors.is_some();
    panels.extend(errors);
    let note = (each > 1).then(|| {
        format!("Each point stands for {each} intervals: rates are their mean, latencies and the number in flight the highest of them.")
    });
    let body = html! {
        p.lead { "Counts stand where they happened, latencies at the instant at which the request should have started." }
        @if let Some(note) = &note { p.note { (note) } }
        (figure("Timeline", &x, &panels, &table(&points, &x, note.clone())))
        @if !has_errors { p.note { "Every arrival was served." } }
    };
    Some(Section {
        id: "timeline",
        title: "Timeline",
        body,
    })
}

/// The timeline in as many points as can be seen, and how many intervals each stands for.
pub(super) fn spots(report: &Report) -> (Vec<Spot>, usize) {
    let each = report.timeline.len().div_ceil(POINTS).max(1);
    let points = report.timeline.chunks(each).filter_map(Spot::of);
    (points.collect(), each)
}

/// One interval, or several of them as one.
pub(super) struct Spot {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    asked: Option<f64>,
    arrivals: f64,
    ok: f64,
    in_flight: u64,
    ended: Arrivals,
    /// p50, p99 and max: the highest, and whether it is a lower bound.
    latencies: [Option<(u64, bool)>; 3],
    /// The interval with the names of its lower bounds.
    worst: [Option<String>; 3],
}

impl Spot {
    fn of(intervals: &[Interval]) -> Option<Self> {
        let (first, last) = (intervals.first()?, intervals.last()?);
        let seconds = last.to_ns.saturating_sub(first.from_ns) as f64 / 1e9;
        let per_second = |count: u64| {
            if seconds > 0.0 {
                count as f64 / seconds
            } else {
                0.0
            }
        };
        let asked = intervals
            .iter()
            .map(|interval| Some(interval.asked_rate? * interval.seconds()));
        let asked: Option<Vec<f64>> = asked.collect();
        let sum = |of: fn(&Interval) -> u64| intervals.iter().map(of).fold(0, u64::saturating_add);
        let highest = |field: &'static str, of: fn(&Interval) -> Option<u64>| {
            let known = intervals
                .iter()
                .filter_map(|interval| Some((of(interval)?, interval)));
            known
                .max_by_key(|(ns, interval)| (interval.at_least.contains(field), *ns))
                .map(|(ns, interval)| {
                    (
                        ns,
                        interval.at_least.contains(field),
                        bounded(ns, &interval.at_least, field),
                    )
                })
        };
        let found = [
            highest("p50_ns", |interval| interval.p50_ns),
            highest("p99_ns", |interval| interval.p99_ns),
            highest("max_ns", |interval| interval.max_ns),
        ];
        Some(Spot {
            from_ns: first.from_ns,
            to_ns: last.to_ns,
            asked: asked
                .map(|expected| expected.iter().sum::<f64>() / seconds)
                .filter(|rate| rate.is_finite()),
            arrivals: per_second(sum(|interval| interval.arrivals)),
            ok: per_second(sum(|interval| interval.ended.ok)),
            in_flight: intervals.iter().map(|interval| interval.in_flight).max()?,
            ended: Arrivals {
                failed: sum(|interval| interval.ended.failed),
                timed_out: sum(|interval| interval.ended.timed_out),
                rejected: sum(|interval| interval.ended.rejected),
                shed: sum(|interval| interval.ended.shed),
                abandoned: sum(|interval| interval.ended.abandoned),
                unsent: sum(|interval| interval.ended.unsent),
                ..Arrivals::default()
            },
            latencies: found
                .clone()
                .map(|found| found.map(|(ns, at_least, _)| (ns, at_least))),
            worst: found.map(|found| found.map(|(_, _, text)| text)),
        })
    }

    fn middle(&self) -> f64 {
        (self.from_ns as f64 + self.to_ns as f64) / 2.0
    }

    fn errors(&self) -> [u64; 6] {
        let by_outcome = self.ended.by_outcome();
        ERRORS.map(|(name, _)| {
            let found = by_outcome.iter().find(|(outcome, _)| *outcome == name);
            found.map_or(0, |(_, n)| *n)
        })
    }
}

fn shades(report: &Report, x: &XAxis) -> Vec<Shade> {
    let shade = |phase: &crate::schema::PhaseArrivals| Shade {
        from: x.scale.place(phase.from_ns as f64),
        to: x.scale.place(phase.to_ns as f64),
        name: phase.name.replace('_', " "),
        is_steady: phase.name == "steady",
    };
    report
        .phases
        .iter()
        .map(shade)
        .filter(|shade| shade.to > shade.from)
        .collect()
}

fn line(
    name: &str,
    style: &'static str,
    points: &[Spot],
    y: impl Fn(&Spot) -> Option<f64>,
) -> Line {
    let point = |spot: &Spot| Point {
        x: spot.middle(),
        y: y(spot),
        at_least: false,
    };
    Line {
        name: name.to_owned(),
        style,
        points: points.iter().map(point).collect(),
        marks: Marks::No,
    }
}

fn panel<'a>(
    title: &'a str,
    y: YAxis,
    height: f64,
    lines: Vec<Line>,
    shades: &'a [Shade],
) -> Panel<'a> {
    Panel {
        height,
        shades,
        ..Panel::new(title, y, lines)
    }
}

fn most(lines: &[Line]) -> f64 {
    let values = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|point| point.y);
    values.fold(0.0, f64::max)
}

pub(super) fn rates<'a>(points: &[Spot], shades: &'a [Shade]) -> Panel<'a> {
    let mut lines = vec![
        line("arrivals", "c3", points, |spot| Some(spot.arrivals)),
        line("served", "c1", points, |spot| Some(spot.ok)),
    ];
    if points.iter().any(|spot| spot.asked.is_some()) {
        lines.insert(0, line("asked", "c0", points, |spot| spot.asked));
    }
    let y = YAxis::Count(Scale::from_zero(most(&lines)));
    Panel {
        names_shades: true,
        ..panel("Rate, per second", y, 0.8, lines, shades)
    }
}

fn latencies<'a>(points: &[Spot], shades: &'a [Shade]) -> Panel<'a> {
    let lines: Vec<Line> = [("max", "c4"), ("p99", "c2"), ("p50", "c1")]
        .into_iter()
        .zip([2, 1, 0])
        .map(|((name, style), index)| Line {
            name: name.to_owned(),
            style,
            points: points
                .iter()
                .map(|spot| Point {
                    x: spot.middle(),
                    y: spot.latencies[index].map(|(ns, _)| ns as f64),
                    at_least: spot.latencies[index].is_some_and(|(_, at_least)| at_least),
                })
                .collect(),
            marks: Marks::No,
        })
        .collect();
    let values = lines
        .iter()
        .flat_map(|line| &line.points)
        .filter_map(|point| point.y);
    let least = values.fold(f64::INFINITY, f64::min);
    let y = YAxis::Nanoseconds(Scale::of_durations(least, most(&lines)));
    panel("Response", y, 1.0, lines, shades)
}

fn in_flight<'a>(points: &[Spot], shades: &'a [Shade]) -> Panel<'a> {
    let lines = vec![line("in flight", "c5", points, |spot| {
        Some(spot.in_flight as f64)
    })];
    let y = YAxis::Count(Scale::from_zero(most(&lines)));
    panel(
        "In flight at the end of the interval",
        y,
        0.55,
        lines,
        shades,
    )
}

/// What was not served, outcome by outcome; `None` where everything was.
pub(super) fn errors<'a>(points: &[Spot], shades: &'a [Shade]) -> Option<Panel<'a>> {
    let totals = points.iter().fold([0_u64; 6], |mut totals, spot| {
        for (total, n) in totals.iter_mut().zip(spot.errors()) {
            *total = total.saturating_add(n);
        }
        totals
    });
    let there: Vec<usize> = (0..ERRORS.len())
        .filter(|index| totals[*index] > 0)
        .collect();
    if there.is_empty() {
        return None;
    }
    let bars = points.iter().map(|spot| {
        let errors = spot.errors();
        let heights = there.iter().map(|index| errors[*index] as f64).collect();
        (spot.from_ns as f64, spot.to_ns as f64, heights)
    });
    let bars: Vec<(f64, f64, Vec<f64>)> = bars.collect();
    let highest = bars
        .iter()
        .map(|(_, _, heights)| heights.iter().sum::<f64>())
        .fold(0.0, f64::max);
    let mut panel = panel(
        "Not served, by when it ended",
        YAxis::Count(Scale::from_zero(highest)),
        0.6,
        Vec::new(),
        shades,
    );
    panel.stack = Some(Stack {
        parts: there
            .iter()
            .map(|index| (ERRORS[*index].0.replace('_', " "), ERRORS[*index].1))
            .collect(),
        bars,
    });
    Some(panel)
}

pub(super) fn table(points: &[Spot], x: &XAxis, note: Option<String>) -> DataTable {
    let head = [
        ("time", None),
        ("asked", Some("c0")),
        ("arrivals", Some("c3")),
        ("served", Some("c1")),
        ("p50", Some("c1")),
        ("p99", Some("c2")),
        ("max", Some("c4")),
        ("in flight", Some("c5")),
        ("not served", None),
    ];
    let row = |spot: &Spot| {
        let errors: u64 = spot
            .errors()
            .iter()
            .fold(0, |sum, n| sum.saturating_add(*n));
        let [p50, p99, max] = spot.worst.clone().map(Option::unwrap_or_default);
        Row {
            place: x.scale.place(spot.middle()),
            cells: vec![
                format!(
                    "{}–{}",
                    length(spot.from_ns).trim_end_matches(" s"),
                    length(spot.to_ns)
                ),
                spot.asked.map_or(String::new(), rate),
                rate(spot.arrivals),
                rate(spot.ok),
                p50,
                p99,
                max,
                count(spot.in_flight),
                count(errors),
            ],
        }
    };
    DataTable {
        head: head.map(|(text, style)| (text.to_owned(), style)).to_vec(),
        rows: points.iter().map(row).collect(),
        note,
    }
}
