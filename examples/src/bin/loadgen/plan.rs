//! From flags to a plan.

use crate::arrivals::{Replay, Source};
use crate::cli::{LoadArgs, OnLimit, PhaseArgs, ScheduleArgs, SweepArg};
use crate::clock;
use crate::exit::Failure;
use crate::output;
use openloop_experiment::{InFlight, Lifecycle, OnFailure, Plan, PlanBuilder, Slo};
use openloop_sched::Rate;
use openloop_workload::Values;
use openloop_workload::sessions::Sessions;
use openloop_workload::values::Fixed;
use std::path::Path;
use std::time::Duration;

/// What loadgen does where a phase is not given: shorter than a careful experiment, long enough for a first look.
const DEFAULT: Lifecycle = Lifecycle {
    ramp_up: Duration::from_secs(5),
    warm_up: Duration::from_secs(5),
    steady: Duration::from_secs(30),
    cooldown: Duration::from_secs(5),
};

impl PhaseArgs {
    fn is_given(&self) -> bool {
        [self.ramp_up, self.warm_up, self.steady, self.cooldown]
            .iter()
            .any(Option::is_some)
    }

    fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            ramp_up: self.ramp_up.unwrap_or(DEFAULT.ramp_up),
            warm_up: self.warm_up.unwrap_or(DEFAULT.warm_up),
            steady: self.steady.unwrap_or(DEFAULT.steady),
            cooldown: self.cooldown.unwrap_or(DEFAULT.cooldown),
        }
    }
}

/// The trace that is to be replayed, if one is, and what is odd about it said.
///
/// # Errors
/// Where flags exclude a trace, or it cannot be read.
pub(crate) fn replay(load: &LoadArgs) -> Result<Option<Replay>, Failure> {
    let schedule = &load.schedule;
    let Some(Source::Trace(trace)) = &schedule.arrivals else {
        return Ok(None);
    };
    for (given, flag) in [
        (schedule.rate.is_some(), "--rate"),
        (schedule.profile.is_some(), "--profile"),
        (schedule.bursts.is_some(), "--bursts"),
        (load.experiment.sweep.is_some(), "--sweep"),
        (load.experiment.overload.is_some(), "--overload"),
    ] {
        if given {
            let why = format!("a trace has its own arrivals: leave out {flag}");
            return Err(Failure::Usage(why));
        }
    }
    refuse_phases(load, "a trace")?;
    let replay = trace.read().map_err(Failure::Usage)?;
    if !load.output.quiet {
        for note in &replay.notes {
            output::complain(format_args!("{note}"));
        }
    }
    Ok(Some(replay))
}

/// The plan that the flags ask for, but for the target.
///
/// # Errors
/// Where flags are missing or exclude each other; the rest is checked when the plan is built.
pub(crate) fn builder(load: &LoadArgs, replay: Option<Replay>) -> Result<PlanBuilder, Failure> {
    let mut plan = source(load, replay)?.seed(load.schedule.seed);
    if let Some(precision) = load.schedule.precision {
        plan = plan.precision(precision);
    }
    if let Some(bursts) = load.schedule.bursts {
        plan = plan.bursts(bursts);
    }
    if let Some(shard) = load.schedule.shard {
        refuse_several_runs(load, "--shard")?;
        plan = plan.shard(shard);
    }
    if let Some(at) = load.schedule.start_at {
        refuse_several_runs(load, "--start-at")?;
        plan = plan.start_at(at);
        let reference = load.schedule.clock_reference.as_deref();
        let reference = reference.filter(|_| !load.output.is_preview());
        let offset = reference.map(|reference| clock::ask(reference, at));
        let offset = offset.transpose()?;
        clock::to_come(at, offset.as_ref())?;
        if let Some(offset) = offset {
            plan = plan.clock_offset(offset);
        }
    }
    let limits = &load.limits;
    if let Some(limit) = limits.max_in_flight {
        plan = plan.in_flight(match limits.on_limit {
            None | Some(OnLimit::Queue) => InFlight::Queue(limit),
            Some(OnLimit::Shed) => InFlight::Shed(limit),
        });
    }
    if let Some(timeout) = limits.timeout {
        plan = plan.timeout(timeout);
    }
    if let Some(from) = limits.timeout_from {
        plan = plan.timeout_from(from.into());
    }
    if let Some(drain) = limits.drain {
        plan = plan.drain(drain);
    }
    Ok(plan)
}

fn source(load: &LoadArgs, replay: Option<Replay>) -> Result<PlanBuilder, Failure> {
    let schedule = &load.schedule;
    let lifecycle = load.phases.lifecycle();
    if let Some(users) = schedule.closed {
        let plan = Plan::closed(users).lifecycle(lifecycle);
        return Ok(plan.think(schedule.think.unwrap_or_default()));
    }
    // clap lets a flag stand without the one it requires where that one is excluded by a third.
    if schedule.think.is_some() {
        return Err(Failure::usage(
            "users think in a closed loop alone: leave out --think, or give --closed instead of the rate",
        ));
    }
    if let Some(replay) = replay {
        return in_sessions(Plan::recorded(replay.arrivals), schedule);
    }
    let rate = match &load.experiment.sweep {
        // Each step has a rate of its own; the first is as good as any to see what the plan is.
        Some(SweepArg::Rates(rates)) => match (rates.first(), load.experiment.counted) {
            (Some(rate), Some((_, each))) => {
                Some(Rate::per_second(rate.as_per_second() / each).map_err(Failure::usage)?)
            }
            (rate, _) => rate.copied(),
        },
        Some(SweepArg::Find) | None => schedule.rate,
    };
    let plan = match (rate, &schedule.profile) {
        (_, Some(profile)) => {
            refuse_phases(load, "a profile")?;
            Plan::profile(profile.clone())
        }
        (Some(rate), None) => Plan::open(rate).lifecycle(lifecycle),
        (None, None) => {
            return Err(Failure::usage(
                "how much load is not said: give --rate, --profile, --arrivals trace:FILE, --closed USERS or --sweep; a search begins at --rate",
            ));
        }
    };
    let plan = match schedule.arrivals {
        Some(Source::Process(arrivals)) => plan.arrivals(arrivals),
        _ => plan,
    };
    in_sessions(plan, schedule)
}

/// What arrives are sessions, where the flags say so.
fn in_sessions(plan: PlanBuilder, schedule: &ScheduleArgs) -> Result<PlanBuilder, Failure> {
    let Some(steps) = &schedule.sessions else {
        return Ok(plan);
    };
    let think = match &schedule.session_think {
        Some(think) => think.load(Path::new("")).map_err(Failure::usage)?,
        None => Values::Fixed(Fixed::new(0.0).map_err(Failure::usage)?),
    };
    let steps = steps.load(Path::new("")).map_err(Failure::usage)?;
    let sessions = Sessions::new(steps, think).map_err(Failure::usage)?;
    let on_failure = schedule.on_failure.map_or(OnFailure::End, Into::into);
    Ok(plan.sessions(sessions).on_failure(on_failure))
}

/// One instant and one schedule are of one run.
fn refuse_several_runs(load: &LoadArgs, flag: &str) -> Result<(), Failure> {
    let experiment = &load.experiment;
    for (given, other) in [
        (experiment.sweep.is_some(), "--sweep"),
        (experiment.overload.is_some(), "--overload"),
        (
            experiment.replicas.is_some_and(|replicas| replicas > 1),
            "--replicas",
        ),
        (experiment.floor, "--floor"),
        (experiment.rehearse, "--rehearse"),
        (
            load.verdict.slo.as_ref().is_some_and(Slo::needs_floor),
            "an objective in multiples of S, for which the floor is measured first",
        ),
    ] {
        if given {
            return Err(Failure::Usage(format!(
                "{flag} is for one run, and {other} makes several: leave one of them out"
            )));
        }
    }
    Ok(())
}

fn refuse_phases(load: &LoadArgs, what: &str) -> Result<(), Failure> {
    if !load.phases.is_given() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "all of {what} is measured: leave out --ramp-up, --warm-up, --steady and --cooldown"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use openloop_experiment::{Load, PlanError, TimeoutFrom};

    /// The flags behind `loadgen http URL`.
    fn load(flags: &str) -> LoadArgs {
        let words = format!("loadgen http http://localhost/ {flags}");
        let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
        match cli.command {
            Command::Http(arguments) => arguments.load,
            other => panic!("{other:?}"),
        }
    }

    fn plan(flags: &str) -> Result<Plan, String> {
        let load = load(flags);
        let builder = replay(&load)
            .and_then(|replay| builder(&load, replay))
            .map_err(|failure| failure.to_string())?;
        builder
            .build()
            .map_err(|error: PlanError| error.to_string())
    }

    fn refused(flags: &str) -> String {
        let words = format!("loadgen http http://localhost/ {flags}");
        match Cli::try_parse_from(words.split_whitespace()) {
            Err(error) => {
                assert_eq!(error.exit_code(), 2);
                error.to_string()
            }
            Ok(_) => plan(flags).unwrap_err(),
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_help() {
        let plan = plan("--rate 10").unwrap();
        let preview = plan.preview().unwrap();
        let names: Vec<_> = preview.phases.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["ramp_up", "warm_up", "steady", "cooldown"]);
        assert_eq!(plan.layout().steady().length(), Duration::from_secs(30));
        assert_eq!(plan.layout().end().as_duration(), Duration::from_secs(45));
        assert_eq!(plan.limits().in_flight, InFlight::Unlimited);
        assert_eq!(plan.limits().timeout, None);
        assert_eq!(plan.limits().drain, Duration::from_secs(10));
        assert_eq!(plan.seed(), 1);
    }

    #[test]
    fn totals_are_exact() {
        let none = "--ramp-up 0s --warm-up 0s --cooldown 0s --arrivals constant";
        let total = |flags: &str| plan(flags).unwrap().preview().unwrap().total;
        assert_eq!(total(&format!("--rate 0.1 --steady 30s {none}")), 3);
        assert_eq!(total(&format!("--rate 1000 --steady 20s {none}")), 20_000);
        let profile = "--profile 0->100/10s,100/20s,100->0/10s --arrivals constant";
        assert_eq!(total(profile), 3000);
        assert_eq!(
            plan(profile).unwrap().preview().unwrap().phases,
            [("steady", 3000)]
        );
    }

    #[test]
    fn limits_come_from_their_flags() {
        let plan_of = |flags: &str| plan(&format!("--rate 10 {flags}")).unwrap().limits();
        assert_eq!(plan_of("--max-in-flight 7").in_flight, InFlight::Queue(7));
        assert_eq!(
            plan_of("--max-in-flight 7 --on-limit shed").in_flight,
            InFlight::Shed(7)
        );
        let timeout = plan_of("--timeout 2s --timeout-from dispatch")
            .timeout
            .unwrap();
        assert_eq!(timeout.from, TimeoutFrom::Dispatched);
        assert_eq!(timeout.after, Duration::from_secs(2));
        assert_eq!(plan_of("--drain 3s").drain, Duration::from_secs(3));
    }

    #[test]
    fn what_arrives_are_sessions_where_it_is_said() {
        assert!(plan("--rate 10").unwrap().sessions().is_none());
        let plan = plan("--rate 10 --sessions fixed:3 --session-think fixed:0.5").unwrap();
        let sessions = plan.sessions().unwrap();
        assert_eq!(sessions.request_rate(10.0), 30.0);
        assert_eq!(sessions.think(1, 0, 1), Duration::from_millis(500));
    }

    #[test]
    fn sessions_end_or_go_on_where_a_request_is_not_served() {
        for (flag, expected) in [
            ("", OnFailure::End),
            ("--on-failure end", OnFailure::End),
            ("--on-failure continue", OnFailure::Continue),
        ] {
            let plan = plan(&format!("--rate 10 --sessions fixed:3 {flag}")).unwrap();
            let Load::PartlyOpen { on_failure, .. } = plan.load() else {
                panic!("{flag}: no sessions");
            };
            assert_eq!(*on_failure, expected, "{flag}");
        }
        assert!(refused("--rate 10 --on-failure end").contains("--sessions"));
        assert!(refused("--rate 10 --sessions fixed:3 --on-failure stop").contains("stop"));
    }

    #[test]
    fn a_closed_loop_has_users_instead_of_a_rate() {
        let plan = plan("--closed 8 --think 1s --steady 2s").unwrap();
        assert!(matches!(
            plan.load(),
            Load::Closed { users: 8, think } if *think == Duration::from_secs(1)
        ));
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        for (flags, named) in [
            ("", "--rate"),
            ("--rate 0", "rate is 0"),
            ("--rate NaN", "NaN"),
            ("--rate -1", "-1"),
            ("--rate 1e300", "1e300"),
            ("--rate fast", "fast"),
            ("--rate 10 --steady 0s", "steady"),
            ("--rate 10 --steady 10", "lacks a unit"),
            ("--rate 0.001 --steady 1s --arrivals constant", "no arrival"),
            ("--rate 10 --profile 10/1s", "--profile"),
            ("--profile 10", "10"),
            ("--profile 10/1s --steady 1s", "--steady"),
            ("--rate 10 --closed 1", "--closed"),
            ("--closed 0", "0 users"),
            ("--closed 1 --arrivals poisson", "--arrivals"),
            ("--closed 1 --sessions fixed:3", "--sessions"),
            ("--rate 10 --session-think fixed:1", "--sessions"),
            ("--rate 10 --sessions fixed:1e9", "1e9 steps"),
            ("--rate 10 --think 1s", "--closed"),
            ("--rate 10 --arrivals sometimes", "sometimes"),
            ("--rate 10 --arrivals trace:x.csv", "--rate"),
            ("--arrivals trace:/no/such/file", "/no/such/file"),
            ("--arrivals poisson", "--rate"),
            ("--rate 10 --bursts 1s,1s", "1s,1s"),
            ("--rate 10 --bursts 1s,1s,9", "9"),
            ("--rate 10 --max-in-flight 0", "in flight"),
            ("--rate 10 --on-limit shed", "--max-in-flight"),
            ("--rate 10 --max-in-flight 1 --on-limit drop", "drop"),
            ("--rate 10 --timeout 0s", "timeout"),
            ("--rate 10 --timeout-from dispatch", "--timeout"),
            ("--rate 10 --slo p99", "p99"),
            ("--rate 10 --waive luck", "outbound_error"),
            ("--rate 10 --seed x", "x"),
            ("--rate 10 --precision exact", "exact"),
            ("--sweep find", "--rate"),
            ("--sweep 10,fast", "fast"),
            ("--closed 1 --sweep find", "--sweep"),
            ("--profile 10/1s --sweep 10,20", "--sweep"),
            ("--rate 10 --servers 3", "--rehearse"),
            ("--rate 10 --up-to 3", "--sweep"),
        ] {
            let message = refused(flags);
            assert!(message.contains(named), "{flags}: {message}");
        }
    }
}
