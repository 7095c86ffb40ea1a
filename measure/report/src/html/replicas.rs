//! The same run several times: each beside all together.

use super::Section;
use super::chart::{Band, DataTable, Line, Marks, Panel, Point, Row, Scale, XAxis, YAxis, figure};
use crate::Report;
use crate::schema::{ByTurns, Replica, Replicas, Summary};
use crate::words::latency::bounded;
use crate::words::units::{Ns, percent, rate};
use maud::{Markup, html};

/// How wide a group of points is, of the distance between two groups.
const GROUP: f64 = 0.6;

/// A figure of every run, and of all together.
struct Figure {
    name: &'static str,
    shown: fn(f64) -> String,
    /// Of each run: what, and whether it is at least that.
    runs: Vec<Option<(f64, bool)>>,
    all: Option<(f64, bool)>,
    interval: Option<[f64; 2]>,
    /// How it varies: the coefficient of variation and, of quantiles, the part that sampling explains.
    varies: String,
}

pub(super) fn section(report: &Report) -> Option<Section> {
    if let Some(turns) = &report.by_turns {
        return Some(by_turns(turns));
    }
    let replicas = report.replicas.as_ref()?;
    let figures = figures(report, replicas);
    let (word, class) = match replicas.steadiness.as_str() {
        "stable" => ("stable: C_v of at most 3 %", "good"),
        "shared" => (
            "as steady as a shared machine: C_v of at most 10 %",
            "doubtful",
        ),
        _ => ("not steady: C_v above 10 %. Discard the runs", "bad"),
    };
    let invalid = replicas.runs.iter().filter(|run| !run.valid).count();
    let body = html! {
        p.lead { "Each of " (replicas.runs.len()) " whole runs beside all of them as one, whose histograms are merged." }
        p class={ "remark " (class) } { b { "The runs are " (word) } "."
            @if let Some(remedy) = &replicas.remedy { " What to do: " (remedy) "." } }
        @if invalid > 0 {
            p.remark.bad { span.sign aria-hidden="true" { "✕" } (invalid) " of them may not be believed." }
        }
        @if replicas.discarded > 0 {
            p.remark.doubtful { span.sign aria-hidden="true" { "!" } "Sets of runs that were discarded before them: " (replicas.discarded) "." }
        }
        (chart(replicas, &figures))
        (seeds(replicas))
    };
    Some(Section {
        id: "replicas",
        title: "Runs beside each other",
        body,
    })
}

/// Two builds, of which this one is B.
fn by_turns(turns: &ByTurns) -> Section {
    let class = match (turns.faults.is_empty(), turns.change.as_str()) {
        (false, _) | (true, "slower") => "bad",
        (true, "faster") => "good",
        (true, _) => "plain",
    };
    Section {
        id: "turns",
        title: "By turns with another build",
        body: html! {
            p.lead { "Four runs by turns, A, B, B, A, with the same arrivals. A is " b { (turns.base) } ", and the rest of the page is of B." }
            @for line in turns.text.lines() { p class={ "remark " (class) } { (line.trim()) } }
        },
    }
}

fn figures(report: &Report, replicas: &Replicas) -> Vec<Figure> {
    let response = report.latency.response.as_ref();
    let runs =
        |of: &dyn Fn(&Replica) -> Option<(f64, bool)>| replicas.runs.iter().map(of).collect();
    let ns = |x: f64| Ns(x).to_string();
    let cv = |cv: Option<f64>| cv.map_or(String::new(), |cv| format!("C_v {}", percent(cv)));
    let mut figures = vec![
        Figure {
            name: "served",
            shown: rate,
            runs: runs(&|run| Some((run.achieved_rate?, false))),
            all: report.achieved_rate.map(|rate| (rate, false)),
            interval: None,
            varies: cv(replicas.throughput.as_ref().map(|of| of.cv)),
        },
        Figure {
            name: "mean",
            shown: ns,
            runs: runs(&|run| Some((run.mean_ns?, run.at_least.contains("mean_ns")))),
            all: response.map(|all| (all.mean_ns, all.at_least.contains("mean_ns"))),
            interval: response.and_then(|all| interval(all, "mean_ns")),
            varies: match replicas.mean_by_sampling {
                Some(chance) => format!(
                    "{}; sampling alone explains {}",
                    cv(replicas.mean.as_ref().map(|of| of.cv)),
                    percent(chance)
                ),
                None => cv(replicas.mean.as_ref().map(|of| of.cv)),
            },
        },
    ];
    for (name, field) in [("p50", "p50_ns"), ("p99", "p99_ns")] {
        let of_run = |run: &Replica| {
            let ns = match field {
                "p50_ns" => run.p50_ns,
                _ => run.p99_ns,
            };
            Some((ns? as f64, run.at_least.contains(field)))
        };
        let spread = replicas.quantiles.iter().find(|of| of.quantile == name);
        figures.push(Figure {
            name,
            shown: ns,
            runs: runs(&of_run),
            all: response
                .and_then(|all| Some((all.get(field)? as f64, all.at_least.contains(field)))),
            interval: response.and_then(|all| interval(all, field)),
            varies: spread.map_or(String::new(), |of| {
                format!(
                    "C_v {}; sampling alone explains {}",
                    percent(of.cv),
                    percent(of.by_sampling)
                )
            }),
        });
    }
    figures
}

fn interval(all: &Summary, field: &str) -> Option<[f64; 2]> {
    let [low, high] = all.interval.get(field)?;
    Some([*low as f64, *high as f64])
}

fn chart(replicas: &Replicas, figures: &[Figure]) -> Markup {
    let groups = figures.len() as f64;
    let x = XAxis {
        scale: Scale::Linear(0.0, groups),
        ticks: vec![
            figures
                .iter()
                .enumerate()
                .map(|(group, figure)| ((group as f64 + 0.5) / groups, figure.name.to_owned()))
                .collect(),
        ],
    };
    let panel = deviations(replicas, figures);
    figure(
        "Runs beside each other",
        &x,
        std::slice::from_ref(&panel),
        &table(replicas, figures, &x),
    )
}

/// How far each run is off all of them together.
fn deviations(replicas: &Replicas, figures: &[Figure]) -> Panel<'static> {
    let n = replicas.runs.len().max(1) as f64;
    let at = |group: usize, run: f64| group as f64 + 0.5 + GROUP * ((run + 0.5) / n - 0.5);
    let off = |figure: &Figure, value: f64| {
        let (all, _) = figure.all?;
        let off = value / all - 1.0;
        off.is_finite().then_some(off)
    };
    let line = |name: &str, style, is_shown: &dyn Fn(&Replica) -> bool| {
        let mut points = Vec::new();
        for (group, figure) in figures.iter().enumerate() {
            for (index, (run, value)) in replicas.runs.iter().zip(&figure.runs).enumerate() {
                let value = value.filter(|_| is_shown(run));
                points.push(Point {
                    x: at(group, index as f64),
                    y: value.and_then(|(value, _)| off(figure, value)),
                    at_least: value.is_some_and(|(_, at_least)| at_least),
                });
            }
        }
        Line {
            name: name.to_owned(),
            style,
            points,
            // Runs are no course in time: nothing lies between them.
            marks: Marks::PointsAlone,
        }
    };
    let mut lines = vec![line("each run, in their order", "c2", &|run| run.valid)];
    if replicas.runs.iter().any(|run| !run.valid) {
        lines.push(line("a run that may not be believed", "c4", &|run| {
            !run.valid
        }));
    }
    let stretches = figures.iter().enumerate().filter_map(|(group, figure)| {
        let [low, high] = figure.interval?;
        let middle = group as f64 + 0.5;
        Some((middle, off(figure, low)?, off(figure, high)?))
    });
    let band = Band {
        name: "95 % interval of all together".to_owned(),
        style: "c1",
        reach: Some(0.42),
        points: stretches.collect(),
    };
    let values = lines.iter().flat_map(|line| &line.points);
    let values = values.filter_map(|point| point.y.map(f64::abs));
    let ends = band
        .points
        .iter()
        .flat_map(|(_, low, high)| [low.abs(), high.abs()]);
    // Less than a percent is no difference to look at.
    let most = values.chain(ends).fold(0.01, f64::max);
    let Scale::Linear(_, most) = Scale::from_zero(most) else {
        return Panel::new("", YAxis::Change(Scale::Linear(-1.0, 1.0)), lines);
    };
    Panel {
        height: 0.9,
        bands: vec![band],
        ..Panel::new(
            "Off all runs together",
            YAxis::Change(Scale::Linear(-most, most)),
            lines,
        )
    }
}

fn table(replicas: &Replicas, figures: &[Figure], x: &XAxis) -> DataTable {
    let mut head = vec![("figure".to_owned(), None)];
    for index in 0..replicas.runs.len() {
        head.push((format!("run {}", index + 1), Some("c2")));
    }
    head.push(("all together".to_owned(), None));
    head.push(("95 %".to_owned(), Some("c1")));
    head.push(("varies by".to_owned(), None));
    let row = |(group, figure): (usize, &Figure)| {
        let shown = |value: Option<(f64, bool)>| match value {
            None => String::new(),
            Some((value, true)) => format!("≥ {}", (figure.shown)(value)),
            Some((value, false)) => (figure.shown)(value),
        };
        let mut cells = vec![figure.name.to_owned()];
        cells.extend(figure.runs.iter().map(|value| shown(*value)));
        cells.push(shown(figure.all));
        cells.push(figure.interval.map_or(String::new(), |[low, high]| {
            Ns::interval(low as u64, high as u64)
        }));
        cells.push(figure.varies.clone());
        Row {
            place: x.scale.place(group as f64 + 0.5),
            cells,
        }
    };
    DataTable {
        head,
        rows: figures.iter().enumerate().map(row).collect(),
        note: Some("The interval is by sectioning over the ten windows of the runs, merged; how runs differ from each other is in C_v. In an open loop the throughput is imposed, so that it tells little.".to_owned()),
    }
}

/// What each run was drawn from.
fn seeds(replicas: &Replicas) -> Markup {
    html! {
        details.data {
            summary { "Run by run" }
            div.scroll { table {
                thead { tr { th scope="col" { "run" } th scope="col" { "seed" } th scope="col" { "offered" } th scope="col" { "served" } th scope="col" { "mean" } th scope="col" { "p50" } th scope="col" { "p99" } th scope="col" {} } }
                tbody {
                    @for (index, run) in replicas.runs.iter().enumerate() {
                        @let ns = |ns: Option<u64>, field| ns.map_or(String::new(), |ns| bounded(ns, &run.at_least, field));
                        tr {
                            th scope="row" { (index + 1) } td { (run.seed) }
                            td { (run.offered_rate.map_or(String::new(), rate)) } td { (run.achieved_rate.map_or(String::new(), rate)) }
                            td { (ns(run.mean_ns.map(|ns| ns.round() as u64), "mean_ns")) } td { (ns(run.p50_ns, "p50_ns")) } td { (ns(run.p99_ns, "p99_ns")) }
                            td { @if !run.valid { "not to be believed" } }
                        }
                    }
                }
            } }
        }
    }
}
