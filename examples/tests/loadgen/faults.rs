//! Faults that are made for real, of the target and, in [`machine`], of this machine: every arrival is accounted for,
//! under its own name.

#[cfg(target_os = "linux")]
pub(crate) mod machine;

use crate::*;
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

/// Starts it, to be waited for with what it says.
fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
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
    let child = start(command(&first.url("/"), &format!("{flags} {BUSY}")));
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
fn a_target_that_does_not_come_back_has_status_4_and_the_report_says_since_when() {
    for (slo, status) in [("", 4), ("--slo p99<=10s,errors<=1%", 1)] {
        let mut server = server().start().unwrap();
        let file = Scratch::new();
        let flags = format!(
            "--rate 100 --arrivals constant --ramp-up 0s --warm-up 0s --steady 3s --cooldown 0s \
             --connections 4 --timeout 2s {BUSY} {slo} --json {}",
            file.path()
        );
        let child = start(command(&server.url("/"), &flags));
        until(|| server.served() > 50);
        server.shutdown();
        let output = child.wait_with_output().unwrap();
        assert_status(&output, status);
        let report: Value = serde_json::from_str(&file.read()).unwrap();
        assert_balances(&report);
        assert_eq!(count(&report, "scheduled"), 300);
        assert!(class(&report, "failed", "connect_refused") > 0);
        assert_eq!(report["health"]["check"], false);
        let words: Vec<String> = [
            stdout(&output),
            stdout(&run(&format!("report {}", file.path()))),
        ]
        .iter()
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
        for said in words {
            assert!(said.contains("nothing was served after"), "{said}");
        }
        // Read again, it has not passed either.
        assert_status(&run(&format!("report {}", file.path())), status);
    }
}

#[test]
fn a_connection_that_closes_behind_an_answer_costs_no_arrival() {
    for path in ["/close-after", "/connection-close", "/http10"] {
        let server = server().start().unwrap();
        let flags =
            format!("--rate 100 --arrivals constant {SECOND} {BUSY} --connections 4 --json -");
        let report = report(&loadgen(&server.url(path), &flags));
        assert_balances(&report);
        assert_eq!(count(&report, "ok"), 100, "{path}: {report:.300}");
        assert!(server.accepted() >= 100, "{path}: {}", server.accepted());
    }
}

#[test]
fn a_host_that_answers_no_connect_costs_each_request_its_limit() {
    let server = server().backlog(0).start().unwrap();
    let flags = "--rate 20 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s \
                 --connect-per-request --timeout 500ms --json -";
    let child = start(command(&server.url("/"), &format!("{flags} {BUSY}")));
    until(|| server.served() > 5);
    // One waits in the kernel; from then on a SYN gets no answer.
    server.set_accepting(false);
    let report = report(&child.wait_with_output().unwrap());
    assert_balances(&report);
    assert_eq!(count(&report, "scheduled"), 40);
    assert!(count(&report, "timed_out") > 0, "{report:.300}");
    assert_eq!(count(&report, "ok") + count(&report, "timed_out"), 40);
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
