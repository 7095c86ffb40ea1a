//! What the run cost, and where it ran.

use super::Section;
use super::page::class;
use crate::Report;
use crate::words::{Said, Tone, books};
use maud::html;

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
    let body = html! {
        dl.facts {
            @for (label, said) in rows {
                @if let Some(said) = said { dt { (label) } dd class=(class(said.tone)) { (said.text) } }
            }
        }
    };
    Some(Section {
        id: "setup",
        title: "The experiment",
        body,
    })
}
