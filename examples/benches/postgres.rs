//! How fast, and how truly, is PostgreSQL loaded? `cargo bench -p openloop-examples --bench postgres`
//!
//! Against a server of its own: select-only beside pgbench, one query at a time and four in a pipeline, in alternation;
//! the lag at half of that rate; a table lock of three seconds beside what a FIFO queue gives; and a pool that is
//! exhausted beside a simulation of it, directly and through PgBouncer.
//!
//! `-- --steady 20s --rounds 3`

#![allow(clippy::print_stdout)]

mod support;

use std::collections::VecDeque;
use std::process::Command;
use std::time::Duration;

use openloop_testbed::{PgBouncer, Postgres};
use serde_json::Value;
use support::Result;
use support::program;
use support::ratio::{Ratio, by_turns};
use support::statistics::median;

const SCALE: u64 = 10;
const CONNECTIONS: &str = "8";
const GOALS: [Goal; 2] = [
    Goal {
        depth: 1,
        rate: 0.9,
        aim: 0.95,
        most_cpu: Some(1.0),
    },
    Goal {
        depth: 4,
        rate: 0.65,
        aim: 0.85,
        most_cpu: None,
    },
];
const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = {key}";

/// What is asked beside pgbench, with so many queries in a pipeline.
struct Goal {
    depth: usize,
    /// Of its rate what must hold.
    rate: f64,
    /// And what is aimed at.
    aim: f64,
    /// Of its CPU for a query, where that must hold.
    most_cpu: Option<f64>,
}

fn main() -> Result<()> {
    let flags = [("--steady", "20s"), ("--rounds", "3")];
    let Some(flags) = support::begin("PostgreSQL", &flags)? else {
        return Ok(());
    };
    let length = flags.duration("--steady")?;
    let server = support::on_the_servers_core(Postgres::start)?;
    let scale = SCALE.to_string();
    pgbench(&server, &["-i", "-q", "-s", &scale])?;
    let mut broken = Vec::new();
    let rounds = flags.count("--rounds")?;
    let rate = beside_pgbench(&server, length, rounds, &mut broken)?;
    lag(&server, length, rate / 2.0, &mut broken)?;
    triangle(&server, &mut broken)?;
    exhaustion(&server, length, &mut broken)?;
    support::end(&broken)
}

fn pgbench(server: &Postgres, arguments: &[&str]) -> Result<program::Finished> {
    let mut pgbench = Command::new(server.program("pgbench"));
    pgbench.args(arguments).arg(server.dsn());
    program::run(&mut pgbench)
}

/// Queries per second, and seconds of CPU per million.
type Figures = (f64, f64);

fn beside_pgbench(
    server: &Postgres,
    length: Duration,
    rounds: u64,
    broken: &mut Vec<String>,
) -> Result<f64> {
    let script = std::env::temp_dir().join(format!("openloop-pipeline-{}.sql", std::process::id()));
    std::fs::write(&script, pipeline_script())?;
    let script_name = script.display().to_string();
    let mut one_at_a_time = 0.0;
    for goal in GOALS {
        let Goal {
            depth,
            rate: least,
            aim,
            most_cpu,
        } = goal;
        let (mut ours, mut theirs): (Vec<Figures>, Vec<Figures>) = Default::default();
        for round in 1..=rounds {
            let (by_loadgen, by_pgbench) = by_turns(
                round,
                || by_loadgen(server, length, depth),
                || match depth {
                    1 => by_pgbench(server, length, &["-S"], 1.0),
                    _ => by_pgbench(server, length, &["-f", &script_name], 4.0),
                },
            )?;
            ours.push(by_loadgen);
            theirs.push(by_pgbench);
        }
        let of = |figures: &[Figures], part: fn(&Figures) -> f64| median(figures.iter().map(part));
        let rate = Ratio::of(&ours, &theirs, |figures| figures.0);
        let cpu = Ratio::of(&ours, &theirs, |figures| figures.1);
        println!(
            "depth {depth}: loadgen {:.0}/s, {:.1} CPU s/M; pgbench {:.0}/s, {:.1} CPU s/M; load {}\n  {rate} of its rate (goal \
             {least}, aim {aim}), {cpu} of its CPU{}",
            of(&ours, |f| f.0),
            of(&ours, |f| f.1),
            of(&theirs, |f| f.0),
            of(&theirs, |f| f.1),
            support::load_average(),
            most_cpu.map_or(String::new(), |most| format!(" (goal at most {most})")),
        );
        if rate.median < least {
            broken.push(format!(
                "depth {depth}: {rate} of pgbench's rate, and {least} must hold"
            ));
        }
        if let Some(most) = most_cpu
            && cpu.median > most
        {
            broken.push(format!(
                "depth {depth}: {cpu} of pgbench's CPU, and at most {most} must hold"
            ));
        }
        if depth == 1 {
            one_at_a_time = of(&ours, |f| f.0);
        }
    }
    std::fs::remove_file(&script)?;
    println!();
    Ok(one_at_a_time)
}

fn by_loadgen(server: &Postgres, length: Duration, depth: usize) -> Result<Figures> {
    let users = (8 * depth).to_string();
    let (depth, keys) = (depth.to_string(), format!("uniform:{}", 100_000 * SCALE));
    let flags = [
        "--query",
        SELECT,
        "--keys",
        &keys,
        "--connections",
        CONNECTIONS,
        "--pipeline",
        &depth,
        "--closed",
        &users,
    ];
    let (finished, report) = program::loadgen_of("postgres", &server.dsn(), length, &flags)?;
    let ok = number(&report["arrivals"]["ok"])?;
    let rate = number(&report["achieved_rate"])?;
    Ok((rate, finished.cpu.as_secs_f64() * 1e6 / ok))
}

fn by_pgbench(server: &Postgres, length: Duration, what: &[&str], each: f64) -> Result<Figures> {
    let seconds = length.as_secs().max(1).to_string();
    let mut arguments = vec![
        "-n",
        "-M",
        "prepared",
        "-c",
        CONNECTIONS,
        "-j",
        "1",
        "-T",
        &seconds,
    ];
    arguments.extend(what);
    let finished = pgbench(server, &arguments)?;
    let line = |name: &str| {
        let found = finished
            .output
            .lines()
            .find_map(|line| line.strip_prefix(name));
        let number = found.and_then(|rest| {
            rest.split_whitespace()
                .next()?
                .split('/')
                .next()?
                .parse::<f64>()
                .ok()
        });
        number.ok_or_else(|| format!("pgbench gave no figures: {}", finished.output))
    };
    let rate = line("tps = ")? * each;
    let queries = line("number of transactions actually processed:")? * each;
    Ok((rate, finished.cpu.as_secs_f64() * 1e6 / queries))
}

fn pipeline_script() -> String {
    let set: String = (1..=4)
        .map(|n| format!("\\set a{n} random(1, {})\n", 100_000 * SCALE))
        .collect();
    let ask: String = (1..=4)
        .map(|n| format!("SELECT abalance FROM pgbench_accounts WHERE aid = :a{n};\n"))
        .collect();
    format!("{set}\\startpipeline\n{ask}\\endpipeline\n")
}

fn lag(server: &Postgres, length: Duration, rate: f64, broken: &mut Vec<String>) -> Result<()> {
    let (rate, keys) = (format!("{rate:.0}"), format!("uniform:{}", 100_000 * SCALE));
    let flags = [
        "--query",
        SELECT,
        "--keys",
        &keys,
        "--connections",
        CONNECTIONS,
        "--rate",
        &rate,
    ];
    let (_, report) = program::loadgen_of("postgres", &server.dsn(), length, &flags)?;
    let p99 = number(&report["latency"]["lag"]["p99_ns"])? / 1e6;
    println!("open loop at half of it, {rate}/s: lag p99 {p99:.3} ms (goal 1 ms)\n");
    if p99 > 1.0 {
        broken.push(format!("lag p99 {p99:.3} ms, and 1 ms must hold"));
    }
    Ok(())
}

/// A lock for 3 of 4 s at 500/s: everybody who came meanwhile has waited for its end, and then for those before.
fn triangle(server: &Postgres, broken: &mut Vec<String>) -> Result<()> {
    const LOCKED: &str = "SELECT one FROM locked";
    const RATE: f64 = 500.0;
    const SECONDS: f64 = 4.0;
    let length = Duration::from_secs_f64(SECONDS);
    server.sql("CREATE TABLE locked AS SELECT 1 AS one")?;
    let holder = std::thread::scope(|scope| {
        let holder = scope.spawn(|| -> std::io::Result<f64> {
            let asked = format!("SELECT count(*) FROM pg_stat_activity WHERE query = '{LOCKED}'");
            while server.sql(&asked)? == "0" {}
            // From the lock's begin to just before its end, by the server's own clock.
            let held = server.sql(
                "BEGIN; SELECT pg_sleep(0.4); LOCK TABLE locked IN ACCESS EXCLUSIVE MODE;
                 CREATE TEMP TABLE began AS SELECT clock_timestamp() AS at; SELECT pg_sleep(3);
                 SELECT 'held ' || extract(epoch FROM clock_timestamp() - at) FROM began; COMMIT",
            )?;
            let held = held
                .lines()
                .find_map(|line| line.trim().strip_prefix("held "));
            Ok(held.and_then(|held| held.parse().ok()).unwrap_or(f64::NAN))
        });
        let flags = [
            "--query",
            LOCKED,
            "--connections",
            CONNECTIONS,
            "--rate",
            "500",
            "--arrivals",
            "constant",
        ];
        let run = program::loadgen_of("postgres", &server.dsn(), length, &flags);
        let held = holder.join().map_err(|_| "the holder of the lock died")??;
        Ok::<_, Box<dyn std::error::Error>>((run?.1, held))
    });
    let (report, held) = holder?;
    // What waited is served as fast as the server can: how fast that is, the same query says, asked again right after.
    let flat_out = [
        "--query",
        LOCKED,
        "--connections",
        CONNECTIONS,
        "--closed",
        CONNECTIONS,
    ];
    let (_, served) = program::loadgen_of("postgres", &server.dsn(), length, &flat_out)?;
    let drain_rate = number(&served["achieved_rate"])?;
    // By hand: the arrivals of a lock from 0.5 s on, served in turn after it.
    let (mut free, mut waits) = (0.0_f64, Vec::new());
    for arrival in 0..(RATE * SECONDS) as u32 {
        let at = f64::from(arrival) / RATE;
        let mut start = at.max(free);
        if (0.5..0.5 + held).contains(&start) {
            start = 0.5 + held;
        }
        free = start + 1.0 / drain_rate;
        waits.push(free - at);
    }
    waits.sort_by(f64::total_cmp);
    let by_hand = |rank: usize| waits[rank - 1];
    println!("a lock of {held:.3} s at 500/s for 4 s, by hand with {drain_rate:.0}/s after it:");
    for (name, rank) in [("p50", 1000), ("p99", 1980), ("max", 2000)] {
        let measured = number(&report["latency"]["response"][format!("{name}_ns")])? / 1e9;
        let off = measured / by_hand(rank) - 1.0;
        println!(
            "  {name} {measured:.4} s, by hand {:.4} s: {:+.2} % (goal 2 %)",
            by_hand(rank),
            100.0 * off
        );
        if off.abs() > 0.02 {
            broken.push(format!("the lock's {name} is {:+.2} % off", 100.0 * off));
        }
    }
    let naive = number(&report["latency"]["exchange"]["p99_ns"])? / 1e9;
    println!("  a tool that times only the exchange would have said p99 {naive:.4} s\n");
    Ok(())
}

/// 32 connections, 32 in line, 1000/s: of 50 ms, of 25 to 75 ms, and of 5 ms.
///
/// Constant service never mixes: the connections come free in the same pattern every 50 ms, and each pause of the host
/// moves them together for good. So the mean wait of 50 ms has bounds instead of a value: departures that stay as the
/// first arrivals spread them, and departures that all come at once. Service that varies forgets such pauses.
fn exhaustion(server: &Postgres, length: Duration, broken: &mut Vec<String>) -> Result<()> {
    let bouncer = support::on_the_servers_core(|| PgBouncer::start(server, 32))?;
    for (name, dsn) in [
        ("directly", server.dsn()),
        ("through PgBouncer", bouncer.dsn()),
    ] {
        for (nap, spread) in [
            ("0.05", 0.0),
            ("0.025 + 0.05 * random()", 0.05),
            ("0.005", 0.0),
        ] {
            let query = format!("SELECT pg_sleep({nap})");
            let flags = [
                "--query",
                &query,
                "--connections",
                "32",
                "--line",
                "32",
                "--rate",
                "1000",
            ];
            let (_, report) = program::loadgen_of("postgres", &dsn, length, &flags)?;
            let count = |name: &str| number(&report["arrivals"][name]);
            let loss = 1.0 - count("ok")? / count("scheduled")?;
            let mean = |name: &str| {
                Ok::<_, Box<dyn std::error::Error>>(
                    number(&report["metrics"][name]["mean_ns"])? / 1e9,
                )
            };
            let (service, acquire) = (mean("first_row")? + mean("all_rows")?, mean("acquire")?);
            let expected = (1.0 - 32.0 / (1000.0 * service)).max(0.0);
            let apart = mean_wait(1000.0, (service, spread), 32, 32);
            let together = if spread == 0.0 {
                apart.min(service - 0.5 * 33.0 / 1000.0).max(0.0)
            } else {
                apart
            };
            println!(
                "pool of 32 and 32 in line {name}, pg_sleep({nap}): mean service {:.2} ms; loss {:.2} %, 1 \u{2212} c/(\u{3bb}S) {:.2} % \
                 (goal 1 point); mean acquire {:.2} ms, by simulation {:.2} to {:.2} ms (goal 2 ms)",
                1e3 * service,
                100.0 * loss,
                100.0 * expected,
                1e3 * acquire,
                1e3 * together,
                1e3 * apart
            );
            if (loss - expected).abs() > 0.01
                || !(together - 0.002..=apart + 0.002).contains(&acquire)
            {
                broken.push(format!("the pool {name} with {nap} s is off"));
            }
        }
    }
    Ok(())
}

/// The mean wait of those who are served, by simulation: Poisson arrivals, service of a mean and, around it, a width over
/// which it is uniform, c servers, K in line.
fn mean_wait(rate: f64, service: (f64, f64), servers: usize, line: usize) -> f64 {
    let (mean, width) = service;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    // When each server comes free, and when those who wait will start: first come, first served.
    let mut free = vec![0.0_f64; servers];
    let mut starts: VecDeque<f64> = VecDeque::new();
    let (mut now, mut waited, mut served) = (0.0, 0.0, 0u32);
    for _ in 0..400_000 {
        now += -uniform().ln() / rate;
        while starts.front().is_some_and(|at| *at <= now) {
            starts.pop_front();
        }
        if starts.len() >= line {
            continue;
        }
        let Some(next) = free.iter_mut().min_by(|a, b| a.total_cmp(b)) else {
            break;
        };
        let start = now.max(*next);
        *next = start + mean + width * (uniform() - 0.5);
        if start > now {
            starts.push_back(start);
        }
        waited += start - now;
        served += 1;
    }
    waited / f64::from(served)
}

fn number(value: &Value) -> Result<f64> {
    value
        .as_f64()
        .ok_or_else(|| format!("{value} is no number").into())
}
