//! Diagnoses of simulated services whose model is known.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::diagnosis::{Diagnosis, Model, SYSTEMS, Tail};
use openloop_experiment::simulate::{Batcher, Pauses, Served, Simulated, Station};
use openloop_experiment::sweep::Sweep;
use openloop_measurer::Outcome;
use openloop_sched::{Offset, Ticket};
use openloop_workload::Values;
use simulated::{base, floor, full, per_second, station, sweep};
use std::time::Duration;

const SHARES: [f64; 10] = [0.04, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.2];

/// Of a service that serves `highest` per second at the most; about 100 000 requests at that rate in full.
fn diagnose<S: Simulated + Clone>(seed: u64, highest: f64, service: &S) -> Diagnosis {
    let requests = if full() { 300_000.0 } else { 30_000.0 };
    let base = base((requests / highest).ceil() as u64).seed(seed);
    let sweeper = Sweep::fractions(per_second(highest), SHARES).floor(floor(&base, service));
    sweep(&sweeper, &base, service).diagnose()
}

/// One of several, by the seed.
fn pick<T: Copy>(seed: u64, salt: u64, of: &[T]) -> T {
    of[(seed * 7 + salt * 3 + seed / 3) as usize % of.len()]
}

const LAWS: [&str; 5] = [
    "exponential:MEAN",
    "lognormal:mean=MEAN,cv=0.5",
    "lognormal:mean=MEAN,cv=1.5",
    "fixed:MEAN",
    "gamma:mean=MEAN,cv=0.7",
];

fn law(seed: u64, mean: f64) -> String {
    pick(seed, 1, &LAWS).replace("MEAN", &mean.to_string())
}

fn of(model: usize, seed: u64) -> Diagnosis {
    let mean = pick(seed, 2, &[0.001, 0.003, 0.010]);
    let service = law(seed, mean);
    match model {
        0 => diagnose(seed, 1.0 / mean, &station(1, &service)),
        1 => {
            let servers = pick(seed, 3, &[2, 3, 4, 8, 16, 32]);
            diagnose(seed, f64::from(servers) / mean, &station(servers, &service))
        }
        2 => {
            let servers = pick(seed, 3, &[1, 4, 8, 32]);
            let places = pick(seed, 4, &[2, 10, 40]);
            let pool = station(servers, &service).waiting(places);
            diagnose(seed, f64::from(servers) / mean, &pool)
        }
        3 => {
            let most = pick(seed, 3, &[8, 16, 32]);
            let each = pick(seed, 4, &[0.0, 0.02, 0.05]) * mean;
            let set_up = mean - each;
            let parse = |mean: f64| format!("fixed:{mean}").parse().unwrap();
            let batcher = Batcher::new(most, parse(set_up), parse(each)).unwrap();
            let highest = f64::from(most) / (set_up + f64::from(most) * each);
            diagnose(seed, highest, &batcher)
        }
        _ => {
            let servers = pick(seed, 3, &[1, 4]);
            // Every so many services, for so many.
            let (every, length) = pick(seed, 4, &[(500.0, 25.0), (1000.0, 30.0), (300.0, 15.0)]);
            let time = |services: f64| Duration::from_secs_f64(services * mean);
            let pauses = Pauses {
                every: time(every),
                length: time(length),
            };
            let service = station(servers, &service).pauses(pauses).unwrap();
            diagnose(seed, f64::from(servers) / mean, &service)
        }
    }
}

/// 5 models at 20 seeds in full, of which at most 5 may be taken for another; at 3 seeds else, and at most one.
#[test]
fn services_are_taken_for_what_they_are() {
    let names = [
        "single_worker",
        "workers",
        "bounded_pool",
        "batching",
        "pauses",
    ];
    let (seeds, most) = if full() { (20, 5) } else { (3, 0) };
    let (mut wrong, mut unsure) = (Vec::new(), 0);
    for (model, name) in names.iter().enumerate() {
        for seed in 1..=seeds {
            let diagnosis = of(model, seed);
            match diagnosis.model.name() {
                "unsure" => {
                    unsure += 1;
                    println!("{name}, seed {seed}: {diagnosis}");
                }
                found if found == *name => {}
                _ => wrong.push(format!("{name}, seed {seed}: {diagnosis}")),
            }
        }
    }
    println!(
        "{} wrong and {unsure} unsure of {}\n{}",
        wrong.len(),
        names.len() as u64 * seeds,
        wrong.join("\n")
    );
    assert!(wrong.len() <= most, "{}", wrong.join("\n"));
    // Unsure is free, but no answer to everything.
    assert!(unsure <= names.len() as u64 * seeds / 4, "{unsure} unsure");
}

#[test]
fn sizes_are_told_as_well() {
    let pool = of(2, 2);
    let Model::BoundedPool { servers, places } = pool.model else {
        panic!("{pool}");
    };
    let truth = (pick(2, 3, &[1, 4, 8, 32]), pick(2, 4, &[2, 10, 40]) as u32);
    assert!(servers.abs_diff(truth.0) <= 1, "{truth:?} {pool}");
    assert!(
        places.abs_diff(truth.1) <= truth.1 / 3 + 2,
        "{truth:?} {pool}"
    );

    let pauses = Pauses {
        every: Duration::from_secs(2),
        length: Duration::from_millis(200),
    };
    let service = station(2, "exponential:0.005").pauses(pauses).unwrap();
    let base = base(100);
    let sweeper = Sweep::fractions(per_second(400.0), SHARES).floor(floor(&base, &service));
    let paused = sweep(&sweeper, &base, &service).diagnose();
    let Tail::Pauses { every, length } = paused.tail else {
        panic!("{paused}");
    };
    assert_eq!(paused.model, Model::Pauses);
    let near = |found: Duration, truth: Duration| {
        (0.8..1.3).contains(&(found.as_secs_f64() / truth.as_secs_f64()))
    };
    assert!(near(every, pauses.every), "{paused}");
    assert!(near(length, pauses.length), "{paused}");
}

/// A worker that has to be woken where it finds nobody waiting.
#[derive(Clone)]
struct Sleeper {
    service: Values,
    wake: Duration,
    seed: u64,
    free: Offset,
}

impl Simulated for Sleeper {
    fn begin(&mut self, seed: u64) {
        (self.seed, self.free) = (seed, Offset::ZERO);
    }

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        let wake = match self.free < at {
            true => self.wake,
            false => Duration::ZERO,
        };
        let service = Duration::from_secs_f64(self.service.value(self.seed, ticket.seq));
        self.free = self.free.max(at).saturating_add(wake + service);
        Served::at(self.free)
    }
}

/// At rest a request takes longer than at work, so that at its best it seems to do the work of more than one.
#[test]
fn a_worker_that_has_to_be_woken_is_a_single_worker_all_the_same() {
    for (law, wake) in [
        ("gamma:mean=0.002,cv=0.5", 0.4),
        ("fixed:0.002", 0.9),
        ("exponential:0.002", 0.6),
    ] {
        let sleeper = Sleeper {
            service: law.parse().unwrap(),
            wake: Duration::from_secs_f64(wake / 1e3),
            seed: 0,
            free: Offset::ZERO,
        };
        let diagnosis = diagnose(1, 500.0, &sleeper);
        assert_eq!(diagnosis.model, Model::SingleWorker, "{law}: {diagnosis}");
    }
}

/// A pool of connections on our side of the wire: who finds its line full has failed, and never reached the service.
#[derive(Clone)]
struct Pool(Station);

impl Simulated for Pool {
    fn begin(&mut self, seed: u64) {
        self.0.begin(seed);
    }

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        let served = self.0.serve(ticket, at);
        Served {
            outcome: match served.outcome {
                Outcome::Rejected(_) => Outcome::Failed("pool_full"),
                outcome => outcome,
            },
            ..served
        }
    }
}

/// 32 connections and 32 in line for one, 50 ms each, up to 1000/s: 36 % find the line full, and those who do not wait
/// for 43.5 ms in the mean, which is that of 28 of the 32 places.
#[test]
fn a_pool_of_our_own_is_seen_as_the_bounded_pool_that_it_is() {
    for law in [
        "fixed:0.05",
        "uniform:lo=0.025,hi=0.075",
        "exponential:0.05",
    ] {
        let pool = Pool(station(32, law).waiting(32));
        let base = base(20);
        let rates = [100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 1000.0].map(per_second);
        let sweeper = Sweep::rates(rates).floor(floor(&base, &pool));
        let diagnosis = sweep(&sweeper, &base, &pool).diagnose();
        let Model::BoundedPool { servers, places } = diagnosis.model else {
            panic!("{law}: {diagnosis}");
        };
        assert!(servers.abs_diff(32) <= 2, "{law}: {diagnosis}");
        assert!((24..=34).contains(&places), "{law}: {diagnosis}");
        let said = diagnosis.to_string();
        assert!(
            said.contains("the full line for a connection turned 3"),
            "{said}"
        );
    }
}

#[test]
fn every_model_that_has_systems_names_them() {
    assert_eq!(SYSTEMS.len(), 5);
    let with = |model: Model| {
        SYSTEMS
            .iter()
            .filter(|system| system.is_like(model))
            .count()
    };
    assert_eq!(with(Model::SingleWorker), 1);
    assert_eq!(with(Model::Workers { servers: 4 }), 2);
    assert_eq!(with(Model::Unsure), 0);
}
