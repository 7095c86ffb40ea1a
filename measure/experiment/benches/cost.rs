//! What the harness costs: `cargo bench -p openloop-experiment --bench cost [-- ARRIVALS]`.
//!
//! Per arrival of a future that does nothing: schedule, release, task, measurement and record, flat out. Then what
//! `Measured` adds to a future, in clock reads of the same run; rates that are held, and how late; and memory per arrival
//! in flight.

// A program that prints.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use openloop_experiment::{Lifecycle, Metric, Plan, drive};
use openloop_measurer::{Layout, Quantile, Recorder};
use openloop_sched::{Arrivals, Due, Offset, Profile, Rate, Schedule, Ticket};
use openloop_workload::sessions::Sessions;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const ROUNDS: usize = 5;

fn main() {
    let arrivals: u32 = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(1_000_000);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{arrivals} arrivals, best and median of {ROUNDS} rounds, load average {}",
        load.trim()
    );

    println!("\nper no-op arrival, ns                      best   median");
    report("schedule alone (Poisson)", || {
        per_arrival(arrivals, || {
            black_box(schedule(arrivals).map(|ticket| ticket.seq).max());
        })
    });
    report("bare tokio::spawn, current thread", || {
        bare_spawn(&current(), arrivals)
    });
    report("bare tokio::spawn, two workers", || {
        bare_spawn(&workers(), arrivals)
    });
    report("drive::shared, current thread", || {
        shared(&current(), arrivals)
    });
    report("drive::shared, two workers", || {
        shared(&workers(), arrivals)
    });
    report("drive::shared, current, 10 a session", || {
        in_sessions(&current(), arrivals)
    });
    report("drive::sharded(1)", || sharded(arrivals, 1));
    report("drive::sharded(2)", || sharded(arrivals, 2));

    println!("\nper measured future, ns                    best   median");
    let clock = report("one clock read", || clock_read(arrivals));
    let bare = report("a bare future", || bare_future(&current(), arrivals));
    let measured = report("the same future, measured", || {
        measured_future(&current(), arrivals)
    });
    println!(
        "`Measured` adds {:.0} ns: {:.1} clock reads",
        measured - bare,
        (measured - bare) / clock
    );

    println!(
        "\nno-op arrivals for {HELD:?} on two threads\n{:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>6}",
        "asked/s", "sent/s", "unsent", "p50 us", "p99 us", "max us", "busy"
    );
    for per_second in [50_000, 100_000, 200_000, 400_000] {
        held(per_second);
    }

    println!();
    for in_flight in [100_000, 1_000_000] {
        let each = in_flight_bytes(in_flight);
        println!("{each} B per arrival in flight ({in_flight} pending no-op futures)");
    }
}

/// For how long a rate is held.
const HELD: Duration = Duration::from_secs(5);

/// Prints what was sent of a rate over both cores, and its lag.
fn held(per_second: u32) {
    let plan = Plan::open(Rate::per_second(f64::from(per_second)).unwrap())
        .lifecycle(Lifecycle::steady_only(HELD))
        .arrivals(Arrivals::Poisson)
        .build()
        .unwrap();
    let run = current().block_on(async {
        drive::sharded(&plan, 2, |_| async {
            Ok::<_, Infallible>(|_: Ticket| async {})
        })
        .await
    });
    let run = run.unwrap();
    let (counts, generator) = (run.snapshot().counts(), run.generator());
    let lag = run.series(&Metric::Lag);
    let us = |q| {
        lag.quantile(q)
            .map_or(f64::NAN, |lag| lag.ns() as f64 / 1e3)
    };
    println!(
        "{per_second:>9} {:>9.0} {:>7} {:>9.1} {:>9.1} {:>9.0} {:>5.0} %",
        (counts.scheduled - counts.unsent) as f64 / generator.sending.as_secs_f64(),
        counts.unsent,
        us(Quantile::P50),
        us(Quantile::P99),
        generator.max_lag.as_secs_f64() * 1e6,
        generator.busy().unwrap_or(f64::NAN) * 100.0,
    );
}

/// Prints a row of the best and the median of some rounds, and returns the best.
fn report(name: &str, mut round: impl FnMut() -> f64) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:<38} {:>8.0} {:>8.0}", rounds[0], rounds[ROUNDS / 2]);
    rounds[0]
}

fn per_arrival(arrivals: u32, run: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    run();
    begun.elapsed().as_nanos() as f64 / f64::from(arrivals)
}

fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn workers() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// All arrivals in the first millisecond: from then on the harness runs flat out.
fn schedule(arrivals: u32) -> Schedule {
    let rate = Rate::per_second(f64::from(arrivals) * 1000.0).unwrap();
    Schedule::new(
        Profile::hold(rate, Duration::from_millis(1)).unwrap(),
        Arrivals::Poisson,
        1,
    )
}

fn plan(arrivals: u32) -> Plan {
    Plan::open(Rate::per_second(f64::from(arrivals) * 1000.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_millis(1)))
        .arrivals(Arrivals::Poisson)
        .build()
        .unwrap()
}

/// From the start of sending to the last end, by the run's own counts: making the report is not part of it.
fn per_ended(run: &openloop_experiment::Run) -> f64 {
    let ended = run.snapshot().counts().ok;
    run.generator().sending.as_nanos() as f64 / ended as f64
}

fn shared(runtime: &Runtime, arrivals: u32) -> f64 {
    let plan = plan(arrivals);
    let run = runtime.block_on(async {
        tokio::spawn(async move { drive::shared(&plan, |_: Ticket| async {}).await }).await
    });
    per_ended(&run.unwrap().unwrap())
}

/// Sessions of ten requests, all in the first millisecond; their users do not think.
fn in_sessions(runtime: &Runtime, arrivals: u32) -> f64 {
    let sessions = Sessions::new("fixed:10".parse().unwrap(), "fixed:0".parse().unwrap());
    let profile = format!("{}/1ms,0/60s", u64::from(arrivals) * 100);
    let plan = Plan::profile(profile.parse().unwrap())
        .sessions(sessions.unwrap())
        .build()
        .unwrap();
    let run = runtime.block_on(async {
        tokio::spawn(async move { drive::shared(&plan, |_: Ticket| async {}).await }).await
    });
    per_ended(&run.unwrap().unwrap())
}

fn sharded(arrivals: u32, shards: usize) -> f64 {
    let plan = plan(arrivals);
    let run = current().block_on(async {
        drive::sharded(&plan, shards, |_| async {
            Ok::<_, Infallible>(|_: Ticket| async {})
        })
        .await
    });
    per_ended(&run.unwrap())
}

fn bare_spawn(runtime: &Runtime, arrivals: u32) -> f64 {
    per_arrival(arrivals, || {
        runtime.block_on(async {
            let spawner = async move {
                for i in 0..arrivals {
                    tokio::spawn(async {});
                    if i % 32 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
            };
            tokio::spawn(spawner).await.unwrap();
        });
    })
}

fn clock_read(times: u32) -> f64 {
    per_arrival(times, || {
        for _ in 0..times {
            black_box(tokio::time::Instant::now());
        }
    })
}

async fn nothing(x: u32) {
    black_box(x);
}

fn bare_future(runtime: &Runtime, times: u32) -> f64 {
    runtime.block_on(async {
        let begun = Instant::now();
        for i in 0..times {
            nothing(black_box(i)).await;
        }
        begun.elapsed().as_nanos() as f64 / f64::from(times)
    })
}

fn measured_future(runtime: &Runtime, times: u32) -> f64 {
    let layout = Layout::steady_only(Duration::from_secs(60)).unwrap();
    runtime.block_on(async {
        let recorder = Recorder::new(tokio::time::Instant::now(), layout);
        let begun = Instant::now();
        for i in 0..times {
            let due = Due {
                ticket: Ticket {
                    seq: u64::from(i),
                    intended: Offset::from_nanos(u64::from(i) * 500),
                },
                fired: Offset::from_nanos(u64::from(i) * 500),
            };
            recorder.arrive(due).measure(nothing(black_box(i))).await;
        }
        begun.elapsed().as_nanos() as f64 / f64::from(times)
    })
}

fn in_flight_bytes(in_flight: u32) -> u64 {
    let resident = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok())
            .unwrap_or(0)
    };
    let length = Duration::from_secs_f64(f64::from(in_flight) / 200_000.0);
    let plan = Plan::open(Rate::per_second(200_000.0).unwrap())
        .lifecycle(Lifecycle::steady_only(length))
        .build()
        .unwrap();
    let before = resident();
    let peak = current().block_on(async {
        let run = drive::shared(&plan, |_: Ticket| std::future::pending::<()>());
        let monitor = run.monitor();
        let stop = run.stop_handle();
        let watch = tokio::spawn(async move {
            // Until all are in flight, however long the machine takes.
            let most = u64::from(in_flight) * 99 / 100;
            loop {
                tokio::task::yield_now().await;
                if let Some(live) = monitor.live()
                    && live.counts.in_flight >= most
                {
                    let peak = resident();
                    stop.abort();
                    return (peak, live.counts.in_flight);
                }
            }
        });
        let _ = run.await;
        watch.await.unwrap()
    });
    (peak.0 - before) * 1024 / peak.1
}
