//! A service past its limit and back: what came, what it turned away, what the accepted paid, how it recovered.

use super::Section;
use super::chart::{
    Line, Marks, Panel, Point, Rule, Scale, Shade, XAxis, YAxis, axis_time, figure,
};
use super::timeline::{self, spots};
use crate::Report;
use crate::schema::{Resilience, Stage};
use crate::words::units::{Ns, count, length, percent, rate};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let resilience = report.resilience.as_ref()?;
    let body = html! {
        p.lead { (recovery(resilience)) }
        (stages(resilience))
        (chart(report, resilience))
    };
    Some(Section {
        id: "resilience",
        title: "Past the limit and back",
        body,
    })
}

fn recovery(resilience: &Resilience) -> String {
    let exactly = length(resilience.resolution_ns);
    match resilience.recovery_ns {
        Some(0) => format!("All was as before as soon as the overload ended, to within {exactly}."),
        Some(ns) => format!(
            "All was as before {} after the overload, to within {exactly}.",
            length(ns)
        ),
        None => "All was never as before again, as long as it was looked at.".to_owned(),
    }
}

fn named(resilience: &Resilience) -> [(&'static str, &Stage); 3] {
    [
        ("before", &resilience.before),
        ("overload", &resilience.during),
        ("after", &resilience.after),
    ]
}

/// What became of the arrivals of each stage.
fn stages(resilience: &Resilience) -> Markup {
    let or_none = |x: Option<f64>, shown: fn(f64) -> String| x.map_or(String::new(), shown);
    let ns = |ns: Option<u64>| ns.map_or(String::new(), |ns| Ns(ns as f64).to_string());
    let stages = named(resilience);
    let counted: Vec<&String> = resilience.during.counts.keys().collect();
    html! {
        div.scroll { table.figures {
            thead { tr {
                th scope="col" {} th scope="col" { "came" } th scope="col" { "served" }
                th scope="col" { "of what came" small { "served · turned away · failed" } }
                th scope="col" { "the accepted, p50" } th scope="col" { "p99" }
                @for name in &counted { th scope="col" { (name.replace('_', " ")) } }
            } }
            tbody {
                @for (name, stage) in stages {
                    tr {
                        th scope="row" { (name) @if let (Some(from), Some(to)) = (stage.from_ns, stage.to_ns) { small { (length(from)) " to " (length(to)) } } }
                        td { (or_none(stage.offered_rate, rate)) }
                        td { (or_none(stage.achieved_rate, rate)) }
                        td { (shares(stage)) }
                        td { (ns(stage.p50_ns)) }
                        td { (ns(stage.p99_ns)) }
                        @for name in &counted { td { (stage.counts.get(*name).map_or(String::new(), |n| count(*n))) } }
                    }
                }
            }
        } }
    }
}

/// Served, turned away and failed, as a bar and in figures.
fn shares(stage: &Stage) -> Markup {
    let parts = [
        ("served", "o-ok", stage.ok),
        ("turned away", "o-rejected", stage.shed),
        ("failed", "o-failed", stage.failed),
    ];
    let figures: Vec<String> = parts
        .iter()
        .map(|(.., share)| share.map_or("?".to_owned(), percent))
        .collect();
    html! {
        div.stack.small role="img" aria-label="shares" {
            @for (name, style, share) in parts {
                @if let Some(share) = share.filter(|share| *share > 0.0) {
                    @let tip = format!("{name}: {}", percent(share));
                    span class=(style) style=(format!("flex-grow:{share:.6}")) data-tip=(tip) title=(tip) {}
                }
            }
        }
        (figures.join(" · "))
    }
}

fn chart(report: &Report, resilience: &Resilience) -> Markup {
    let (points, _) = spots(report);
    let Some(last) = points.last() else {
        return html! {};
    };
    let x = axis_time(last.to_ns as f64);
    let shades = shades(resilience, &x);
    let mut rates = timeline::rates(&points, &shades);
    rates.rules = rule(resilience, &x).into_iter().collect();
    let mut panels = vec![rates];
    panels.extend(timeline::errors(&points, &shades));
    panels.push(accepted(resilience, &shades));
    let note = "The percentiles of an interval are of all its arrivals, those turned away among them; the stages above have those of the accepted.";
    let data = timeline::table(&points, &x, Some(note.to_owned()));
    figure("Past the limit and back", &x, &panels, &data)
}

/// What those who were served waited, stage by stage.
fn accepted<'a>(resilience: &Resilience, shades: &'a [Shade]) -> Panel<'a> {
    let line = |name: &str, style, of: fn(&Stage) -> Option<u64>| {
        let mut points = Vec::new();
        for (_, stage) in named(resilience) {
            let ns = of(stage).map(|ns| ns as f64);
            let edges = [(stage.from_ns, ns), (stage.to_ns, ns), (stage.to_ns, None)];
            for (at, y) in edges {
                let x = at.unwrap_or_default() as f64;
                let at_least = false;
                points.push(Point { x, y, at_least });
            }
        }
        Line {
            name: name.to_owned(),
            style,
            points,
            marks: Marks::No,
        }
    };
    let lines = vec![
        line("p99", "c2", |stage| stage.p99_ns),
        line("p50", "c1", |stage| stage.p50_ns),
    ];
    let values = lines.iter().flat_map(|line| &line.points);
    let values: Vec<f64> = values.filter_map(|point| point.y).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(most, f64::min);
    let y = YAxis::Nanoseconds(Scale::of_durations(least, most));
    Panel {
        height: 0.8,
        shades,
        ..Panel::new("Response of the accepted, by stage", y, lines)
    }
}

fn shades(resilience: &Resilience, x: &XAxis) -> Vec<Shade> {
    let shade = |(name, stage): (&'static str, &Stage)| {
        let (from, to) = (stage.from_ns?, stage.to_ns?);
        Some(Shade {
            from: x.scale.place(from as f64),
            to: x.scale.place(to as f64),
            name: name.to_owned(),
            is_steady: name != "overload",
        })
    };
    named(resilience).into_iter().filter_map(shade).collect()
}

/// When all was as before.
fn rule(resilience: &Resilience, x: &XAxis) -> Option<Rule> {
    let (end, took) = (resilience.during.to_ns?, resilience.recovery_ns?);
    Some(Rule {
        place: x.scale.place(end.saturating_add(took) as f64),
        name: format!("as before, {} later", length(took)),
    })
}
