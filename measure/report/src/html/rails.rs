//! Ranges side by side, on one axis of powers.

use super::chart::Scale;
use crate::schema::Summary;
use crate::words::latency::{bounded, cell};
use crate::words::units::count;
use maud::{Markup, html};

/// One range: a thin line, a thick bar on it, and a dot, in nanoseconds.
pub(super) struct Rail {
    pub(super) name: String,
    pub(super) thin: [f64; 2],
    pub(super) thick: [f64; 2],
    pub(super) dot: f64,
    /// Whether nobody knows how far it goes on to the right.
    pub(super) is_open: bool,
    /// What stands beside it.
    pub(super) figures: [String; 2],
    /// What hovering shows.
    pub(super) tip: String,
}

pub(super) fn rails(rails: &[Rail], note: &str) -> Markup {
    let most = rails.iter().map(|rail| rail.thin[1]).fold(2.0, f64::max);
    let lowest = rails
        .iter()
        .map(|rail| rail.thin[0])
        .filter(|ns| *ns > 0.0)
        .fold(most, f64::min);
    let scale = Scale::Log((lowest / 1.5).max(most / 1e9).max(0.5), most * 1.05);
    let at = |ns: f64| 100.0 * scale.place(ns);
    let span = |[from, to]: [f64; 2]| {
        format!(
            "left:{:.2}%;width:{:.2}%",
            at(from),
            (at(to) - at(from)).max(0.0)
        )
    };
    html! {
        div.ranges {
            @for rail in rails {
                div.range {
                    span.name { (rail.name) }
                    span.rail data-tip=(rail.tip) title=(rail.tip) {
                        i.thin style=(span(rail.thin)) {}
                        i.thick style=(span(rail.thick)) {}
                        i.mid style=(format!("left:{:.2}%", at(rail.dot))) {}
                        i class={ "end" @if rail.is_open { " open" } } style=(format!("left:{:.2}%", at(rail.thin[1]))) {}
                    }
                    span.value { (rail.figures[0]) " · " b { (rail.figures[1]) } }
                }
            }
            p.note { (note) }
        }
    }
}

/// The median, the 99th percentile and the largest of each.
pub(super) fn ranges<'a>(rows: impl Iterator<Item = (&'a str, &'a Summary)>) -> Markup {
    let rail = |(name, summary): (&'a str, &'a Summary)| {
        let figure = |field: &str, ns: u64| bounded(ns, &summary.at_least, field);
        let [p50, p99, max] = [summary.p50_ns, summary.p99_ns, summary.max_ns].map(|ns| ns as f64);
        Rail {
            name: name.to_owned(),
            thin: [p50, max],
            thick: [p50, p99],
            dot: p50,
            is_open: summary.at_least.contains("max_ns"),
            figures: [cell(summary, "p50_ns"), cell(summary, "p99_ns")],
            tip: format!(
                "{name}: p50 {}, p99 {}, max {}, {} values",
                figure("p50_ns", summary.p50_ns),
                figure("p99_ns", summary.p99_ns),
                figure("max_ns", summary.max_ns),
                count(summary.count)
            ),
        }
    };
    let all: Vec<Rail> = rows.map(rail).collect();
    rails(
        &all,
        "Dot: p50. Bar: up to p99. Line: up to the largest. The axis goes by powers; the figures are p50 and p99.",
    )
}
