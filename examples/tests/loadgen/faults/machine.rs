//! Faults of the generator and of its machine.
//!
//! What would take the machine down with it happens in a namespace of its own: the test runs again in there, see [`alone`].

use super::{class, count, start, until};
use crate::*;
use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn descriptors_that_run_out_in_the_run_are_named_with_their_limit() {
    let server = server().start().unwrap();
    let program = env!("CARGO_BIN_EXE_loadgen");
    let script = format!(
        "ulimit -n 60; exec {program} http {} --rate 100 --arrivals constant {SECOND} {BUSY} \
         --connections per-in-flight --timeout 5s --json -",
        server.url("/delay/2s")
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_status(&output, 3);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 100);
    let out_of = class(&report, "failed", "client_descriptors");
    assert!(out_of > 30, "{report:.300}");
    assert_eq!(count(&report, "ok") + out_of, 100);
    let checks = report["validity"]["checks"].as_array().unwrap();
    let why = checks.iter().find(|check| check["name"] == "resources");
    let why = why.unwrap()["why"].as_str().unwrap();
    assert!(
        why.contains("of 60 file descriptors") && why.contains("ulimit -n"),
        "{why}"
    );
    assert!(stderr(&output).contains("ulimit -n"), "{}", stderr(&output));
}

/// Runs the test of this name once more, with a network and mounts of its own, in which it is root; `prepare` is a script
/// that comes before. `false` for the one in there, which goes on.
#[track_caller]
fn alone(name: &str, prepare: &str) -> bool {
    const INSIDE: &str = "OPENLOOP_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let script = format!(
        "set -e; ip link set lo up; {prepare}\nexec \"$0\" --exact faults::machine::{name} --nocapture"
    );
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(INSIDE, "1")
        .output()
        .unwrap_or_else(|why| panic!("unshare: {why}: install util-linux"));
    let said = format!("{}\n{}", stdout(&output), stderr(&output));
    assert!(output.status.success(), "{said}");
    // A name that is none would pass without a test.
    assert!(said.contains("1 passed"), "{said}");
    true
}

/// Twenty local ports, and no more.
const FEW_PORTS: &str = "echo 40000 40019 > /proc/sys/net/ipv4/ip_local_port_range";

#[test]
fn too_few_ports_are_found_before_anything_is_sent() {
    if alone("too_few_ports_are_found_before_anything_is_sent", FEW_PORTS) {
        return;
    }
    let server = server().port(80).start().unwrap();
    let output = loadgen(
        &server.url("/"),
        &format!("--rate 100 {SECOND} --connect-per-request"),
    );
    assert_status(&output, 3);
    for part in ["local ports are needed", "20"] {
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    assert_eq!(server.served(), 0);
}

#[test]
fn ports_that_run_out_in_the_run_are_the_generators_fault() {
    if alone(
        "ports_that_run_out_in_the_run_are_the_generators_fault",
        FEW_PORTS,
    ) {
        return;
    }
    let server = server().port(80).start().unwrap();
    // Somebody else has all ports but one, which is not known before: one for each of two users would do.
    let others: Vec<_> = (0..19)
        .map(|_| TcpStream::connect(("127.0.0.1", 80)).unwrap())
        .collect();
    let flags = format!("--closed 2 --think 5ms --connect-per-request {SECOND} {BUSY} --json -");
    let output = loadgen(&server.url("/delay/20ms"), &flags);
    drop(others);
    assert_status(&output, 3);
    let report = report(&output);
    assert_balances(&report);
    let out_of = class(&report, "failed", "client_ports");
    assert!(out_of > 0, "{report:.300}");
    assert_eq!(count(&report, "failed"), out_of);
    assert_eq!(count(&report, "ok") + out_of, count(&report, "scheduled"));
    assert!(stderr(&output).contains("port left"), "{}", stderr(&output));
}

/// One name, in a file of hosts of its own.
const A_NAME: &str = "hosts=$(mktemp); echo 127.0.0.1 service.test > $hosts; \
                      mount --bind $hosts /etc/hosts; rm $hosts";

#[test]
fn a_name_that_is_lost_in_the_run_is_counted_as_dns() {
    if alone("a_name_that_is_lost_in_the_run_is_counted_as_dns", A_NAME) {
        return;
    }
    let server = server().start().unwrap();
    let url = format!("http://service.test:{}/", server.addr().port());
    let flags = format!("--rate 10 {SECOND} --quiet");
    let unknown = loadgen(&url.replace("service", "no-such"), &flags);
    assert_status(&unknown, 4);
    assert!(
        stderr(&unknown).contains("cannot be resolved"),
        "{unknown:?}"
    );
    assert_eq!(server.accepted(), 0);

    let flags = "--rate 50 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s \
                 --connect-per-request --timeout 10s --json -";
    let child = start(command(&url, &format!("{flags} {BUSY}")));
    until(|| server.served() > 20);
    std::fs::write("/etc/hosts", "").unwrap();
    let report = report(&child.wait_with_output().unwrap());
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 100);
    let lost = class(&report, "failed", "dns");
    assert!(lost > 0, "{report:.300}");
    assert_eq!(
        count(&report, "ok") + lost + count(&report, "timed_out"),
        100
    );
}

#[test]
fn a_connection_of_which_half_is_gone_times_out_and_new_ones_find_no_way() {
    if alone(
        "a_connection_of_which_half_is_gone_times_out_and_new_ones_find_no_way",
        "",
    ) {
        return;
    }
    let server = server().start().unwrap();
    let flags = "--rate 50 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s \
                 --connections 4 --timeout 300ms --json -";
    let child = start(command(&server.url("/"), &format!("{flags} {BUSY}")));
    until(|| server.served() > 20);
    // Nobody is told: packets are lost, both ends stay open.
    let down = Command::new("ip")
        .args(["link", "set", "lo", "down"])
        .status();
    assert!(down.unwrap().success());
    let report = report(&child.wait_with_output().unwrap());
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 100);
    assert!(count(&report, "timed_out") > 0, "{report:.300}");
    let known = ["unreachable", "connect_timeout"].map(|name| class(&report, "failed", name));
    let lost = count(&report, "timed_out") + known.iter().sum::<u64>();
    assert_eq!(count(&report, "ok") + lost, 100, "{report:.600}");
}

/// A folder on a disk of 8 KiB, and one that nobody can write to.
const DISKS: &str = "mount -t tmpfs -o size=8k tmpfs /mnt; mount -t tmpfs -o ro tmpfs /media";

#[test]
fn a_disk_that_is_full_costs_neither_the_other_files_nor_the_text() {
    if alone(
        "a_disk_that_is_full_costs_neither_the_other_files_nor_the_text",
        DISKS,
    ) {
        return;
    }
    let server = server().start().unwrap();
    let page = Scratch::new();
    let flags = format!(
        "--rate 20 --arrivals constant {SECOND} --quiet --json /mnt/run.json --html {}",
        page.path()
    );
    let output = loadgen(&server.url("/"), &flags);
    assert_status(&output, 3);
    let said = stderr(&output);
    assert!(
        said.contains("/mnt/run.json cannot be written") && said.contains("No space left"),
        "{said}"
    );
    assert!(stdout(&output).contains("response"), "{output:?}");
    let page = run(&format!("report {} --json -", page.path()));
    let report = report(&page);
    assert_balances(&report);
    assert_eq!((count(&report, "ok"), server.served()), (20, 20));
    // What there was room for is no report, and says why.
    let part = run("report /mnt/run.json");
    assert_status(&part, 2);
    assert!(stderr(&part).contains("/mnt/run.json"), "{part:?}");
}

#[test]
fn a_disk_that_nobody_can_write_to_is_found_before_anything_is_sent() {
    if alone(
        "a_disk_that_nobody_can_write_to_is_found_before_anything_is_sent",
        DISKS,
    ) {
        return;
    }
    let server = server().start().unwrap();
    for flag in ["--json", "--html", "--hlog", "--markdown"] {
        let flags = format!("--rate 20 {SECOND} {flag} /media/run");
        let output = loadgen(&server.url("/"), &flags);
        assert_status(&output, 2);
        assert!(stderr(&output).contains("/media/run"), "{output:?}");
    }
    assert_eq!((server.accepted(), server.served()), (0, 0));
}

#[test]
fn a_generator_that_is_stopped_for_a_while_blames_itself_and_loses_no_arrival() {
    let server = server().start().unwrap();
    let flags = "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 4s --cooldown 0s \
                 --connections 4 --json -";
    let child = start(command(&server.url("/"), flags));
    until(|| server.served() > 50);
    let process = Pid::from_child(&child);
    kill_process(process, Signal::STOP).unwrap();
    let stopped = Instant::now();
    until(|| stopped.elapsed() > Duration::from_secs(1));
    let stopped = stopped.elapsed();
    kill_process(process, Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 3);
    let report = report(&output);
    assert_balances(&report);
    // All that was due meanwhile was sent afterwards, and has waited.
    assert_eq!(
        (count(&report, "scheduled"), count(&report, "ok")),
        (400, 400)
    );
    let longest = report["latency"]["response"]["max_ns"].as_f64().unwrap() / 1e9;
    // The last before, and the first after, are not told apart by more than their distance.
    assert!(longest > stopped.as_secs_f64() - 0.02, "{longest}");
    let checks = report["validity"]["checks"].as_array().unwrap();
    let outbound = checks
        .iter()
        .find(|check| check["name"] == "outbound_error");
    assert_eq!(outbound.unwrap()["pass"], false);
}

/// A clock that can be set without setting that of the machine: the program reads the time of day through libfaketime, and
/// the monotonic clock as it is.
pub(crate) struct WallClock(Scratch);

impl WallClock {
    pub(crate) fn new() -> Self {
        let clock = WallClock(Scratch::new());
        clock.set("+0s");
        clock
    }

    /// Off from the machine's by so much.
    pub(crate) fn set(&self, off: &str) {
        // At once: a reader must not see half of it.
        let new = format!("{}.new", self.0.path());
        std::fs::write(&new, off).unwrap();
        std::fs::rename(new, self.0.path()).unwrap();
    }

    pub(crate) fn read_by(&self, command: &mut Command) {
        let libraries = std::fs::read_dir("/usr/lib").unwrap().flatten();
        let library = libraries
            .map(|folder| folder.path().join("faketime/libfaketime.so.1"))
            .find(|library| library.exists())
            .unwrap_or_else(|| panic!("libfaketime is missing: `cargo testbed` installs it, as `apt-get install faketime`"));
        command.env("LD_PRELOAD", library);
        command.env("FAKETIME_TIMESTAMP_FILE", self.0.path());
        // How often it looks whether the clock has been set, in seconds.
        command.env("FAKETIME_CACHE_DURATION", "1");
        command.env("DONT_FAKE_MONOTONIC", "1");
    }
}

#[test]
fn a_clock_that_is_set_in_the_run_moves_no_latency_and_is_named() {
    let server = server().start().unwrap();
    for (off, way) in [("+3600s", 1), ("-3600s", -1)] {
        let clock = WallClock::new();
        let before = server.served();
        let flags = "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s --json -";
        let mut command = command(&server.url("/"), &format!("{flags} {BUSY}"));
        clock.read_by(&mut command);
        let began = jiff::Timestamp::now();
        let child = start(command);
        until(|| server.served() > before + 50);
        clock.set(off);
        let output = child.wait_with_output().unwrap();
        assert_status(&output, 0);
        let report = report(&output);
        assert_balances(&report);
        assert_eq!(count(&report, "ok"), 200);
        let longest = report["latency"]["response"]["max_ns"].as_u64().unwrap();
        assert!(longest < 60_000_000_000, "{longest}");
        let moved = report["environment"]["wall_clock_moved_ns"]
            .as_i64()
            .unwrap();
        let off = moved - way * 3_600_000_000_000;
        assert!(off.abs() < 100_000_000, "{moved}");
        let checks = report["validity"]["checks"].as_array().unwrap();
        let named = checks.iter().find(|check| check["name"] == "wall_clock");
        assert_eq!(named.unwrap()["pass"], false);
        // The beginning is by the clock as it was then.
        let started: jiff::Timestamp = report["started_at"].as_str().unwrap().parse().unwrap();
        let after = started.duration_since(began).as_secs_f64();
        assert!((-1.0..60.0).contains(&after), "{after}");
    }
}

#[test]
fn a_clock_that_is_set_between_the_agreement_and_the_start_moves_no_start_and_is_named() {
    let server = server().start().unwrap();
    let clock = WallClock::new();
    let ahead = Duration::from_secs(4);
    let at = jiff::Timestamp::try_from(std::time::SystemTime::now() + ahead).unwrap();
    let flags = format!(
        "--rate 100 --arrivals constant {SECOND} {BUSY} --connections 4 --start-at {at} --json -"
    );
    let mut command = command(&server.url("/"), &flags);
    clock.read_by(&mut command);
    let begun = Instant::now();
    let child = start(command);
    // Set up, and so waiting: the clock has been read, or will be read so late that the start is refused.
    until(|| server.accepted() == 4);
    until(|| begun.elapsed() > ahead / 2);
    assert_eq!(server.served(), 0);
    clock.set("+3600s");
    until(|| server.served() > 0);
    let waited = begun.elapsed();
    let output = child.wait_with_output().unwrap();
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(count(&report, "ok"), 100);
    // Neither at once, as it is by the new clock, nor an hour later: at the instant that was agreed on.
    assert!(waited > ahead - Duration::from_millis(100), "{waited:?}");
    let checks = report["validity"]["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["name"] == "wall_clock"));
}
