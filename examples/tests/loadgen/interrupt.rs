//! Ctrl-C, and the signal of a scheduler that ends a job.

use crate::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes: only a defect meets it.
const LIMIT: Duration = Duration::from_secs(60);

/// Looks again and again until something is so.
#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < LIMIT,
            "it did not happen within {LIMIT:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ctrl_c(child: &Child) {
    let id = i32::try_from(child.id()).unwrap();
    // It may have ended meanwhile.
    let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::INT);
}

fn terminate(child: &Child) {
    let id = i32::try_from(child.id()).unwrap();
    let _ = kill_process(Pid::from_raw(id).unwrap(), Signal::TERM);
}

fn start(url: &str, flags: &str) -> Child {
    let mut command = command(url, flags);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn the_first_stops_sending_drains_and_writes_every_file_marked_so() {
    let server = server().start().unwrap();
    let file = Scratch::new();
    let flags = format!(
        "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 300s --cooldown 0s --json {}",
        file.path()
    );
    let child = start(&server.url("/delay/100ms"), &flags);
    until(|| server.served() > 20);
    ctrl_c(&child);
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 130);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    assert_balances(&report);
    assert_eq!(report["interrupted"], true);
    assert_eq!(report["planned"], 30_000);
    let arrivals = &report["arrivals"];
    // What was on its way was waited for, and no more was sent than the server saw.
    assert_eq!(
        (&arrivals["abandoned"], &arrivals["ok"]),
        (&0.into(), &server.served().into())
    );
    assert!(arrivals["scheduled"].as_u64().unwrap() < 30_000);
    assert!(stdout(&output).contains("response"), "{}", stdout(&output));
}

#[test]
fn the_second_ends_the_drain() {
    let server = server().start().unwrap();
    let flags =
        "--rate 50 --ramp-up 0s --warm-up 0s --steady 300s --cooldown 0s --drain 300s --json -";
    let mut child = start(&server.url("/never"), flags);
    until(|| server.in_flight() > 5);
    // Two at once may reach the program as one.
    until(|| {
        ctrl_c(&child);
        child.try_wait().unwrap().is_some()
    });
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 130);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["interrupted"], true);
    assert!(report["arrivals"]["abandoned"].as_u64() > Some(5));
}

#[test]
fn a_scheduler_that_ends_the_job_gets_the_report_as_well() {
    let server = server().start().unwrap();
    let flags = "--rate 100 --ramp-up 0s --warm-up 0s --steady 300s --cooldown 0s --json -";
    let child = start(&server.url("/"), flags);
    until(|| server.served() > 20);
    terminate(&child);
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 130);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["interrupted"], true);
}

/// 45 000 000 000 arrivals: nobody waits for their end, or for them to be counted.
#[test]
fn a_rehearsal_says_how_far_it_is_and_writes_what_it_has() {
    let file = Scratch::new();
    let flags = format!("--rate 1e9 --rehearse --json {}", file.path());
    let mut child = start("http://127.0.0.1:9/", &flags);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines.find(|line| line.as_ref().unwrap().contains("rehearsed "));
    assert!(told.unwrap().unwrap().contains(" of 45.0s"));
    ctrl_c(&child);
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 130);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    assert_balances(&report);
    assert_eq!(
        (&report["interrupted"], &report["planned"]),
        (&true.into(), &Value::Null)
    );
    assert!(report["arrivals"]["scheduled"].as_u64() > Some(100_000));
}
