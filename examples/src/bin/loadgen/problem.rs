//! `--problem` and `loadgen problem`: an experiment as a file.

use crate::arrivals;
use crate::cli::{LoadArgs, OnLimit, ProblemArgs, RunsFrom, SweepArg, Template, Then};
use crate::exit::{Failure, Status};
use crate::output;
use openloop_experiment::Lifecycle;
use openloop_experiment::problem::{self, ProblemStatement};
use openloop_workload::values::Source;
use openloop_workload::{Keys, Values};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `loadgen problem`.
pub(crate) fn print(arguments: ProblemArgs) -> Result<Status, Failure> {
    let text = match arguments.template {
        _ if arguments.schema => ProblemStatement::SCHEMA,
        Some(Template::Llm) => ProblemStatement::LLM,
        Some(Template::Web) | None => ProblemStatement::WEB,
    };
    output::write_to(Path::new("-"), |out| out.write_all(text.as_bytes()))
        .map_err(Failure::Machine)?;
    Ok(Status::Pass)
}

/// Whether the problem says that what is asked is to be in no cache.
#[cfg(feature = "http")]
pub(crate) fn busts_caches(load: &LoadArgs) -> bool {
    cache(load) == Some(problem::Cache::Busted)
}

/// What the problem says that caches hold.
fn cache(load: &LoadArgs) -> Option<problem::Cache> {
    load.experiment.statement.as_ref()?.workload.cache
}

/// Refuses caches that are to be busted, where the requests of a protocol have no part that means nothing.
///
/// # Errors
/// When the problem says that they are.
pub(crate) fn refuse_busting(load: &LoadArgs) -> Result<(), Failure> {
    match cache(load) {
        Some(problem::Cache::Busted) => Err(Failure::usage(
            "workload.cache = \"busted\" cannot be done here: there is no part of such a request that only a cache would look at. Say cold, and restart the service, or warm",
        )),
        _ => Ok(()),
    }
}

/// Puts what the problem says of the requests in the place of what the flags of a protocol leave open: the mix, which
/// lies beside the file, where the flags ask for nothing else, and the keys, where the request has a place for one.
pub(crate) fn fill_requests(
    load: &LoadArgs,
    takes_mix: bool,
    has_key: bool,
    mix: &mut Option<PathBuf>,
    keys: &mut Option<Keys>,
) {
    let experiment = &load.experiment;
    let (Some(statement), Some(file)) = (&experiment.statement, &experiment.problem) else {
        return;
    };
    let said = &statement.workload;
    if takes_mix && mix.is_none() {
        let folder = file.parent().unwrap_or(Path::new(""));
        *mix = said.mix.as_ref().map(|mix| folder.join(mix));
    }
    // The kinds of a mix have keys of their own.
    let Some(said) = said.keys.filter(|_| mix.is_none()) else {
        return;
    };
    if has_key {
        keys.get_or_insert(said);
    } else if !load.output.quiet {
        output::complain(format_args!(
            "workload.keys is {said}, and {{key}} stands nowhere in the request: all requests are the same"
        ));
    }
}

/// Reads the file of `--problem`, if there is one, and puts what it says in the place of every flag that was not given.
///
/// # Errors
/// When it cannot be read, or states no problem.
pub(crate) fn apply(load: &mut LoadArgs, has_seed: bool) -> Result<(), Failure> {
    let Some(file) = load.experiment.problem.clone() else {
        return Ok(());
    };
    let statement = ProblemStatement::read(&file)
        .map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    fill(load, &statement, has_seed);
    load.experiment.statement = Some(as_overridden(statement, load));
    Ok(())
}

/// The statement of the experiment that is made: what flags say that matters to its remarks takes the place of what
/// the file does.
fn as_overridden(mut statement: ProblemStatement, load: &LoadArgs) -> ProblemStatement {
    statement.slo.clone_from(&load.verdict.slo);
    statement.replicas.runs = load.experiment.replicas;
    statement.sweep = load.experiment.sweep.as_ref().map(|sweep| {
        let mut said = statement.sweep.take().unwrap_or_default();
        said.find = *sweep == SweepArg::Find;
        let rates = match sweep {
            SweepArg::Rates(rates) => rates.as_slice(),
            SweepArg::Find => &[],
        };
        let rates = rates.iter().map(ToString::to_string);
        said.rates = rates.filter_map(|rate| rate.parse().ok()).collect();
        said
    });
    let said = |time: Option<Duration>| {
        time.and_then(|time| format!("{}ns", time.as_nanos()).parse().ok())
    };
    let timeout = load.limits.timeout;
    if timeout != statement.load.timeout.as_deref().copied() {
        statement.load.timeout = said(timeout);
    }
    let phases = &load.phases;
    let lifecycle = &mut statement.lifecycle;
    for (flag, field) in [
        (phases.ramp_up, &mut lifecycle.ramp_up),
        (phases.warm_up, &mut lifecycle.warm_up),
        (phases.steady, &mut lifecycle.steady),
        (phases.cooldown, &mut lifecycle.cooldown),
    ] {
        if flag != field.as_deref().copied() {
            *field = said(flag);
        }
    }
    if let Some(peak) = load.experiment.peak {
        statement.load.peak = peak.to_string().parse().ok();
    }
    let rate = load.schedule.rate;
    if rate != statement.load.rate.as_deref().copied() {
        statement.load.rate = rate.and_then(|rate| rate.to_string().parse().ok());
    }
    statement
}

fn fill(load: &mut LoadArgs, statement: &ProblemStatement, has_seed: bool) {
    let said = &statement.load;
    let schedule = &mut load.schedule;
    let is_trace = matches!(schedule.arrivals, Some(arrivals::Source::Trace(_)));
    let has_rate = schedule.rate.is_some();
    let is_other = schedule.profile.is_some() || schedule.closed.is_some() || is_trace;
    if !has_rate && !is_other {
        schedule.rate = said.rate.as_deref().copied();
        schedule.profile = said.profile.as_deref().cloned();
        schedule.closed = said.users;
        schedule.think = schedule.think.or(said.think.as_deref().copied());
    }
    if schedule.closed.is_none() && !is_trace {
        let arrivals = said
            .arrivals
            .as_deref()
            .copied()
            .map(arrivals::Source::Process);
        schedule.arrivals = schedule.arrivals.take().or(arrivals);
        schedule.bursts = schedule.bursts.or(said.bursts.as_deref().copied());
    }
    if schedule.closed.is_none() && schedule.sessions.is_none() {
        schedule.sessions = source(said.sessions.as_ref());
        schedule.session_think = source(said.session_think.as_ref());
        schedule.on_failure = said.on_failure.and_then(|then| match then {
            problem::OnFailure::End => Some(Then::End),
            problem::OnFailure::Continue => Some(Then::Continue),
            _ => None,
        });
    }
    if let (false, Some(seed)) = (has_seed, said.seed) {
        schedule.seed = seed;
    }
    // Of a profile or a trace all is measured.
    if schedule.profile.is_none() && !is_trace {
        let careful = statement.lifecycle.or(Lifecycle::default());
        let phases = &mut load.phases;
        phases.ramp_up.get_or_insert(careful.ramp_up);
        phases.warm_up.get_or_insert(careful.warm_up);
        phases.steady.get_or_insert(careful.steady);
        phases.cooldown.get_or_insert(careful.cooldown);
    }
    fill_limits(load, statement);
    fill_experiment(load, statement, has_rate, is_other);
}

/// A law as a flag has it.
fn source(values: Option<&Values>) -> Option<Source> {
    values?.to_string().parse().ok()
}

fn fill_limits(load: &mut LoadArgs, statement: &ProblemStatement) {
    let said = &statement.load;
    let limits = &mut load.limits;
    if limits.max_in_flight.is_none() {
        limits.max_in_flight = said.max_in_flight;
        limits.on_limit = said.on_limit.and_then(|on_limit| match on_limit {
            problem::OnLimit::Queue => Some(OnLimit::Queue),
            problem::OnLimit::Shed => Some(OnLimit::Shed),
            _ => None,
        });
    }
    if limits.timeout.is_none() {
        limits.timeout = said.timeout.as_deref().copied();
        let from = said.timeout_from.and_then(|from| match from {
            problem::RunsFrom::Intended => Some(RunsFrom::Intended),
            problem::RunsFrom::Dispatch => Some(RunsFrom::Dispatch),
            _ => None,
        });
        limits.timeout_from = limits.timeout_from.or(from);
    }
    let drain = statement.lifecycle.drain.as_deref().copied();
    limits.drain = limits.drain.or(drain);
}

fn fill_experiment(
    load: &mut LoadArgs,
    statement: &ProblemStatement,
    has_rate: bool,
    is_other: bool,
) {
    let experiment = &mut load.experiment;
    if let (Some(sweep), None, false) = (&statement.sweep, &experiment.sweep, is_other) {
        experiment.sweep = match (sweep.find, has_rate) {
            (true, _) => Some(SweepArg::Find),
            // One rate that was asked for takes the place of several in the file.
            (false, true) => None,
            (false, false) if sweep.rates.is_empty() => None,
            (false, false) => {
                let rates = sweep.rates.iter().map(|rate| **rate);
                Some(SweepArg::Rates(rates.collect()))
            }
        };
        experiment.resolution = experiment.resolution.or(sweep.resolution);
        experiment.up_to = experiment.up_to.or(sweep.up_to.as_deref().copied());
        experiment.longest = experiment.longest.or(sweep.longest.as_deref().copied());
    }
    if let (Some(resilience), None, false) = (&statement.resilience, &experiment.sweep, is_other) {
        let above = resilience.above.as_deref().copied();
        experiment.overload = experiment.overload.or(above);
    }
    let runs = statement.replicas.runs;
    experiment.replicas = experiment.replicas.or(runs);
    experiment.retest = experiment.retest.or(statement.replicas.retests);
    let round_trip = statement.floor.round_trip.as_deref().copied();
    experiment.round_trip = experiment.round_trip.or(round_trip);
    experiment.floor |= statement.floor.trials != Some(0);
    if statement.floor.trials != Some(0) {
        experiment.floor_requests = experiment.floor_requests.or(statement.floor.requests);
    }
    if load.verdict.slo.is_none() {
        load.verdict.slo.clone_from(&statement.slo);
    }
    let rehearsal = &statement.rehearsal;
    experiment.servers = experiment.servers.or(rehearsal.servers);
    experiment.waiting = experiment.waiting.or(rehearsal.waiting);
    if experiment.service.is_none() {
        experiment.service.clone_from(&rehearsal.service);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::plan;
    use clap::Parser;
    use openloop_experiment::Plan;

    /// The flags behind `loadgen http URL`, with what `statement` says in the place of those that are not there.
    fn filled(flags: &str, statement: &str) -> LoadArgs {
        let words = format!("loadgen http http://localhost/ {flags}");
        let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
        let Command::Http(arguments) = cli.command else {
            panic!("{:?}", cli.command);
        };
        let mut load = arguments.load;
        let statement = ProblemStatement::from_toml(statement).unwrap();
        fill(&mut load, &statement, flags.contains("--seed"));
        load
    }

    fn built(flags: &str, statement: &str) -> Plan {
        plan::builder(&filled(flags, statement), None)
            .unwrap()
            .build()
            .unwrap()
    }

    fn arrivals(plan: &Plan) -> Vec<u64> {
        let schedule = plan.schedule().unwrap().clone();
        schedule
            .take(100)
            .map(|ticket| ticket.intended.as_nanos())
            .collect()
    }

    #[test]
    fn the_tool_and_the_library_read_a_statement_alike() {
        for statement in [
            ProblemStatement::WEB,
            ProblemStatement::LLM,
            "[load]\nrate = 10\nbursts = '1s,9s,5'\nmax_in_flight = 3\non_limit = 'shed'\nseed = 9",
            "[load]\nprofile = '10/5s,20->0/5s'\narrivals = 'gamma:2'",
            "[load]\nrate = 5\nsessions = 'exponential:3'\nsession_think = 'lognormal:mean=0.123456789,cv=1.5'\non_failure = 'continue'\ntimeout = '1s'\ntimeout_from = 'dispatch'",
            "[sweep]\nrates = [3, 4]\n[lifecycle]\nsteady = '7s'\ndrain = '3s'",
        ] {
            let tool = built("", statement);
            let library = ProblemStatement::from_toml(statement).unwrap();
            let library = library.plan().unwrap().build().unwrap();
            assert_eq!(arrivals(&tool), arrivals(&library), "{statement}");
            assert_eq!(tool.limits(), library.limits());
            assert_eq!(tool.layout(), library.layout());
            assert_eq!(tool.seed(), library.seed());
        }
    }

    #[test]
    fn flags_override_the_file() {
        let web = ProblemStatement::WEB;
        let flags = "--rate 7 --steady 1s --seed 5 --timeout 3s --slo p99<=1s --replicas 5 --arrivals constant";
        let load = filled(flags, web);
        let plan = plan::builder(&load, None).unwrap().build().unwrap();
        assert_eq!(arrivals(&plan).len(), 100);
        assert_eq!(plan.seed(), 5);
        assert_eq!(plan.layout().steady().length().as_secs(), 1);
        assert_eq!(plan.limits().timeout.unwrap().after.as_secs(), 3);
        assert_eq!(load.verdict.slo.unwrap().bounds().len(), 1);
        assert_eq!(load.experiment.replicas, Some(5));
        assert_eq!(load.experiment.sweep, None, "one rate was asked for");

        let closed = filled("--closed 3", web);
        assert!(closed.schedule.rate.is_none() && closed.schedule.arrivals.is_none());
        assert_eq!(closed.experiment.sweep, None);
        let found = filled("--sweep find --rate 9", web);
        assert_eq!(found.experiment.sweep, Some(SweepArg::Find));
        let swept = filled("", web);
        assert!(matches!(swept.experiment.sweep, Some(SweepArg::Rates(rates)) if rates.len() == 8));
    }
}
