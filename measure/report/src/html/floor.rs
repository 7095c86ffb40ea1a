//! How long the service takes when nobody waits, and how far above that the run is.

use super::Section;
use super::rails::{Rail, rails};
use crate::Report;
use crate::schema::{Floor, Level, Summary};
use crate::words::units::{Ns, count, percent};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let floor = report.floor.as_ref()?;
    let body = html! {
        p.lead { (how(floor)) }
        dl.facts {
            @if let Some(s) = floor.s_ns { dt { "S" } dd { b { (Ns(s)) } ", the mean without the round trip: it stands in formulas" } }
            dt { "Round trip" } dd { (round_trip(floor)) }
            @if let Some(cold) = floor.cold_ns { dt { "The first request of all" } dd { (Ns(cold as f64)) ", which is in no figure" } }
        }
        (rails(&floor.levels.iter().map(rail).collect::<Vec<_>>(), "Dot: mean. Bar: up to p99. Line: from the least. The axis goes by powers; the figures are mean and p99."))
        (levels(floor))
        (ratios(report, floor))
        @for fault in &floor.faults {
            p.remark.bad { span.sign aria-hidden="true" { "✕" } (fault) "." }
        }
        @for warning in &floor.warnings {
            p.remark.doubtful { span.sign aria-hidden="true" { "!" } (warning) "." }
        }
    };
    Some(Section {
        id: "floor",
        title: "The idle service",
        body,
    })
}

fn how(floor: &Floor) -> String {
    let trials = match floor.trials {
        0 => {
            return "How long one request takes when nobody waits: as stated, not measured."
                .to_owned();
        }
        n => format!("How long one request takes when nobody waits: {n} trials of one at a time"),
    };
    match floor.utilisation {
        Some(busy) => format!(
            "{trials}, in which the service was busy {} of the time.",
            percent(busy)
        ),
        None => format!("{trials}."),
    }
}

fn round_trip(floor: &Floor) -> String {
    let rtt = Ns(floor.rtt_ns as f64);
    match floor.rtt_source.as_str() {
        "same_host" => "none: the service is on the same host".to_owned(),
        "unknown" => "not known: it is in all figures, and in S".to_owned(),
        "stated" => format!("{rtt}, as stated; it is in the figures below, and not in S"),
        _ => format!("{rtt}, probed; it is in the figures below, and not in S"),
    }
}

fn name(level: &Level) -> String {
    let metric = level.metric.replace('_', " ");
    match &level.kind {
        Some(kind) => format!("{metric} of {kind}"),
        None => metric,
    }
}

fn rail(level: &Level) -> Rail {
    let name = name(level);
    Rail {
        tip: format!(
            "{name}: min {}, mean {}, p99 {}, {} requests",
            Ns(level.min_ns),
            Ns(level.mean_ns),
            Ns(level.p99_ns),
            count(level.count)
        ),
        name,
        thin: [level.min_ns, level.p99_ns],
        thick: [level.mean_ns, level.p99_ns],
        dot: level.mean_ns,
        is_open: false,
        figures: [Ns(level.mean_ns).to_string(), Ns(level.p99_ns).to_string()],
    }
}

fn levels(floor: &Floor) -> Markup {
    html! {
        div.scroll { table.figures {
            thead { tr {
                th scope="col" {} th scope="col" { "requests" }
                @for figure in ["min", "mean", "p50", "p95", "p99"] { th scope="col" { (figure) } }
                th scope="col" { "C_v of trials" }
            } }
            tbody {
                @for level in &floor.levels {
                    tr {
                        th scope="row" { (name(level)) }
                        td { @if level.count > 0 { (count(level.count)) } @else { "stated" } }
                        @for ns in [level.min_ns, level.mean_ns, level.p50_ns, level.p95_ns, level.p99_ns] { td { (Ns(ns)) } }
                        td.faint { (level.spread.map_or(String::new(), percent)) }
                    }
                }
            }
        } }
    }
}

/// The response under load over the floor, by both ratios.
fn ratios(report: &Report, floor: &Floor) -> Markup {
    let is_whole = |level: &&Level| level.metric == "response" && level.kind.is_none();
    let level = floor.levels.iter().find(is_whole);
    let response = report.latency.response_slo.as_ref();
    let (Some(level), Some(response), Some(s)) = (level, response, floor.s_ns.filter(|s| *s > 0.0))
    else {
        return html! {};
    };
    let rtt = floor.rtt_ns as f64;
    let rows = [
        ("p50", "p50_ns", level.p50_ns),
        ("p95", "p95_ns", level.p95_ns),
        ("p99", "p99_ns", level.p99_ns),
    ];
    let used = |ratio: &str| (floor.ratio.as_deref() == Some(ratio)).then_some("in use");
    html! {
        h3 { "The run above it" }
        div.scroll { table.figures {
            thead { tr {
                th scope="col" {} th scope="col" { "under load" }
                th scope="col" { "over S" @if let Some(used) = used("literal") { small { (used) } } }
                th scope="col" { "over the same quantile" @if let Some(used) = used("inflation") { small { (used) } } }
            } }
            tbody {
                @for (name, field, idle) in rows {
                    @let loaded = response.get(field).unwrap_or_default() as f64;
                    tr {
                        th scope="row" { (name) }
                        td { (bound(response, field)) (Ns(loaded)) }
                        td { (times(response, field, (loaded - rtt) / s)) }
                        td { (times(response, field, (loaded - rtt) / (idle - rtt))) }
                    }
                }
            }
        } }
        p.note { "For a single exponential server, p99 over that of the idle service is 1 / (1 − ρ): 2 at half load, 4 at three quarters." }
    }
}

fn bound(response: &Summary, field: &str) -> &'static str {
    match response.at_least.contains(field) {
        true => "≥ ",
        false => "",
    }
}

fn times(response: &Summary, field: &str, ratio: f64) -> String {
    match ratio.is_finite() {
        true => format!("{}{ratio:.2} ×", bound(response, field)),
        false => String::new(),
    }
}
