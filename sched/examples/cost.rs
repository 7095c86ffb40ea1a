//! What a ticket costs, by process and profile, and a preview of ten million.
//!
//! `cargo run --release -p openloop-sched --example cost`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use openloop_sched::{Arrivals, Bursts, Offset, Profile, Rate, Schedule};

fn main() -> Result<(), Box<dyn Error>> {
    let rate = Rate::per_second(100_000.0)?;
    let time = Duration::from_secs(30);
    let bursts = Bursts {
        on: time / 300,
        off: time / 100,
        factor: 3.0,
    };
    let profiles = [
        ("hold", Profile::hold(rate, time)?),
        (
            "ramp",
            Profile::ramp(Rate::ZERO, Rate::per_second(200_000.0)?, time)?,
        ),
        (
            "sine",
            Profile::sine(rate, rate, Duration::from_secs(5), time)?,
        ),
        ("bursts", Profile::hold(rate, time)?.bursts(bursts, 1)?),
    ];
    println!(
        "{:<8} {:<12} {:>10} {:>12} {:>18}",
        "profile", "process", "arrivals", "ns/ticket", "ns/ticket, 1 of 8"
    );
    for (name, profile) in profiles {
        for arrivals in [
            Arrivals::Constant,
            Arrivals::Poisson,
            Arrivals::gamma(0.5)?,
            Arrivals::gamma(2.0)?,
        ] {
            let schedule = Schedule::new(profile.clone(), arrivals, 1);
            let (count, cost) = cost(&schedule);
            let (eighth, shard) = self::cost(&schedule.shard(3, 8)?);
            println!(
                "{name:<8} {:<12} {count:>10} {cost:>12.1} {:>18.1}",
                arrivals.to_string(),
                shard * eighth as f64 / count as f64
            );
        }
    }
    let schedule = Schedule::new(
        Profile::hold(rate, Duration::from_secs(100))?,
        Arrivals::Poisson,
        1,
    );
    let quarter = schedule.end().as_nanos() / 4;
    let edge = |k| Offset::from_nanos(k * quarter);
    let began = Instant::now();
    let preview = schedule.preview(&[
        ("ramp_up", edge(0), edge(1)),
        ("warm_up", edge(1), edge(2)),
        ("steady", edge(2), edge(3)),
        ("cooldown", edge(3), edge(4)),
    ]);
    println!(
        "preview of {} arrivals in 4 phases: {:?}",
        preview.total,
        began.elapsed()
    );
    Ok(())
}

/// Arrivals and nanoseconds for each.
fn cost(schedule: &Schedule) -> (u64, f64) {
    let schedule = schedule.clone();
    let began = Instant::now();
    let mut count = 0;
    for ticket in schedule {
        std::hint::black_box(ticket);
        count += 1;
    }
    (count, began.elapsed().as_nanos() as f64 / count as f64)
}
