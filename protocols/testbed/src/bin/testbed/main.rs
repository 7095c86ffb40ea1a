//! The test command of the repository: `cargo testbed`, and `cargo testbed --full`.
//!
//! It installs what is missing, builds the workspace once, runs every test, and runs every example
//! briefly. `--full` adds what is long. Each step is timed; the last line says how many passed.
#![forbid(unsafe_code)]

mod cargo;
mod components;
mod examples;
#[path = "../../installed.rs"]
mod installed;
mod steps;

use std::process::ExitCode;
use std::time::Duration;

use steps::{Steps, say};

const USAGE: &str = "\
usage: cargo testbed [--full] [--soak TIME] [--list]

  --full   adds long property tests, repeated live runs, every example at full length, all
           combinations of features, and what other tools say of the scripted server
  --soak   holds 5000 requests a second for so long, such as 1h, and nothing else: memory and
           descriptors must stay what they were after the first minute
  --list   prints the components that the tests need, and whether they are there";

/// Longer than any test suite may take.
const TEST_LIMIT: Duration = Duration::from_secs(3600);
/// Longer than anyone holds a load.
const SOAK_LIMIT: Duration = Duration::from_secs(100 * 3600);

fn main() -> ExitCode {
    let (mut full, mut soak) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--full" => full = true,
            "--soak" => match arguments.next() {
                Some(time) => soak = Some(time),
                None => {
                    say(format_args!("testbed: for how long? --soak 1h\n\n{USAGE}"));
                    return ExitCode::from(2);
                }
            },
            "--list" => {
                components::list();
                return ExitCode::SUCCESS;
            }
            "--help" | "-h" => {
                say(format_args!("{USAGE}"));
                return ExitCode::SUCCESS;
            }
            unknown => {
                say(format_args!("testbed: unknown option {unknown}\n\n{USAGE}"));
                return ExitCode::from(2);
            }
        }
    }
    let mut steps = Steps::default();
    match soak {
        Some(time) => steps.run(&format!("soak for {time}"), || {
            let test = ["test", "--workspace", "--test", "soak", "--", "--nocapture"];
            cargo::run(&test, &[("OPENLOOP_SOAK", &time)], SOAK_LIMIT)
        }),
        None => run(&mut steps, full),
    }
    steps.summary()
}

fn run(steps: &mut Steps, full: bool) {
    for component in components::needed(full) {
        steps.run(&format!("component {}", component.binary), || {
            component.provide()
        });
    }
    let mut built = None;
    steps.run("build", || {
        built = Some(cargo::build()?);
        Ok(())
    });
    // Without a build there is nothing to test, and its own step has said so.
    let Some(built) = built else { return };

    // Most of what takes long waits for a clock or a server: more at once than there are cores.
    let threads = std::env::var("RUST_TEST_THREADS");
    let threads = [("RUST_TEST_THREADS", threads.as_deref().unwrap_or("4"))];
    steps.run("tests", || {
        cargo::run(&["test", "--workspace"], &threads, TEST_LIMIT)
    });
    for example in examples::of(&built) {
        steps.run(&format!("example {}", example.name), || {
            example.smoke(&built)
        });
    }
    if !full {
        return;
    }
    let long = [("OPENLOOP_FULL", "1"), ("PROPTEST_CASES", "4096")];
    steps.run("long tests", || {
        cargo::run(&["test", "--workspace"], &long, TEST_LIMIT)
    });
    for example in examples::of(&built) {
        steps.run(&format!("example {} at full length", example.name), || {
            example.full(&built)
        });
    }
    steps.run("scripted server under wrk", || examples::under_wrk(&built));
    steps.run("combinations of features", || {
        let check = [
            "hack",
            "check",
            "--workspace",
            "--feature-powerset",
            "--depth",
            "2",
        ];
        cargo::run(&check, &[], TEST_LIMIT)
    });
}
