//! Faults that are made for real, of the target and of this machine: every arrival is accounted for, under its own name.
//!
//! What would take the machine down with it happens in a namespace of its own: the test runs again in there, see [`alone`].

use crate::*;
use std::net::TcpStream;
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
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many arrivals had this outcome and class.
fn class(report: &Value, outcome: &str, class: &str) -> u64 {
    report["outcomes"][outcome][class].as_u64().unwrap_or(0)
}

fn count(report: &Value, outcome: &str) -> u64 {
    report["arrivals"][outcome].as_u64().unwrap()
}

#[test]
fn what_a_target_does_to_a_request_is_counted_by_its_name_to_the_last_arrival() {
    let server = server().start().unwrap();
    for (path, outcome, named) in [
        ("/reset", "failed", "reset"),
        ("/reset-mid-body", "failed", "reset"),
        ("/close", "failed", "closed"),
        ("/bad-status-line", "failed", "malformed"),
        ("/bad-chunk", "failed", "malformed"),
        ("/status/500", "failed", "http_500"),
        ("/status/503", "rejected", "http_503"),
    ] {
        let flags = format!("--rate 100 --arrivals constant {SECOND} {BUSY} --json -");
        let output = loadgen(&server.url(path), &flags);
        let report = report(&output);
        assert_balances(&report);
        assert_eq!(count(&report, outcome), 100, "{path}: {report:.300}");
        assert_eq!(class(&report, outcome, named), 100, "{path}");
    }
}

#[test]
fn an_answer_that_trickles_is_waited_for_or_given_up_at_the_limit() {
    let server = server().start().unwrap();
    let trickled = |limit: &str| {
        let flags = format!(
            "--rate 50 --arrivals constant {SECOND} {BUSY} --connections per-in-flight {limit} --json -"
        );
        let report = report(&loadgen(&server.url("/slow/300ms"), &flags));
        assert_balances(&report);
        report
    };
    let waited = trickled("");
    assert_eq!(count(&waited, "ok"), 50);
    // The last byte counts, not the first.
    let least = waited["latency"]["response"]["min_ns"].as_u64().unwrap();
    assert!(least >= 290_000_000, "{least}");
    let given_up = trickled("--timeout 100ms");
    assert_eq!(count(&given_up, "timed_out"), 50);
}

#[test]
fn a_target_that_is_killed_and_comes_back_costs_what_was_meant_for_it_and_no_more() {
    let mut first = server().start().unwrap();
    let port = first.addr().port();
    let flags = "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 4s --cooldown 0s \
                 --connections 4 --timeout 2s --json -";
    let child = command(&first.url("/"), &format!("{flags} {BUSY}"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until(|| first.served() > 50);
    first.shutdown();
    // Nothing listens for so long that some meet it: half a second of the schedule is 50.
    let gone = Instant::now();
    until(|| gone.elapsed() > Duration::from_millis(500));
    let second = server().port(port).start().unwrap();
    let output = child.wait_with_output().unwrap();
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 400);
    assert!(
        class(&report, "failed", "connect_refused") > 0,
        "{report:.300}"
    );
    let known = ["connect_refused", "closed", "reset"].map(|name| class(&report, "failed", name));
    assert_eq!(known.iter().sum::<u64>(), count(&report, "failed"));
    let lost = count(&report, "timed_out") + count(&report, "failed");
    assert_eq!(count(&report, "ok") + lost, 400);
    // What was served and then lost on its way back is no success.
    let served = (first.served() + second.served()) as u64;
    assert!(second.served() > 0 && served >= count(&report, "ok"));
}

#[test]
fn a_host_that_answers_no_connect_costs_each_request_its_limit() {
    let server = server().backlog(0).start().unwrap();
    let flags = "--rate 20 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s \
                 --connect-per-request --timeout 500ms --json -";
    let child = command(&server.url("/"), &format!("{flags} {BUSY}"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until(|| server.served() > 5);
    // One waits in the kernel; from then on a SYN gets no answer.
    server.set_accepting(false);
    let report = report(&child.wait_with_output().unwrap());
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 40);
    assert!(count(&report, "timed_out") > 0, "{report:.300}");
    assert_eq!(count(&report, "ok") + count(&report, "timed_out"), 40);
}

#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
#[track_caller]
fn alone(name: &str, prepare: &str) -> bool {
    const INSIDE: &str = "OPENLOOP_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let script = format!(
        "set -e; ip link set lo up; {prepare}\nexec \"$0\" --exact faults::{name} --nocapture"
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
#[cfg(target_os = "linux")]
const FEW_PORTS: &str = "echo 40000 40019 > /proc/sys/net/ipv4/ip_local_port_range";

#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
const A_NAME: &str = "hosts=$(mktemp); echo 127.0.0.1 service.test > $hosts; \
                      mount --bind $hosts /etc/hosts; rm $hosts";

#[cfg(target_os = "linux")]
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
    let child = command(&url, &format!("{flags} {BUSY}"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
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

#[cfg(target_os = "linux")]
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
    let child = command(&server.url("/"), &format!("{flags} {BUSY}"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
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

/// The table names tests that are there: one that is renamed takes its row with it.
#[test]
fn every_test_that_the_table_of_faults_names_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = std::fs::read_to_string(root.join("examples/FAULTS.md")).unwrap();
    let mut tests = String::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_source = !name.to_string_lossy().starts_with('.') && name != "target";
            if path.is_dir() && is_source {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                tests.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.contains("---"));
    let mut named = 0;
    for row in rows.filter(|row| !row.starts_with("| Fault ")) {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let names: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            assert!(tests.contains(&format!("fn {name}(")), "{name}: {row}");
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}

/// A clock that can be set without setting that of the machine: the program reads the time of day through libfaketime, and
/// the monotonic clock as it is.
#[cfg(target_os = "linux")]
pub(crate) struct WallClock(Scratch);

#[cfg(target_os = "linux")]
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

#[cfg(target_os = "linux")]
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
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
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

#[cfg(target_os = "linux")]
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
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
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
