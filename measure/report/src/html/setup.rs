//! What the run cost, where it ran, and what it was to answer.

use super::Section;
use super::page::class;
use crate::Report;
use crate::text::of_experiment;
use crate::words::{Said, Tone, books};
use maud::{Markup, html};
use serde_json::Value;

/// Columns of what stands as text.
const WIDTH: usize = 110;

pub(super) fn section(report: &Report) -> Option<Section> {
    let plain = |text: Option<String>| {
        text.map(|text| Said {
            tone: Tone::Plain,
            text,
        })
    };
    let rows = [
        ("Backlog", Some(books::backlog(report))),
        ("After the drain", books::health(report)),
        ("Generator", plain(books::generator(report))),
        ("Machine", plain(books::machine(report))),
    ];
    // A writer into memory does not fail.
    let steps = of_experiment(report, WIDTH).ok();
    let steps = steps.filter(|steps| !steps.is_empty());
    let body = html! {
        dl.facts {
            @for (label, said) in rows {
                @if let Some(said) = said { dt { (label) } dd class=(class(said.tone)) { (said.text) } }
            }
        }
        @if let Some(steps) = steps { pre { (steps) } }
        (value("Statement of the problem", report.problem.as_ref().map(|problem| &problem.statement)))
    };
    Some(Section {
        id: "setup",
        title: "The experiment",
        body,
    })
}

/// What has no picture yet, as it stands in the report.
fn value(title: &str, value: Option<&Value>) -> Markup {
    html! {
        @if let Some(value) = value {
            details.data { summary { (title) } pre { (format!("{value:#}")) } }
        }
    }
}
