//! What has to be bought and set for a peak, each figure with its formula and what went into it.

use super::Section;
use crate::Report;
use crate::schema::{Plan, PlanItem};
use crate::words::plan::{inputs, shown};
use maud::html;

pub(super) fn section(report: &Report) -> Option<Section> {
    let plan: &Plan = report.plan.as_ref()?;
    let is_answer = |item: &PlanItem| {
        matches!(
            item.quantity.as_str(),
            "nodes" | "pool_per_node" | "timeout" | "kv_bytes"
        )
    };
    let answers: Vec<&PlanItem> = plan.items.iter().filter(|item| is_answer(item)).collect();
    let body = html! {
        p.lead { "For a peak of " b { (shown(plan.peak_rate, "per_second")) } ", from what the sweep found of one node." }
        @if !answers.is_empty() {
            div.tiles {
                @for item in &answers {
                    div.tile { span.label { (item.name) } span.value { (shown(item.value, &item.unit)) } span.below { (item.formula) } }
                }
            }
        }
        div.scroll { table.texts {
            tbody {
                @for item in &plan.items {
                    tr {
                        th scope="row" { (item.name) @if !item.why.is_empty() { small { (item.why) } } }
                        td.number { b { (shown(item.value, &item.unit)) } }
                        td { code { (item.formula) } }
                        td { (inputs(item)) }
                    }
                }
                @for missing in &plan.missing {
                    tr.sub {
                        th scope="row" { (missing.name) }
                        td.number { "–" }
                        td colspan="2" { "needs " (missing.needs) }
                    }
                }
            }
        } }
        p.note { "A rule of thumb is no measurement: try the plan before you rely on it." }
    };
    Some(Section {
        id: "plan",
        title: "Plan for the peak",
        body,
    })
}
