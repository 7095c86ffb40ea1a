//! Runs a plan.

mod error;
mod live;
mod pump;
mod serve;
mod sessions;
mod shard;
mod stop;
mod users;
mod vigil;

pub use error::DriveError;
pub use shard::{ShardOf, sharded};
pub use stop::Stop;

use crate::environment::Before;
use crate::generator::{Cpu, Generator, PumpStats};
use crate::health::Health;
use crate::plan::Load;
use crate::run::{Parts, Run};
use crate::{Plan, SessionCounts, Work};
use openloop_measurer::{Live, Recorder};
use openloop_sched::{Due, clock_is_paused};
use pump::Pump;
use serve::{Alive, Shared, places};
use sessions::{Successors, Then};
use std::future::{Future, IntoFuture};
use std::ops::Add;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
pub(crate) use users::Users;

/// How far ahead the start of a run lies, so that its first arrival is not late by construction.
const LEAD: Duration = Duration::from_millis(5);

/// An instant of the wall clock by the clock of this process, where they read `wall` and `now`.
fn at_wall_clock(at: SystemTime, wall: SystemTime, now: Instant) -> Result<Instant, DriveError> {
    let ahead = at
        .duration_since(wall)
        .map_err(|past| DriveError::StartIsPast(past.duration()))?;
    now.checked_add(ahead)
        .ok_or(DriveError::StartIsTooFar(ahead))
}

/// A run in progress. Await it for the [`Run`].
///
/// Dropped, it stops the run, and the report is lost: to end a run early and keep the report, use
/// [`stop_handle`](Drive::stop_handle).
#[must_use = "await it for the run"]
#[derive(Debug)]
pub struct Drive {
    monitor: Monitor,
    ended: oneshot::Receiver<Result<Run, DriveError>>,
    /// Why it never began.
    refused: Option<DriveError>,
    health: Health,
}

/// Watches a run in progress. A cheap handle: clone it freely.
#[derive(Clone, Debug)]
pub struct Monitor {
    plan: Arc<Plan>,
    /// Since the run has begun: where it is written down, and when that was by the wall clock.
    begun: Arc<OnceLock<(Recorder, SystemTime)>>,
    stop: Stop,
}

impl Monitor {
    fn new(plan: &Plan) -> Self {
        Monitor {
            plan: Arc::new(plan.clone()),
            begun: Arc::default(),
            stop: Stop::new(),
        }
    }

    /// A recorder of a run that begins in a moment, or at the instant that has been agreed on.
    fn begin(&self) -> Result<Recorder, DriveError> {
        let (wall, now) = (SystemTime::now(), Instant::now());
        let (start, started_at) = match (self.plan.start_at(), self.plan.start_here()) {
            (None, _) => (now + LEAD, wall + LEAD),
            (Some(at), Some(here)) => (at_wall_clock(here, wall, now)?, at),
            (Some(_), None) => return Err(DriveError::StartIsTooFar(Duration::MAX)),
        };
        let (recorder, _) = self.begun.get_or_init(|| {
            let (layout, kinds) = (self.plan.layout().clone(), self.plan.kinds().clone());
            (Recorder::with_kinds(start, layout, kinds), started_at)
        });
        Ok(recorder.clone())
    }

    /// The plan that is run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A glance at the run; `None` while it is still being set up.
    #[must_use]
    pub fn live(&self) -> Option<Live> {
        self.begun.get().map(|(recorder, _)| recorder.live())
    }
}

impl Drive {
    /// Stops the run without losing its report.
    #[must_use]
    pub fn stop_handle(&self) -> Stop {
        self.monitor.stop.clone()
    }

    /// Watches the run.
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// Adds a check of the service to the health check after the drain: an error is what is wrong with it.
    pub fn health_check<F, Fut>(mut self, check: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.health.set(check);
        self
    }

    async fn finish(mut self) -> Result<Run, DriveError> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let mut run = (&mut self.ended).await.map_err(|_| DriveError::Died)??;
        let health = std::mem::take(&mut self.health);
        run.set_health(health.check().await);
        Ok(run)
    }
}

impl IntoFuture for Drive {
    type Output = Result<Run, DriveError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.finish())
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.monitor.stop.abort();
    }
}

/// Runs `plan` on the current runtime, one task per arrival: in a service's own test suite, say.
///
/// The run begins at once, whether or not the result is awaited.
///
/// # Example
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::{Lifecycle, Plan, drive};
/// use openloop_sched::Rate;
/// use std::time::Duration;
///
/// let plan = Plan::open(Rate::per_second(1000.0)?)
///     .lifecycle(Lifecycle::steady_only(Duration::from_millis(200)))
///     .build()?;
/// let run = drive::shared(&plan, |_ticket| async { /* a request */ }).await?;
/// assert_eq!(run.snapshot().counts().ok, run.snapshot().counts().scheduled);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// In the run's own task, which ends it with [`DriveError::Died`], if the runtime has no timer.
pub fn shared<W>(plan: &Plan, work: W) -> Drive
where
    W: Work + Send + Sync,
    W::Output: Send,
    W::Future: Send,
    W::Classify: Send + Sync,
{
    let monitor = Monitor::new(plan);
    let (done, ended) = oneshot::channel();
    let refused = match Handle::try_current() {
        Ok(runtime) => {
            let monitor = monitor.clone();
            runtime.spawn(async move {
                let run = run_shared(&monitor, work).await;
                // Nobody is there to read it if the drive was dropped.
                let _ = done.send(run);
            });
            None
        }
        Err(_) => Some(DriveError::NoRuntime),
    };
    Drive {
        monitor,
        ended,
        refused,
        health: Health::default(),
    }
}

async fn run_shared<W>(monitor: &Monitor, work: W) -> Result<Run, DriveError>
where
    W: Work + Send + Sync,
    W::Output: Send,
    W::Future: Send,
    W::Classify: Send + Sync,
{
    let (plan, stop) = (&*monitor.plan, &monitor.stop);
    let before = Before::read();
    let simulated = clock_is_paused();
    let recorder = monitor.begin()?;
    let shared = Shared::new(work, recorder.clone(), plan.limits(), places(plan.limits()));
    let mut successors = Successors::of(plan, &recorder);
    let mut stats = match plan.load() {
        Load::Open {
            schedule,
            precision,
            ..
        }
        | Load::PartlyOpen {
            schedule,
            precision,
            ..
        } => {
            let succession = successors.as_ref().map(Successors::succession);
            let pump = Pump {
                shared: &shared,
                stop,
                cpu: Cpu::of_process,
                successors: successors.as_mut(),
            };
            let (schedule, precision) = (schedule.clone(), *precision);
            match succession {
                None => {
                    let launch = |due| launch(&shared, due, ());
                    pump.run(schedule, precision, launch).await?
                }
                Some(of) => {
                    let launch = |due: Due| launch(&shared, due, of.begin(due.ticket));
                    pump.run(schedule, precision, launch).await?
                }
            }
        }
        Load::Closed { users, think } => {
            let users = Users::new(*users, *think, plan.layout().clone());
            let cpu = Cpu::of_process();
            for index in users.of_shard(0, 1) {
                let (users, stop) = (users.clone(), stop.clone());
                let alive = Alive::new(&shared);
                let of_user = shared.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = users.run(alive, index, stop) => {}
                        () = of_user.live.cut_off() => {}
                    }
                });
            }
            users_stats(&shared, plan, stop, cpu, Cpu::of_process).await
        }
    };
    stats.aborted = drain(&shared, stop, plan.limits().drain).await;
    stats.sessions = successors.map(|successors| successors.settle(&shared, stop));
    shared.live.cut();
    shared.live.none().await;
    let ends = [Ends::of(&stats)];
    let generator = Generator::on_runtime(simulated, stats);
    Ok(assemble(monitor, &recorder, generator, &ends, before))
}

/// Takes up a released arrival in a task of its own, unless it is shed.
fn launch<W, T>(shared: &Arc<Shared<W>>, due: Due, then: T)
where
    W: Work + Send + Sync,
    W::Output: Send,
    W::Future: Send,
    W::Classify: Send + Sync,
    T: Then + Send,
{
    if let Some((arrival, admission)) = shared.admit(due) {
        let alive = Alive::new(shared);
        tokio::spawn(async move {
            let shared = alive.shared();
            // This runtime goes on after the run: what outlives the drain is cut off.
            tokio::select! {
                biased;
                sample = shared.serve(arrival, admission) => then.ended(&sample),
                () = shared.live.cut_off() => {}
            }
        });
    }
}

/// Waits until the users of a closed loop have retired, or the run is stopped.
async fn users_stats<W: Work>(
    shared: &Shared<W>,
    plan: &Plan,
    stop: &Stop,
    before: Cpu,
    cpu: fn() -> Cpu,
) -> PumpStats {
    let end = shared.recorder.start() + plan.layout().end().as_duration();
    tokio::select! {
        biased;
        () = shared.live.none() => {}
        () = stop.stopped() => {}
        () = sleep_until(end) => {}
    }
    PumpStats::of_users(cpu().since(before), shared.recorder.now())
}

/// Waits for what is in flight: until there is nothing, for `limit`, or until the run is aborted. Says whether it
/// was.
async fn drain<W: Work>(shared: &Shared<W>, stop: &Stop, limit: Duration) -> bool {
    let limit = Instant::now() + limit;
    tokio::select! {
        biased;
        () = shared.live.none() => false,
        () = stop.aborted() => true,
        () = sleep_until(limit) => false,
    }
}

/// How a driver ended.
#[derive(Clone, Copy)]
struct Ends {
    aborted: bool,
    sessions: Option<SessionCounts>,
}

impl Ends {
    fn of(stats: &PumpStats) -> Self {
        Ends {
            aborted: stats.aborted,
            sessions: stats.sessions,
        }
    }
}

/// Puts the result together, once nothing is in flight any more.
fn assemble(
    monitor: &Monitor,
    recorder: &Recorder,
    generator: Generator,
    ends: &[Ends],
    before: Before,
) -> Run {
    let aborted = ends.iter().any(|driver| driver.aborted);
    let sessions = ends.iter().filter_map(|driver| driver.sessions);
    let end = monitor.plan.layout().end();
    let stopped_at = monitor.stop.stopped_at(recorder.start());
    let started_at = monitor.begun.get().map(|(_, at)| *at);
    Run::new(Parts {
        plan: (*monitor.plan).clone(),
        snapshot: recorder.finish(),
        start: recorder.start(),
        started_at: started_at.unwrap_or_else(SystemTime::now),
        environment: before.after(),
        generator,
        // A stop after the last arrival changes nothing, unless it cut off what was still in flight.
        interrupted: stopped_at.filter(|at| *at < end || aborted),
        sessions: sessions.reduce(Add::add),
    })
}
