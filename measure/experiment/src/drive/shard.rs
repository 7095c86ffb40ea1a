//! A run on threads of its own.

use super::pump::Pump;
use super::serve::{Alive, Shared, places};
use super::sessions::{Successors, Then};
use super::users::Users;
use super::{Drive, DriveError, Ends, Monitor, assemble, drain, users_stats};
use crate::environment::Before;
use crate::generator::{Cpu, Generator, PumpStats};
use crate::health::Health;
use crate::plan::Load;
use crate::run::Run;
use crate::{Plan, Work};
use openloop_measurer::Recorder;
use openloop_sched::Due;
use std::future::Future;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{Semaphore, oneshot};

/// Which of how many shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardOf {
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// What a shard needs to begin, once all are set up.
struct Go {
    recorder: Recorder,
    places: Option<Arc<Semaphore>>,
    users: Option<Users>,
}

/// Runs `plan` on `shards` threads of its own, each with a runtime, a pacer over its share of the schedule, and
/// a client of its own, made by `factory` on that thread.
///
/// Futures need not be `Send`, and nothing is shared between threads but the recorder. The run begins when every
/// shard has been set up: setting up, such as opening connections, never counts. What does not end within the
/// drain ends with the runtimes.
///
/// It needs no runtime around it. Not for a paused clock, since each runtime has a clock of its own.
///
/// # Example
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use openloop_experiment::{Lifecycle, Plan, drive};
/// use openloop_sched::Rate;
/// use std::{cell::Cell, convert::Infallible, rc::Rc, time::Duration};
///
/// let plan = Plan::open(Rate::per_second(1000.0)?)
///     .lifecycle(Lifecycle::steady_only(Duration::from_millis(200)))
///     .build()?;
/// let run = drive::sharded(&plan, 2, |_shard| async {
///     let client = Rc::new(Cell::new(0)); // one per thread, and not Send
///     Ok::<_, Infallible>(move |_ticket| {
///         let client = client.clone();
///         async move { client.set(client.get() + 1) }
///     })
/// })
/// .await?;
/// assert_eq!(run.snapshot().counts().ok, run.snapshot().counts().scheduled);
/// # Ok(())
/// # }
/// ```
pub fn sharded<F, Fut, W, E>(plan: &Plan, shards: usize, factory: F) -> Drive
where
    F: Fn(ShardOf) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<W, E>>,
    W: Work,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let monitor = Monitor::new(plan);
    let (done, ended) = oneshot::channel();
    let coordinator = {
        let monitor = monitor.clone();
        move || {
            let run = coordinate(&monitor, shards, &factory);
            // Nobody is there to read it if the drive was dropped.
            let _ = done.send(run);
        }
    };
    let thread = thread::Builder::new()
        .name("openloop-run".to_owned())
        .spawn(coordinator);
    Drive {
        monitor,
        ended,
        refused: thread
            .err()
            .map(|source| DriveError::Thread { shard: 0, source }),
        health: Health::default(),
    }
}

fn coordinate<F, Fut, W, E>(
    monitor: &Monitor,
    shards: usize,
    factory: &F,
) -> Result<Run, DriveError>
where
    F: Fn(ShardOf) -> Fut + Send + Sync,
    Fut: Future<Output = Result<W, E>>,
    W: Work,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if shards == 0 {
        return Err(DriveError::NoShards);
    }
    let plan = &*monitor.plan;
    let before = Before::read();
    let (recorder, stats) = thread::scope(|scope| {
        let (ready, set_up) = mpsc::channel();
        let mut threads = Vec::with_capacity(shards);
        let mut starters = Vec::with_capacity(shards);
        for index in 0..shards {
            let (starter, go) = oneshot::channel();
            let of = ShardOf {
                index,
                count: shards,
            };
            let ready = ready.clone();
            let thread = thread::Builder::new()
                .name(format!("openloop-{index}"))
                .spawn_scoped(scope, move || run_shard(monitor, of, factory, ready, go))
                .map_err(|source| DriveError::Thread {
                    shard: index,
                    source,
                })?;
            threads.push(thread);
            starters.push(starter);
        }
        drop(ready);
        // Ends when every shard has said that it is ready, or has ended without.
        let all_ready = set_up.into_iter().count() == shards;
        let begun = all_ready.then(|| monitor.begin()).transpose();
        let (begun, refused) = match begun {
            Ok(begun) => (begun, None),
            Err(error) => (None, Some(error)),
        };
        let recorder = begun.inspect(|recorder| {
            let places = places(plan.limits());
            let users = match plan.load() {
                Load::Open { .. } | Load::PartlyOpen { .. } => None,
                Load::Closed { users, think } => {
                    Some(Users::new(*users, *think, plan.layout().clone()))
                }
            };
            for starter in starters.drain(..) {
                // A shard that has died meanwhile says so when it is joined.
                let _ = starter.send(Go {
                    recorder: recorder.clone(),
                    places: places.clone(),
                    users: users.clone(),
                });
            }
        });
        // Without a start, shards that wait for one end.
        drop(starters);
        let mut stats = Vec::with_capacity(shards);
        let mut failure = refused;
        for thread in threads {
            match thread.join().unwrap_or(Err(DriveError::Died)) {
                Ok(shard) => stats.extend(shard),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match (failure, recorder) {
            (Some(error), _) => Err(error),
            (None, Some(recorder)) => Ok((recorder, stats)),
            (None, None) => Err(DriveError::StoppedInSetUp),
        }
    })?;
    let ends: Vec<_> = stats.iter().map(Ends::of).collect();
    let generator = Generator::on_threads(&stats);
    Ok(assemble(monitor, &recorder, generator, &ends, before))
}

/// One shard, on its thread; `None` if it was never told to begin.
fn run_shard<F, Fut, W, E>(
    monitor: &Monitor,
    of: ShardOf,
    factory: &F,
    ready: mpsc::Sender<()>,
    go: oneshot::Receiver<Go>,
) -> Result<Option<PumpStats>, DriveError>
where
    F: Fn(ShardOf) -> Fut,
    Fut: Future<Output = Result<W, E>>,
    W: Work,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())
        .map_err(|source| DriveError::Thread {
            shard: of.index,
            source,
        })?;
    let result = runtime.block_on(async {
        let work = tokio::select! {
            biased;
            () = monitor.stop.stopped() => return Ok(None),
            work = factory(of) => work.map_err(|error| DriveError::SetUp {
                shard: of.index,
                source: error.into(),
            })?,
        };
        // Fails only when the coordinator has given up; then there is no start either.
        let _ = ready.send(());
        drop(ready);
        match go.await {
            Ok(go) => drive_shard(monitor, of, work, go).await.map(Some),
            Err(_) => Ok(None),
        }
    });
    // Drops what outlived the drain: each such arrival counts as abandoned.
    runtime.shutdown_background();
    result
}

async fn drive_shard<W: Work>(
    monitor: &Monitor,
    of: ShardOf,
    work: W,
    go: Go,
) -> Result<PumpStats, DriveError> {
    let (plan, stop) = (&*monitor.plan, &monitor.stop);
    let shared = Shared::new(work, go.recorder.clone(), plan.limits(), go.places);
    // A session stays on its shard.
    let mut successors = Successors::of(plan, &go.recorder);
    let mut stats = match (plan.load(), go.users) {
        (
            Load::Open {
                schedule,
                precision,
                ..
            }
            | Load::PartlyOpen {
                schedule,
                precision,
                ..
            },
            _,
        ) => {
            let share = schedule.clone().shard(of.index as u64, of.count as u64)?;
            let succession = successors.as_ref().map(Successors::succession);
            let pump = Pump {
                shared: &shared,
                stop,
                cpu: Cpu::of_thread,
                successors: successors.as_mut(),
            };
            match succession {
                None => {
                    let launch = |due| launch(&shared, due, ());
                    pump.run(share, *precision, launch).await?
                }
                Some(of) => {
                    let launch = |due: Due| launch(&shared, due, of.begin(due.ticket));
                    pump.run(share, *precision, launch).await?
                }
            }
        }
        (Load::Closed { .. }, users) => {
            let cpu = Cpu::of_thread();
            for users in users.iter() {
                for index in users.of_shard(of.index, of.count) {
                    let alive = Alive::new(&shared);
                    tokio::task::spawn_local(users.clone().run(alive, index, stop.clone()));
                }
            }
            users_stats(&shared, plan, stop, cpu, Cpu::of_thread).await
        }
    };
    stats.aborted = drain(&shared, stop, plan.limits().drain).await;
    stats.sessions = successors.map(|successors| successors.settle(&shared, stop));
    Ok(stats)
}

/// Takes up a released arrival in a task of its own, unless it is shed.
fn launch<W: Work, T: Then>(shared: &Arc<Shared<W>>, due: Due, then: T) {
    if let Some((arrival, admission)) = shared.admit(due) {
        let alive = Alive::new(shared);
        tokio::task::spawn_local(async move {
            let sample = alive.shared().serve(arrival, admission).await;
            then.ended(&sample);
        });
    }
}
