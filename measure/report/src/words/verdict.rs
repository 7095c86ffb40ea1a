//! What the run is worth, and what was run.

use super::Tone;
use super::units::{Ns, count, length, rate};
use crate::Report;
use crate::schema::Sessions;

/// The verdict in a word, how it is meant, and what it means.
pub(crate) fn verdict(report: &Report) -> (&'static str, Tone, &'static str) {
    if let Some(resilience) = &report.resilience {
        return overloaded(&resilience.verdict);
    }
    let verdict = report.slo.as_ref().map(|slo| slo.verdict.as_str());
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
        Some("pass") if report.sweep.is_some() => (
            "PASS",
            Tone::Good,
            "the objective is kept at the rate that was found, and the runs there may be believed",
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

/// That nothing was sent, if it was a rehearsal.
pub(crate) fn rehearsal(report: &Report) -> Option<String> {
    let service = report.rehearsal.as_ref()?;
    Some(format!(
        "nothing was sent: a simulated service was measured in its place: {service}"
    ))
}

/// How the verdict on one bound or claim is meant. What holds of an invalid run is no good news, and no bad news either.
pub(crate) fn tone_of(report: &Report, verdict: &str) -> Tone {
    match verdict {
        _ if !report.validity.valid => Tone::Plain,
        "pass" => Tone::Good,
        "inconclusive" => Tone::Doubtful,
        _ => Tone::Bad,
    }
}

/// What decided beside the bounds, without what is said elsewhere: faults of the generator and the backlog have lines
/// of their own.
pub(crate) fn other_reasons(report: &Report) -> impl Iterator<Item = &String> {
    let told = |why: &&String| {
        report.validity.faults().any(|fault| fault.why == **why) || why.contains("backlog")
    };
    let reasons = report.slo.iter().flat_map(|slo| &slo.why);
    reasons.filter(move |why| !told(why))
}

/// What must be known beside the verdict, in capitals: that it was a rehearsal, that the run was stopped, or was no open loop.
pub(crate) fn reservations(report: &Report) -> Vec<String> {
    let mut reservations = Vec::new();
    if report.rehearsal.is_some() {
        reservations.push("REHEARSAL".to_owned());
    }
    if let Some(at) = report.interrupted_at_ns {
        reservations.push(format!("INTERRUPTED at {}", length(at)));
    } else if report.interrupted {
        reservations.push("INTERRUPTED".to_owned());
    }
    if report.loop_kind != "open" {
        let name = report.loop_kind.replace('_', " ").to_uppercase();
        reservations.push(format!("{name} LOOP"));
    }
    if let Some(merged) = &report.merged {
        let (of, n) = (merged.of.to_uppercase(), count(merged.reports));
        reservations.push(format!("{n} {of} MERGED"));
    }
    reservations
}

/// What was run, in one sentence.
pub(crate) fn load(report: &Report) -> String {
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
    if let Some(shard) = &report.shard {
        load.push_str(&format!("; shard {}/{}", shard.index, shard.count));
        if let Some(clock) = &shard.clock {
            let within = Ns(clock.within_ns as f64);
            load.push_str(&format!(
                ", begun by the clock of {}, within {within}",
                clock.reference
            ));
        }
    }
    let mut checks = report.validity.checks.iter();
    let clocks = checks.find(|check| check.name == "shard_clocks" && check.pass);
    if let Some(apart) = clocks.and_then(|check| check.value) {
        load.push_str(&format!(
            "; shards began within {} of each other",
            Ns(apart)
        ));
    }
    load
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
pub(crate) fn limits(report: &Report) -> Option<String> {
    let limits = report.limits.as_ref()?;
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
    (!parts.is_empty()).then(|| parts.join("; "))
}
