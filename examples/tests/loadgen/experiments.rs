//! Experiments of more than one run. They are rehearsed: in virtual time they are quick, and the same on every machine.

use crate::*;

/// Nobody listens there, and nothing is sent.
const URL: &str = "http://127.0.0.1:9/";
const PHASES: &str = "--ramp-up 1s --warm-up 1s --steady 60s --cooldown 0s";

fn rehearse(flags: &str) -> Output {
    loadgen(URL, &format!("{PHASES} --rehearse {flags}"))
}

#[test]
fn a_rehearsal_sends_nothing_and_says_so_everywhere() {
    let output = rehearse("--rate 400 --json - --slo p50<=2ms");
    assert_status(&output, 0);
    let report = report(&output);
    assert!(
        report["rehearsal"]
            .as_str()
            .unwrap()
            .contains("exponential")
    );
    assert_balances(&report);
    assert!(stderr(&output).contains("REHEARSAL: nothing is sent"));
    // M/M/1 at 40 %: the median is ln 2 · 1 ms / (1 − 0.4).
    let median = report["latency"]["response"]["p50_ns"].as_f64().unwrap();
    assert!((median / 1.155e6 - 1.0).abs() < 0.1, "{median}");

    let text = stdout(&rehearse("--rate 400"));
    assert!(text.starts_with("VALID, REHEARSAL"), "{text}");
    assert!(text.contains("nothing was sent"), "{text}");
}

#[test]
fn the_same_seed_rehearses_the_same_run() {
    let latency = |seed: u64| {
        let output = rehearse(&format!("--rate 400 --seed {seed} --json -"));
        report(&output)["latency"].clone()
    };
    assert_eq!(latency(3), latency(3));
    assert_ne!(latency(3), latency(4));
}

#[test]
fn the_simulated_service_is_as_the_flags_say() {
    let output = rehearse("--rate 300 --servers 2 --service fixed:0.01 --waiting 5 --json -");
    let report = report(&output);
    assert_eq!(
        report["rehearsal"],
        "2 servers, fixed:0.01 seconds each, 5 places to wait"
    );
    // 300/s to a service of 200/s: a third is turned away.
    let rejected = report["arrivals"]["rejected"].as_f64().unwrap();
    let scheduled = report["arrivals"]["scheduled"].as_f64().unwrap();
    assert!(
        (rejected / scheduled - 0.34).abs() < 0.03,
        "{rejected} of {scheduled}"
    );
}

#[test]
fn multiples_of_the_floor_have_it_measured_first() {
    let output = rehearse("--rate 400 --slo p50<=3S,p99<=3S --json -");
    assert_status(&output, 0);
    let report = report(&output);
    let floor = &report["floor"];
    assert_eq!(floor["trials"], 5);
    assert_eq!(floor["ratio"], "inflation");
    let s = floor["s_ns"].as_f64().unwrap();
    assert!((s / 1e6 - 1.0).abs() < 0.15, "{s}");
    let bound = &report["slo"]["findings"][0];
    assert!(bound["basis"].as_str().unwrap().contains("3 x"), "{bound}");
    assert!(bound["ratio_inflation"].as_f64().unwrap() < 3.0);
    assert!(
        stderr(&output).contains("floor, run 1"),
        "{}",
        stderr(&output)
    );
    let text = stdout(&rehearse("--rate 400 --slo p50<=3S"));
    assert!(text.contains("5 trials of one request at a time"), "{text}");
}

#[test]
fn bounds_that_say_little_or_cannot_be_kept_are_told() {
    let output = rehearse("--rate 100 --service fixed:0.030 --floor --slo p50<=20ms --json -");
    // Even an idle service takes 30 ms.
    assert_status(&output, 1);
    let report = report(&output);
    assert_eq!(report["slo"]["verdict"], "infeasible");
    assert_eq!(report["slo"]["lints"][0]["concern"], "infeasible");
    assert!(
        stderr(&output).contains("physically impossible"),
        "{}",
        stderr(&output)
    );
    let loose =
        rehearse("--rate 100 --service fixed:0.002 --floor --slo mean<=50ms --quiet --json -");
    assert_eq!(crate::report(&loose)["slo"]["lints"][0]["concern"], "loose");
}

#[test]
fn replicas_are_merged_and_held_against_each_other() {
    let output = rehearse("--rate 400 --replicas 3 --slo p50<=2ms --json -");
    assert_status(&output, 0);
    let report = report(&output);
    let replicas = &report["replicas"];
    assert_eq!(replicas["runs"].as_array().unwrap().len(), 3);
    assert_eq!(replicas["steadiness"], "stable");
    // All three are one result.
    let count = report["latency"]["response"]["count"].as_f64().unwrap();
    assert!((count / 72_000.0 - 1.0).abs() < 0.05, "{count}");
    for runs in ["2", "4"] {
        let output = rehearse(&format!("--rate 400 --replicas {runs}"));
        assert_status(&output, 2);
        assert!(stderr(&output).contains("odd"), "{}", stderr(&output));
    }
    assert!(stdout(&rehearse("--rate 400 --replicas 3")).contains("replicas   stable"));
}

#[test]
fn a_sweep_over_a_list_shows_the_curve_and_the_end() {
    let output = rehearse("--sweep 200,500,800,1200,1500 --json -");
    assert_status(&output, 0);
    let report = report(&output);
    let points = report["sweep"]["points"].as_array().unwrap();
    // It ends where the service is saturated.
    assert_eq!(points.len(), 4);
    assert_eq!(points[3]["saturated"], true);
    assert_eq!(report["sweep"]["max"]["known"], "found");
    let max = report["sweep"]["max"]["rate"].as_f64().unwrap();
    assert!((max / 1000.0 - 1.0).abs() < 0.03, "{max}");
    assert_eq!(report["sweep"]["knee"]["rate"], 500.0);
    assert_eq!(report["sweep"]["reported_rate"], 500.0);
    let text = stdout(&rehearse("--sweep 200,500,800,1200"));
    for part in [
        "saturated",
        "knee",
        "maximum",
        "what follows was measured at 500/s",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_peak_has_a_plan_that_follows_from_the_sweep() {
    let output = rehearse("--sweep 200,500,800,1200 --peak 5000 --json -");
    assert_status(&output, 0);
    let plan = &report(&output)["plan"];
    assert_eq!(plan["peak_rate"], 5000.0);
    let items = plan["items"].as_array().unwrap();
    let value = |quantity: &str| {
        let found = items.iter().find(|item| item["quantity"] == quantity);
        found.and_then(|item| item["value"].as_f64())
    };
    // The knee is at 500/s, three quarters of the most at 750/s.
    assert_eq!(value("nodes_by_knee"), Some(10.0));
    assert_eq!(value("nodes_by_highest_rate"), Some(7.0));
    assert_eq!(value("nodes"), Some(10.0));
    let text = stdout(&rehearse("--sweep 200,500,800,1200 --peak 5000"));
    assert!(text.contains("⌈λ_peak / λ_knee⌉"), "{text}");
    // Without a sweep nothing follows.
    let output = rehearse("--rate 400 --peak 5000");
    assert!(stderr(&output).contains("--sweep"), "{}", stderr(&output));
}

#[test]
fn pages_show_what_the_experiment_was() {
    let page_of = |flags: &str| {
        let file = Scratch::new();
        rehearse(&format!("{flags} --quiet --html {}", file.path()));
        file.read()
    };
    for (flags, section) in [
        ("--sweep 200,500,800,1200 --peak 5000", "sweep"),
        ("--sweep 200,500,800,1200 --peak 5000", "plan"),
        ("--rate 400 --replicas 3", "replicas"),
        ("--rate 250 --overload 1500 --waiting 20", "resilience"),
        ("--rate 400 --floor", "floor"),
    ] {
        let id = format!("<section id=\"{section}\">");
        assert!(page_of(flags).contains(&id), "{flags}");
    }
}

#[test]
fn a_search_finds_what_the_service_carries_within_the_objective() {
    // P99 of M/M/1 is 4.605 ms / (1 - load): 20 ms at 769.7/s.
    let flags = "--rate 200 --sweep find --slo p99<=20ms --resolution 0.1 --json -";
    let output = rehearse(flags);
    assert_status(&output, 0);
    let report = report(&output);
    let found = &report["sweep"]["found"];
    assert_eq!(found["known"], "found");
    let rate = found["rate"].as_f64().unwrap();
    assert!((600.0..770.0).contains(&rate), "{rate}");
    assert_eq!(report["slo"]["verdict"], "pass");
    assert_eq!(report["asked_rate"], found["rate"]);

    let below = rehearse("--rate 600 --sweep find --slo p99<=5ms --json -");
    assert_status(&below, 1);
    assert_eq!(crate::report(&below)["sweep"]["found"]["known"], "below");
    let fine = rehearse("--rate 200 --sweep find --up-to 400 --slo p99<=1s --json -");
    assert_status(&fine, 0);
    assert_eq!(crate::report(&fine)["sweep"]["found"]["known"], "at_least");
}

#[test]
fn what_cannot_be_rehearsed_or_swept_is_refused() {
    for (flags, named) in [
        (
            "--rate 10 --sessions fixed:3",
            "sessions cannot be rehearsed",
        ),
        ("--rate 10 --service sometimes", "sometimes"),
        ("--sweep find", "--rate"),
        ("--rate 10 --servers 0", "0 servers"),
        ("--rate 10 --sweep 0,5", "rate is 0"),
    ] {
        let output = rehearse(flags);
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
    }
}

/// On the real clock, against a real server.
#[test]
fn floor_and_replicas_are_measured_on_a_server() {
    let server = server().start().unwrap();
    let flags = format!(
        "--rate 200 {SECOND} {BUSY} --replicas 3 --retest 0 --floor --slo p50<=1s,errors<=1% --json -"
    );
    let output = loadgen(&server.url("/"), &flags);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["replicas"]["runs"].as_array().unwrap().len(), 3);
    assert!(report["floor"]["s_ns"].as_f64() > Some(0.0));
    assert_eq!(report["floor"]["rtt_source"], "same_host");
    // Whether the runs agree depends on the machine: pass, or inconclusive.
    assert!(
        matches!(output.status.code(), Some(0 | 5)),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_sweep_says_what_the_service_behaves_like() {
    let flags = "--sweep 40,80,160,240,320,360,420 --servers 4 --service exponential:0.01 --json -";
    let report = report(&rehearse(flags));
    let sweep = &report["sweep"];
    assert_eq!(
        sweep["diagnosis"]["model"], "workers",
        "{}",
        sweep["diagnosis"]
    );
    assert_eq!(sweep["diagnosis"]["tail"], "smooth");
    assert_eq!(sweep["fits"]["mmc"]["servers"], 4);
    assert_eq!(sweep["points"][0]["zone"], "free");
    assert_eq!(sweep["points"][6]["zone"], "saturated");
}

#[test]
fn an_overload_has_three_stages_and_a_verdict() {
    let flags = "--rate 250 --overload 800 --servers 4 --service exponential:0.01 --waiting 20";
    let output = rehearse(&format!("{flags} --json -"));
    assert_status(&output, 0);
    let report = report(&output);
    let resilience = &report["resilience"];
    assert_eq!(resilience["verdict"], "pass");
    let shed = resilience["during"]["shed"].as_f64().unwrap();
    // 400 of 800 a second are served.
    assert!((shed - 0.5).abs() < 0.05, "{shed}");
    let text = stdout(&rehearse(flags));
    assert!(text.starts_with("PASS, REHEARSAL"), "{text}");
    // Without a limit on its queue it does not recover in the time that there is.
    let endless = rehearse("--rate 250 --overload 2000 --servers 4 --service exponential:0.01");
    assert_status(&endless, 1);
    assert!(stdout(&endless).contains("does not degrade as stated"));
}

#[test]
fn replicas_of_each_rate_are_held_against_each_other() {
    let output = rehearse("--sweep 100,200 --replicas 3 --retest 1 --json -");
    assert_status(&output, 0);
    let report = report(&output);
    for point in report["sweep"]["points"].as_array().unwrap() {
        assert_eq!(point["runs"].as_array().unwrap().len(), 3);
        let agreement = &point["agreement"];
        assert_eq!(agreement["steadiness"], "stable", "{agreement}");
        assert!(agreement["mean"]["cv"].as_f64().unwrap() < 0.03);
        assert!(agreement["mean_by_sampling"].is_number());
    }
    let text = stdout(&rehearse("--sweep 100,200 --replicas 3"));
    assert!(
        text.contains("replicas") && text.contains("stable: C_v"),
        "{text}"
    );
    // A dozen arrivals in each run: they disagree.
    let few = "--sweep 0.2,0.3 --replicas 3 --retest 1 --floor-requests 10 --service exponential:1";
    let output = rehearse(few);
    assert_status(&output, 5);
    let text = stdout(&output);
    assert!(
        text.contains("disagree") && text.contains("measure again"),
        "{text}"
    );
    assert!(text.contains("made anew"), "{text}");
}

#[test]
fn shares_of_a_maximum_and_another_rule_of_the_knee() {
    let output = rehearse(
        "--sweep 20%,40%,60%,80%:of=1000 --knee-rule p95<=1.5S --floor-requests 5000 --json -",
    );
    assert_status(&output, 0);
    let report = report(&output);
    let sweep = &report["sweep"];
    let points = sweep["points"].as_array().unwrap().iter();
    let rates: Vec<_> = points
        .map(|point| point["asked_rate"].as_f64().unwrap())
        .collect();
    assert_eq!(rates, [200.0, 400.0, 600.0, 800.0]);
    assert_eq!(sweep["knee_rule"], "p95 <= 1.5S");
    // 1/(1 − ρ) is 1.5 at a third: it is kept at 200/s and broken at 600/s.
    let knee = sweep["knee"]["rate"].as_f64().unwrap();
    assert_eq!(knee, 200.0, "{}", sweep["knee"]);
}

#[test]
fn the_slowest_arrivals_and_the_worst_ten_seconds_stand_beside_the_whole() {
    let output = rehearse("--rate 750 --json -");
    let report = report(&output);
    let slowest = report["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 20);
    let response = |slow: &Value| slow["response_ns"].as_u64().unwrap();
    assert!(
        slowest
            .windows(2)
            .all(|pair| response(&pair[0]) >= response(&pair[1]))
    );
    assert_eq!(
        response(&slowest[0]),
        report["latency"]["response"]["max_ns"].as_u64().unwrap()
    );
    let worst = &report["worst_stretch"];
    let length = worst["to_ns"].as_u64().unwrap() - worst["from_ns"].as_u64().unwrap();
    assert_eq!(length, 10_000_000_000);
    let whole = report["latency"]["response"]["p99_ns"].as_u64();
    assert!(worst["p99_ns"].as_u64() > whole, "{worst}");
    let text = stdout(&rehearse("--rate 750"));
    assert!(text.contains("in the worst 10 s"), "{text}");
    assert!(
        text.contains("slowest") && text.contains("15 more"),
        "{text}"
    );
}

/// The rehearsal of a whole sweep says how surely the answer is kept.
#[test]
fn a_search_answers_with_two_rates_between_which_the_truth_lies() {
    let output = rehearse("--sweep find --rate 200 --slo p99<=20ms --resolution 0.1 --json -");
    assert_status(&output, 0);
    let report = report(&output);
    let found = &report["sweep"]["found"];
    let (low, high) = (
        found["rate"].as_f64().unwrap(),
        found["not_at"].as_f64().unwrap(),
    );
    // 1000 − ln 100 / 20 ms.
    assert!(low <= 769.7 && 769.7 <= high && low > 600.0, "{found}");
}
