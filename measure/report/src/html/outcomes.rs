//! How arrivals ended.

use super::Section;
use crate::Report;
use crate::schema::Arrivals;
use crate::words::books;
use crate::words::units::{count, percent};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let arrivals = &report.arrivals;
    let errors = arrivals.scheduled.saturating_sub(arrivals.ok);
    let body = html! {
        p.lead { (books::arrivals(report).text) "." }
        @if let Some(planned) = books::planned(report) { p.note { (planned) "." } }
        @if let Some(sessions) = books::sessions(report) { p.note { "Sessions: " (sessions.text) "." } }
        (bar(arrivals, "All arrivals", |_| true))
        @if errors > 0 { (bar(arrivals, "What was not served", |name| name != "ok")) }
        (table(report))
        (phases(report))
    };
    Some(Section {
        id: "outcomes",
        title: "Outcomes",
        body,
    })
}

/// The share of each outcome among those that are shown.
fn bar(arrivals: &Arrivals, title: &str, is_shown: impl Fn(&str) -> bool) -> Markup {
    let shown = arrivals
        .by_outcome()
        .into_iter()
        .filter(|(name, n)| *n > 0 && is_shown(name));
    let shown: Vec<_> = shown.collect();
    let all: f64 = shown.iter().map(|(_, n)| *n as f64).sum();
    html! {
        @if all > 0.0 {
            div.stack-row {
                span.label { (title) }
                div.stack role="img" aria-label=(title) {
                    @for (name, n) in &shown {
                        @let share = *n as f64 / all;
                        @let tip = format!("{}: {} ({})", name.replace('_', " "), count(*n), percent(share));
                        span class={ "o-" (name.replace('_', "-")) } style=(format!("flex-grow:{:.6}", share)) data-tip=(tip) title=(tip) {
                            @if share > 0.2 { (name.replace('_', " ")) " " (percent(share)) }
                        }
                    }
                }
            }
        }
    }
}

fn table(report: &Report) -> Markup {
    let arrivals = &report.arrivals;
    let share = |n: u64| match arrivals.scheduled {
        0 => String::new(),
        all => percent(n as f64 / all as f64),
    };
    let rows = arrivals
        .by_outcome()
        .into_iter()
        .filter(|(name, n)| *n > 0 || *name == "ok");
    html! {
        div.scroll { table {
            thead { tr { th scope="col" { "outcome" } th scope="col" { "arrivals" } th scope="col" { "share" } } }
            tbody {
                @for (name, n) in rows {
                    tr { th scope="row" { span class={ "dot o-" (name.replace('_', "-")) } {} (name.replace('_', " ")) } td { (count(n)) } td { (share(n)) } }
                    @for (class, n) in report.outcomes.get(name).into_iter().flatten() {
                        tr.sub { th scope="row" { (class) } td { (count(*n)) } td { (share(*n)) } }
                    }
                }
            }
        } }
    }
}

fn phases(report: &Report) -> Markup {
    html! {
        @if report.phases.len() > 1 {
            details.data {
                summary { "By phase" }
                div.scroll { table {
                    thead { tr {
                        th scope="col" { "phase" } th scope="col" { "planned" } th scope="col" { "scheduled" } th scope="col" { "ok" } th scope="col" { "not served" }
                    } }
                    tbody {
                        @for phase in &report.phases {
                            tr {
                                th scope="row" { (phase.name.replace('_', " ")) }
                                td { (phase.planned.map_or(String::new(), count)) }
                                td { (count(phase.arrivals.scheduled)) }
                                td { (count(phase.arrivals.ok)) }
                                td { (count(phase.arrivals.scheduled.saturating_sub(phase.arrivals.ok))) }
                            }
                        }
                    }
                } }
            }
        }
    }
}
