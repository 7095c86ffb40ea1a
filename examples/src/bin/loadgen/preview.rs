//! What a plan would send, without sending it.

use crate::cli::OutputArgs;
use crate::exit::{Failure, Status};
use crate::output;
use crate::protocol::Protocol;
use openloop_experiment::Plan;
use openloop_sched::{Schedule, Ticket};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Prints the totals, writes the arrivals: whichever was asked for.
pub(crate) fn show(
    plan: &Plan,
    output: &OutputArgs,
    protocol: &impl Protocol,
) -> Result<Status, Failure> {
    let (Some(preview), Some(schedule)) = (plan.preview(), plan.schedule()) else {
        return Err(Failure::usage(
            "a closed loop has no arrivals before it runs, so there is nothing to preview: give --rate or --profile",
        ));
    };
    let to_stdout = output.preview_arrivals.as_deref() == Some(Path::new("-"));
    if output.preview && to_stdout {
        return Err(Failure::usage(
            "--preview and --preview-arrivals - would both write to the standard output: give a file to one",
        ));
    }
    if let Some(file) = &output.preview_arrivals {
        output::write_to(file, |out| write_arrivals(plan, schedule, out))
            .map_err(Failure::Usage)?;
    }
    if output.preview {
        let phases = preview.phases.iter();
        let phases: Vec<Value> = phases
            .map(|(name, arrivals)| json!({ "name": name, "arrivals": arrivals }))
            .collect();
        let mut totals = json!({ "total": preview.total, "phases": phases });
        let kinds = by_kind(schedule, protocol);
        if !kinds.is_empty() {
            totals["kinds"] = kinds.into();
        }
        if let Some(sessions) = plan.sessions() {
            // The numbers above are of sessions. How many requests each would have is known; which of them become due
            // before the end is not.
            let steps = |ticket: Ticket| u64::from(sessions.steps(plan.seed(), ticket.seq));
            totals["counts"] = "sessions".into();
            totals["requests_at_most"] = schedule.clone().map(steps).sum::<u64>().into();
        }
        output::write_to(Path::new("-"), |out| writeln!(out, "{totals}"))
            .map_err(Failure::Machine)?;
    }
    Ok(Status::Pass)
}

/// How many requests there would be of each kind.
fn by_kind(schedule: &Schedule, protocol: &impl Protocol) -> Vec<Value> {
    let mut kinds: Vec<(&str, u64)> = protocol.kinds().into_iter().map(|name| (name, 0)).collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    for ticket in schedule.clone() {
        let kind = protocol.kind(ticket.seq);
        if let Some((_, arrivals)) = kind.and_then(|kind| kinds.get_mut(kind)) {
            *arrivals += 1;
        }
    }
    let kind = |(name, arrivals)| json!({ "name": name, "arrivals": arrivals });
    kinds.into_iter().map(kind).collect()
}

fn write_arrivals(plan: &Plan, schedule: &Schedule, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "seq,offset_ns,phase")?;
    for ticket in schedule.clone() {
        let phase = plan.layout().phase_at(ticket.intended);
        let phase = phase.map_or("", |phase| phase.name());
        writeln!(out, "{},{},{phase}", ticket.seq, ticket.intended.as_nanos())?;
    }
    Ok(())
}
