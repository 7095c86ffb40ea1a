use super::*;
use crate::{Load, Plan};
use openloop_sched::Arrivals;
use std::time::Duration;

fn read(text: &str) -> ProblemStatement {
    ProblemStatement::from_toml(text).unwrap()
}

#[track_caller]
fn refused(text: &str) -> String {
    ProblemStatement::from_toml(text).unwrap_err().to_string()
}

fn about(problem: &ProblemStatement) -> Vec<&'static str> {
    problem
        .remarks()
        .iter()
        .map(|remark| remark.about)
        .collect()
}

#[test]
fn the_templates_leave_nothing_out_and_raise_no_doubt() {
    for template in [ProblemStatement::WEB, ProblemStatement::LLM] {
        assert_eq!(read(template).remarks(), [], "{template}");
    }
}

/// Every field stands in one of the templates, as a line or as a comment that may be turned into one.
#[test]
fn the_templates_name_every_field() {
    let schema: serde_json::Value = serde_json::from_str(ProblemStatement::SCHEMA).unwrap();
    let definitions = schema["$defs"].as_object().unwrap();
    let mut fields = 0;
    for definition in definitions.values() {
        for name in definition["properties"].as_object().into_iter().flatten() {
            let name = name.0;
            let both = ProblemStatement::WEB.to_owned() + ProblemStatement::LLM;
            let named = both.lines().any(|line| {
                line.trim_start_matches("# ")
                    .starts_with(&format!("{name} = "))
                    || line.contains(&format!("{name} = "))
            });
            assert!(named, "{name}");
            fields += 1;
        }
    }
    assert!(fields > 40, "{fields}");
}

#[test]
fn a_statement_drives_the_plan() {
    let problem = read(ProblemStatement::WEB);
    let plan = problem.plan().unwrap().build().unwrap();
    let Load::Open { asked, .. } = plan.load() else {
        panic!("{:?}", plan.load())
    };
    assert_eq!(asked.unwrap().as_per_second(), 500.0);
    assert_eq!(plan.layout().steady().length(), Duration::from_secs(300));
    assert_eq!(plan.limits().timeout.unwrap().after, Duration::from_secs(2));
    assert_eq!(plan.seed(), 1);

    let of = |text: &str| -> Plan { read(text).plan().unwrap().build().unwrap() };
    let swept = of("[sweep]\nrates = [7, 8]");
    assert!(
        matches!(swept.load(), Load::Open { asked: Some(rate), .. } if rate.as_per_second() == 7.0)
    );
    let closed = of("[load]\nusers = 4\nthink = '1s'");
    assert!(matches!(closed.load(), Load::Closed { users: 4, .. }));
    let profile = of("[load]\nprofile = '10/5s'\narrivals = 'constant'");
    assert_eq!(profile.preview().unwrap().total, 50);
    let sessions = of("[load]\nrate = 1\nsessions = 'fixed:3'");
    assert_eq!(sessions.sessions().unwrap().request_rate(1.0), 3.0);
}

#[test]
fn json_and_toml_say_the_same_and_are_written_as_they_are_read() {
    for template in [ProblemStatement::WEB, ProblemStatement::LLM] {
        let problem = read(template);
        let json = serde_json::to_string(&problem).unwrap();
        assert_eq!(ProblemStatement::from_json(&json).unwrap(), problem);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, parts) in [
        ("[load]\nrat = 5", &["line 2", "rat", "rate"][..]),
        ("titel = 'x'", &["line 1", "titel"]),
        ("[load]\n\nrate = 'fast'", &["line 3", "fast"]),
        (
            "[lifecycle]\nsteady = 30",
            &["line 2", "30", "lacks a unit"],
        ),
        ("[load]\narrivals = 'sometimes'", &["line 2", "poisson"]),
        ("[environment]\nnetwork = '10'", &["line 2", "Gbit/s"]),
        ("[objective]\npurpose = 'fun'", &["line 2", "capacity"]),
        ("[objective]\nfailure_modes = ['luck']", &["line 2", "luck"]),
        ("[workload]\nkeys = 'zipf'", &["line 2", "zipf"]),
        ("[slo]\nbounds = ['p99']", &["line 1", "p99"]),
        ("[load]\nrate = 1\nusers = 2", &["load.rate", "load.users"]),
        (
            "[sweep]\nrates = [1]\nfind = true",
            &["sweep.rates", "sweep.find"],
        ),
        (
            "[sweep]\nfind = true\n[resilience]\nabove = 9",
            &["resilience", "sweep"],
        ),
        ("[sweep]\nresolution = 0.1", &["sweep.rates or sweep.find"]),
        ("[replicas]\nruns = 2", &["replicas.runs = 2", "odd"]),
        ("[workload]\nread_share = 2", &["workload.read_share = 2"]),
        ("[resilience]\npart = '1s'", &["resilience.above"]),
        (
            "[resilience]\nabove = 9\nserves_still = 7",
            &["resilience.serves_still = 7"],
        ),
        (
            "[resilience]\nabove = 9\nfails_at_most = nan",
            &["resilience.fails_at_most"],
        ),
        ("[floor]\ntrials = 1000000", &["floor.trials = 1000000"]),
        (
            "[sweep]\nfind = true\nresolution = 7",
            &["sweep.resolution = 7"],
        ),
        (
            "[load]\nrate = 1\ntimeout_from = 'dispatch'",
            &["load.timeout_from", "without load.timeout"],
        ),
    ] {
        let why = refused(text);
        for part in parts {
            assert!(why.contains(part), "{text}: {why}");
        }
    }
    let why = read("title = 'x'").plan().unwrap_err().to_string();
    assert!(why.contains("load.rate"), "{why}");
    let why = ProblemStatement::from_json("{\n\"load\": { \"rat\": 1 } }").unwrap_err();
    assert!(why.to_string().contains("line 2"), "{why}");
}

#[test]
fn what_is_left_out_is_named() {
    let empty = about(&read(""));
    for name in [
        "objective.purpose",
        "objective.failure_modes",
        "environment.service",
        "environment.isolated",
        "environment.tenancy",
        "environment.network",
        "environment.expected_bandwidth",
        "environment.periodic",
        "slo",
        "workload.keys",
        "workload.service_cv",
        "workload.cache",
        "load.timeout",
        "replicas.runs",
    ] {
        assert!(empty.contains(&name), "{name}: {empty:?}");
    }
    assert!(!empty.contains(&"sweep"));
    let capacity = about(&read("[objective]\npurpose = 'capacity'"));
    assert!(capacity.contains(&"sweep") && capacity.contains(&"load.peak"));
    let resilience = about(&read("[objective]\npurpose = 'resilience'"));
    assert!(resilience.contains(&"resilience"));
    let gpus = about(&read("[environment]\ngpus = 2"));
    for name in [
        "environment.interconnect",
        "workload.input_tokens",
        "workload.prefix_reuse",
    ] {
        assert!(gpus.contains(&name), "{name}: {gpus:?}");
    }
}

#[test]
fn what_does_not_serve_the_purpose_is_doubted() {
    let doubts = |text: &str| {
        let remarks = read(text).remarks().into_iter();
        let doubts = remarks.filter(|remark| remark.standing == Standing::Doubtful);
        doubts
            .map(|remark| (remark.about, remark.why))
            .collect::<Vec<_>>()
    };
    for (text, name, says) in [
        (
            "[environment]\nnetwork = '1 Gbit/s'\nexpected_bandwidth = '200 Mbit/s'",
            "environment.network",
            "5.0 times",
        ),
        (
            "[environment]\nisolated = false",
            "environment.isolated",
            "host of its own",
        ),
        (
            "[environment]\ngpus = 2\ninterconnect = 'pcie'",
            "environment.interconnect",
            "PCIe",
        ),
        (
            "[load]\nrate = 1\n[environment]\nperiodic = [{ event = 'GC', every = '3m' }]",
            "lifecycle.steady",
            "360 s or longer",
        ),
        ("[load]\nusers = 3", "load.users", "closed_because"),
        (
            "[load]\nrate = 1\narrivals = 'constant'",
            "load.arrivals",
            "poisson",
        ),
        ("[lifecycle]\nwarm_up = '1s'", "lifecycle.warm_up", "120s"),
        ("[replicas]\nruns = 1", "replicas.runs", "3 or 5"),
    ] {
        let doubts = doubts(text);
        let found = doubts.iter().find(|(about, _)| *about == name);
        assert!(
            found.is_some_and(|(_, why)| why.contains(says)),
            "{text}: {doubts:?}"
        );
    }
    assert_eq!(doubts(""), []);
}

/// The schema is made from the types; `BLESS=1 cargo test` writes it anew.
#[test]
fn the_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(ProblemStatement);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/problem/problem.schema.json"
        );
        std::fs::write(path, &text).unwrap();
    } else {
        assert_eq!(text, ProblemStatement::SCHEMA);
    }
}

#[test]
fn the_schema_accepts_the_templates_and_no_unknown_field() {
    let schema: serde_json::Value = serde_json::from_str(ProblemStatement::SCHEMA).unwrap();
    let accepts = |value: &serde_json::Value| accepts::accepts(&schema, &schema, value);
    for template in [ProblemStatement::WEB, ProblemStatement::LLM] {
        let template: serde_json::Value = toml::from_str(template).unwrap();
        assert!(accepts(&template));
    }
    for wrong in [
        serde_json::json!({ "titel": "x" }),
        serde_json::json!({ "load": { "rat": 1 } }),
        serde_json::json!({ "objective": { "purpose": "fun" } }),
        serde_json::json!({ "environment": { "periodic": [{ "event": "GC" }] } }),
    ] {
        assert!(!accepts(&wrong), "{wrong}");
    }
}

/// On both sides of every limit.
#[test]
fn the_schema_refuses_the_numbers_that_the_parser_refuses() {
    let schema: serde_json::Value = serde_json::from_str(ProblemStatement::SCHEMA).unwrap();
    let mut refused = 0;
    let numbers = [
        "-1", "0", "1", "2", "3", "4", "9", "10", "100", "101", "0.0009", "0.001", "0.5", "0.51",
        "1.01", "-0.01", "1e400",
    ];
    let definitions = schema["$defs"].as_object().unwrap();
    for (part, section) in schema["properties"].as_object().unwrap() {
        let names = definitions
            .iter()
            .find(|(name, _)| section.to_string().contains(&format!("#/$defs/{name}\"")));
        let Some(fields) = names.and_then(|(_, fields)| fields["properties"].as_object()) else {
            continue;
        };
        for (field, form) in fields {
            for number in numbers {
                let value = match form["type"] == "array" {
                    true => format!("[{number}]"),
                    false => number.to_owned(),
                };
                let with = match (part.as_str(), field.as_str()) {
                    ("resilience", "above") => "",
                    ("resilience", _) => "\"above\": 9, ",
                    ("sweep", "rates" | "find") => "",
                    ("sweep", _) => "\"find\": true, ",
                    _ => "",
                };
                let json = format!("{{\"{part}\": {{{with}\"{field}\": {value}}}}}");
                let by_parser = ProblemStatement::from_json(&json).is_ok();
                // A number beyond all numbers is refused by every reader.
                let by_schema =
                    serde_json::from_str(&json).is_ok_and(|value: serde_json::Value| {
                        accepts::accepts(&schema, &schema, &value)
                    });
                assert_eq!(by_schema, by_parser, "{json}");
                refused += usize::from(!by_schema);
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

#[test]
fn what_stands_twice_or_never_ends_is_refused() {
    for (text, parts) in [
        (
            "[sweep]\nrates = [100, 200, '100/s']",
            ["sweep.rates", "100/s"],
        ),
        (
            "[objective]\nfailure_modes = ['pauses', 'crash', 'pauses']",
            ["failure_modes", "pauses"],
        ),
        (
            "[[environment.periodic]]\nevent = 'GC'\nevery = '0s'",
            ["GC", "every 0 s"],
        ),
        ("[load]\nrate = 0", ["load.rate", "above 0"]),
        (
            "[rehearsal]\nservers = 0",
            ["rehearsal.servers", "1 or more"],
        ),
    ] {
        let why = refused(text);
        assert!(parts.iter().all(|part| why.contains(part)), "{text}: {why}");
    }
}

#[test]
fn a_rehearsal_takes_what_is_stated_of_the_service() {
    use crate::simulate::simulate;
    use crate::{Lifecycle, Metric};
    use openloop_measurer::Quantile;

    let problem =
        read("[load]\nrate = 1\narrivals = 'constant'\n[rehearsal]\nservice = 'fixed:0.25'");
    let steady = Lifecycle::steady_only(Duration::from_secs(20));
    let plan = problem.plan().unwrap().lifecycle(steady).build().unwrap();
    assert_eq!(problem.load.arrivals.as_deref(), Some(&Arrivals::Constant));
    let run = simulate(&plan, problem.station().unwrap()).unwrap();
    let median = run.series(&Metric::Response).quantile(Quantile::P50);
    assert_eq!(median.unwrap().ns(), 250_000_000);
    assert!(read("[floor]\nexpected = '0s'").station().is_err());
}

#[test]
fn what_was_found_is_held_against_what_is_stated() {
    use crate::simulate::simulate;
    use crate::{Floor, Level, Lifecycle, Metric, Rtt};

    let problem = read(
        "[objective]\nfailure_modes = ['pauses', 'shedding', 'timeouts']\n[floor]\nexpected = '1ms'\n[load]\nrate = 1500\n[rehearsal]\nwaiting = 10",
    );
    let steady = Lifecycle::steady_only(Duration::from_secs(20));
    let plan = problem.plan().unwrap().lifecycle(steady).build().unwrap();
    let run = simulate(&plan, problem.station().unwrap()).unwrap();
    let observed = Observed {
        runs: vec![&run],
        ..Observed::default()
    };
    let of = |mode: FailureMode| {
        let evidence = problem.evidence(&observed);
        let found = evidence.iter().find(|evidence| evidence.mode == mode);
        found.map(|evidence| (evidence.found, evidence.anticipated))
    };
    assert_eq!(of(FailureMode::Shedding), Some((Found::Seen, true)));
    assert_eq!(of(FailureMode::Timeouts), Some((Found::NotSeen, true)));
    assert_eq!(of(FailureMode::Pauses), Some((Found::NotMeasured, true)));
    // A third was turned away: nobody had thought of the cores.
    assert_eq!(of(FailureMode::CpuSaturation), Some((Found::Seen, false)));
    assert_eq!(of(FailureMode::Crash), None);

    // What is only stated is no measurement.
    let level = Level::stated(Duration::from_millis(5));
    let stated = Floor::stated(Rtt::same_host()).with(None, Metric::Response, level);
    let judged = problem.judged(&Observed {
        floor: Some(&stated),
        ..observed
    });
    assert_eq!(judged, [], "{judged:?}");
}
