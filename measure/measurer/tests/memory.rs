//! What a long run takes: an hour of arrivals, as fast as they can be written down.
//!
//! A program of its own: nothing beside it takes memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use openloop_measurer::{Layout, Outcome, Phase, Recorder, Sample};
use openloop_sched::{Offset, Ticket};
use std::time::Duration;
use tokio::time::Instant;

const RAMP_UP: u64 = 5;
const HOUR: u64 = 3600;
const PER_SECOND: u64 = 5000;
const SECOND: u64 = 1_000_000_000;

/// By the page tables: `VmRSS` is off by some pages for each processor.
fn resident_bytes() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = maps.lines().find_map(|line| line.strip_prefix("Rss:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    kib.unwrap().parse::<u64>().unwrap() * 1024
}

/// The same for the same number.
fn uniform(seq: u64) -> f64 {
    let mut x = seq.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// In nanoseconds: around 2 ms. From the second minute on the machine has more to do and they are more various, and in a
/// second of nearly each minute all take longer, up to 12 times as long.
fn took(seq: u64) -> u64 {
    let exponential = -uniform(seq).ln();
    let second = (seq / PER_SECOND).saturating_sub(RAMP_UP);
    let (shape, slower) = match second {
        ..60 => (1.0, 1),
        _ if second.is_multiple_of(60) => (1.25, (second / 60 % 7 * 2).max(1)),
        _ => (1.25, 1),
    };
    (2e6 * exponential.powf(shape) * slower as f64) as u64
}

#[test]
fn an_hour_takes_what_its_first_minute_has_taken() {
    let secs = Duration::from_secs;
    let phases = [(Phase::RampUp, secs(RAMP_UP)), (Phase::Steady, secs(HOUR))];
    let layout = Layout::new(&phases).unwrap();
    let recorder = Recorder::new(Instant::now(), layout);
    let mut after_a_minute = 0;
    let mut arrivals = 0;
    for seq in 0..(RAMP_UP + HOUR) * PER_SECOND {
        let second = seq / PER_SECOND;
        if second < RAMP_UP && seq % (RAMP_UP + 1 - second) > 0 {
            continue;
        }
        arrivals += 1;
        let at = seq * SECOND / PER_SECOND;
        let late = took(seq) / 1000;
        let [fired, ended] = [at + late, at + late + took(seq)].map(Offset::from_nanos);
        let ticket = Ticket {
            seq,
            intended: Offset::from_nanos(at),
        };
        let mut sample = Sample::new(ticket, fired, fired, ended, Outcome::Ok);
        sample.received = Some(ended);
        recorder.write(sample);
        if seq == (RAMP_UP + 60) * PER_SECOND {
            after_a_minute = resident_bytes();
        }
    }
    let at_the_end = resident_bytes();
    let growth = at_the_end.saturating_sub(after_a_minute);
    let share = growth as f64 / after_a_minute as f64;
    println!(
        "{after_a_minute} B after a minute, {at_the_end} B after an hour: {:.1} % more",
        share * 100.0
    );
    assert!(share <= 0.05, "{growth} B more");
    assert_eq!(recorder.counts().ok, arrivals);
    // Nothing is left out for it: every second is there.
    let seconds = recorder.snapshot().timeline();
    let whole = seconds
        .iter()
        .filter(|second| second.arrivals == PER_SECOND);
    assert_eq!(whole.count() as u64, HOUR);
}
