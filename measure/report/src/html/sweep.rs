//! The curve of a sweep: how long requests take at each rate, and where that bends.

use super::Section;
use super::chart::{DataTable, Row, XAxis, axis_rate, figure};
use super::curve::{bounded, errors, responses, throughputs};
use super::service;
use crate::Report;
use crate::schema::{Capacity, Estimate, Step, Sweep};
use crate::words;
use crate::words::units::{Ns, length, percent, rate};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let sweep = report.sweep.as_ref()?;
    let body = html! {
        p.lead { "Each point is a run at a rate of its own, left to right in arrivals per second that were asked for." }
        (limits(sweep))
        (chart(report, sweep))
        (service::said(sweep))
        @for warning in &sweep.warnings {
            p.remark.doubtful { span.sign aria-hidden="true" { "!" } (warning) "." }
        }
        @if let Some(reported) = sweep.reported_rate {
            p.note { "What follows was measured at " b { (rate(reported)) } ", for " (length(report.steady_ns)) "." }
        }
    };
    Some(Section {
        id: "sweep",
        title: "Response by rate",
        body,
    })
}

/// The edges that were looked for, and what is known of each.
pub(super) fn edges(sweep: &Sweep) -> Vec<(String, String, &Capacity)> {
    let mut edges = Vec::new();
    if let (Some(sought), Some(found)) = (&sweep.sought, &sweep.found) {
        edges.push((format!("within {sought}"), "capacity".to_owned(), found));
    }
    for knee in &sweep.knees {
        let name = format!("knee of {}", knee.metric);
        edges.push((
            "its p99 up to 3 times its floor".to_owned(),
            name,
            &knee.capacity,
        ));
    }
    let knee = sweep.knee_rule.as_deref();
    for (meaning, name, capacity) in [
        (
            knee.unwrap_or("p99 up to 3 times the floor"),
            "knee",
            sweep.knee.as_ref(),
        ),
        (
            "p99 up to 10 times the floor",
            "cliff",
            sweep.cliff.as_ref(),
        ),
        ("the most that was served", "maximum", Some(&sweep.max)),
    ] {
        if let Some(capacity) = capacity {
            edges.push((meaning.to_owned(), name.to_owned(), capacity));
        }
    }
    edges
}

fn limits(sweep: &Sweep) -> Markup {
    html! {
        div.scroll { table.edges {
            tbody {
                @for (meaning, name, capacity) in edges(sweep) {
                    tr {
                        th scope="row" { (name) small { (meaning) } }
                        td { b { (short(capacity)) } }
                        td.said { (words::sweep::capacity(sweep, capacity)) }
                    }
                }
            }
        } }
    }
}

/// The rate as far as it is known: `320/s`, `≥ 320/s`, `< 50/s`.
pub(super) fn short(capacity: &Capacity) -> String {
    match (capacity.known.as_str(), capacity.rate) {
        ("found", Some(found)) => rate(found),
        ("at_least", Some(found)) => format!("≥ {}", rate(found)),
        ("below", Some(found)) => format!("< {}", rate(found)),
        ("infeasible", _) => "infeasible".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn chart(report: &Report, sweep: &Sweep) -> Markup {
    let asked = sweep.points.iter().map(|step| step.asked_rate);
    let x = axis_rate(asked.fold(0.0, f64::max));
    let mut panels = vec![responses(report, sweep, &x), throughputs(sweep)];
    panels.extend(bounded(sweep, &x));
    panels.extend(errors(sweep));
    figure("Response by rate", &x, &panels, &table(sweep, &x))
}

fn table(sweep: &Sweep, x: &XAxis) -> DataTable {
    let head = [
        ("asked", None),
        ("served", Some("c1")),
        ("mean", Some("c1")),
        ("95 %", None),
        ("p50", None),
        ("p95", None),
        ("p99", Some("c2")),
        ("95 %", None),
        ("p99 / floor", None),
        ("zone", None),
        ("not served", Some("c4")),
        ("in flight", None),
        ("runs", None),
    ];
    let bounds = words::sweep::bounds(sweep);
    let more = bounds.iter().map(|(_, name)| ((*name).to_owned(), None));
    let counted = sweep.counted.as_ref();
    let counted = counted.map(|counted| (format!("{}/s", counted.name.replace('_', " ")), None));
    let cells = |step: &Step| {
        vec![
            rate(step.asked_rate),
            match (step.valid, step.achieved_rate) {
                (false, _) => "not to be believed".to_owned(),
                (true, served) => served.map_or(String::new(), rate),
            },
            estimate(&step.mean),
            interval(&step.mean),
            estimate(&step.p50),
            estimate(&step.p95),
            estimate(&step.p99),
            interval(&step.p99),
            step.p99_ratio.map_or(String::new(), |x| format!("{x:.2}")),
            match (&step.zone, step.saturated) {
                (Some(zone), _) => zone.clone(),
                (None, true) => "saturated".to_owned(),
                (None, false) => String::new(),
            },
            step.errors.map_or(String::new(), percent),
            step.in_flight.map_or(String::new(), |n| format!("{n:.1}")),
            match &step.agreement {
                Some(agreement) => format!("{}, {}", step.runs.len(), agreement.told()),
                None => step.runs.len().to_string(),
            },
        ]
    };
    let row = |step: &Step| {
        let mut cells = cells(step);
        if sweep.counted.is_some() {
            cells.push(step.counted_rate.map_or(String::new(), rate));
        }
        let more = bounds
            .iter()
            .map(|(place, _)| words::sweep::measured(step, *place));
        cells.extend(more);
        Row {
            place: x.scale.place(step.asked_rate),
            cells,
        }
    };
    let head = head
        .into_iter()
        .map(|(text, style)| (text.to_owned(), style));
    DataTable {
        head: head.chain(counted).chain(more).collect(),
        rows: sweep.points.iter().map(row).collect(),
        note: Some(format!(
            "The response as an objective sees it: what was not served counts as a lower bound. Intervals by sectioning. {}",
            match sweep.ratio.as_deref() {
                Some("literal") => "The ratio to the floor is the literal one, P99 / S.",
                Some(_) =>
                    "The ratio to the floor is the inflation, P99 / P99 of the idle service.",
                None => "There is no floor to compare with.",
            }
        )),
    }
}

fn estimate(estimate: &Option<Estimate>) -> String {
    match estimate {
        None => String::new(),
        Some(found) if found.at_least => format!("≥ {}", Ns(found.ns)),
        Some(found) => Ns(found.ns).to_string(),
    }
}

fn interval(estimate: &Option<Estimate>) -> String {
    let interval = estimate.as_ref().and_then(|found| found.interval);
    interval.map_or(String::new(), |[low, high]| {
        // Below zero there is no duration, and the conversion saturates.
        Ns::interval(low.floor() as u64, high.ceil() as u64)
    })
}
