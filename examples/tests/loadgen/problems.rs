//! Problem files.

use crate::*;

const URL: &str = "http://127.0.0.1:9/items/{key}";

fn file(text: &str) -> Scratch {
    let scratch = Scratch::new();
    std::fs::write(scratch.path(), text).unwrap();
    scratch
}

#[test]
fn the_templates_are_problems_and_the_schema_is_json() {
    for kind in ["web", "llm"] {
        let template = run(&format!("problem --template {kind}"));
        assert_status(&template, 0);
        let problem = file(&stdout(&template));
        let flags = format!("--problem {} --preview", problem.path());
        let preview = loadgen(URL, &flags);
        assert_status(&preview, if kind == "web" { 0 } else { 2 });
    }
    let schema = run("problem --schema");
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    assert_eq!(schema["type"], "object");
    assert_status(&run("problem"), 2);
}

#[test]
fn a_problem_drives_the_experiment_and_stands_in_the_report() {
    let problem = file(
        r#"
        title = "checkout"
        [objective]
        purpose = "slo_gate"
        failure_modes = ["shedding", "cpu_saturation"]
        [floor]
        trials = 3
        [slo]
        bounds = ["p50<=2S", "errors<=1%"]
        [workload]
        keys = "zipf:1e6:0.99"
        [load]
        rate = 300
        [lifecycle]
        ramp_up = "0s"
        warm_up = "1s"
        steady = "60s"
        cooldown = "0s"
        [replicas]
        runs = 3
        [rehearsal]
        servers = 1
        service = "exponential:0.001"
        "#,
    );
    let flags = format!("--problem {} --rehearse --json -", problem.path());
    let output = loadgen(URL, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_eq!(report["title"], "checkout");
    assert_eq!(report["asked_rate"], 300.0);
    assert_eq!(report["floor"]["trials"], 3);
    assert_eq!(report["replicas"]["runs"].as_array().unwrap().len(), 3);
    assert_eq!(report["slo"]["findings"].as_array().unwrap().len(), 2);
    let stored = &report["problem"]["statement"];
    assert_eq!(stored["objective"]["purpose"], "slo_gate");
    let remarks = report["problem"]["remarks"].as_array().unwrap();
    let about = |name: &str| remarks.iter().any(|remark| remark["about"] == name);
    assert!(
        about("environment.isolated") && about("lifecycle.warm_up"),
        "{remarks:?}"
    );
    assert!(!about("replicas.runs"));
    let evidence = report["problem"]["evidence"].as_array().unwrap();
    assert_eq!(evidence.len(), 2, "{evidence:?}");
    assert!(
        evidence
            .iter()
            .all(|evidence| evidence["found"] == "not_seen")
    );
    // What is missing is told before the run, and the text says what was found.
    assert!(stderr(&output).contains("environment.service, missing"));
    let text = stdout(&loadgen(
        URL,
        &format!("--problem {} --rehearse", problem.path()),
    ));
    for part in ["problem", "failures", "not seen", "title      checkout"] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let overridden = format!("{flags} --rate 100 --replicas 1 --slo p50<=1s");
    let overridden = crate::report(&loadgen(URL, &overridden));
    assert_eq!(overridden["asked_rate"], 100.0);
    assert_eq!(overridden["replicas"], Value::Null);
    assert_eq!(overridden["slo"]["findings"].as_array().unwrap().len(), 1);
    // What is stored is what was made.
    let stored = &overridden["problem"]["statement"];
    assert_eq!(stored["load"]["rate"], "100/s");
    assert_eq!(stored["slo"], "p50 <= 1s");
    assert_eq!(stored["replicas"]["runs"], 1);
}

#[test]
fn failures_that_nobody_expected_are_told() {
    let problem = file(
        "[load]\nrate = 1500\n[floor]\ntrials = 0\n[lifecycle]\nramp_up = '0s'\nwarm_up = '0s'\nsteady = '20s'\ncooldown = '0s'\n[rehearsal]\nwaiting = 10\n[objective]\nfailure_modes = ['accept_queue']",
    );
    let flags = format!("--problem {} --rehearse --json -", problem.path());
    let report = report(&loadgen("http://127.0.0.1:9/", &flags));
    let evidence = report["problem"]["evidence"].as_array().unwrap();
    let of = |mode: &str| evidence.iter().find(|evidence| evidence["mode"] == mode);
    assert_eq!(of("shedding").unwrap()["found"], "seen");
    assert_eq!(of("shedding").unwrap()["anticipated"], false);
    assert_eq!(of("cpu_saturation").unwrap()["found"], "seen");
    assert_eq!(of("accept_queue").unwrap()["found"], "not_measured");
    assert!(of("crash").is_none());
}

#[test]
fn what_is_wrong_in_a_problem_is_told_with_its_line() {
    for (text, named) in [
        ("[load]\nrat = 5", "line 2"),
        ("[load]\nrate = 5\nusers = 3", "load.users"),
        ("[slo]\nbounds = ['fast']", "fast"),
        ("title = 'no load'", "--rate"),
    ] {
        let problem = file(text);
        let output = loadgen(
            URL,
            &format!("--keys uniform:9 --problem {}", problem.path()),
        );
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{text}: {}",
            stderr(&output)
        );
    }
    let missing = loadgen(URL, "--problem /no/such/problem.toml");
    assert_status(&missing, 2);
    assert!(stderr(&missing).contains("/no/such/problem.toml"));
}

#[test]
fn what_a_problem_says_of_the_environment_is_held_against_what_is_found() {
    let server = server().start().unwrap();
    let problem = file(
        "[environment]\nisolated = true\nnetwork = '1 bit/s'\nexpected_bandwidth = '1 Gbit/s'\n[load]\nrate = 100\n[floor]\ntrials = 0",
    );
    let flags = format!("--problem {} {SECOND} {BUSY} --json -", problem.path());
    let report = report(&loadgen(&server.url("/"), &flags));
    let remarks = report["problem"]["remarks"].as_array().unwrap();
    let contradicted = |about: &str| {
        let of = |remark: &&Value| remark["about"] == about && remark["standing"] == "contradicted";
        remarks.iter().find(of).is_some()
    };
    assert!(contradicted("environment.isolated"), "{remarks:?}");
    assert!(contradicted("environment.network"), "{remarks:?}");
    assert!(
        !contradicted("environment.expected_bandwidth"),
        "{remarks:?}"
    );
}

#[test]
fn an_objective_in_multiples_of_a_floor_that_is_not_measured_is_refused_and_not_dropped() {
    let problem =
        file("load.rate = 950\nfloor.trials = 0\nslo.bounds = [\"p99<=1.1S\", \"errors<=0.1%\"]\n");
    let output = loadgen(
        URL,
        &format!("--problem {} --rehearse --keys uniform:9", problem.path()),
    );
    assert_status(&output, 2);
    assert!(stderr(&output).contains("floor.expected"), "{output:?}");
}

/// The nonces of the requests that a server saw, in the order of their first use.
fn nonces(paths: &[String]) -> Vec<&str> {
    let mut seen = Vec::new();
    for path in paths {
        let (_, nonce) = path
            .split_once("nonce=")
            .unwrap_or_else(|| panic!("{path}"));
        if seen.last() != Some(&nonce) {
            seen.push(nonce);
        }
    }
    seen
}

const BUSTED: &str = "[workload]\ncache = 'busted'";
/// A floor of five runs, and two rates.
const SWEEP: &str = "--sweep 40,80 --floor-trials 3 --floor-requests 10";

#[test]
fn a_cache_that_is_busted_knows_no_request_of_another_run() {
    let problem = file(BUSTED);
    let paths = |path: &str, flags: &str| -> Vec<String> {
        let server = server().record_requests().start().unwrap();
        let flags = format!("{SWEEP} {SECOND} {BUSY} --quiet {flags}");
        let output = loadgen(&server.url(path), &flags);
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{}",
            stderr(&output)
        );
        server.requests().into_iter().map(|one| one.path).collect()
    };
    let with = format!("--problem {} --seed 5", problem.path());
    let first = paths("/items?page=2", &with);
    assert!(
        first
            .iter()
            .all(|path| path.starts_with("/items?page=2&nonce=")),
        "{first:?}"
    );
    // The cold one, the pilot, three trials and two rates.
    assert_eq!(nonces(&first).len(), 7, "{:?}", nonces(&first));
    // The same seed asks for the same, and another for other things.
    let again = paths("/items?page=2", &with);
    assert_eq!(nonces(&first), nonces(&again));

    // In a place of its own, without a problem, and beside a key.
    let placed = paths("/{key}?nonce={nonce}", "--keys sequential:5");
    assert_eq!(nonces(&placed).len(), 7);
    assert!(placed.iter().all(|path| !path.contains('{')), "{placed:?}");

    // Of a mix each kind.
    let mix = format!(
        "{with} --mix {}/mixes/web_shop.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    assert_eq!(nonces(&paths("/", &mix)).len(), 7);
}

#[cfg(feature = "redis")]
#[test]
fn a_cache_that_cannot_be_busted_is_refused() {
    let problem = file(&format!("[load]\nrate = 10\n{BUSTED}"));
    let command = format!(
        "redis redis://127.0.0.1:9 --command PING --problem {}",
        problem.path()
    );
    let output = run(&command);
    assert_status(&output, 2);
    assert!(stderr(&output).contains("busted"), "{}", stderr(&output));
}

#[test]
fn what_is_wrong_in_a_file_is_said_in_words() {
    for (text, named, never) in [
        ("[load]\nusers = 'many'", "a whole number", "usize"),
        ("slo = 5", "an objective", "untagged"),
        ("[slo]\nbonds = ['p99<=5ms']", "bonds", "untagged"),
        (
            "[[environment.periodic]]\nevent = 'GC'\nevery = '0s'",
            "every 0 s",
            "usize",
        ),
    ] {
        let problem = file(text);
        let output = loadgen(URL, &format!("--problem {}", problem.path()));
        assert_status(&output, 2);
        let message = stderr(&output);
        assert!(
            message.contains(named) && !message.contains(never),
            "{text}: {message}"
        );
    }
    let long = file(&format!("title = 5 {}", "# ".repeat(1_000_000)));
    let output = loadgen(URL, &format!("--problem {}", long.path()));
    assert_status(&output, 2);
    assert!(stderr(&output).len() < 1000, "{}", stderr(&output).len());
}

#[test]
fn a_peak_is_planned_with_what_the_problem_says_of_the_service() {
    let problem = file(
        r#"
        [load]
        peak = 4000
        [sweep]
        rates = [50, 150, 250, 500]
        [floor]
        trials = 3
        [lifecycle]
        ramp_up = "0s"
        warm_up = "1s"
        steady = "60s"
        cooldown = "0s"
        [sizing]
        retention = "20ms"
        [sizing.kv_cache]
        layers = 32
        kv_heads = 8
        head_dimension = 128
        sequence_tokens = 4300
        [rehearsal]
        servers = 4
        service = "exponential:0.010"
        "#,
    );
    let flags = format!(
        "--problem {} --keys uniform:9 --rehearse --quiet --json -",
        problem.path()
    );
    let output = loadgen(URL, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    let items = report["plan"]["items"].as_array().unwrap();
    let of = |quantity: &str| {
        let item = items.iter().find(|item| item["quantity"] == quantity);
        item.unwrap_or_else(|| panic!("no {quantity}: {items:?}"))
    };
    assert_eq!(of("timeout")["value"], 0.020);
    assert_eq!(of("timeout")["formula"], "T");
    assert_eq!(
        of("kv_blocks")["value"].as_f64().unwrap(),
        269.0 * of("room")["value"].as_f64().unwrap()
    );
    assert!(of("nodes")["value"].as_f64().unwrap() >= 14.0);
}

/// Prompts as long as stated, of which as much is shared as stated; what is told before the rehearsal.
#[cfg(feature = "inference")]
#[test]
fn prompts_share_what_the_problem_says_that_they_share() {
    let told = |workload: &str, flags: &str| {
        let problem = file(&format!(
            "[workload]\noutput_tokens = 'fixed:2'\n{workload}\n[load]\nrate = 5\n[floor]\ntrials = 0\n{QUICK}"
        ));
        let output = run(&format!(
            "inference http://127.0.0.1:9 --model m --problem {} --rehearse {flags}",
            problem.path()
        ));
        assert_status(&output, 0);
        let said = stderr(&output);
        let number = |after: &str| -> f64 {
            let rest = said.split(after).nth(1);
            let rest = rest.unwrap_or_else(|| panic!("no {after}: {said}"));
            rest.split(' ').next().unwrap().parse().unwrap()
        };
        let share = number("would know ");
        (number("prompts of "), share, said)
    };
    const LENGTHS: &str = "input_tokens = 'lognormal:mean=800,cv=1,min=1,max=8192'";
    let (whole, none, _) = told(LENGTHS, "");
    assert_eq!(none, 0.0);
    let (length, share, said) = told(&format!("{LENGTHS}\nprefix_reuse = 0.4"), "");
    assert!((length / whole - 1.0).abs() < 0.02, "{length} for {whole}");
    assert!((share - 40.0).abs() < 1.0, "{said}");
    assert!(!said.contains("the problem states"), "{said}");
    // What flags say stands.
    let flags = "--prefixes 4:160:1";
    let (_, share, said) = told(&format!("{LENGTHS}\nprefix_reuse = 0.4"), flags);
    assert!(
        share < 20.0 && said.contains("the problem states that 40 %"),
        "{said}"
    );
    let (length, share, _) = told("prefix_reuse = 0.5", "--input-tokens fixed:160");
    assert_eq!((length, share), (320.0, 50.0));
}

#[cfg(feature = "inference")]
#[test]
fn the_lengths_of_a_trace_stand_before_those_of_a_problem() {
    let trace = file("offset,input_tokens,output_tokens\n0,100,2\n1,200,2\n2,300,2\n");
    let problem =
        file("[workload]\ninput_tokens = 'fixed:50'\nprefix_reuse = 0.9\n[floor]\ntrials = 0");
    let flags = format!(
        "inference http://127.0.0.1:9 --model m --arrivals trace:{} --problem {} --rehearse",
        trace.path(),
        problem.path()
    );
    let output = run(&flags);
    assert_status(&output, 0);
    assert!(
        stderr(&output).contains("the 3 prompts of the trace"),
        "{}",
        stderr(&output)
    );
    // What a flag asks for is no matter of a trace.
    let output = run(&format!("{flags} --input-tokens fixed:9"));
    assert_status(&output, 2);
}

#[cfg(feature = "inference")]
const QUICK: &str = "[lifecycle]\nramp_up = '0s'\nwarm_up = '0s'\nsteady = '20s'\ncooldown = '0s'";
