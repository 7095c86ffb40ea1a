//! What the run is worth, first and in words; then the figures that matter most.

use super::page::{class, sign};
use crate::Report;
use crate::schema::Capacity;
use crate::words::latency::{cell, interval, naive};
use crate::words::units::{count, percent, rate};
use crate::words::verdict::{limits, load, other_reasons, rehearsal, reservations, tone_of};
use crate::words::{Said, Tone, books};
use maud::{Markup, html};

pub(super) use crate::words::verdict::verdict;

/// The verdict, why, and what was run.
pub(super) fn head(report: &Report) -> Markup {
    let (word, tone, meaning) = verdict(report);
    html! {
        header class={ "verdict " (class(tone)) } {
            p.word {
                span.sign aria-hidden="true" { (sign(tone)) }
                span { (word) }
                @for reservation in reservations(report) { span.badge { (reservation) } }
            }
            h1 { (capital(meaning)) "." }
            @for fault in report.validity.faults() {
                p.fault { b { (fault.name) ": " } (fault.why) }
            }
            dl.facts {
                @for (label, text) in [
                    ("Title", report.title.clone()),
                    ("Target", report.target.clone()),
                    ("Rehearsal", rehearsal(report)),
                    ("Load", Some(load(report))),
                    ("Limits", limits(report)),
                    ("Began", report.started_at.clone()),
                ] {
                    @if let Some(text) = text { dt { (label) } dd { (text) } }
                }
            }
        }
    }
}

/// The objective, bound by bound, and the figures that matter most.
pub(super) fn summary(report: &Report) -> Markup {
    html! {
        (objective(report))
        (tiles(report))
        @for said in remarks(report) {
            p class={ "remark " (class(said.tone)) } { span.sign aria-hidden="true" { (sign(said.tone)) } (capital(&said.text)) "." }
        }
    }
}

fn objective(report: &Report) -> Markup {
    let findings = report.slo.iter().flat_map(|slo| &slo.findings);
    let claims = report.resilience.iter().flat_map(|of| &of.claims);
    html! {
        @if let Some(resilience) = &report.resilience {
            ul.findings {
                @for claim in claims {
                    @let tone = tone_of(report, &claim.verdict);
                    li class=(class(tone)) {
                        span.sign aria-hidden="true" { (sign(tone)) }
                        b { (claim.verdict) }
                        span { (claim.claim) ": " (claim.found) }
                    }
                }
                @for why in &resilience.why {
                    li.doubtful { span.sign aria-hidden="true" { "!" } b {} span { (why) } }
                }
            }
        }
        @if report.slo.is_some() {
            ul.findings {
                @for finding in findings {
                    @let tone = tone_of(report, &finding.verdict);
                    li class=(class(tone)) {
                        span.sign aria-hidden="true" { (sign(tone)) }
                        b { (finding.verdict) }
                        span { code { (finding.bound) } " " (finding.why) }
                    }
                }
                @for why in other_reasons(report) {
                    li.doubtful { span.sign aria-hidden="true" { "!" } b {} span { (why) } }
                }
            }
        }
    }
}

/// One figure, large, with what it is above and what belongs to it below.
struct Tile {
    label: &'static str,
    value: String,
    below: String,
    tone: Tone,
}

fn tiles(report: &Report) -> Markup {
    let or_none = |per_second: Option<f64>| per_second.map_or("none".to_owned(), rate);
    let asked = report
        .asked_rate
        .map(|asked| format!("asked {}, ", rate(asked)));
    let mut tiles = of_sweep(report);
    tiles.push(Tile {
        label: "Achieved",
        value: or_none(report.achieved_rate),
        below: format!(
            "{}offered {}",
            asked.unwrap_or_default(),
            or_none(report.offered_rate)
        ),
        tone: Tone::Plain,
    });
    if let Some(response) = &report.latency.response {
        for (label, field) in [("Response p50", "p50_ns"), ("Response p99", "p99_ns")] {
            let interval = interval(response, field);
            tiles.push(Tile {
                label,
                value: cell(response, field),
                below: match interval.is_empty() {
                    true => "no interval".to_owned(),
                    false => format!("95 %: {interval}"),
                },
                tone: Tone::Plain,
            });
        }
    }
    if let (Some(exchange), Some(naive)) = (&report.latency.exchange, naive(report)) {
        tiles.push(Tile {
            label: "A naive tool’s p99",
            value: cell(exchange, "p99_ns"),
            below: "the exchange alone".to_owned(),
            tone: naive.tone,
        });
    }
    let arrivals = &report.arrivals;
    let errors = arrivals.scheduled.saturating_sub(arrivals.ok);
    tiles.push(Tile {
        label: "Not served",
        value: match arrivals.scheduled {
            0 => "none".to_owned(),
            all => percent(errors as f64 / all as f64),
        },
        below: format!("{} of {}", count(errors), count(arrivals.scheduled)),
        tone: if errors > 0 {
            Tone::Doubtful
        } else {
            Tone::Plain
        },
    });
    html! {
        div.tiles {
            @for tile in tiles {
                div class={ "tile " (class(tile.tone)) } {
                    span.label { (tile.label) }
                    span.value { (tile.value) }
                    span.below { (tile.below) }
                }
            }
        }
    }
}

/// What a sweep was made for.
fn of_sweep(report: &Report) -> Vec<Tile> {
    let Some(sweep) = &report.sweep else {
        return Vec::new();
    };
    let edge = |label, capacity: Option<&Capacity>, below: &str| {
        let capacity = capacity?;
        Some(Tile {
            label,
            value: super::sweep::short(capacity),
            below: below.to_owned(),
            tone: Tone::Plain,
        })
    };
    let sought = sweep.sought.as_deref().unwrap_or_default();
    let edges = [
        edge("Capacity", sweep.found.as_ref(), sought),
        edge("Knee", sweep.knee.as_ref(), "p99 up to 3 times the floor"),
        edge("Highest rate", Some(&sweep.max), "the most that was served"),
    ];
    edges.into_iter().flatten().collect()
}

/// What a reader must know before the charts.
fn remarks(report: &Report) -> Vec<Said> {
    let backlog = Some(books::backlog(report)).filter(|said| said.tone == Tone::Bad);
    let backlog = backlog.map(|said| Said {
        text: format!("the backlog {}", said.text),
        ..said
    });
    let health = books::health(report).filter(|said| said.tone != Tone::Plain);
    let naive = naive(report).filter(|said| said.tone != Tone::Plain);
    let lengths = books::lengths(report).filter(|said| said.tone != Tone::Plain);
    let lengths = lengths.map(|said| Said {
        text: format!("answers had {}", said.text),
        ..said
    });
    [backlog, health, naive, lengths]
        .into_iter()
        .flatten()
        .collect()
}

/// With a capital letter, as the first word of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
