//! The course of an experiment: the floor, then the runs.

use crate::cli::{LoadArgs, SweepArg};
use crate::exit::Failure;
use crate::output;
use crate::protocol::Protocol;
use crate::trial::{Trials, why};
use openloop_experiment::resilience::{Overload, Resilience};
use openloop_experiment::sweep::{Curve, Point, Sweep};
use openloop_experiment::{
    Floor, FloorTrials, Judgement, Level, Lint, Metric, PlanBuilder, Preflight, ProtocolError,
    Replicas, Replication, Rtt, Run, Slo, Stability, Steadiness, Target,
};
use openloop_sched::Rate;
use std::time::Duration;

/// How many trials a floor has, unless it is said.
const TRIALS: usize = 5;
/// And how many requests, where a search is to tell a multiple of its P99.
const REQUESTS_OF_SEARCH: u32 = 1000;

/// What an experiment gave.
pub(crate) struct Outcome {
    pub(crate) floor: Option<Floor>,
    /// What is questionable in the bounds.
    pub(crate) lints: Vec<Lint>,
    pub(crate) curve: Option<Curve>,
    pub(crate) resilience: Option<Resilience>,
    /// The runs that the report is of: at least one.
    pub(crate) runs: Runs,
    pub(crate) judgement: Option<Judgement>,
    /// Whether it was stopped before its end.
    pub(crate) stopped: bool,
}

/// The runs that a report is of.
pub(crate) enum Runs {
    One(Box<Run>),
    Replicas(Replicas),
    /// At one rate of a sweep.
    Point(Point),
}

impl Runs {
    /// The runs themselves.
    pub(crate) fn all(&self) -> &[Run] {
        match self {
            Runs::One(run) => std::slice::from_ref(run),
            Runs::Replicas(replicas) => replicas.runs(),
            Runs::Point(point) => match point.runs() {
                [] => point.dismissed(),
                runs => runs,
            },
        }
    }

    /// Whether they agree, where there are replicas.
    pub(crate) fn stability(&self) -> Option<&Stability> {
        match self {
            Runs::Replicas(replicas) => Some(replicas.stability()),
            Runs::Point(point) => point.stability(),
            Runs::One(_) => None,
        }
    }

    /// Whether they are replicas that vary too much to be one result.
    pub(crate) fn disagree(&self) -> bool {
        let steadiness = self.stability().map(Stability::steadiness);
        steadiness == Some(Steadiness::Discard)
    }

    fn judged(&self, slo: &Slo, floor: Option<&Floor>) -> Result<Judgement, Failure> {
        let of = |floor: &Floor| -> Result<Judgement, Failure> {
            let objective = slo.on(floor).map_err(Failure::usage)?;
            Ok(match self {
                Runs::One(run) => objective.judge(&**run),
                Runs::Replicas(replicas) => objective.judge(replicas),
                Runs::Point(point) => objective.judge(point),
            })
        };
        match (floor, self) {
            (Some(floor), _) => of(floor),
            (None, Runs::One(run)) => Ok(slo.judge(&**run)),
            (None, Runs::Replicas(replicas)) => Ok(slo.judge(replicas)),
            (None, Runs::Point(point)) => Ok(slo.judge(point)),
        }
    }
}

/// Follows the course that the flags ask for.
pub(crate) async fn follow<P: Protocol>(
    trials: &mut Trials<'_, P>,
    base: &PlanBuilder,
    target: Target,
    load: &LoadArgs,
) -> Result<Outcome, Failure> {
    let mut outcome = Steps::default();
    let steps = outcome.make(trials, base, target, load).await;
    if let Some(stopped) = trials.stopped() {
        // What was complete before stays; the report is of the run that was stopped.
        let runs = Runs::One(Box::new(stopped));
        return outcome.end(runs, load, true);
    }
    outcome.end(steps?, load, false)
}

/// What there is so far.
#[derive(Default)]
struct Steps {
    floor: Option<Floor>,
    lints: Vec<Lint>,
    curve: Option<Curve>,
    resilience: Option<Resilience>,
}

impl Steps {
    async fn make<P: Protocol>(
        &mut self,
        trials: &mut Trials<'_, P>,
        base: &PlanBuilder,
        target: Target,
        load: &LoadArgs,
    ) -> Result<Runs, Failure> {
        let experiment = &load.experiment;
        let slo = load.verdict.slo.as_ref();
        let replicas = experiment.replicas.filter(|runs| *runs != 1);
        let replication = replication(replicas, load)?;
        let sweep = sweep(replicas, load)?;
        check(base, load)?;
        self.floor = floor(trials, base, target, load).await?;
        if let (Some(slo), Some(floor)) = (slo, &self.floor) {
            self.lints = slo.on(floor).map_err(Failure::usage)?.lint();
        }
        self.preflight(base, load)?;
        if let Some(above) = experiment.overload {
            return self.overload(trials, base, above, load).await;
        }
        let Some(mut sweep) = sweep else {
            return match replication {
                None => one(trials, base).await,
                Some(replication) => replicate(trials, base, replication).await,
            };
        };
        if let Some(floor) = &self.floor {
            sweep = sweep.floor(floor.clone());
        }
        trials.stage("sweep");
        let curve = sweep.run(base, async |plan| trials.run(plan).await).await;
        let curve = self.curve.insert(curve.map_err(no_result)?);
        let point = reported(curve);
        let point = point.ok_or_else(|| Failure::Machine("the sweep has no step".to_owned()))?;
        match (replication, experiment.sweep.as_ref()) {
            // What was found once is measured anew, and often enough to know how it varies.
            (Some(replication), Some(SweepArg::Find)) if curve.found().is_found() => {
                let base = base.clone().at(point.asked());
                replicate(trials, &base, replication).await
            }
            _ => Ok(Runs::Point(point.clone())),
        }
    }

    /// Says what can be known before the runs.
    fn preflight(&self, base: &PlanBuilder, load: &LoadArgs) -> Result<(), Failure> {
        if load.output.quiet {
            return Ok(());
        }
        for lint in &self.lints {
            output::complain(format_args!("{lint}"));
        }
        let plan = base.clone().build().map_err(Failure::usage)?;
        let mut preflight = Preflight::new(&plan);
        if let Some(floor) = &self.floor {
            preflight = preflight.floor(floor);
        }
        // Of a sweep the plan is that of one rate among others.
        if load.experiment.sweep.is_some() {
            return Ok(());
        }
        let mut hints = preflight.hints();
        if let (Some(slo), None) = (load.verdict.slo.as_ref(), load.experiment.overload) {
            let of_objective = preflight.objective(slo).map_err(Failure::usage)?;
            // What is questionable in the bounds was said.
            hints.extend(
                of_objective
                    .into_iter()
                    .filter(|hint| hint.name == "resolution"),
            );
        }
        for hint in hints {
            output::complain(format_args!("{hint}"));
        }
        Ok(())
    }

    /// Past what the service can serve, and back.
    async fn overload<P: Protocol>(
        &mut self,
        trials: &mut Trials<'_, P>,
        base: &PlanBuilder,
        above: Rate,
        load: &LoadArgs,
    ) -> Result<Runs, Failure> {
        let below = load.schedule.rate.ok_or_else(|| {
            Failure::usage("an overload is one after a rate that the service carries: give --rate")
        })?;
        let statement = load.experiment.statement.as_ref();
        let stated = statement.and_then(|statement| statement.resilience.clone());
        let stated = stated.unwrap_or_default();
        let plan = base.clone().build().map_err(Failure::usage)?;
        let tenth = plan.layout().steady().length() / 10;
        let part = stated.part.as_deref().copied().unwrap_or(tenth);
        trials.stage("overload");
        let resilience = Overload::new(below, above, part)
            .run(base, &stated.degradation(), async |plan| {
                trials.run(plan).await
            })
            .await
            .map_err(no_result)?;
        let resilience = self.resilience.insert(resilience);
        Ok(Runs::One(Box::new(resilience.run().clone())))
    }

    fn end(self, runs: Runs, load: &LoadArgs, stopped: bool) -> Result<Outcome, Failure> {
        let floor = self.floor.as_ref();
        let slo = load.verdict.slo.as_ref();
        // A multiple of a floor that an interruption kept from being measured has no value.
        let slo = slo.filter(|slo| !stopped || floor.is_some() || !slo.needs_floor());
        // An overload has a stated degradation instead, in three stages.
        let slo = slo.filter(|_| self.resilience.is_none());
        let judgement = slo.map(|slo| runs.judged(slo, floor)).transpose()?;
        Ok(Outcome {
            floor: self.floor,
            lints: self.lints,
            curve: self.curve,
            resilience: self.resilience,
            runs,
            judgement,
            stopped,
        })
    }
}

/// The floor, where anything needs it.
async fn floor<P: Protocol>(
    trials: &mut Trials<'_, P>,
    base: &PlanBuilder,
    target: Target,
    load: &LoadArgs,
) -> Result<Option<Floor>, Failure> {
    let experiment = &load.experiment;
    let slo = load.verdict.slo.as_ref();
    let is_needed = slo.is_some_and(Slo::needs_floor);
    let statement = experiment
        .statement
        .as_ref()
        .map(|statement| &statement.floor);
    let rtt = experiment.round_trip.map(Rtt::stated);
    // The problem may state the floor instead.
    if let Some(stated) = statement.filter(|floor| floor.trials == Some(0)) {
        let rtt = match target.shares_host() {
            _ if rtt.is_some() => rtt.unwrap_or_else(Rtt::same_host),
            true => Rtt::same_host(),
            false => Rtt::stated(Duration::ZERO),
        };
        let expected = stated.expected.as_ref();
        let level = expected.map(|expected| Level::stated(**expected));
        return Ok(level.map(|level| Floor::stated(rtt).with(None, Metric::Response, level)));
    }
    let is_left_out = experiment.floor_time.is_zero();
    if !is_needed && (is_left_out || !(experiment.floor || experiment.sweep.is_some())) {
        return Ok(None);
    }
    let mut floor = FloorTrials::default().within(experiment.floor_time);
    let stated = statement.and_then(|floor| floor.trials);
    let count = experiment.floor_trials.or(stated).unwrap_or(TRIALS);
    let for_search = experiment.sweep == Some(SweepArg::Find);
    let requests = experiment.floor_requests;
    let requests = requests.or_else(|| for_search.then_some(REQUESTS_OF_SEARCH));
    floor = floor.trials(count);
    if let Some(requests) = requests {
        floor = floor.requests(requests);
    }
    let rtt = match rtt {
        Some(stated) => Some(stated),
        None if trials.is_rehearsal() || target.shares_host() => Some(Rtt::same_host()),
        None => trials.round_trip().await,
    };
    if let Some(rtt) = rtt {
        floor = floor.rtt(rtt);
    }
    trials.stage_of("floor", floor.runs());
    if !load.output.quiet {
        output::complain(format_args!(
            "the floor first, one request at a time: about {:?} at the most, for a service of more than a few \
             milliseconds; --floor-time makes it shorter{}",
            experiment.floor_time,
            match is_needed {
                true => "",
                false => ", and 0s leaves it out",
            }
        ));
    }
    let (quiet, mut runs) = (load.output.quiet, 0);
    let measured = floor.measure(base.clone(), async |plan| {
        runs += 1;
        // The first run is cold and the second a pilot, by which the length of the others is known.
        if runs == 3 && !quiet {
            let each = plan.layout().end().as_duration();
            output::complain(format_args!(
                "the floor takes {count} trials of {each:.1?}, {:.0?} in all (--floor-trials, --floor-requests)",
                each * u32::try_from(count).unwrap_or(u32::MAX)
            ));
        }
        trials.run(plan).await
    });
    measured.await.map(Some).map_err(no_result)
}

async fn one<P: Protocol>(trials: &mut Trials<'_, P>, base: &PlanBuilder) -> Result<Runs, Failure> {
    trials.stage("");
    let plan = base.clone().build().map_err(Failure::usage)?;
    let run = trials.run(&plan).await.map_err(why)?;
    Ok(Runs::One(Box::new(run)))
}

async fn replicate<P: Protocol>(
    trials: &mut Trials<'_, P>,
    base: &PlanBuilder,
    replication: Replication,
) -> Result<Runs, Failure> {
    trials.stage("replicas");
    let measured = replication.measure(base.clone(), async |plan| trials.run(plan).await);
    measured.await.map(Runs::Replicas).map_err(no_result)
}

/// What makes no sense together, and is no matter of one plan: before anything is sent.
fn check(base: &PlanBuilder, load: &LoadArgs) -> Result<(), Failure> {
    let experiment = &load.experiment;
    let refuse = |why: &str| Err(Failure::usage(why));
    let slo = load.verdict.slo.as_ref();
    if let Some(slo) = slo {
        let plan = base.clone().build().map_err(Failure::usage)?;
        slo.check(&plan).map_err(Failure::usage)?;
    }
    let stated = experiment.statement.as_ref().map(|stated| &stated.floor);
    let is_unknown =
        stated.is_some_and(|floor| floor.trials == Some(0) && floor.expected.is_none());
    let is_stated = stated.is_some_and(|floor| floor.trials == Some(0));
    if experiment.floor_time.is_zero() && !is_stated && slo.is_some_and(Slo::needs_floor) {
        return refuse(
            "the objective is in multiples of S, and --floor-time 0s leaves no time to measure it: give it more",
        );
    }
    if is_unknown && slo.is_some_and(Slo::needs_floor) {
        return refuse(
            "the objective is in multiples of S, and the problem measures no floor: give floor.trials, or floor.expected",
        );
    }
    if experiment.retest.is_some_and(|times| times > 0) && experiment.replicas.unwrap_or(1) == 1 {
        return refuse("one run cannot disagree with itself: give --replicas with --retest");
    }
    if matches!(experiment.sweep, Some(SweepArg::Rates(_)))
        && (experiment.up_to.is_some()
            || experiment.resolution.is_some()
            || experiment.longest.is_some())
    {
        return refuse(
            "--up-to, --resolution and --longest are for --sweep find: leave them out of a list",
        );
    }
    let measures_floor =
        experiment.floor || experiment.sweep.is_some() || slo.is_some_and(Slo::needs_floor);
    let sizes_floor = experiment.floor_trials.is_some() || experiment.floor_requests.is_some();
    if sizes_floor && (!measures_floor || is_stated) {
        return refuse(
            "--floor-trials and --floor-requests are of a floor that is measured: give --floor as well, or leave them out",
        );
    }
    if experiment.round_trip.is_some() && !measures_floor && !is_stated {
        return refuse(
            "--round-trip is taken off the floor and off bounds that are multiples of it, and there is neither: give --floor, or leave it out",
        );
    }
    if let (Some(above), Some(below)) = (experiment.overload, load.schedule.rate) {
        let overload = Overload::new(below, above, Duration::ZERO);
        overload.check().map_err(no_result)?;
    }
    Ok(())
}

fn replication(runs: Option<usize>, load: &LoadArgs) -> Result<Option<Replication>, Failure> {
    let Some(runs) = runs else {
        return Ok(None);
    };
    let replication = Replication::new(runs).map_err(no_result)?;
    Ok(Some(
        replication.retest(load.experiment.retest.unwrap_or(0)),
    ))
}

fn sweep(runs: Option<usize>, load: &LoadArgs) -> Result<Option<Sweep>, Failure> {
    let slo = load.verdict.slo.as_ref();
    let sweep = match &load.experiment.sweep {
        None => return Ok(None),
        Some(SweepArg::Find) => search(slo, load)?,
        Some(SweepArg::Rates(rates)) => {
            let list = Sweep::rates(rates.iter().copied())
                .runs(runs.unwrap_or(1))
                .retest(load.experiment.retest.unwrap_or(0));
            match slo {
                Some(slo) => list.within(slo.clone()),
                None => list,
            }
        }
    };
    let sweep = match load.experiment.counted {
        Some((name, each)) => sweep.counted(name, each),
        None => sweep,
    };
    let sweep = match &load.experiment.knee_rule {
        Some(rule) => sweep.knee(rule.clone()),
        None => sweep,
    };
    sweep.check().map_err(no_result)?;
    Ok(Some(sweep))
}

/// The search for the highest rate that keeps the objective or, without one, for the knee.
fn search(slo: Option<&Slo>, load: &LoadArgs) -> Result<Sweep, Failure> {
    let slo = match slo.or(load.experiment.knee_rule.as_ref()) {
        Some(slo) => slo.clone(),
        None => "p99<=3S".parse().map_err(Failure::usage)?,
    };
    let lowest: Rate = load.schedule.rate.ok_or_else(|| {
        Failure::usage(
            "a search needs a rate to begin at: give --rate, one that the service surely carries",
        )
    })?;
    // That of the schedule is of requests.
    let each = load.experiment.counted.map_or(1.0, |(_, each)| each);
    let lowest = Rate::per_second(lowest.as_per_second() * each).map_err(Failure::usage)?;
    let mut sweep = Sweep::find(slo, lowest);
    if let Some(highest) = load.experiment.up_to {
        sweep = sweep.up_to(highest);
    }
    if let Some(share) = load.experiment.resolution {
        sweep = sweep.resolution(share);
    }
    if let Some(longest) = load.experiment.longest {
        sweep = sweep.longest(longest);
    }
    Ok(sweep)
}

/// The step that a report of a sweep is of: the highest rate that keeps the objective or, without one, the knee; without
/// a knee, the highest that the service kept up with; and where there is none, the lowest of all.
fn reported(curve: &Curve) -> Option<&Point> {
    let is_sought = curve.sought().is_some();
    let capacity = match is_sought {
        true => curve.found(),
        false => curve.knee(),
    };
    let points = curve.points();
    let at = |rate: f64| points.iter().find(|point| point.per_second() == rate);
    let kept_up = |point: &&Point| point.is_valid() && !point.is_saturated();
    let highest = points.iter().rev().find(kept_up).filter(|_| !is_sought);
    capacity.rate().and_then(at).or(highest).or(points.first())
}

pub(crate) fn no_result(error: ProtocolError) -> Failure {
    match error {
        ProtocolError::Drive { source, .. } => why(source),
        ProtocolError::Plan { .. } | ProtocolError::Options(_) => Failure::usage(error),
        other => Failure::Machine(other.to_string()),
    }
}
