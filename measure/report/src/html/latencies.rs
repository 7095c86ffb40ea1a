//! All latencies in figures.

use super::Section;
use crate::Report;
use crate::schema::Summary;
use crate::words::latency::{BOUNDS, FIGURES, cell, has_bounds, interval, label, worst};
use crate::words::units::count;
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let by_name = report.latency.by_name();
    let rows: Vec<_> = by_name
        .into_iter()
        .filter_map(|(name, summary)| Some((label(name), meaning(name), summary?)))
        .collect();
    let body = match rows.is_empty() {
        true => html! { p { "Nothing was measured in the steady phase." } },
        false => html! {
            (table(&rows))
            @if rows.iter().any(|(_, _, summary)| has_bounds(summary)) { p.note { (BOUNDS) } }
            @if let Some(worst) = worst(report) { p.note { "Worst: " (worst) "." } }
        },
    };
    Some(Section {
        id: "latencies",
        title: "Latencies",
        body,
    })
}

fn meaning(name: &str) -> &'static str {
    match name {
        "response" => {
            "what users waited, from the instant at which the request should have started"
        }
        "response_ok" => "the same of what was served",
        "response_slo" => {
            "the same, and whatever was not served counts as worst: objectives are judged on it"
        }
        "service" => "inside the user’s future",
        "exchange" => "service without the wait for a connection: what a naive tool calls latency",
        "schedule_delay" => "from the intended instant until the request was sent",
        "lag" => "the part of it that the generator itself was late",
        "pickup" => "from the kernel’s receipt of the answer until it was taken up",
        _ => "",
    }
}

/// Rows of quantiles: name, meaning and summary of each.
pub(super) fn table(rows: &[(&str, &str, &Summary)]) -> Markup {
    html! {
        div.scroll {
            table.figures {
                thead { tr {
                    th scope="col" {}
                    th scope="col" { "values" }
                    @for (figure, _) in FIGURES { th scope="col" { (figure) } }
                    th scope="col" { "p99, 95 %" }
                } }
                tbody {
                    @for (name, meaning, summary) in rows {
                        tr {
                            th scope="row" { (name) @if !meaning.is_empty() { small { (meaning) } } }
                            td { (count(summary.count)) }
                            @for (_, field) in FIGURES { td class=[summary.at_least.contains(field).then_some("bounded")] { (cell(summary, field)) } }
                            td.faint { (interval(summary, "p99_ns")) }
                        }
                    }
                }
            }
        }
    }
}
