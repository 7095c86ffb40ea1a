//! What the run is worth.

use super::page::Page;
use super::style::Tone;
use super::table::columns;
use super::units::{count, length, rate};
use crate::Report;
use crate::schema::Sessions;
use std::io;

/// The verdict, whether the run may be believed, and what kind of run it was.
pub(super) fn write<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let (word, tone, meaning) = verdict(report);
    let mut kind = String::new();
    if report.rehearsal.is_some() {
        kind.push_str(", REHEARSAL");
    }
    if let Some(at) = report.interrupted_at_ns {
        kind.push_str(&format!(", INTERRUPTED at {}", length(at)));
    } else if report.interrupted {
        kind.push_str(", INTERRUPTED");
    }
    if report.loop_kind != "open" {
        let name = report.loop_kind.replace('_', " ").to_uppercase();
        kind.push_str(&format!(", {name} LOOP"));
    }
    page.headline(word, tone, &format!("{kind}: {meaning}"))?;
    setup(report, page)?;
    for fault in report.validity.faults() {
        let text = format!("{}: {}", fault.name, fault.why);
        page.entry("fault", Tone::Bad, &text)?;
    }
    Ok(())
}

fn verdict(report: &Report) -> (&'static str, Tone, &'static str) {
    let verdict = report.slo.as_ref().map(|slo| slo.verdict.as_str());
    if let Some(resilience) = &report.resilience {
        return overloaded(&resilience.verdict);
    }
    match verdict {
        _ if !report.validity.valid => (
            "INVALID",
            Tone::Bad,
            "the generator or its machine failed, so the run says nothing of the service",
        ),
        None => (
            "VALID",
            Tone::Good,
            "the run may be believed; no objective was given",
        ),
        Some("pass") => (
            "PASS",
            Tone::Good,
            "the objective is kept, and the run may be believed",
        ),
        Some("fail") => (
            "FAIL",
            Tone::Bad,
            "the objective is broken, and the run may be believed",
        ),
        Some("infeasible") => (
            "INFEASIBLE",
            Tone::Bad,
            "the service needs longer than the objective even when it is idle",
        ),
        Some("inconclusive") => (
            "INCONCLUSIVE",
            Tone::Doubtful,
            "the run may be believed, but its data cannot tell",
        ),
        Some("invalid") => ("INVALID", Tone::Bad, "the run says nothing of the service"),
        Some(_) => (
            "UNKNOWN",
            Tone::Doubtful,
            "the verdict is of a newer release",
        ),
    }
}

/// Of a service that was driven past its limit.
fn overloaded(verdict: &str) -> (&'static str, Tone, &'static str) {
    match verdict {
        "pass" => (
            "PASS",
            Tone::Good,
            "the service degrades as stated, and the run may be believed",
        ),
        "fail" => (
            "FAIL",
            Tone::Bad,
            "the service does not degrade as stated, and the run may be believed",
        ),
        "invalid" => ("INVALID", Tone::Bad, "the run says nothing of the service"),
        _ => (
            "INCONCLUSIVE",
            Tone::Doubtful,
            "the run may be believed, but its data cannot tell",
        ),
    }
}

/// What was run, in one sentence.
fn setup<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    if let Some(title) = &report.title {
        page.entry("title", Tone::Plain, title)?;
    }
    if let Some(target) = &report.target {
        page.entry("target", Tone::Plain, target)?;
    }
    if let Some(service) = &report.rehearsal {
        let text = format!("nothing was sent: a simulated service was measured in its place: {service}");
        page.entry("rehearsal", Tone::Doubtful, &text)?;
    }
    let steady = report.phases.iter().find(|phase| phase.name == "steady");
    let lead = steady.map_or(0, |steady| steady.from_ns);
    let measured = length(report.steady_ns);
    let mut load = match (report.asked_rate, &report.sessions, &report.closed) {
        (Some(asked), ..) => format!("{} in an open loop, {measured} measured", rate(asked)),
        (None, Some(sessions), _) => format!("{}, {measured} measured", of_sessions(sessions)),
        (None, None, Some(closed)) => format!(
            "{} users in a closed loop, {} of think time, {measured} measured",
            count(closed.users),
            length(closed.think_ns),
        ),
        (None, None, None) => format!("a rate that changes, {measured} measured"),
    };
    if lead > 0 {
        load.push_str(&format!(" after {} of ramp-up and warm-up", length(lead)));
    }
    load.push_str(&format!("; seed {}", report.seed));
    page.entry("load", Tone::Plain, &load)?;
    limits(report, page)
}

fn of_sessions(sessions: &Sessions) -> String {
    let arriving = match sessions.asked_rate {
        Some(asked) => format!("sessions at {}", rate(asked)),
        None => "sessions at a rate that changes".to_owned(),
    };
    let steps = sessions.planned_steps.unwrap_or_default();
    format!(
        "{arriving} in a partly open loop, {steps:.1} requests each in the mean, {} of think time",
        length(sessions.think_ns)
    )
}

/// What held arrivals back, where anything could.
fn limits<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(limits) = &report.limits else {
        return Ok(());
    };
    let mut parts = Vec::new();
    if let Some(most) = limits.max_in_flight {
        let then = match limits.on_limit.as_deref() {
            Some("shed") => "the others are not sent",
            _ => "the others wait",
        };
        parts.push(format!("at most {} in flight, {then}", count(most)));
    }
    if let Some(timeout) = limits.timeout_ns {
        let from = match limits.timeout_from.as_deref() {
            Some("dispatch") => "dispatch",
            _ => "intended instant",
        };
        parts.push(format!("timeout {} from the {from}", length(timeout)));
    }
    match parts.is_empty() {
        true => Ok(()),
        false => page.entry("limits", Tone::Plain, &parts.join("; ")),
    }
}

/// The objective, bound by bound.
pub(super) fn objective<W: io::Write>(report: &Report, page: &mut Page<W>) -> io::Result<()> {
    let Some(slo) = &report.slo else {
        return Ok(());
    };
    let widest = slo
        .findings
        .iter()
        .map(|finding| columns(&finding.verdict))
        .max();
    for (index, finding) in slo.findings.iter().enumerate() {
        let label = if index == 0 { "objective" } else { "" };
        let tone = match finding.verdict.as_str() {
            "pass" => Tone::Good,
            "inconclusive" => Tone::Doubtful,
            _ => Tone::Bad,
        };
        let verdict = format!("{:<1$}", finding.verdict, widest.unwrap_or(0));
        let text = format!("{}: {}", finding.bound, finding.why);
        page.item(label, (&verdict, tone), &text)?;
        if let Some(basis) = &finding.basis {
            page.entry("", Tone::Faint, &format!("limit: {basis}"))?;
        }
    }
    for lint in &slo.lints {
        let text = format!("{}: {}", lint.bound, lint.why);
        page.entry("bound", Tone::Doubtful, &text)?;
    }
    // Faults of the generator stand above already, and the backlog has a line of its own.
    let told = |why: &&String| {
        report.validity.faults().any(|fault| fault.why == **why) || why.contains("backlog")
    };
    for why in slo.why.iter().filter(|why| !told(why)) {
        page.entry("", Tone::Doubtful, why)?;
    }
    Ok(())
}
