//! What a plan would send.

use crate::*;

/// Nobody is there, and nobody is asked.
const NOWHERE: &str = "http://127.0.0.1:1/";

fn totals(flags: &str) -> Value {
    let output = loadgen(NOWHERE, &format!("{flags} --preview"));
    assert_status(&output, 0);
    report(&output)
}

#[test]
fn totals_are_exact() {
    let only_steady = "--ramp-up 0s --warm-up 0s --cooldown 0s --arrivals constant";
    let slow = totals(&format!("--rate 0.1 --steady 30s {only_steady}"));
    assert_eq!(
        slow,
        serde_json::json!({ "total": 3, "phases": [{ "name": "steady", "arrivals": 3 }] })
    );
    let profile = totals("--profile 0->100/10s,100/20s,100->0/10s --arrivals constant");
    assert_eq!(profile["total"], 3000);
    let phases = totals(
        "--rate 100 --ramp-up 10s --warm-up 5s --steady 20s --cooldown 10s --arrivals constant",
    );
    let by_phase: Vec<_> = phases["phases"].as_array().unwrap().iter().collect();
    let expected = [
        ("ramp_up", 500),
        ("warm_up", 500),
        ("steady", 2000),
        ("cooldown", 500),
    ];
    assert_eq!(phases["total"], 3500);
    assert_eq!(by_phase.len(), expected.len());
    for (phase, (name, arrivals)) in by_phase.into_iter().zip(expected) {
        assert_eq!(
            (&phase["name"], &phase["arrivals"]),
            (&name.into(), &arrivals.into())
        );
    }
}

#[test]
fn sessions_are_called_so_and_their_requests_are_counted_beside_them() {
    let only_steady = "--ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s --arrivals constant";
    let three = totals(&format!("--rate 10 --sessions fixed:3 {only_steady}"));
    assert_eq!(
        three,
        serde_json::json!({
            "total": 20,
            "phases": [{ "name": "steady", "arrivals": 20 }],
            "counts": "sessions",
            "requests_at_most": 60,
        })
    );
    assert_eq!(
        totals(&format!("--rate 10 {only_steady}"))["counts"],
        Value::Null
    );
}

#[test]
fn the_same_seed_gives_the_same_arrivals_and_another_one_does_not() {
    let arrivals = |seed: u64| {
        let file = Scratch::new();
        let flags = format!(
            "--rate 100 --steady 2s --seed {seed} --preview-arrivals {}",
            file.path()
        );
        let output = loadgen(NOWHERE, &flags);
        assert_status(&output, 0);
        assert_eq!(stdout(&output), "");
        file.read()
    };
    assert_eq!(arrivals(7), arrivals(7));
    assert_ne!(arrivals(7), arrivals(8));
}

#[test]
fn the_arrivals_of_a_preview_are_those_of_the_plan() {
    let flags = "--rate 10 --ramp-up 0s --warm-up 1s --steady 2s --cooldown 0s --arrivals constant";
    let output = loadgen(NOWHERE, &format!("{flags} --preview-arrivals -"));
    assert_status(&output, 0);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 31);
    assert_eq!(lines[0], "seq,offset_ns,phase");
    assert_eq!(lines[1], "0,0,warm_up");
    assert_eq!(lines[11], "10,1000000000,steady");
    assert_eq!(lines[30], "29,2900000000,steady");
}

#[test]
fn a_trace_is_replayed_in_the_time_that_is_asked() {
    let trace = Scratch::new();
    std::fs::write(trace.path(), "seconds\n0\n0.5\n2.25\n").unwrap();
    let flags = format!("--arrivals trace:{}:0.5 --preview-arrivals -", trace.path());
    let output = loadgen(NOWHERE, &flags);
    assert_status(&output, 0);
    let text = stdout(&output);
    let offsets: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(offsets, ["0", "250000000", "1125000000"]);
}
