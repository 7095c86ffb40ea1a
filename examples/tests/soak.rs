//! Load that is held: what an hour takes, its first minute has taken. What is written down of an hour has a test of its own,
//! in `openloop-measurer`: there it takes seconds.
//!
//! 20 s by default, 5 minutes under `cargo testbed --full`, and as long as asked for under `cargo testbed --soak 1h`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use openloop_sched::parse_duration;
use openloop_testbed::HttpServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RATE: u32 = 5000;
/// Memory may be so much more, ever, than after the warm-up: in 10 s, about 20 bytes for each arrival, and less than one in
/// an hour.
const GROWTH: f64 = 0.05;
/// In flight at most.
const IN_FLIGHT: u32 = 500;
/// How long the server stalls: twice as long as it takes to fill what may be in flight.
const STALL: Duration = Duration::from_millis(200);
/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often that is told, where a run is so long.
const TOLD: Duration = Duration::from_secs(60);

/// What a process holds.
struct Held {
    resident_kib: f64,
    descriptors: usize,
}

impl Held {
    fn by(child: &Child) -> Self {
        let process = format!("/proc/{}", child.id());
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = line.and_then(|line| line.split_whitespace().next());
        Held {
            resident_kib: resident.unwrap().parse().unwrap(),
            descriptors: fs::read_dir(format!("{process}/fd")).unwrap().count(),
        }
    }
}

fn length() -> Duration {
    if let Ok(asked) = std::env::var("OPENLOOP_SOAK") {
        return parse_duration(&asked).unwrap();
    }
    match std::env::var_os("OPENLOOP_FULL") {
        Some(_) => Duration::from_secs(300),
        None => Duration::from_secs(20),
    }
}

#[test]
fn memory_and_descriptors_stay_what_they_were_after_the_warm_up() {
    let length = length();
    // In the first minute, or as much of a short run as that, memory is taken for all that is to come, most values of
    // latency have come once, and so has the most that is in flight: a burst that the machine makes later is no leak.
    let warm_up = (length / 2).min(Duration::from_secs(60));
    let server = HttpServer::builder().stall(warm_up / 2, STALL);
    let server = server.start().unwrap();
    let report = std::env::temp_dir().join(format!("openloop-soak-{}", std::process::id()));
    // A machine that is too slow sheds, and does not heap up requests.
    let flags = format!(
        "--rate {RATE} --ramp-up 0s --warm-up 0s --steady {}s --cooldown 0s --connections 50 --max-in-flight {IN_FLIGHT} \
         --on-limit shed --timeout 5s --quiet --json",
        length.as_secs()
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["http", &server.url("/")])
        .args(flags.split_whitespace())
        .arg(&report)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    while server.served() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended at once");
        sleep(LOOK);
    }
    let begun = Instant::now();
    let until = |at: Duration| sleep(at.saturating_sub(begun.elapsed()));
    until(warm_up);
    let warm = Held::by(&child);
    // The most at any time: what is given back now and then counts.
    let mut most = Held::by(&child);
    let mut told = begun.elapsed();
    while begun.elapsed() < length - 3 * LOOK {
        let now = Held::by(&child);
        if begun.elapsed() >= told + TOLD {
            told = begun.elapsed();
            println!(
                "{told:.0?}: {:.1} MB, {} descriptors",
                now.resident_kib / 1024.0,
                now.descriptors
            );
        }
        most.resident_kib = most.resident_kib.max(now.resident_kib);
        most.descriptors = most.descriptors.max(now.descriptors);
        sleep(LOOK);
    }
    // Should it hang, it ends all the same, and its books are read.
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > length * 2 + Duration::from_secs(60) {
            let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        }
        sleep(LOOK);
    }
    let status = child.wait().unwrap();
    let text = fs::read_to_string(&report).unwrap();
    let _ = fs::remove_file(&report);
    // 3: a busy machine may have made the generator late.
    assert!(matches!(status.code(), Some(0 | 3)), "{status}");
    let report: Value = serde_json::from_str(&text).unwrap();
    let arrivals = &report["arrivals"];
    let growth = most.resident_kib / warm.resident_kib - 1.0;
    println!(
        "{length:?} at {RATE}/s: {:.1} MB and {} descriptors after {warm_up:?}, at most {:.1} MB ({:+.1} %) and {} from then \
         on; {arrivals}, load {}",
        warm.resident_kib / 1024.0,
        warm.descriptors,
        most.resident_kib / 1024.0,
        growth * 100.0,
        most.descriptors,
        fs::read_to_string("/proc/loadavg").unwrap().trim(),
    );
    let ended: u64 = [
        "ok",
        "failed",
        "timed_out",
        "rejected",
        "shed",
        "abandoned",
        "unsent",
    ]
    .iter()
    .map(|outcome| arrivals[outcome].as_u64().unwrap())
    .sum();
    assert_eq!(arrivals["scheduled"], ended);
    assert_eq!(report["planned"], ended);
    assert_eq!(arrivals["failed"], 0);
    assert_ne!(
        arrivals["shed"], 0,
        "the stall did not fill what may be in flight"
    );
    assert!(growth <= GROWTH, "memory grew by {:.1} %", growth * 100.0);
    assert!(most.descriptors <= warm.descriptors, "descriptors leak");
}
