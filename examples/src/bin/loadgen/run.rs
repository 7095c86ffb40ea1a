//! The course of one run.

use crate::arrivals::Replay;
use crate::cli::LoadArgs;
use crate::exit::{Failure, Status};
use crate::protocol::Protocol;
use crate::{command, machine, output, plan, preview};
use openloop_experiment::drive::{self, DriveError};
use openloop_experiment::{Judgement, Plan, Run, Target};
use openloop_report::{Progress, Report};
use std::net::IpAddr;
use std::sync::Arc;

/// Carries out what the flags ask for, or previews it.
pub(crate) async fn run<P: Protocol>(
    protocol: P,
    load: &LoadArgs,
    replay: Option<Replay>,
) -> Result<Status, Failure> {
    let builder = plan::builder(load, replay)?.kinds(protocol.kinds());
    if load.output.is_preview() {
        let plan = builder.build().map_err(Failure::usage)?;
        return preview::show(&plan, &load.output, &protocol);
    }
    let address = resolve(protocol.endpoint()).await;
    // The plan is built even where the name leads nowhere: its own mistakes are told first.
    let target = address
        .as_ref()
        .map_or(Target::Unknown, |ip| Target::of(*ip));
    let plan = builder.target(target).build().map_err(Failure::usage)?;
    load.output.check().map_err(Failure::Usage)?;
    machine::check(&plan, protocol.connecting(), address?.is_loopback())?;

    let target = protocol.target().to_owned();
    let command = command::shown(std::env::args_os());
    let run = carry_out(protocol, &plan, load).await?;
    let judgement = load.verdict.slo.as_ref().map(|slo| slo.judge(&run));
    let mut report = Report::new(&run).with_target(target).with_command(command);
    if let Some(judgement) = &judgement {
        report = report.with_judgement(judgement);
    }
    load.output.write(&report).map_err(Failure::Machine)?;
    let status = Status::of(&run, judgement.as_ref());
    if !load.output.has_text() {
        explain(status, &run, judgement.as_ref());
    }
    Ok(status)
}

async fn carry_out<P: Protocol>(protocol: P, plan: &Plan, load: &LoadArgs) -> Result<Run, Failure> {
    let protocol = Arc::new(protocol);
    if !load.output.quiet {
        output::complain(format_args!("{}", protocol.describe()));
    }
    let at_the_end = protocol.clone();
    let drive = drive::sharded(plan, load.schedule.threads, move |shard| {
        protocol.clone().connect(shard)
    })
    .health_check(move || at_the_end.health());
    let stop = drive.stop_handle();
    tokio::spawn(async move {
        // Where signals cannot be listened to, they end the process as ever.
        let _ = stop.on_ctrl_c().await;
    });
    let progress = Progress::start(drive.monitor(), load.output.progress());
    let run = drive.await;
    progress.finish();
    let mut run = run.map_err(why_no_run)?;
    for check in &load.verdict.waive {
        run.waive(check).map_err(Failure::usage)?;
    }
    Ok(run)
}

async fn resolve((host, port): (&str, u16)) -> Result<IpAddr, Failure> {
    let unknown = |why: String| {
        Failure::Unreachable(format!(
            "{host:?} cannot be resolved ({why}): check the name and the resolver"
        ))
    };
    let mut addresses = tokio::net::lookup_host((host, port))
        .await
        .map_err(|error| unknown(error.to_string()))?;
    let first = addresses.next();
    first.map_or_else(
        || Err(unknown("it has no address".to_owned())),
        |address| Ok(address.ip()),
    )
}

fn why_no_run(error: DriveError) -> Failure {
    match error {
        DriveError::SetUp { shard, source } => match source.downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(other) => Failure::Machine(format!("thread {shard} could not begin: {other}")),
        },
        DriveError::StoppedInSetUp => Failure::Interrupted,
        DriveError::NoShards => Failure::usage("--threads 0 sends nothing: give at least 1"),
        other => Failure::Machine(other.to_string()),
    }
}

/// Why the status is not 0, for those who do not read the report.
fn explain(status: Status, run: &Run, judgement: Option<&Judgement>) {
    match status {
        Status::Interrupted => {
            output::complain(format_args!(
                "interrupted: the report covers what was sent until then"
            ));
        }
        Status::Invalid => {
            let validity = judgement.map_or(run.validity(), |judgement| &judgement.validity);
            for fault in validity.faults() {
                output::complain(format_args!(
                    "the run may not be believed, {}: {}",
                    fault.name, fault.why
                ));
            }
        }
        Status::Missed | Status::Inconclusive => {
            let findings = judgement.iter().flat_map(|judgement| &judgement.findings);
            for finding in
                findings.filter(|finding| finding.verdict != openloop_experiment::Verdict::Pass)
            {
                output::complain(format_args!(
                    "{}: {}, {}",
                    finding.bound, finding.verdict, finding.why
                ));
            }
            for why in judgement.iter().flat_map(|judgement| &judgement.why) {
                output::complain(format_args!("{why}"));
            }
        }
        _ => {}
    }
}
