//! The problem that the run was to answer, what it leaves out, and what of it was found.

use super::Section;
use crate::Report;
use crate::schema::{Evidence, Remark};
use crate::words::units::count;
use maud::{Markup, html};
use serde_json::Value;

/// The dimensions of a statement, and the fields that belong to each.
const DIMENSIONS: [(&str, &[&str]); 5] = [
    ("Objective and environment", &["objective", "environment"]),
    ("Floor and what must be kept", &["floor", "slo"]),
    ("Workload", &["workload"]),
    ("Arrivals and load model", &["load"]),
    (
        "Execution and measurement",
        &["lifecycle", "sweep", "resilience", "replicas", "rehearsal"],
    ),
];

pub(super) fn section(report: &Report) -> Option<Section> {
    let problem = report.problem.as_ref()?;
    let confirmed = |remark: &&Remark| remark.standing == "confirmed";
    let open: Vec<&Remark> = problem.remarks.iter().filter(|r| !confirmed(r)).collect();
    let kept: Vec<&Remark> = problem.remarks.iter().filter(confirmed).collect();
    let missing = open.iter().filter(|r| r.standing == "missing").count();
    let body = html! {
        p.lead {
            @match missing {
                0 => "The statement leaves nothing out.",
                n => { "What the run was to answer, as it was stated before. " b { (count(n as u64)) } " things that matter are not said." },
            }
        }
        (statement(&problem.statement))
        @if !open.is_empty() { h3 { "What is missing, doubtful or otherwise" } (remarks(&open)) }
        @if !kept.is_empty() {
            details.data { summary { "What was found as stated: " (kept.len()) } (remarks(&kept)) }
        }
        @if !problem.evidence.is_empty() { h3 { "Ways to fail" } (failures(&problem.evidence)) }
    };
    Some(Section {
        id: "problem",
        title: "The problem",
        body,
    })
}

fn remarks(remarks: &[&Remark]) -> Markup {
    html! {
        ul.findings {
            @for remark in remarks {
                @let (class, sign) = match remark.standing.as_str() {
                    "confirmed" => ("good", "✓"),
                    "contradicted" => ("bad", "✕"),
                    "doubtful" => ("doubtful", "!"),
                    _ => ("plain", "·"),
                };
                li class=(class) {
                    span.sign aria-hidden="true" { (sign) }
                    b { (remark.standing) }
                    span { code { (remark.about) } " " (remark.why) }
                }
            }
        }
    }
}

fn failures(evidence: &[Evidence]) -> Markup {
    html! {
        ul.findings {
            @for evidence in evidence {
                @let (class, sign, word) = match (evidence.found.as_str(), evidence.anticipated) {
                    ("seen", true) => ("doubtful", "!", "seen"),
                    ("seen", false) => ("bad", "✕", "seen, not expected"),
                    ("not_seen", _) => ("plain", "✓", "not seen"),
                    _ => ("plain", "·", "not measured"),
                };
                li class=(class) {
                    span.sign aria-hidden="true" { (sign) }
                    b { (word) }
                    span { code { (evidence.mode) } " " (evidence.why) }
                }
            }
        }
    }
}

/// The statement by its dimensions, without what it does not say.
fn statement(statement: &Value) -> Markup {
    let known: Vec<&str> = DIMENSIONS
        .iter()
        .flat_map(|(_, fields)| *fields)
        .copied()
        .collect();
    let others = statement.as_object().into_iter().flatten();
    let others: Vec<&str> = others
        .map(|(name, _)| name.as_str())
        .filter(|name| !known.contains(name) && *name != "title")
        .collect();
    let named = DIMENSIONS
        .iter()
        .map(|(title, fields)| (*title, fields.to_vec()))
        .chain([("Beside that", others)]);
    let said = named.map(|(title, fields)| {
        let mut rows = Vec::new();
        for field in fields {
            if let Some(value) = statement.get(field) {
                flatten(field, value, &mut rows);
            }
        }
        (title, rows)
    });
    let said: Vec<(&str, Vec<(String, String)>)> =
        said.filter(|(_, rows)| !rows.is_empty()).collect();
    html! {
        @if !said.is_empty() {
            div.dimensions {
                @for (title, rows) in &said {
                    div {
                        h3 { (title) }
                        dl.facts {
                            @for (field, value) in rows { dt { code { (field) } } dd { (value) } }
                        }
                    }
                }
            }
        }
    }
}

/// Every value with its path; what is null or empty is left out.
fn flatten(path: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(&format!("{path}.{name}"), value, into);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{path}[{index}]"), item, into);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            if !items.is_empty() {
                into.push((path.to_owned(), items.join(", ")));
            }
        }
        value => into.push((path.to_owned(), plain(value))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
