//! Whether the run may be believed, check by check.

use super::Section;
use super::page::{class, sign};
use crate::Report;
use crate::schema::Check;
use crate::words::Tone;
use crate::words::units::{Ns, count, percent};
use maud::html;

pub(super) fn section(report: &Report) -> Option<Section> {
    let validity = &report.validity;
    let faults = validity.faults().count();
    let warnings = validity.warnings().count();
    let lead = match (faults, warnings) {
        (0, 0) => "Every check of the generator and its machine passed.".to_owned(),
        (0, n) => format!(
            "The run may be believed; {n} of {} checks ask for a look.",
            validity.checks.len()
        ),
        (n, _) => format!(
            "The run may not be believed: {n} of {} checks failed.",
            validity.checks.len()
        ),
    };
    let body = html! {
        p.lead { (lead) }
        ul.checks {
            @for check in &validity.checks {
                @let tone = tone(report, check);
                li class=(class(tone)) {
                    span.sign aria-hidden="true" { (sign(tone)) }
                    b { (check.name.replace('_', " ")) @if check.waived { " (waived)" } }
                    span.number { (number(check)) }
                    span.why { (check.why) }
                }
            }
        }
    };
    Some(Section {
        id: "validity",
        title: "May the run be believed?",
        body,
    })
}

fn tone(report: &Report, check: &Check) -> Tone {
    let is_fault = report
        .validity
        .faults()
        .any(|fault| std::ptr::eq(fault, check));
    match (check.pass, is_fault) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Doubtful,
    }
}

/// What was found, and what is allowed.
fn number(check: &Check) -> String {
    let figure = |x: f64| match check.unit.as_deref() {
        Some("ns") => Ns(x).to_string(),
        Some("share") => percent(x),
        // Counts are whole.
        _ if x.fract() == 0.0 && (0.0..1e15).contains(&x) => count(x as u64),
        _ => format!("{x:.3}"),
    };
    match (check.value, check.limit) {
        (Some(value), Some(limit)) => format!("{} (limit {})", figure(value), figure(limit)),
        (Some(value), None) => figure(value),
        (None, _) => String::new(),
    }
}
