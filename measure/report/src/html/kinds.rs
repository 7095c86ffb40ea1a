//! The kinds of request side by side.

use super::Section;
use super::rails::ranges;
use crate::Report;
use crate::schema::{Kind, UNLABELLED};
use crate::words::latency::{FIGURES, cell};
use crate::words::units::{count, percent};
use maud::html;

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.kinds.len() < 2 {
        return None;
    }
    let kinds: Vec<(&str, &Kind)> = report
        .kinds
        .iter()
        .map(|(name, kind)| (label(name), kind))
        .collect();
    let responses = kinds
        .iter()
        .filter_map(|(name, kind)| Some((*name, kind.latency.response.as_ref()?)));
    let body = html! {
        p.lead { "Response of the steady phase by kind of request; shares and arrivals are of the whole run." }
        (ranges(responses))
        div.scroll { table.figures {
            thead { tr {
                th scope="col" { "kind" } th scope="col" { "share" } th scope="col" { "arrivals" } th scope="col" { "not served" }
                @for (figure, _) in FIGURES { th scope="col" { (figure) } }
            } }
            tbody {
                @for (name, kind) in &kinds {
                    tr {
                        th scope="row" { (name) }
                        td { (kind.share.map_or(String::new(), percent)) }
                        td { (count(kind.arrivals.scheduled)) }
                        td { (count(kind.arrivals.scheduled.saturating_sub(kind.arrivals.ok))) }
                        @for (_, field) in FIGURES { td { (kind.latency.response.as_ref().map_or(String::new(), |response| cell(response, field))) } }
                    }
                }
            }
        } }
    };
    Some(Section {
        id: "kinds",
        title: "Kinds of request",
        body,
    })
}

fn label(name: &str) -> &str {
    match name {
        UNLABELLED => "(no kind)",
        name => name,
    }
}
