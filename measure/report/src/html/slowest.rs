//! The slowest arrivals, each with its stages.

use super::Section;
use crate::Report;
use crate::schema::Slow;
use crate::words::latency::stages;
use crate::words::units::{Ns, length};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.slowest.is_empty() {
        return None;
    }
    let has_kinds = report.slowest.iter().any(|slow| slow.kind.is_some());
    let runs = report.slowest.iter().map(|slow| slow.run_seed);
    let several = runs.clone().any(|seed| Some(seed) != runs.clone().next());
    let body = html! {
        p.lead { "What to look for in the logs of the service: the " (report.slowest.len()) " arrivals of the steady phase that took longest, from the instant at which they should have started." }
        div.scroll { table.figures {
            thead { tr {
                th scope="col" { "response" } th scope="col" { "request" }
                @if several { th scope="col" { "seed of its run" } }
                th scope="col" { "due at" } th scope="col" { "sent after" } th scope="col" { "service" }
                @if has_kinds { th scope="col" { "kind" } }
                th scope="col" { "ended" } th scope="col" { "stages" }
            } }
            tbody { @for slow in &report.slowest { (row(slow, several, has_kinds)) } }
        } }
    };
    Some(Section {
        id: "slowest",
        title: "The slowest arrivals",
        body,
    })
}

fn row(slow: &Slow, several: bool, has_kinds: bool) -> Markup {
    let ns = |ns: Option<u64>| ns.map_or("never".to_owned(), |ns| Ns(ns as f64).to_string());
    html! {
        tr {
            th scope="row" { (Ns(slow.response_ns as f64)) } td { (slow.seq) }
            @if several { td { (slow.run_seed) } }
            td { (length(slow.intended_ns)) } td { (ns(slow.schedule_delay_ns)) } td { (ns(slow.service_ns)) }
            @if has_kinds { td { (slow.kind.as_deref().unwrap_or_default()) } }
            td { (slow.ended()) } td { (stages(slow)) }
        }
    }
}
