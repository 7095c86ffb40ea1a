//! What the calculators say.

mod closed;

use crate::*;

fn answer(flags: &str) -> Value {
    let output = run(&format!("capacity {flags}"));
    assert_status(&output, 0);
    assert_eq!(stderr(&output), "");
    report(&output)
}

#[track_caller]
fn assert_number(told: &Value, field: &str, expected: f64, relative: f64) {
    let found = told[field].as_f64().unwrap();
    let error = (found - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{field}: {found}, not {expected}, in {told}"
    );
}

#[test]
fn one_server_is_mm1() {
    let told = answer("mm1 --rate 750 --service 1ms");
    assert_eq!(told["model"], "M/M/1");
    for (field, expected) in [
        ("utilisation", 0.75),
        ("wait_probability", 0.75),
        ("mean_wait_ns", 3e6),
        ("mean_response_ns", 4e6),
        ("mean_queue", 2.25),
        ("mean_in_system", 3.0),
    ] {
        assert_number(&told, field, expected, 1e-12);
    }
    assert_eq!(told["blocking_probability"], 0.0);
    // 4 ms times ln 2, ln 10 and ln 100, in whole nanoseconds.
    assert_eq!(told["p50_response_ns"], 2_772_589);
    assert_eq!(told["p90_response_ns"], 9_210_340);
    assert_eq!(told["p99_response_ns"], 18_420_681);
}

#[test]
fn ten_servers_wait_by_erlang_c() {
    let told = answer("mmc --rate 75 --service 100ms --servers 10");
    // Erlang C of 7.5 at 10, by its definition.
    let mut terms = vec![1.0];
    for n in 1..=10_i32 {
        terms.push(terms[n as usize - 1] * 7.5 / f64::from(n));
    }
    let busy = terms[10] / (1.0 - 0.75);
    let waits = busy / (terms[..10].iter().sum::<f64>() + busy);
    assert_number(&told, "wait_probability", waits, 1e-12);
    assert_number(&told, "mean_wait_ns", waits * 1e8 / 2.5, 1e-12);
    assert_number(&told, "mean_response_ns", 1e8 + waits * 1e8 / 2.5, 1e-12);
    assert_number(&told, "utilisation", 0.75, 1e-12);
    assert_number(&told, "mean_queue", 75.0 * waits * 0.1 / 2.5, 1e-12);
    assert!(told["p99_response_ns"].as_u64().unwrap() > 460_517_018);
}

#[test]
fn waiting_counts_the_waiting_places_alone() {
    // Erlang B of 50 at 32.
    let told = answer("mmck --rate 1000 --service 50ms --servers 32 --waiting 0");
    let inverse = (1..=32).fold(1.0, |inverse, n| 1.0 + f64::from(n) / 50.0 * inverse);
    assert_number(&told, "blocking_probability", 1.0 / inverse, 1e-11);
    assert_eq!(
        (&told["mean_wait_ns"], &told["wait_probability"]),
        (&0.0.into(), &0.0.into())
    );
    let told = answer("mmck --rate 1000/s --service 50ms --servers 32 --waiting 32");
    assert_number(&told, "blocking_probability", 0.36, 1e-3);
    assert_number(&told, "throughput", 640.0, 1e-3);
    // One server and one place: 1, r and r² are equally likely at r = 1.
    let told = answer("mmck --rate 1 --service 1s --servers 1 --waiting 1");
    assert_number(&told, "blocking_probability", 1.0 / 3.0, 1e-12);
}

#[test]
fn spread_decides_the_wait_of_one_server_and_no_formula_gives_its_quantiles() {
    let told = answer("mg1 --rate 75 --service 10ms --cv 2");
    assert_number(&told, "mean_wait_ns", 3e7 * 2.5, 1e-12);
    for field in ["p50_response_ns", "p90_response_ns", "p99_response_ns"] {
        assert_eq!(told.get(field), Some(&Value::Null), "{told}");
    }
    let told = answer("md1 --rate 75 --service 10ms");
    assert_number(&told, "mean_wait_ns", 1.5e7, 1e-12);
    assert!(told["p99_response_ns"].is_u64());
}

#[test]
fn an_approximation_is_marked_as_one() {
    let told = answer("ggc --rate 75 --service 100ms --servers 10 --cv 0");
    assert_eq!(
        (&told["approximate"], &told["p99_response_ns"]),
        (&true.into(), &Value::Null)
    );
    let exact = answer("mmc --rate 75 --service 100ms --servers 10");
    assert_eq!(exact["approximate"], false);
    assert_number(
        &told,
        "mean_wait_ns",
        0.5 * exact["mean_wait_ns"].as_f64().unwrap(),
        1e-12,
    );
    let told = answer("ggc --rate 75 --service 100ms --servers 10 --cv 1 --arrival-cv 0");
    assert_number(
        &told,
        "mean_wait_ns",
        0.5 * exact["mean_wait_ns"].as_f64().unwrap(),
        1e-12,
    );
}

#[test]
fn scalability_is_fitted_and_what_the_points_do_not_bound_is_null() {
    // 1000 N / (1 + 0.05 (N − 1)): contention alone.
    let points: Vec<_> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
        .map(|n| format!("{n}:{}", 1000.0 * n / (1.0 + 0.05 * (n - 1.0))))
        .into();
    let told = answer(&format!("usl --points {}", points.join(",")));
    assert_number(&told["contention"], "value", 0.05, 1e-9);
    assert_number(&told["single"], "value", 1000.0, 1e-9);
    assert_eq!(told["goodness"], "good");
    let repeated = points
        .iter()
        .map(|point| format!("--point {point} "))
        .collect::<String>();
    assert_eq!(answer(&format!("usl {repeated}")), told);
    // Proportional: no peak, and no highest throughput.
    let told = answer("usl --points 1:10,2:20,4:40,8:80");
    assert_eq!(
        (&told["peak_load"]["value"], &told["highest_throughput"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn sizes_are_those_of_the_rules() {
    let told = answer("nodes --rate 10000 --knee 1400 --highest 2000");
    assert_eq!(
        (&told["by_knee"], &told["by_highest_rate"], &told["nodes"]),
        (&8.into(), &7.into(), &8.into())
    );
    assert_eq!(told["steps"][0]["formula"], "⌈λ_peak / λ_knee⌉");
    let told = answer("nodes --peak 10000 --max 2000");
    assert_eq!(
        (&told["by_knee"], &told["nodes"]),
        (&Value::Null, &7.into())
    );
    let told = answer("pool --rate 2000 --service 40ms");
    assert_eq!(told["pool"], 80);
    let told = answer("kv --rate 50 --service 4s");
    assert_eq!(
        (&told["mean_sequences"], &told["sequences"]),
        (&200.0.into(), &234.into())
    );
    assert_number(&told, "mean_exceeded", 0.48, 0.01);
    assert!(told["exceeded"].as_f64().unwrap() <= 0.01);
    assert_eq!(
        (&told["blocks"], &told["bytes"]),
        (&Value::Null, &Value::Null)
    );
    let model = "--tokens 4300 --layers 32 --kv-heads 8 --head-dimension 128";
    let told = answer(&format!("kv --rate 50 --service 4s {model}"));
    assert_eq!(told["blocks"], 234 * 269);
    assert_eq!(told["bytes"], 234_u64 * 269 * 16 * 131_072);
    let told = answer("timeout --p90 40ms --p99-9 300ms --retention 200ms");
    assert_eq!(
        (&told["timeout_ns"], &told["wanted_ns"]),
        (&200_000_000.into(), &300_000_000.into())
    );
    assert_eq!(told["basis"], "the server's queue retention");
    let told = answer("timeout --p90 40ms");
    assert_eq!(
        (&told["timeout_ns"], &told["basis"]),
        (&120_000_000.into(), &"3 x P90".into())
    );
}

#[test]
fn what_has_no_answer_has_status_2_and_says_why() {
    for (flags, named) in [
        ("", "mmc"),
        ("mm1", "--rate"),
        ("closed --users 0 --demand 5ms", "the number of users is 0"),
        ("closed --users 3 --demand 0s", "a demand is 0"),
        ("closed --users 3", "--demand"),
        ("mm1 --rate 1000 --service 1ms", "the queue grows for ever"),
        (
            "mmc --rate 1000 --service 50ms --servers 32",
            "at least 51 servers",
        ),
        ("mg1 --rate 1200 --service 1ms --cv 1", "grows for ever"),
        (
            "ggc --rate 10 --service 1s --servers 10 --cv 1",
            "at least 11 servers",
        ),
        ("mm1 --rate -5 --service 1ms", "the arrival rate is -5"),
        ("mm1 --rate NaN --service 1ms", "NaN"),
        ("mm1 --rate many --service 1ms", "\"many\" is no rate"),
        ("mm1 --rate 5 --service 3", "unit"),
        ("mm1 --rate 5 --service 0s", "the mean service is 0"),
        (
            "mmc --rate 5 --service 1ms --servers 0",
            "the number of servers is 0",
        ),
        ("mmck --rate 5 --service 1ms --servers 1", "--waiting"),
        (
            "mg1 --rate 5 --service 1ms --cv -1",
            "variation of the services is -1",
        ),
        ("nodes --rate 100", "<--knee <RATE>|--highest <RATE>>"),
        ("nodes --rate 100 --knee 3 --highest 2", "one sweep"),
        ("pool --rate 0 --service 1ms", "the peak rate is 0"),
        (
            "kv --rate 50 --service 4s --exceeded 0",
            "probability of more is 0",
        ),
        ("kv --rate 50 --service 4s --tokens 100", "--layers"),
        ("timeout --p90 200ms --p99-9 100ms", "one histogram"),
        ("usl --points 1:5,2:9", "2 points"),
        ("usl --points 1-5", "8:6500"),
        ("usl", "--point"),
        ("mdx", "mdx"),
    ] {
        let output = run(&format!("capacity {flags}"));
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(message.contains(named), "{flags}: {message}");
        assert_eq!(stdout(&output), "", "{flags}");
    }
}

#[test]
fn littles_law_gives_one_of_three_from_the_others() {
    assert_number(
        &answer("little --rate 1000 --stay 50ms"),
        "number",
        50.0,
        1e-12,
    );
    assert_number(
        &answer("little --number 50 --stay 50ms"),
        "rate",
        1000.0,
        1e-12,
    );
    assert_eq!(
        answer("little --number 50 --rate 1000")["stay_ns"],
        50_000_000
    );
    for flags in [
        "little",
        "little --rate 5",
        "little --rate 5 --stay 1s --number 5",
    ] {
        assert_status(&run(&format!("capacity {flags}")), 2);
    }
}

#[test]
fn how_busy_a_service_is_is_told_in_all_ways_side_by_side() {
    // M/M/4 at ρ = 0.9: its mean response is 1.969 S.
    let told =
        answer("utilisation --rate 360 --service 10ms --response 29.7ms --highest 400 --servers 4");
    let ways = told["ways"].as_array().unwrap();
    let value = |index: usize| ways[index]["utilisation"].as_f64().unwrap();
    assert_eq!(ways.len(), 3);
    assert!((value(0) - (1.0 - 10.0 / 29.7)).abs() < 1e-9, "{told}");
    assert!(
        (value(1) - 0.9).abs() < 1e-9 && (value(2) - 0.9).abs() < 1e-9,
        "{told}"
    );
    assert!(ways.iter().all(|way| way["assumes"].is_string()));
    assert_status(&run("capacity utilisation --rate 360"), 2);
    assert_status(
        &run("capacity utilisation --service 10ms --response 5ms"),
        2,
    );
}

#[test]
fn bounds_are_multiples_with_a_noise_floor() {
    let told = answer("bounds --floor 200us");
    assert_eq!(
        (&told["p50_ns"], &told["p95_ns"]),
        (&300_000.into(), &600_000.into())
    );
    assert_eq!(told["p99_ns"], 2_000_000);
}

#[test]
fn the_curve_of_mmc_is_found_through_its_own_points() {
    let points: Vec<String> = [100.0, 200.0, 300.0, 360.0, 390.0]
        .map(|rate| {
            let told = answer(&format!("mmc --rate {rate} --service 10ms --servers 4"));
            format!(
                "{rate}:{}ns",
                told["mean_response_ns"].as_f64().unwrap().round()
            )
        })
        .into();
    let told = answer(&format!("curve --points {}", points.join(",")));
    assert_eq!(
        (&told["servers"], &told["goodness"]),
        (&4.into(), &"good".into())
    );
    assert_number(&told, "highest_rate", 400.0, 1e-3);
}

#[test]
fn a_plan_has_every_figure_with_its_formula_and_says_what_it_lacks() {
    let told = answer(
        "plan --peak 10000 --knee 1400 --highest 2000 --p99 40ms --p90 25ms --response 20ms",
    );
    let item = |name: &str| {
        let items = told["items"].as_array().unwrap().iter();
        let mut items = items.filter(|item| item["quantity"] == name);
        items.next().unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(
        (
            item("nodes"),
            item("nodes_by_knee"),
            item("nodes_by_highest_rate")
        ),
        (8.0, 8.0, 7.0)
    );
    assert_eq!((item("pool"), item("under_way")), (400.0, 200.0));
    assert_eq!(told["missing"].as_array().unwrap().len(), 0);
    // Of a pool alone nothing else can be told.
    let told = answer("plan --peak 10000 --p99 40ms");
    let missing = told["missing"].as_array().unwrap();
    assert!(
        missing.iter().any(|missing| missing["quantity"] == "nodes"),
        "{told}"
    );
}

#[test]
fn batching_is_simulated() {
    // One step of 10 ms for the prompt and one for each further token; nobody waits for anybody.
    let fixed = "--arrivals constant --rate 1 --length 10s --input-tokens fixed:100 --output-tokens fixed:5 --step 10ms --per-prompt-token 0s --per-sequence 0s --per-context-token 0s";
    let told = answer(&format!("batching {fixed}"));
    assert_eq!(
        (&told["requests"], &told["refused"]),
        (&10.into(), &0.into())
    );
    assert_eq!(told["ttft"]["p99_ns"], 10_000_000);
    assert_eq!(told["tpot"]["p50_ns"], 10_000_000);
    assert_eq!(told["e2e"]["max_ns"], 50_000_000);
    // The same twice, and prefixes that are found.
    let shared = "batching --rate 4 --length 60s --prefixes uniform:2 --prefix-tokens 1024 --input-tokens fixed:64";
    let told = answer(shared);
    assert_eq!(told, answer(shared));
    assert!(told["prefix_hit_share"].as_f64().unwrap() > 0.9, "{told}");
    let apart = answer(
        "batching --rate 4 --length 60s --prefill-engines 1 --decode-engines 2 --transfer 1ms",
    );
    assert_eq!(apart["engines"].as_array().unwrap().len(), 3);
    assert!(
        apart["transfer"]["p50_ns"].as_u64() >= Some(1_000_000),
        "{apart}"
    );
    for (flags, named) in [
        ("--rate 1e6 --length 1h", "too many"),
        ("--rate 1 --most-ahead 3", "prefix-aware"),
        ("--rate 1 --prefill-engines 1", "--decode-engines"),
        ("--rate 1 --max-sequences 0", "at least 1"),
    ] {
        let output = run(&format!("capacity batching {flags}"));
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn what_is_wrong_is_said_of_what_was_written() {
    for (flags, named) in [
        ("mm1 --rate 1000 --service 1ms", "M/M/c/K"),
        ("mm1 --rate 75 --service -10ms", "-10ms"),
        ("kv --rate 50 --service 4s --bits 8", "--tokens"),
        ("kv --rate 50 --service 4s --block-tokens 8", "--tokens"),
    ] {
        let output = run(&format!("capacity {flags}"));
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
    }
}
