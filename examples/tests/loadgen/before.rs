//! What is told, and what is refused, before a run.

use crate::*;

const URL: &str = "http://127.0.0.1:9/";
const PHASES: &str = "--ramp-up 1s --warm-up 1s --steady 60s --cooldown 0s";

fn rehearse(flags: &str) -> Output {
    loadgen(URL, &format!("{PHASES} --rehearse {flags}"))
}

#[track_caller]
fn assert_refused(flags: &str, named: &[&str]) {
    let server = server().start().unwrap();
    let output = loadgen(&server.url("/"), flags);
    assert_status(&output, 2);
    let message = stderr(&output);
    for named in named {
        assert!(message.contains(named), "{flags}: {message}");
    }
    assert_eq!((server.accepted(), server.served()), (0, 0), "{flags}");
}

#[test]
fn a_bound_on_a_stage_that_there_is_not_is_refused_before_anything_is_sent() {
    let bound = "--rate 10 --slo first_bite.p99<=5ms";
    assert_refused(bound, &["first_bite", "first_byte", "acquire"]);
    assert_refused("--rate 10 --slo ttft.p99<=5ms", &["ttft", "first_byte"]);
}

#[test]
fn what_would_have_no_effect_is_refused() {
    for (flags, named) in [
        ("--rate 10 --round-trip 1ms", "--floor"),
        ("--rate 10 --floor-trials 3", "--floor"),
        ("--rate 10 --floor-requests 100", "--floor"),
        ("--sweep 10,20,10", "twice"),
        ("--sweep 10,20 --longest 5m", "--sweep find"),
        ("--sweep 50%,90%", "50%"),
        (
            "--sweep 10,20 --knee-rule p99<=20ms",
            "multiple of the floor",
        ),
        ("--rate 10 --floor --floor-trials 2", "at least 3"),
    ] {
        assert_refused(flags, &[named]);
    }
}

#[test]
fn how_well_a_run_will_tell_a_bound_and_how_much_longer_would_is_said_first() {
    let told = |flags: &str| stderr(&rehearse(flags));
    // As one server at ρ = 0.75 the p99 is 18.4 ms, or what a thousand requests of the floor make of it.
    let text = told("--rate 750 --floor --floor-requests 2000 --slo p99<=19ms");
    assert!(
        text.contains("this run can resolve ±") && text.contains("more would be needed to tell"),
        "{text}"
    );
    let text = told("--rate 100 --floor --slo p99<=20ms");
    assert!(text.contains("long enough to tell"), "{text}");
    let text = told("--rate 750 --slo p99<=20ms");
    assert!(
        text.contains("at best") && text.contains("a floor tells more"),
        "{text}"
    );
}

#[test]
fn the_floor_is_as_long_as_the_flags_say_and_that_is_said_first() {
    let output = rehearse("--rate 100 --floor --floor-trials 3 --floor-requests 20 --json -");
    assert_status(&output, 0);
    assert_eq!(report(&output)["floor"]["trials"], 3);
    let count = report(&output)["floor"]["levels"][0]["count"].clone();
    assert!((40..80).contains(&count.as_u64().unwrap()), "{count}");
    let text = stderr(&output);
    assert!(text.contains("the floor takes 3 trials of"), "{text}");
}
