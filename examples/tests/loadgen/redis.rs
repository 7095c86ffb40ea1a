//! `loadgen redis` against a real server.

use crate::*;
use openloop_testbed::{Certificate, Redis, RedisCluster};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Longer than anything here takes: only a defect meets it.
const LIMIT: Duration = Duration::from_secs(60);

/// `loadgen redis URL --command COMMAND` with these flags, which are parted by spaces.
fn loading(url: &str, command: &str, flags: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    program.args(["redis", url, "--command", command]);
    program.args(flags.split_whitespace());
    program
}

fn load(server: &Redis, command: &str, flags: &str) -> Output {
    loading(&server.url(), command, flags).output().unwrap()
}

fn constant(flags: &str) -> String {
    format!("--rate 200 --arrivals constant {SECOND} {BUSY} {flags}")
}

/// Everything that is stored, as `key value`.
fn stored(server: &Redis) -> BTreeSet<String> {
    const ALL: &str = "local all = {} \
        for _, key in ipairs(redis.call('KEYS', '*')) do all[#all + 1] = key .. ' ' .. redis.call('GET', key) end \
        return all";
    let all = server.cli(&["eval", ALL, "0"]).unwrap();
    all.lines().map(str::to_owned).collect()
}

#[test]
fn exactly_what_was_planned_is_sent_and_every_stage_is_reported() {
    let server = Redis::start().unwrap();
    let output = load(
        &server,
        "INCR counter",
        &constant("--connections 4 --json -"),
    );
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 200);
    assert_eq!(server.cli(&["get", "counter"]).unwrap(), "200");
    for stage in ["acquire", "reply"] {
        assert_eq!(report["metrics"][stage]["count"], 200, "{stage}");
    }
    assert_eq!(report["counts"]["connections_reused"], 200);
    assert_eq!(report["target"], server.url());
}

#[test]
fn the_same_seed_stores_the_same_whatever_the_number_of_threads_and_pipelines() {
    let command = "SET key:{key} {value:uniform:lo=1,hi=20}";
    let run = |flags: &str| {
        let server = Redis::start().unwrap();
        let flags = constant(&format!("--quiet --keys sequential:1000 {flags}"));
        assert_status(&load(&server, command, &flags), 0);
        stored(&server)
    };
    let one = run("--seed 5");
    assert_eq!(one.len(), 200);
    let lengths: BTreeSet<_> = one
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap().len())
        .collect();
    assert!(lengths.len() > 10 && lengths.iter().all(|length| (1..=20).contains(length)));
    assert_eq!(one, run("--seed 5 --threads 2 --depth 8"));
    assert_ne!(one, run("--seed 6"));
    // Half as many requests of two commands each are the same commands.
    let flags = format!(
        "--rate 100 --arrivals constant {SECOND} {BUSY} --quiet --keys sequential:1000 --seed 5 --pipeline 2"
    );
    let server = Redis::start().unwrap();
    assert_status(&load(&server, command, &flags), 0);
    assert_eq!(one, stored(&server));
}

#[test]
fn kinds_and_scripts_come_from_a_file() {
    let server = Redis::start().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("mixes/cache.toml");
    let flags = format!(
        "--rate 500 --arrivals constant {SECOND} {BUSY} --json - --depth unlimited --connections 1 --mix"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command
        .args(["redis", &server.url()])
        .args(flags.split_whitespace())
        .arg(&file);
    let output = command.output().unwrap();
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 500);
    let of = |kind: &str| report["kinds"][kind]["arrivals"]["ok"].as_u64().unwrap();
    assert_eq!(of("get") + of("set") + of("count"), 500);
    assert!(of("get") > 400 && of("set") > 10 && of("count") > 0);
    // Reads of what was never written are counted as such: of 456 reads 54 have a key that is written before them, and 74
    // one that is written at all, where requests overtake each other on a busy machine.
    let nils = report["counts"]["nils"].as_u64().unwrap();
    assert!((of("get") - 74..of("get")).contains(&nils), "{nils}");
    // Whoever calls it before it is there sends it: more than one where several come at the same time.
    let loaded = report["counts"]["scripts_loaded"].as_u64().unwrap();
    assert!((1..=of("count")).contains(&loaded), "{loaded}");
    let visits = server.cli(&["keys", "visits:*"]).unwrap();
    assert!(visits.lines().count() as u64 <= of("count"));
    assert!(stderr(&output).contains("get"), "{}", stderr(&output));

    let sample = run(&format!("sample mix {} --count 3", file.display()));
    assert_status(&sample, 0);
    assert!(stdout(&sample).contains("GET item:"), "{}", stdout(&sample));
}

#[test]
fn error_replies_fail_by_their_class_and_a_gate_sees_them() {
    let server = Redis::start().unwrap();
    server.cli(&["set", "text", "x"]).unwrap();
    let flags = constant("--json - --slo errors<=0.1%");
    let output = load(&server, "LPUSH text y", &flags);
    assert_status(&output, 1);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["failed"], 200);
    assert!(stdout(&output).contains("redis_wrongtype"));
}

/// The server dies in the middle of a run and comes back a second later.
#[test]
fn a_restart_loses_no_arrival() {
    let mut server = Redis::start().unwrap();
    let file = Scratch::new();
    let flags = format!(
        "--rate 200 --arrivals constant --ramp-up 0s --warm-up 0s --steady 3s --cooldown 0s {BUSY} --connections 8 \
         --timeout 2s --quiet --json {}",
        file.path()
    );
    let mut command = loading(&server.url(), "INCR counter", &flags);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !server
        .cli(&["get", "counter"])
        .unwrap()
        .parse()
        .is_ok_and(|count: u32| count >= 100)
    {
        assert!(begun.elapsed() < LIMIT, "nothing is sent");
    }
    server.kill().unwrap();
    let down = Instant::now();
    while down.elapsed() < Duration::from_secs(1) {
        std::thread::yield_now();
    }
    server.restart().unwrap();
    assert_status(&child.wait_with_output().unwrap(), 0);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    assert_balances(&report);
    let arrivals = &report["arrivals"];
    assert_eq!(arrivals["scheduled"], 600);
    // It was down for a second at least, and tried again within another one.
    let (ok, failed) = (
        arrivals["ok"].as_u64().unwrap(),
        arrivals["failed"].as_u64().unwrap(),
    );
    assert!(failed >= 190 && ok >= 100, "{arrivals}");
    assert_eq!(ok + failed, 600, "{arrivals}");
    let after: u64 = server.cli(&["get", "counter"]).unwrap().parse().unwrap();
    assert!(after > 0 && after <= ok);
}

/// The whole server sleeps for a second in the middle of 3 s at 500/s: who came at the moment it fell asleep waited 1 s,
/// who came at its end nothing, and between them lies a straight line. Of 1500 arrivals the 15 slowest are above p99: it
/// is 15 arrivals, or 30 ms, below the longest. The tolerance is 60 ms, for a busy machine.
#[test]
fn a_server_that_sleeps_is_the_exact_triangle_in_the_response() {
    const TOLERANCE: f64 = 60e6;
    let server = Redis::start().unwrap();
    let file = Scratch::new();
    let flags = format!(
        "--rate 500 --arrivals constant --ramp-up 0s --warm-up 0s --steady 3s --cooldown 0s {BUSY} --connections 4 \
         --quiet --json {}",
        file.path()
    );
    let mut command = loading(&server.url(), "INCR counter", &flags);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !server
        .cli(&["get", "counter"])
        .unwrap()
        .parse()
        .is_ok_and(|count: u32| count >= 200)
    {
        assert!(begun.elapsed() < LIMIT, "nothing is sent");
    }
    server.cli(&["debug", "sleep", "1"]).unwrap();
    assert_status(&child.wait_with_output().unwrap(), 0);
    let report: Value = serde_json::from_str(&file.read()).unwrap();
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 1500);
    let of = |latency: &str, value: &str| report["latency"][latency][value].as_f64().unwrap();
    for (value, expected) in [("max_ns", 1000e6), ("p99_ns", 970e6)] {
        let measured = of("response", value);
        assert!(
            (measured - expected).abs() < TOLERANCE,
            "{value}: {measured}"
        );
    }
    // A third of all waited, half a second in the mean.
    let mean = of("response", "mean_ns");
    assert!((mean - 1000e6 / 6.0).abs() < TOLERANCE, "{mean}");
    // Four were on their way, the others waited on our side: a naive tool sees four slow ones.
    let (naive, response) = (of("exchange", "p90_ns"), of("response", "p90_ns"));
    assert!(naive < 0.2 * response, "{naive} of {response}");
    assert!(of("exchange", "max_ns") > 900e6);
    let acquire = report["metrics"]["acquire"]["p99_ns"].as_f64().unwrap();
    assert!((acquire - 970e6).abs() < TOLERANCE, "{acquire}");
}

#[test]
fn a_cluster_is_loaded_over_all_its_nodes() {
    let cluster = RedisCluster::start(3).unwrap();
    let flags = constant("--keys sequential:1000 --cluster --connections 2 --json -");
    let output = loading(&cluster.url(), "SET key:{key} x", &flags)
        .output()
        .unwrap();
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 200);
    let sizes = cluster
        .nodes()
        .iter()
        .map(|node| node.cli(&["dbsize"]).unwrap());
    let sizes: Vec<u32> = sizes.map(|size| size.parse().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<u32>(), 200);
    assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");

    // Of a pipeline each command goes to its node, and keys with a part in braces in common are of one.
    let flags = constant(
        "--keys sequential:1000 --cluster --connections 2 --pipeline 4 --depth 8 --json -",
    );
    let pair = "MSET {{key}}:a {key} {{key}}:b {key}";
    let output = loading(&cluster.url(), pair, &flags).output().unwrap();
    assert_status(&output, 0);
    let report = crate::report(&output);
    assert_eq!(report["arrivals"]["ok"], 200, "{}", report["outcomes"]);
    assert_eq!(report["counts"]["moved"], Value::Null);
    let sizes = cluster
        .nodes()
        .iter()
        .map(|node| node.cli(&["dbsize"]).unwrap());
    let total: u32 = sizes.map(|size| size.parse::<u32>().unwrap()).sum();
    assert_eq!(total, 200 + 2 * 800);
}

#[test]
fn tls_is_spoken_where_the_url_says_so() {
    let server = Redis::start_tls(Certificate::Trusted, &[]).unwrap();
    let url = server.tls_url().unwrap();
    let ca = Scratch::new();
    std::fs::write(ca.path(), server.ca_pem().unwrap()).unwrap();
    for trust in [format!("--ca {}", ca.path()), "--insecure".to_owned()] {
        let flags = constant(&format!("--json - --connections 4 {trust}"));
        let output = loading(&url, "INCR counter", &flags).output().unwrap();
        assert_status(&output, 0);
        let report = report(&output);
        assert_balances(&report);
        assert_eq!(report["arrivals"]["ok"], 200);
    }
    assert_eq!(server.cli(&["get", "counter"]).unwrap(), "400");
    let output = loading(&url, "PING", &constant("--quiet"))
        .output()
        .unwrap();
    assert_status(&output, 4);
    assert!(
        stderr(&output).contains("certificate"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_target_that_is_not_there_or_wants_a_password_is_unreachable() {
    let server = Redis::start_with(&["--requirepass", "secret"]).unwrap();
    let unreachable = |url: &str| {
        let output = loading(url, "PING", &constant("--quiet")).output().unwrap();
        assert_status(&output, 4);
        stderr(&output)
    };
    assert!(unreachable("redis://127.0.0.1:1").contains("refused"));
    assert!(unreachable(&server.url()).contains("NOAUTH"));
    let wrong = unreachable(&format!("redis://:guess@127.0.0.1:{}", server.port()));
    assert!(!wrong.contains("guess"), "{wrong}");
    // The password is in no report.
    let right = format!("redis://:secret@127.0.0.1:{}", server.port());
    let output = loading(&right, "PING", &constant("--json -"))
        .output()
        .unwrap();
    assert_status(&output, 0);
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains("secret"));
}

#[test]
fn what_makes_no_request_is_refused_before_anything_is_sent() {
    for (command, flags, named) in [
        ("", "", "empty"),
        ("GET 'a", "", "quote"),
        ("SUBSCRIBE a", "", "SUBSCRIBE"),
        ("GET {key}", "", "--keys"),
        ("GET a", "--keys uniform:5", "{key}"),
        ("SET a {value:many}", "", "{value:many}"),
        ("GET a", "--depth 0", "depth"),
        ("GET a", "--pipeline 0", "pipeline"),
        ("GET a", "--connections per-in-flight --depth 2", "--depth"),
        ("GET a", "--threads 8 --connections 4", "8 threads"),
        ("a , b", "--script /no/such.lua", "/no/such.lua"),
        ("GET a", "--insecure", "rediss"),
        ("MGET a b", "--cluster", "several slots"),
        (
            "MSET {key}:a 1 {key}:b 2",
            "--keys uniform:5 --cluster",
            "several slots",
        ),
    ] {
        let output = loading("redis://127.0.0.1:1", command, &constant(flags))
            .output()
            .unwrap();
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{command}: {}",
            stderr(&output)
        );
    }
    let output = loading("http://127.0.0.1:1", "PING", &constant(""))
        .output()
        .unwrap();
    assert_status(&output, 2);
    assert!(stderr(&output).contains("redis://"));
}

#[test]
fn a_problem_says_which_keys_are_asked_for() {
    let problem = Scratch::new();
    let text =
        "objective.purpose = \"capacity\"\nworkload.keys = \"uniform:100\"\nload.rate = 10\n";
    std::fs::write(problem.path(), text).unwrap();
    let preview = |command| {
        let flags = format!("--problem {} --preview", problem.path());
        loading("redis://127.0.0.1:9", command, &flags)
            .output()
            .unwrap()
    };
    // Without keys {key} is refused.
    assert_status(&preview("GET key:{key}"), 0);
    let same = preview("GET key:1");
    assert_status(&same, 0);
    assert!(
        stderr(&same).contains("workload.keys is uniform:100"),
        "{same:?}"
    );

    let flags = format!(
        "redis redis://127.0.0.1:9 --problem {} --preview",
        problem.path()
    );
    let nothing = run(&flags);
    assert_status(&nothing, 2);
    assert!(
        stderr(&nothing).contains("give --command, or --mix FILE"),
        "{nothing:?}"
    );
}
