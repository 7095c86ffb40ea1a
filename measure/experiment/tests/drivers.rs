//! The books balance whatever happens: under random limits, panics, cancellations and stops, on either driver.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_experiment::drive::DriveError;
use openloop_experiment::{
    InFlight, Lifecycle, OnFailure, Plan, Run, Step, TimeoutFrom, Work, drive, labelled,
};
use openloop_measurer::{Counts, Describe, Kind, Verdict};
use openloop_sched::{Precision, Rate, Ticket};
use openloop_workload::sessions::Sessions;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy, Debug)]
struct Said(Verdict);

impl Describe for Said {
    fn verdict(&self) -> Verdict {
        self.0
    }
}

fn hash(seed: u64, seq: u64) -> u64 {
    let mut x = seed.wrapping_add(seq.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^ (x >> 27)
}

/// Which kind request `seq` is of; `Err` for one that no plan names.
fn kind(seed: u64, seq: u64) -> Result<Option<Kind>, Kind> {
    match hash(!seed, seq) % 29 {
        0..=4 => Ok(None),
        x @ 5..=19 => Ok(Some(Kind::new(x as usize % KINDS.len()))),
        x @ 20..=25 => Ok(Some(Kind::new(x as usize % 2))),
        x => Err(Kind::new(KINDS.len() + x as usize)),
    }
}

/// The same as a user's code might have it, which panics where it does not know.
fn kind_or_panic(seed: u64, seq: u64) -> Option<Kind> {
    match kind(seed, seq) {
        Ok(kind) => kind,
        Err(unknown) if seq.is_multiple_of(2) => Some(unknown),
        Err(_) => panic!("meant, in the choice of a kind"),
    }
}

const KINDS: [&str; 3] = ["read", "write", "report"];

/// What request `seq` does: a pure function of both numbers.
async fn work(seed: u64, seq: u64) -> Said {
    let x = hash(seed, seq);
    let wait = || tokio::time::sleep(Duration::from_millis(x % 13));
    match x % 17 {
        0 => panic!("meant, at once"),
        1 => {
            tokio::task::yield_now().await;
            panic!("meant, later")
        }
        2 => std::future::pending().await,
        3 => return Said(Verdict::Failed("refused")),
        4 => return Said(Verdict::Rejected("busy")),
        5 => return Said(Verdict::TimedOut),
        6..=9 => wait().await,
        10 => tokio::task::yield_now().await,
        _ => {}
    }
    Said(Verdict::Ok)
}

fn labelled_work(
    seed: u64,
) -> impl Work<Output = Said, Future: Send, Classify: Send + Sync> + Send + Sync {
    labelled(
        move |ticket: Ticket| work(seed, ticket.seq),
        move |ticket: Ticket| kind_or_panic(seed, ticket.seq),
    )
}

fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.to_string().contains("meant") {
                loud(info);
            }
        }));
    });
}

#[derive(Clone, Copy, Debug)]
struct Case {
    seed: u64,
    rate: f64,
    in_flight: InFlight,
    timeout: Option<(u64, TimeoutFrom)>,
    drain_ms: u64,
    precision: Precision,
    stop_after_ms: Option<u64>,
    abort: bool,
    /// Mean steps, mean think time in milliseconds, and what follows a failure.
    sessions: Option<(u32, u32, OnFailure)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let in_flight = prop_oneof![
        Just(InFlight::Unlimited),
        (1_usize..40).prop_map(InFlight::Queue),
        (1_usize..40).prop_map(InFlight::Shed),
    ];
    let from = prop_oneof![Just(TimeoutFrom::Intended), Just(TimeoutFrom::Dispatched)];
    let precision = prop_oneof![
        Just(Precision::Coarse),
        Just(Precision::Timer),
        Just(Precision::SPIN)
    ];
    (
        any::<u64>(),
        500.0..20_000.0,
        in_flight,
        prop::option::of((1_u64..20, from)),
        0_u64..20,
        precision,
        prop::option::of(0_u64..60),
        any::<bool>(),
        prop::option::of((
            1_u32..12,
            0_u32..9,
            prop_oneof![Just(OnFailure::End), Just(OnFailure::Continue)],
        )),
    )
        .prop_map(
            |(
                seed,
                rate,
                in_flight,
                timeout,
                drain_ms,
                precision,
                stop_after_ms,
                abort,
                sessions,
            )| Case {
                seed,
                rate,
                in_flight,
                timeout,
                drain_ms,
                precision,
                stop_after_ms,
                abort,
                sessions,
            },
        )
}

fn plan(case: Case) -> Plan {
    let mut plan = Plan::open(Rate::per_second(case.rate).unwrap())
        .lifecycle(Lifecycle {
            ramp_up: Duration::from_millis(10),
            cooldown: Duration::from_millis(10),
            ..Lifecycle::steady_only(Duration::from_millis(60))
        })
        .in_flight(case.in_flight)
        .drain(Duration::from_millis(case.drain_ms))
        .precision(case.precision)
        .kinds(KINDS)
        .seed(case.seed);
    if let Some((ms, from)) = case.timeout {
        plan = plan.timeout(Duration::from_millis(ms)).timeout_from(from);
    }
    if let Some((steps, think_ms, on_failure)) = case.sessions {
        let steps = format!("exponential:{steps}").parse().unwrap();
        let think = match think_ms {
            0 => "fixed:0".parse().unwrap(),
            ms => format!("exponential:{}", f64::from(ms) / 1e3)
                .parse()
                .unwrap(),
        };
        plan = plan
            .sessions(Sessions::new(steps, think).unwrap())
            .on_failure(on_failure);
    }
    plan.build().unwrap()
}

/// `None` if it was stopped before it began.
async fn finish(drive: drive::Drive, case: Case) -> Option<Run> {
    let (stop, monitor) = (drive.stop_handle(), drive.monitor());
    let watcher = tokio::spawn(async move {
        if let Some(ms) = case.stop_after_ms {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            if case.abort {
                stop.abort()
            } else {
                stop.stop()
            }
        }
        // The identity at a glance in mid-run, on another task.
        if let Some(live) = monitor.live() {
            assert!(live.counts.balances(), "{:?}", live.counts);
        }
    });
    let run = drive.await;
    watcher.await.unwrap();
    match run {
        Err(DriveError::StoppedInSetUp) if case.stop_after_ms.is_some() => None,
        run => Some(run.unwrap()),
    }
}

/// Every arrival is in the books of its own kind, whatever became of it.
fn balanced_by_kind(run: &Run, seed: u64) {
    let snapshot = run.snapshot();
    let (total, kinds) = (snapshot.counts(), run.plan().kinds());
    let of: Vec<Option<Kind>> = std::iter::once(None)
        .chain(kinds.iter().map(|(kind, _)| Some(kind)))
        .collect();
    let counts: Vec<Counts> = of
        .iter()
        .map(|kind| snapshot.of_kind(*kind).counts())
        .collect();
    let read = |of: fn(&Counts) -> u64| (counts.iter().map(of).sum::<u64>(), of(&total));
    for (sum, total) in [
        read(|c| c.scheduled),
        read(|c| c.ok),
        read(|c| c.failed),
        read(|c| c.timed_out),
        read(|c| c.rejected),
        read(|c| c.shed),
        read(|c| c.abandoned),
        read(|c| c.unsent),
    ] {
        assert_eq!(sum, total);
    }
    for (kind, counts) in of.iter().zip(&counts) {
        assert!(counts.balances(), "{kind:?}: {counts:?}");
        assert_eq!((counts.waiting, counts.in_flight), (0, 0));
    }
    // Shards that are stopped have each sent a part of the schedule of its own, and requests of sessions are not
    // numbered one after the other.
    if run.interrupted().is_none() && run.sessions().is_none() {
        let expected = |wanted: Result<Option<Kind>, ()>| {
            let all = (0..total.scheduled).map(|seq| kind(seed, seq).map_err(|_| ()));
            all.filter(|kind| *kind == wanted).count() as u64
        };
        assert_eq!(snapshot.unknown_kinds(), expected(Err(())));
        assert_eq!(counts[0].scheduled, expected(Ok(None)) + expected(Err(())));
        for (kind, counts) in of.iter().zip(&counts).skip(1) {
            assert_eq!(counts.scheduled, expected(Ok(*kind)));
        }
    }
}

fn balanced(run: &Run, case: Case) {
    balanced_by_kind(run, case.seed);
    let counts = run.snapshot().counts();
    assert!(counts.balances(), "{counts:?}");
    assert_eq!((counts.waiting, counts.in_flight), (0, 0), "{counts:?}");
    assert!(run.snapshot().obeys_littles_law());
    if let Some(sessions) = run.sessions() {
        assert_eq!(sessions.steps + counts.unsent, counts.scheduled);
        let ended = sessions.finished + sessions.ended_early;
        assert_eq!(ended + sessions.unfinished(), sessions.started);
        if let Some((_, _, OnFailure::Continue)) = case.sessions {
            assert_eq!(sessions.ended_early, 0);
        }
    }
    if run.interrupted().is_none() {
        let planned = run.plan().preview().unwrap().total;
        if case.sessions.is_none() {
            assert_eq!(counts.scheduled, planned);
        } else {
            assert!(counts.scheduled >= planned);
        }
        let name = "fired_as_scheduled";
        let check = run.validity().checks().iter().find(|c| c.name == name);
        assert!(check.unwrap().pass, "{check:?}");
    } else {
        assert!(case.stop_after_ms.is_some());
    }
    if !matches!(case.in_flight, InFlight::Shed(_)) {
        assert_eq!(counts.shed, 0);
    }
    let phases: u64 = run
        .snapshot()
        .phases()
        .iter()
        .map(|(_, c)| c.scheduled)
        .sum();
    assert_eq!(phases, counts.scheduled);
    let steady = run.snapshot().steady();
    assert_eq!(
        steady.response().count(),
        run.snapshot().steady_counts().scheduled
    );
}

fn runtime(threads: usize) -> Runtime {
    let mut builder = match threads {
        0 => Builder::new_current_thread(),
        threads => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads);
            builder
        }
    };
    builder.enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn on_the_current_runtime(case in cases(), threads in 0_usize..4) {
        quiet();
        let run = runtime(threads).block_on(async {
            finish(drive::shared(&plan(case), labelled_work(case.seed)), case).await
        });
        run.iter().for_each(|run| balanced(run, case));
    }

    #[test]
    fn on_threads_of_its_own(case in cases(), shards in 1_usize..4) {
        quiet();
        let run = runtime(0).block_on(async {
            let factory = move |_| async move {
                Ok::<_, std::convert::Infallible>(labelled_work(case.seed))
            };
            finish(drive::sharded(&plan(case), shards, factory), case).await
        });
        run.iter().for_each(|run| balanced(run, case));
    }

    #[test]
    fn sessions_ask_the_same_whatever_the_driver(seed in any::<u64>(), shards in 1_usize..4) {
        // All sessions come in the first 50 ms, and have time to end.
        let sessions = Sessions::new(
            "exponential:4".parse().unwrap(),
            "exponential:0.002".parse().unwrap(),
        );
        let sessions = sessions.unwrap();
        let plan = Plan::profile("1000/50ms,0/60s".parse().unwrap())
            .sessions(sessions.clone())
            .seed(seed)
            .build()
            .unwrap();
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let work = {
            let seen = seen.clone();
            move |ticket: Ticket| {
                assert!(seen.lock().unwrap().insert(ticket.seq));
                async {}
            }
        };
        let of_shards = work.clone();
        let on_shards = runtime(0).block_on(async {
            let factory = move |_| {
                let work = of_shards.clone();
                async move { Ok::<_, std::convert::Infallible>(work) }
            };
            drive::sharded(&plan, shards, factory).await.unwrap()
        });
        let on_shards = (on_shards.sessions().copied(), std::mem::take(&mut *seen.lock().unwrap()));
        let shared = runtime(2).block_on(async { drive::shared(&plan, work).await.unwrap() });
        prop_assert_eq!(on_shards.0, shared.sessions().copied());
        prop_assert_eq!(&on_shards.1, &*seen.lock().unwrap());
        let expected: BTreeSet<u64> = (0..plan.preview().unwrap().total)
            .flat_map(|session| (0..sessions.steps(seed, session)).map(move |step| (session, step)))
            .map(|(session, step)| Step::new(session, step).unwrap().seq())
            .collect();
        prop_assert_eq!(on_shards.1, expected);
    }

    #[test]
    fn of_users_in_a_closed_loop(seed in any::<u64>(), users in 1_usize..20, shards in 0_usize..3) {
        quiet();
        let plan = Plan::closed(users)
            .think(Duration::from_millis(seed % 3))
            .lifecycle(Lifecycle {
                ramp_up: Duration::from_millis(10),
                cooldown: Duration::from_millis(10),
                ..Lifecycle::steady_only(Duration::from_millis(30))
            })
            .kinds(KINDS)
            .timeout(Duration::from_millis(20))
            .drain(Duration::from_millis(20))
            .build()
            .unwrap();
        // A panic ends its user; the others go on.
        let run = runtime(1).block_on(async {
            match shards {
                0 => drive::shared(&plan, labelled_work(seed)).await,
                shards => {
                    let factory = move |_| async move {
                        Ok::<_, std::convert::Infallible>(labelled_work(seed))
                    };
                    drive::sharded(&plan, shards, factory).await
                }
            }
        });
        let run = run.unwrap();
        let counts = run.snapshot().counts();
        prop_assert!(counts.balances() && counts.scheduled > 0, "{:?}", counts);
        prop_assert_eq!((counts.waiting, counts.in_flight), (0, 0));
        prop_assert!(run.snapshot().obeys_littles_law());
        balanced_by_kind(&run, seed);
    }
}
