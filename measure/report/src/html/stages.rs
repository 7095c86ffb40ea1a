//! Where the time went.

use super::Section;
use super::inference;
use super::latencies::table;
use super::rails::ranges;
use crate::Report;
use crate::words::units::{Ns, count, percent, rate};
use maud::{Markup, html};

pub(super) fn section(report: &Report) -> Option<Section> {
    let parts = parts(report);
    let metrics: Vec<_> = report
        .metrics
        .iter()
        // What a language model's answers are made of has a section of its own.
        .filter(|(name, _)| !inference::is_of_it(report, name))
        .filter_map(|(name, summary)| Some((name.as_str(), "", summary.as_ref()?)))
        .collect();
    if parts.is_empty() && metrics.is_empty() && report.counts.is_empty() {
        return None;
    }
    let body = html! {
        @if !parts.is_empty() { (means(&parts)) }
        @if !metrics.is_empty() {
            (ranges(metrics.iter().map(|(name, _, summary)| (*name, *summary))))
            (table(&metrics))
        }
        (counts(report))
    };
    Some(Section {
        id: "stages",
        title: "Where the time went",
        body,
    })
}

/// The mean response of what was sent, part by part: what, how it looks, and how long.
fn parts(report: &Report) -> Vec<(&'static str, &'static str, f64)> {
    let latency = &report.latency;
    let (Some(delay), Some(service)) = (&latency.schedule_delay, &latency.service) else {
        return Vec::new();
    };
    let mut parts = vec![("schedule delay", "c3", delay.mean_ns)];
    match &latency.exchange {
        // Where some were cut off, nobody knows how long those had waited for a connection.
        Some(exchange) if exchange.count == service.count => {
            parts.push((
                "wait for a connection",
                "c4",
                (service.mean_ns - exchange.mean_ns).max(0.0),
            ));
            parts.push(("exchange", "c2", exchange.mean_ns));
        }
        _ => parts.push(("service", "c2", service.mean_ns)),
    }
    parts
}

fn means(parts: &[(&'static str, &'static str, f64)]) -> Markup {
    let all: f64 = parts.iter().map(|(.., ns)| ns).sum();
    html! {
        @if all > 0.0 {
            p.lead { "The mean response of what was sent, " (Ns(all)) ", is made of these:" }
            div.stack-row {
                div.stack role="img" aria-label="Parts of the mean response" {
                    @for (name, style, ns) in parts {
                        @let tip = format!("{name}: {} ({})", Ns(*ns), percent(ns / all));
                        @if *ns > 0.0 {
                            span class={ "s-" (style) } style=(format!("flex-grow:{:.6}", ns / all)) data-tip=(tip) title=(tip) {
                                @if ns / all > 0.2 { (name) }
                            }
                        }
                    }
                }
            }
            div.scroll { table {
                thead { tr { th scope="col" { "part" } th scope="col" { "mean" } th scope="col" { "share" } } }
                tbody {
                    @for (name, style, ns) in parts {
                        tr { th scope="row" { span class={ "dot s-" (style) } {} (name) } td { (Ns(*ns)) } td { (percent(ns / all)) } }
                    }
                }
            } }
        }
    }
}

fn counts(report: &Report) -> Markup {
    let seconds = report.steady_ns as f64 / 1e9;
    let per_second = |n: u64| match seconds > 0.0 {
        true => rate(n as f64 / seconds),
        false => String::new(),
    };
    html! {
        @if !report.counts.is_empty() {
            div.scroll { table {
                thead { tr { th scope="col" { "counted in the steady phase" } th scope="col" { "sum" } th scope="col" { "per second" } } }
                tbody {
                    @for (name, n) in &report.counts {
                        tr { th scope="row" { (name.replace('_', " ")) } td { (count(*n)) } td { (per_second(*n)) } }
                    }
                }
            } }
        }
    }
}
