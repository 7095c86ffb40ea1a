//! One run of a plan: against the target, or rehearsed.

use crate::cli::{ExperimentArgs, LoadArgs};
use crate::exit::Failure;
use crate::interrupt::Interrupt;
use crate::protocol::{Observed, Protocol};
use crate::{machine, output};
use openloop_experiment::drive::{self, DriveError};
use openloop_experiment::simulate::{Served, Simulated, Station, simulate_watched};
use openloop_experiment::{Load, Plan, Rtt, Run};
use openloop_measurer::Kind;
use openloop_report::Progress;
use openloop_sched::{Offset, Ticket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the target may take to say its last after a run.
const LAST_WORD: Duration = Duration::from_secs(2);

/// How often a rehearsal says how far it is.
const TOLD: Duration = Duration::from_secs(5);

/// Runs plans, one after the other.
pub(crate) struct Trials<'a, P> {
    protocol: Arc<P>,
    load: &'a LoadArgs,
    against: Against,
    stage: &'static str,
    runs: usize,
    /// How many the stage has, where that is known.
    of: Option<usize>,
    stopped: Option<Run>,
    observed: Vec<Observed>,
    interrupt: Interrupt,
}

/// What plans are run against.
pub(crate) enum Against {
    /// The target.
    Target {
        /// Whether it is on this host.
        loopback: bool,
    },
    /// A service that exists only as arithmetic: a queue.
    Simulated(Station),
    /// One of the protocol's own kind: [`Protocol::engine`].
    Engine(&'static str),
}

impl Against {
    /// The simulated service that the flags describe: one server with exponential service times of the floor that the
    /// problem expects, or of 1 ms, where they do not.
    /// Without any of these it is the protocol's own, where there is one.
    pub(crate) fn rehearsal(
        experiment: &ExperimentArgs,
        engine: Option<&'static str>,
    ) -> Result<Self, Failure> {
        if let Some(engine) = engine.filter(|_| plays_engine(experiment)) {
            return Ok(Against::Engine(engine));
        }
        let mut statement = experiment.statement.clone().unwrap_or_default();
        statement.rehearsal.servers = experiment.servers;
        statement.rehearsal.service.clone_from(&experiment.service);
        statement.rehearsal.waiting = experiment.waiting;
        let station = statement.station().map_err(Failure::usage)?;
        Ok(Against::Simulated(station))
    }

    /// The simulated service in a few words, if it is one.
    pub(crate) fn simulated(&self) -> Option<String> {
        match self {
            Against::Target { .. } => None,
            Against::Simulated(station) => Some(station.to_string()),
            Against::Engine(engine) => Some((*engine).to_owned()),
        }
    }
}

/// Whether nothing is said of a queue that would be played instead.
pub(crate) fn plays_engine(experiment: &ExperimentArgs) -> bool {
    experiment.service.is_none() && experiment.servers.is_none() && experiment.waiting.is_none()
}

impl<'a, P: Protocol> Trials<'a, P> {
    pub(crate) fn new(protocol: Arc<P>, load: &'a LoadArgs, against: Against) -> Self {
        Trials {
            protocol,
            load,
            against,
            stage: "",
            runs: 0,
            of: None,
            stopped: None,
            observed: Vec::new(),
            interrupt: Interrupt::default(),
        }
    }

    /// The same, stopped by the signal that stops those of `others`.
    pub(crate) fn interrupted_with(self, others: &Self) -> Self {
        Trials {
            interrupt: others.interrupt.clone(),
            ..self
        }
    }

    /// The round trip to the target, where the protocol can tell.
    pub(crate) async fn round_trip(&self) -> Option<Rtt> {
        self.protocol.clone().round_trip().await
    }

    pub(crate) fn protocol(&self) -> &P {
        &self.protocol
    }

    /// Whether nothing is sent.
    pub(crate) fn is_rehearsal(&self) -> bool {
        !matches!(self.against, Against::Target { .. })
    }

    /// Names the runs that follow, and counts them anew.
    pub(crate) fn stage(&mut self, stage: &'static str) {
        (self.stage, self.runs, self.of) = (stage, 0, None);
    }

    /// The same, of a stage that has so many runs.
    pub(crate) fn stage_of(&mut self, stage: &'static str, runs: usize) {
        self.stage(stage);
        self.of = Some(runs);
    }

    /// What the target said of itself over the steady phase of the last run.
    pub(crate) fn observed(&self) -> &[Observed] {
        &self.observed
    }

    /// The run in which the experiment was stopped, if it was.
    pub(crate) fn stopped(&mut self) -> Option<Run> {
        self.stopped.take()
    }

    /// Runs a plan; after one that was stopped, none any more.
    pub(crate) async fn run(&mut self, plan: &Plan) -> Result<Run, DriveError> {
        if self.stopped.is_some() {
            return Err(DriveError::StoppedInSetUp);
        }
        self.runs += 1;
        self.announce(plan);
        self.protocol.begin(plan);
        let mut run = match &self.against {
            Against::Target { loopback } => {
                machine::check(plan, self.protocol.connecting(), *loopback).map_err(set_up)?;
                let (run, observed) = self.drive(plan).await?;
                self.observed = observed;
                run
            }
            Against::Engine(_) => self
                .protocol
                .rehearse(plan)
                .unwrap_or(Err(DriveError::NotSimulated))?,
            Against::Simulated(station) => self.rehearse(plan, station.clone()).await?,
        };
        for check in &self.load.verdict.waive {
            run.waive(check)
                .map_err(|error| set_up(Failure::usage(error)))?;
        }
        if run.interrupted().is_some() {
            self.stopped = Some(run.clone());
        }
        Ok(run)
    }

    /// Which run begins, where there are several.
    fn announce(&self, plan: &Plan) {
        if self.load.output.quiet || self.stage.is_empty() {
            return;
        }
        let rate = match plan.load() {
            Load::Open { asked, .. } | Load::PartlyOpen { asked, .. } => {
                asked.map_or_else(String::new, |rate| format!(" at {rate}"))
            }
            Load::Closed { .. } => String::new(),
        };
        let of = self.of.map_or_else(String::new, |of| format!(" of {of}"));
        let length = plan.layout().end().as_duration();
        output::complain(format_args!(
            "{}, run {}{of}{rate}, {length:.1?}",
            self.stage, self.runs
        ));
    }

    /// Computes on a thread of its own: this one listens to signals.
    async fn rehearse(&self, plan: &Plan, station: Station) -> Result<Run, DriveError> {
        let service = OfKinds {
            station,
            protocol: self.protocol.clone(),
        };
        let (plan, quiet) = (plan.clone(), self.load.output.quiet);
        let stopped = self.interrupt.watch_flag();
        let end = plan.layout().end().as_duration();
        let mut told = Instant::now();
        let simulation = tokio::task::spawn_blocking(move || {
            simulate_watched(&plan, service, |reached| {
                if !quiet && told.elapsed() >= TOLD {
                    told = Instant::now();
                    output::complain(format_args!(
                        "rehearsed {:.1?} of {end:.1?}, {} arrivals",
                        reached.at.as_duration(),
                        reached.arrivals
                    ));
                }
                match stopped.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })
        });
        match simulation.await {
            Ok(run) => run,
            Err(error) => Err(set_up(Failure::Machine(format!(
                "the rehearsal ended early: {error}"
            )))),
        }
    }

    async fn drive(&self, plan: &Plan) -> Result<(Run, Vec<Observed>), DriveError> {
        let protocol = self.protocol.clone();
        let (at_the_end, observing) = (protocol.clone(), protocol.clone());
        let drive = drive::sharded(plan, self.load.schedule.threads, move |shard| {
            protocol.clone().connect(shard)
        })
        .health_check(move || at_the_end.health());
        self.interrupt.watch(drive.stop_handle());
        let progress = Progress::start(drive.monitor(), self.load.output.progress());
        let mut observed = tokio::spawn(observing.observe(drive.monitor()));
        let run = drive.await;
        progress.finish();
        let run = run?;
        // A run that was interrupted may not have reached the end of what was watched; of another the target is about to
        // say its last.
        let limit = match run.interrupted() {
            Some(_) => Duration::ZERO,
            None => LAST_WORD,
        };
        let said = tokio::time::timeout(limit, &mut observed).await;
        observed.abort();
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        Ok((run, said))
    }
}

fn set_up(failure: Failure) -> DriveError {
    DriveError::SetUp {
        shard: 0,
        source: Box::new(failure),
    }
}

/// A simulated service whose requests are of the protocol's kinds.
struct OfKinds<P> {
    station: Station,
    protocol: Arc<P>,
}

impl<P: Protocol> Simulated for OfKinds<P> {
    fn begin(&mut self, seed: u64) {
        self.station.begin(seed);
    }

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        let kind = self.protocol.kind(ticket.seq).map(Kind::new);
        Served {
            kind,
            ..self.station.serve(ticket, at)
        }
    }
}

/// Why there is no run.
pub(crate) fn why(error: DriveError) -> Failure {
    match error {
        DriveError::SetUp { shard, source } => match source.downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(other) => Failure::Machine(format!("thread {shard} could not begin: {other}")),
        },
        DriveError::StoppedInSetUp => Failure::Interrupted,
        DriveError::NoShards => Failure::usage("--threads 0 sends nothing: give at least 1"),
        DriveError::NotSimulated => Failure::usage(
            "sessions cannot be rehearsed: leave out --sessions, or rehearse the same rate of requests",
        ),
        other => Failure::Machine(other.to_string()),
    }
}
