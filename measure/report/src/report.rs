//! The report of a run.

use crate::schema::{
    self, Arrivals, Backlog, ByTurns, Closed, Environment, Event, Floor, Generator, Health,
    Interval, Kind, Latency, Limits, Lint, Merged, Objective, PhaseArrivals, Plan, Problem,
    Replicas, Resilience, Sessions, Shard, Slow, Summary, Sweep, Validity, WorstStretch,
    WorstWindow, finite, nanos,
};
use openloop_experiment::problem::{Observed, ProblemStatement};
use openloop_experiment::sweep::Curve;
use openloop_experiment::{Judgement, Run, resilience};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The report of a run: everything that is shown, written, compared and merged.
///
/// A plain value: what a renderer prints stands here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// `openloop.report/1.0`.
    pub schema: String,
    /// The release that made it.
    #[serde(default)]
    pub tool: Option<String>,
    /// What the user calls the run.
    #[serde(default)]
    pub title: Option<String>,
    /// What was loaded: an address, a name.
    #[serde(default)]
    pub target: Option<String>,
    /// The command line that made it.
    #[serde(default)]
    pub command: Option<String>,
    /// The simulated service, where it was a rehearsal: then nothing was sent, and nothing says anything of the target.
    #[serde(default)]
    pub rehearsal: Option<String>,
    /// When the run began, by the wall clock: `2026-11-30T08:14:05.120Z`.
    #[serde(default)]
    pub started_at: Option<String>,
    /// Which part of a run it is, where several processes share one.
    #[serde(default)]
    pub shard: Option<Shard>,
    /// Of which reports it was merged, if it was.
    #[serde(default)]
    pub merged: Option<Merged>,
    /// `open`, `partly_open` or `closed`.
    #[serde(rename = "loop")]
    pub loop_kind: String,
    /// Arrivals per second, as asked; `None` for a profile, a trace, sessions or a closed loop, which have no one rate
    /// of arrivals.
    pub asked_rate: Option<f64>,
    /// Arrivals of the realised schedule in the steady phase, per second of it.
    pub offered_rate: Option<f64>,
    /// Served arrivals whose completion lies in the steady phase, per second of it.
    pub achieved_rate: Option<f64>,
    /// How long the steady phase lasted: as planned, or until the run was stopped.
    pub steady_ns: u64,
    /// Whether the run was stopped before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// When, in nanoseconds of the run.
    #[serde(default)]
    pub interrupted_at_ns: Option<u64>,
    /// How many arrivals the whole schedule has; `None` where some depend on the service, and of a run that was stopped and
    /// would have had more than 10⁸.
    #[serde(default)]
    pub planned: Option<u64>,
    /// Arrivals of the whole run.
    pub arrivals: Arrivals,
    /// Arrivals by phase.
    #[serde(default)]
    pub phases: Vec<PhaseArrivals>,
    /// Arrivals of the whole run, by outcome and class: `{"failed": {"connect_refused": 3}}`. Outcomes without
    /// classes are not here.
    #[serde(default)]
    pub outcomes: BTreeMap<String, BTreeMap<String, u64>>,
    /// Latencies of the steady phase.
    pub latency: Latency,
    /// The same by the name of each kind of request, where there are kinds; what had no label stands under
    /// [`UNLABELLED`](schema::UNLABELLED).
    #[serde(default)]
    pub kinds: BTreeMap<String, Kind>,
    /// Named durations of the steady phase: stages of an adapter, and metrics that repeat within an arrival.
    #[serde(default)]
    pub metrics: BTreeMap<String, Option<Summary>>,
    /// What the named durations are, by name: their formulas, where the adapter states them.
    #[serde(default)]
    pub formulas: BTreeMap<String, String>,
    /// Named counts of the steady phase, summed over arrivals: bytes, connections opened.
    #[serde(default)]
    pub counts: BTreeMap<String, u64>,
    /// What the target said of itself over the steady phase: `buffer_hit_rate`, the share of blocks that a database
    /// had in memory.
    #[serde(default)]
    pub observations: BTreeMap<String, f64>,
    /// The course of what the target said of itself, by name: instants in nanoseconds of the run, and values.
    #[serde(default)]
    pub courses: BTreeMap<String, Vec<(u64, f64)>>,
    /// What happened to the target, in order of time: `preemption`, `kv_cache_exhausted`.
    #[serde(default)]
    pub events: Vec<Event>,
    /// Whether the run may be believed.
    pub validity: Validity,
    /// The service at one request at a time, where it was measured.
    pub floor: Option<Floor>,
    /// What the run says of an objective, where there is one.
    pub slo: Option<Objective>,
    /// Whether more came than was served; `None` where parts of the steady phase have no arrivals.
    #[serde(default)]
    pub backlog: Option<Backlog>,
    /// The tenth of the steady phase with the highest 99th percentile of the response.
    #[serde(default)]
    pub worst_window: Option<WorstWindow>,
    /// The ten seconds of the steady phase with the highest; `None` where the phase is shorter, and of shards together,
    /// whose percentiles cannot be merged.
    #[serde(default)]
    pub worst_stretch: Option<WorstStretch>,
    /// The slowest arrivals of the steady phase, slowest first, at most twenty.
    #[serde(default)]
    pub slowest: Vec<Slow>,
    /// The whole run by interval.
    pub timeline: Vec<Interval>,
    /// The machine that the generator ran on.
    pub environment: Option<Environment>,
    /// What the generator itself cost.
    #[serde(default)]
    pub generator: Option<Generator>,
    /// What was found after the drain.
    #[serde(default)]
    pub health: Option<Health>,
    /// The limits on each arrival.
    #[serde(default)]
    pub limits: Option<Limits>,
    /// The users of a closed loop.
    #[serde(default)]
    pub closed: Option<Closed>,
    /// The sessions of a partly open one.
    #[serde(default)]
    pub sessions: Option<Sessions>,
    /// The statement of the problem that the run answers, where there is one.
    pub problem: Option<Problem>,
    /// The runs that it is of, where they are several.
    #[serde(default)]
    pub replicas: Option<Replicas>,
    /// What the runs of another build by turns with this one say, where there were such.
    #[serde(default)]
    pub by_turns: Option<ByTurns>,
    /// The other rates, where there were several.
    #[serde(default)]
    pub sweep: Option<Sweep>,
    /// What has to be bought and set for a peak, where one was named.
    #[serde(default)]
    pub plan: Option<Plan>,
    /// What an overload did to the service, where it was driven past its limit.
    #[serde(default)]
    pub resilience: Option<Resilience>,
    /// From which the schedule was drawn.
    pub seed: u64,
}

/// How many arrivals of a schedule are counted where it was stopped: a few seconds.
const COUNTED: f64 = 1e8;

/// An instant as text; a clock that is set before 1970, or beyond what a date has room for, has none.
fn wall_clock(at: SystemTime) -> Option<String> {
    let since_epoch = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    (since_epoch < YEAR_9999).then(|| humantime::format_rfc3339_millis(at).to_string())
}

/// 8029 years of 365 days.
const YEAR_9999: Duration = Duration::from_secs(8029 * 365 * 86_400);

impl Report {
    /// The report of `run`.
    ///
    /// It encodes every histogram and counts the schedule once more, at 20 to 40 ns an arrival.
    #[must_use]
    pub fn new(run: &Run) -> Self {
        let snapshot = run.snapshot();
        let steady = snapshot.steady();
        // What the schedule has are sessions, where there are sessions.
        let preview = match run.plan().sessions() {
            Some(_) => None,
            // Nobody waits minutes for the length of a schedule that was not run to its end.
            None if run.interrupted().is_some() && run.plan().expected() > Some(COUNTED) => None,
            None => run.plan().preview(),
        };
        Report {
            schema: schema::tag(),
            tool: Some(format!("openloop {}", env!("CARGO_PKG_VERSION"))),
            title: None,
            target: None,
            command: None,
            rehearsal: None,
            started_at: None,
            shard: Shard::of(run.plan(), run.plan().start_at().and_then(wall_clock)),
            merged: None,
            loop_kind: run.loop_kind().name().to_owned(),
            asked_rate: run.asked_per_second().and_then(finite),
            offered_rate: run.offered_per_second().and_then(finite),
            achieved_rate: run.achieved_per_second().and_then(finite),
            steady_ns: nanos(run.steady_length()),
            interrupted: run.interrupted().is_some(),
            interrupted_at_ns: run.interrupted().map(|at| at.as_nanos()),
            planned: preview.as_ref().map(|preview| preview.total),
            arrivals: snapshot.counts().into(),
            phases: phases(run, preview.as_ref()),
            outcomes: schema::by_class(snapshot.outcomes()),
            latency: Latency::of(|metric| run.series(&metric)),
            kinds: Kind::all(run),
            metrics: schema::metrics(&steady, |metric| Summary::of(&run.series(&metric))),
            formulas: BTreeMap::new(),
            counts: schema::named(&steady),
            observations: BTreeMap::new(),
            courses: BTreeMap::new(),
            events: Vec::new(),
            validity: Validity::of(run.validity()),
            floor: None,
            slo: None,
            backlog: Backlog::of(run),
            worst_window: WorstWindow::of(run),
            worst_stretch: WorstStretch::of(run),
            slowest: Slow::all(run),
            timeline: Interval::all(run),
            environment: Some(Environment::of(run)),
            generator: Some(Generator::of(run)),
            health: Some(Health::of(run)),
            limits: Some(Limits::of(run.plan())),
            closed: Closed::of(run.plan()),
            sessions: Sessions::of(run),
            problem: None,
            replicas: None,
            by_turns: None,
            sweep: None,
            plan: None,
            resilience: None,
            seed: run.plan().seed(),
        }
    }

    /// The same with what the run says of an objective.
    #[must_use]
    pub fn with_judgement(mut self, judgement: &Judgement) -> Self {
        self.slo = Some(Objective::of(judgement));
        self.validity = Validity::of(&judgement.validity);
        self
    }

    /// The same with what is questionable in the bounds of the objective.
    #[must_use]
    pub fn with_lints(mut self, lints: &[openloop_experiment::Lint]) -> Self {
        if let Some(slo) = &mut self.slo {
            slo.lints = lints.iter().map(Lint::of).collect();
        }
        self
    }

    /// The same with the floor of the service.
    #[must_use]
    pub fn with_floor(mut self, floor: &openloop_experiment::Floor) -> Self {
        self.floor = Some(Floor::of(floor));
        self
    }

    /// The same with what comparing its runs by turns with those of `base`, another build, gave.
    #[must_use]
    pub fn with_turns(
        mut self,
        comparison: &openloop_experiment::Comparison,
        base: impl Into<String>,
    ) -> Self {
        self.by_turns = Some(ByTurns::of(comparison, base.into()));
        self
    }

    /// The same with whether the runs that it is of agree.
    #[must_use]
    pub fn with_replicas(mut self, replicas: &openloop_experiment::Replicas) -> Self {
        self.replicas = Some(Replicas::of(replicas));
        self
    }

    /// The same with the other rates, of which it is one.
    #[must_use]
    pub fn with_sweep(mut self, curve: &Curve) -> Self {
        self.sweep = Some(Sweep::of(curve, self.asked_rate));
        self
    }

    /// The same with what has to be bought and set for a peak of so many arrivals per second.
    #[must_use]
    pub fn with_plan(mut self, plan: &openloop_capacity::Plan, peak_per_second: f64) -> Self {
        self.plan = finite(peak_per_second).map(|peak| Plan::of(plan, peak));
        self
    }

    /// The same with what an overload did to the service.
    #[must_use]
    pub fn with_resilience(mut self, resilience: &resilience::Resilience) -> Self {
        self.resilience = Some(Resilience::of(resilience));
        self
    }

    /// The same with the problem that it answers, held against what was observed.
    #[must_use]
    pub fn with_problem(mut self, statement: &ProblemStatement, observed: &Observed<'_>) -> Self {
        self.problem = Some(Problem::of(statement, observed));
        self
    }

    /// The same as a rehearsal on a simulated service, in a few words: what the machine did then says nothing.
    #[must_use]
    pub fn with_rehearsal(mut self, service: impl Into<String>) -> Self {
        self.rehearsal = Some(service.into());
        (self.environment, self.generator) = (None, None);
        self
    }

    /// The same with what was loaded: an address, a name. It is shown and written as it is: leave passwords out.
    #[must_use]
    pub fn with_target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// The same with a number that shards of one run have in common where they ask for the same, and hardly where they do
    /// not: shards of other requests are then not merged. Of a run that is no shard nothing is kept.
    #[must_use]
    pub fn with_requests(mut self, fingerprint: u64) -> Self {
        if let Some(shard) = &mut self.shard {
            shard.requests = Some(format!("{fingerprint:016x}"));
        }
        self
    }

    /// The same with what the target said of itself over the steady phase; what is no number is left out.
    #[must_use]
    pub fn with_observation(mut self, name: impl Into<String>, value: f64) -> Self {
        if value.is_finite() {
            self.observations.insert(name.into(), value);
        }
        self
    }

    /// The same with what a named duration is.
    #[must_use]
    pub fn with_formula(mut self, name: impl Into<String>, formula: impl Into<String>) -> Self {
        self.formulas.insert(name.into(), formula.into());
        self
    }

    /// The same with the course of something that the target said of itself: instants in nanoseconds of the run, and
    /// values; what is no number is left out, and so is a course without any.
    #[must_use]
    pub fn with_course(
        mut self,
        name: impl Into<String>,
        course: impl IntoIterator<Item = (u64, f64)>,
    ) -> Self {
        let course = course.into_iter().filter(|(_, value)| value.is_finite());
        let course: Vec<_> = course.collect();
        if !course.is_empty() {
            self.courses.insert(name.into(), course);
        }
        self
    }

    /// The same with something that happened to the target.
    #[must_use]
    pub fn with_event(mut self, at_ns: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        self.events.push(Event { at_ns, what });
        self.events.sort_by_key(|event| event.at_ns);
        self
    }

    /// The same with what the user calls the run.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with the instant at which the run began, by the wall clock.
    #[must_use]
    pub fn with_started_at(mut self, at: SystemTime) -> Self {
        self.started_at = wall_clock(at);
        self
    }

    /// The same with the command line that made it. It is written as it is: leave passwords out.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

fn phases(run: &Run, preview: Option<&openloop_sched::Preview>) -> Vec<PhaseArrivals> {
    let snapshot = run.snapshot();
    let planned = |index: usize| Some(preview?.phases.get(index)?.1);
    snapshot
        .layout()
        .spans()
        .iter()
        .enumerate()
        .map(|(index, span)| PhaseArrivals {
            name: span.phase.name().to_owned(),
            from_ns: span.from.as_nanos(),
            to_ns: span.to.as_nanos(),
            planned: planned(index),
            arrivals: snapshot
                .phases()
                .iter()
                .find(|(phase, _)| *phase == span.phase)
                .map(|(_, counts)| (*counts).into())
                .unwrap_or_default(),
        })
        .collect()
}
