//! The page around its sections.

use super::{Section, archive, verdict};
use crate::Report;
use crate::words::Tone;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Nothing may be fetched, whatever somebody has put into a name.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn page(report: &Report, sections: &[Section]) -> io::Result<Markup> {
    let (word, ..) = verdict::verdict(report);
    let name = report.title.as_deref().or(report.target.as_deref());
    let title = format!("{word} · {} · openloop", name.unwrap_or("load test"));
    let class = match report.validity.valid {
        true => "",
        false => "invalid",
    };
    let archive = archive::embedded(report)?;
    let body = html! {
        (verdict::head(report))
        nav aria-label="Sections" {
            @for section in sections { a href={ "#" (section.id) } { (section.title) } }
        }
        (verdict::summary(report))
        @for section in sections {
            section id=(section.id) {
                h2 { (section.title) }
                (section.body)
            }
        }
        (footer(report))
        (archive)
    };
    Ok(shell(&title, class, &body))
}

/// A whole page: everything that it needs is inside.
pub(super) fn shell(title: &str, class: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body class=(class) {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn footer(report: &Report) -> Markup {
    html! {
        footer {
            p {
                "This file holds the whole report. "
                button type="button" id="save" hidden { "Save it as JSON" }
                " " code { "loadgen report FILE.html" } " reads it."
            }
            @if let Some(command) = &report.command {
                p { "Made by " code.command { (command) } }
            }
            @if let Some(tool) = &report.tool { p.note { (tool) ", schema " (report.schema) } }
        }
    }
}

/// The class of a tone.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubtful => "doubtful",
        Tone::Plain | Tone::Strong | Tone::Faint => "plain",
    }
}

/// The sign of a tone, for those who do not see colours.
pub(super) fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "✓",
        Tone::Bad => "✕",
        Tone::Doubtful => "!",
        Tone::Plain | Tone::Strong | Tone::Faint => "·",
    }
}
