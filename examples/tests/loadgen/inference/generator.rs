//! What the generator itself may be late.

use super::*;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;

/// How long loadgen stands still at a time, and then runs: less than what is little of an answer of 440 ms (2 %), and more
/// than what is little of its first token.
const STILL: Duration = Duration::from_millis(6);

/// Runs loadgen in jerks, as on a core that others have as well.
fn load_in_jerks(server: &LlmServer, flags: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["inference", &server.url(), "--model", "testbed"])
        .args(flags.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = Pid::from_child(&child);
    // What it writes in the end is more than a pipe holds.
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut out, &mut text).map(|_| text)
    });
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        for signal in [Signal::STOP, Signal::CONT] {
            kill_process(id, signal).unwrap();
            std::thread::sleep(STILL);
        }
    };
    Output {
        status,
        stdout: reader.join().unwrap().unwrap(),
        stderr: Vec::new(),
    }
}

/// The figures are no finding about the server, and nothing else says so: everything was sent, and answers took as long as
/// they do.
#[test]
fn a_generator_that_is_late_for_first_tokens_is_blamed_though_it_is_in_time_for_whole_answers() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(50),
        gap: Duration::from_millis(10),
    })
    .start()
    .unwrap();
    let flags = "--rate 100 --arrivals constant --input-tokens fixed:8 --output-tokens fixed:40 --ramp-up 0s --warm-up 0s \
                 --steady 3s --cooldown 0s --waive generator_busy --waive cpu_wait --waive steal --waive throttled --json -";
    let output = load_in_jerks(&server, flags);
    assert_status(&output, 3);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 300);
    let checks = report["validity"]["checks"].as_array().unwrap();
    for name in ["outbound_error", "inbound_error"] {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["pass"], false, "{check}");
        let why = check["why"].as_str().unwrap();
        assert!(why.contains(" of ttft, "), "{why}");
    }
}
