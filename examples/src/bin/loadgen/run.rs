//! From flags to a report.

use crate::arrivals::Replay;
use crate::cli::LoadArgs;
use crate::course::{self, Outcome, Runs};
use crate::exit::{Failure, Status};
use crate::explain::explain;
use crate::protocol::Protocol;
use crate::trial::{Against, Trials, plays_engine};
use crate::{command, output, plan, preview};
use openloop_experiment::problem::{Observed, ProblemStatement};
use openloop_experiment::sweep::Curve;
use openloop_experiment::{Bound, Change, Gate, Metric, PlanBuilder, Run, Slo, Step, Target};
use openloop_report::Report;
use openloop_sched::stream;
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

/// So many requests say whether those of shards are the same.
const FIRST: u64 = 1000;

/// Carries out what the flags ask for, or previews it.
/// With a second target, both by turns.
pub(crate) async fn run<P: Protocol>(
    (protocol, other): (P, Option<P>),
    load: &LoadArgs,
    replay: Option<Replay>,
) -> Result<Status, Failure> {
    let builder = plan::builder(load, replay)?.kinds(protocol.kinds());
    let bounds = load.verdict.slo.iter().flat_map(Slo::bounds);
    let asks = |bound: &&Bound| bound.good.is_some() && !protocol.tells_good();
    if let Some(bound) = bounds.into_iter().find(asks) {
        return Err(Failure::Usage(format!(
            "{bound}: only loadgen inference tells answers by {}; leave the parentheses out for all that is served",
            bound.good.as_deref().unwrap_or_default()
        )));
    }
    // Those that a rehearsal leaves out as well: a name that is wrong is no bound.
    if let Some(slo) = &load.verdict.slo {
        slo.check_stages(protocol.stages())
            .map_err(Failure::usage)?;
    }
    if load.output.is_preview() {
        let plan = builder.build().map_err(Failure::usage)?;
        return preview::show(&plan, &load.output, &protocol);
    }
    let load = &*rehearsable(load, protocol.engine())?;
    let (against, target) = against(&protocol, &builder, load).await?;
    let builder = builder.target(target);
    load.output.check().map_err(Failure::Usage)?;
    if !load.output.quiet {
        introduce(&protocol, &against, load);
    }
    if let Some(other) = other {
        return by_turns((protocol, against), other, &builder, load).await;
    }
    let name = protocol.target().to_owned();
    let (rehearsed, has_stages) = (
        against.simulated(),
        !matches!(against, Against::Simulated(_)),
    );
    let mut trials = Trials::new(Arc::new(protocol), load, against);
    let outcome = course::follow(&mut trials, &builder, target, load).await?;
    let mut report = report(&outcome, load)?
        .with_target(name)
        .with_command(command::shown(std::env::args_os()));
    for (name, value) in trials.observed() {
        report = report.with_observation(*name, *value);
    }
    if load.schedule.shard.is_some() {
        report = report.with_requests(requests(trials.protocol(), &outcome.runs));
    }
    if has_stages {
        report = trials.protocol().conclude(report);
    }
    let report = match rehearsed {
        Some(service) => report.with_rehearsal(service),
        None => report,
    };
    load.output
        .write(&report, outcome.runs.all())
        .map_err(Failure::Machine)?;
    let status = Status::of(&outcome);
    if !load.output.has_text() {
        explain(status, &outcome);
    }
    Ok(status)
}

/// Two builds: A, B, B, A, with one seed.
async fn by_turns<P: Protocol>(
    (base, against_base): (P, Against),
    new: P,
    builder: &PlanBuilder,
    load: &LoadArgs,
) -> Result<Status, Failure> {
    let (against_new, _) = against(&new, builder, load).await?;
    if !load.output.quiet {
        introduce(&new, &against_new, load);
    }
    let (base_name, new_name) = (base.target().to_owned(), new.target().to_owned());
    let mut a = Trials::new(Arc::new(base), load, against_base);
    let mut b = Trials::new(Arc::new(new), load, against_new).interrupted_with(&a);
    a.stage("A");
    b.stage("B");
    let gate = Gate::default().abba(
        builder.clone(),
        async |plan| a.run(plan).await,
        async |plan| b.run(plan).await,
    );
    let abba = gate.await;
    let finish = |report: Report| report.with_command(command::shown(std::env::args_os()));
    if let Some((stopped, name)) = None
        .or_else(|| a.stopped().map(|run| (run, &base_name)))
        .or_else(|| b.stopped().map(|run| (run, &new_name)))
    {
        let runs = [stopped];
        let report = finish(ensemble(&runs)?.with_target(name));
        load.output
            .write(&report, &runs)
            .map_err(Failure::Machine)?;
        return Ok(Status::Interrupted);
    }
    let abba = abba.map_err(course::no_result)?;
    let comparison = abba.comparison();
    let report = ensemble(abba.b())?
        .with_turns(comparison, command::without_password(&base_name))
        .with_target(new_name);
    let report = b.protocol().conclude(finish(report));
    load.output
        .write(&report, abba.b())
        .map_err(Failure::Machine)?;
    Ok(match (comparison.faults.is_empty(), comparison.change) {
        (false, _) => Status::Invalid,
        (true, Change::Slower) => Status::Missed,
        (true, _) if !comparison.is_told() => Status::Inconclusive,
        (true, _) => Status::Pass,
    })
}

/// The same, without the bounds that a rehearsal cannot tell: a simulated queue has no stages.
fn rehearsable<'a>(load: &'a LoadArgs, engine: Option<&str>) -> Result<Cow<'a, LoadArgs>, Failure> {
    if engine.is_some() && plays_engine(&load.experiment) {
        return Ok(Cow::Borrowed(load));
    }
    let Some(slo) = load
        .verdict
        .slo
        .as_ref()
        .filter(|_| load.experiment.rehearse)
    else {
        return Ok(Cow::Borrowed(load));
    };
    let is_of_stage = |bound: &&Bound| {
        matches!(bound.metric, Metric::Named(_)) && bound.statistic.is_of_latency()
    };
    let (stages, told): (Vec<_>, Vec<_>) = slo.bounds().iter().partition(is_of_stage);
    if stages.is_empty() {
        return Ok(Cow::Borrowed(load));
    }
    for bound in stages {
        output::complain(format_args!(
            "{bound} is not rehearsed: the simulated service has no such stage"
        ));
    }
    let mut load = load.clone();
    load.verdict.slo = match told.is_empty() {
        true => None,
        false => Some(Slo::new(told.into_iter().cloned().collect()).map_err(Failure::usage)?),
    };
    Ok(Cow::Owned(load))
}

/// What the plan is run against, and where that is.
async fn against<P: Protocol>(
    protocol: &P,
    builder: &PlanBuilder,
    load: &LoadArgs,
) -> Result<(Against, Target), Failure> {
    if load.experiment.rehearse {
        let service = Against::rehearsal(&load.experiment, protocol.engine())?;
        builder.clone().build().map_err(Failure::usage)?;
        return Ok((service, Target::Unknown));
    }
    let address = resolve(protocol.endpoint()).await;
    // The plan is built even where the name leads nowhere: its own mistakes are told first.
    builder.clone().build().map_err(Failure::usage)?;
    let address = address?;
    let loopback = address.is_loopback();
    Ok((Against::Target { loopback }, Target::of(address)))
}

/// What will be loaded, and what is questionable in the problem.
fn introduce<P: Protocol>(protocol: &P, against: &Against, load: &LoadArgs) {
    if let Some(service) = against.simulated() {
        output::complain(format_args!(
            "REHEARSAL: nothing is sent; {} is played by a simulated service: {service}; what would be sent:",
            protocol.target()
        ));
    }
    output::complain(format_args!("{}", protocol.describe()));
    let statement = load.experiment.statement.iter();
    for remark in statement.flat_map(ProblemStatement::remarks) {
        let (about, standing) = (remark.about, remark.standing.name());
        output::complain(format_args!("{about}, {standing}: {}", remark.why));
    }
}

fn report(outcome: &Outcome, load: &LoadArgs) -> Result<Report, Failure> {
    let mut report = ensemble(outcome.runs.all())?;
    if let Some(floor) = &outcome.floor {
        report = report.with_floor(floor);
    }
    if let Some(judgement) = &outcome.judgement {
        report = report.with_judgement(judgement).with_lints(&outcome.lints);
    }
    if let Runs::Replicas(replicas) = &outcome.runs {
        report = report.with_replicas(replicas);
    }
    if let Some(curve) = &outcome.curve {
        report = report.with_sweep(curve);
    }
    report = planned(report, outcome.curve.as_ref(), load);
    if let Some(resilience) = &outcome.resilience {
        report = report.with_resilience(resilience);
    }
    if let Some(statement) = &load.experiment.statement {
        let points = outcome.curve.iter().flat_map(|curve| curve.points());
        let swept = points.flat_map(|point| point.runs());
        let diagnosis = outcome.curve.as_ref().map(Curve::diagnose);
        let observed = Observed {
            runs: swept.chain(outcome.runs.all()).collect(),
            floor: outcome.floor.as_ref(),
            diagnosis: diagnosis.as_ref(),
        };
        report = report.with_problem(statement, &observed);
        if let Some(title) = &statement.title {
            report = report.with_title(title);
        }
    }
    Ok(report)
}

/// The report with a plan for the peak, if one is named.
fn planned(report: Report, curve: Option<&Curve>, load: &LoadArgs) -> Report {
    let experiment = &load.experiment;
    let statement = experiment.statement.as_ref();
    let stated = statement.and_then(|statement| statement.load.peak.as_deref().copied());
    let Some(peak) = experiment.peak.or(stated) else {
        return report;
    };
    let Some(curve) = curve else {
        // A peak that is only stated is one for another day.
        if experiment.peak.is_some() {
            output::complain(format_args!(
                "there is no plan for the peak: it follows from a sweep, so give --sweep as well"
            ));
        }
        return report;
    };
    let figures = curve.figures(peak);
    let figures = match statement {
        Some(statement) => statement.sizing.fill(figures),
        None => figures,
    };
    match curve.plan_for(&figures) {
        Ok(plan) => report.with_plan(&plan, peak.as_per_second()),
        Err(error) => {
            output::complain(format_args!("there is no plan for the peak: {error}"));
            report
        }
    }
}

/// A number that shards of one run have in common, and those of other requests hardly share: of the first thousand, whoever
/// sends them.
fn requests<P: Protocol>(protocol: &P, runs: &Runs) -> u64 {
    let sessions = runs.all().iter().any(|run| run.sessions().is_some());
    let first = |number| match sessions {
        true => Step::new(number, 0).map_or(number, Step::seq),
        false => number,
    };
    let numbers: Vec<u64> = (0..FIRST).map(first).collect();
    let asked = protocol.asked(&numbers);
    asked.iter().fold(0, |so_far, text| stream(so_far, text))
}

/// All runs as one.
fn ensemble(runs: &[Run]) -> Result<Report, Failure> {
    let report = |run| Report::new(run).with_started_at(run.started_at());
    let reports: Vec<_> = runs.iter().map(report).collect();
    match reports.as_slice() {
        [one] => Ok(one.clone()),
        several => Report::merge(several).map_err(|error| Failure::Machine(error.to_string())),
    }
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
