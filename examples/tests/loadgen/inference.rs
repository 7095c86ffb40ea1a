//! `loadgen inference` against servers that know what they served.

use crate::*;
use openloop_testbed::batching::{ClusterConfig, EngineConfig, StepCost};
use openloop_testbed::{LlmServer, On, Script, StreamFault};
use std::time::Duration;

const SHORT: &str = "--input-tokens fixed:20 --output-tokens fixed:5 --arrivals constant";

fn scripted() -> LlmServer {
    LlmServer::scripted(Script {
        ttft: Duration::from_millis(5),
        gap: Duration::from_millis(1),
    })
    .start()
    .unwrap()
}

/// `loadgen inference URL --model testbed` with these flags, which are parted by spaces.
fn load(server: &LlmServer, flags: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["inference", &server.url(), "--model", "testbed"])
        .args(flags.split_whitespace())
        .output()
        .unwrap()
}

#[test]
fn what_was_planned_is_sent_and_every_metric_is_reported() {
    let server = scripted();
    let flags = format!(
        "--rate 50 {SHORT} {SECOND} {BUSY} --json - --goodput ttft<=10s,tpot<=10s --metric-names vllm"
    );
    let output = load(&server, &flags);
    assert_status(&output, 0);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["ok"], 50);
    assert_eq!(server.log().len(), 50);
    for (metric, count) in [
        ("ttft", 50),
        ("ttft_sent", 50),
        ("tpot", 50),
        ("itl", 200),
        ("itl_chunk", 200),
        ("e2e", 50),
    ] {
        assert_eq!(report["metrics"][metric]["count"], count, "{metric}");
    }
    assert_eq!(
        report["metrics"]["vllm:ttft"],
        report["metrics"]["ttft_sent"]
    );
    let counts = &report["counts"];
    for (name, count) in [
        ("output_tokens", 250),
        ("asked_output_tokens", 250),
        ("input_tokens", 1000),
        ("finish_length", 50),
        ("tokens_from_usage", 50),
        ("good", 50),
    ] {
        assert_eq!(counts[name], count, "{name}: {counts}");
    }
    let said = &report["observations"];
    assert_eq!(said["goodput_rate"], 1.0);
    assert_eq!(said["goodput_per_second"], 50.0);
    assert!(
        said["output_tokens_per_second"].as_f64().unwrap() > 0.0,
        "{said}"
    );
    assert!(report["courses"]["running"].as_array().unwrap().len() >= 2);
}

#[test]
fn bounds_on_the_stream_decide_the_verdict() {
    let server = scripted();
    let flags = |slo: &str| format!("--rate 200 {SHORT} {SECOND} {BUSY} --quiet --slo {slo}");
    assert_status(&load(&server, &flags("ttft.p50<=2s,tpot.p50<=1s")), 0);
    assert_status(&load(&server, &flags("tpot.p50<=100us")), 1);
}

#[test]
fn failed_streams_are_told_by_their_class() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(5),
        gap: Duration::from_millis(1),
    })
    .fault(On::Every(2), StreamFault::CutOff(2))
    .start()
    .unwrap();
    let flags = format!("--rate 50 {SHORT} {SECOND} {BUSY} --json -");
    let output = load(&server, &flags);
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["outcomes"]["failed"]["cut_off"], 25);
    assert_eq!(report["counts"]["cut_off_tokens"], 50);
}

#[test]
fn memory_that_runs_out_is_marked() {
    let engine = EngineConfig {
        blocks: 40,
        cost: StepCost {
            base: 1e-3,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine))
        .start()
        .unwrap();
    let flags = format!(
        "--rate 40 --arrivals constant --input-tokens fixed:60 --output-tokens fixed:150 --ramp-up 0s --warm-up 0s \
         --steady 3s --cooldown 0s {BUSY} --json - --drain 30s"
    );
    let report = report(&load(&server, &flags));
    assert!(report["observations"]["preemptions"].as_f64().unwrap() > 0.0);
    assert!(
        report["observations"]["kv_cache_usage_most"]
            .as_f64()
            .unwrap()
            > 0.9
    );
    let events = report["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["what"] == "preemption"),
        "{events:?}"
    );
}

#[test]
fn conversations_and_traces_are_sent_as_they_are() {
    let server = LlmServer::simulated(ClusterConfig::single(EngineConfig {
        cost: StepCost {
            base: 1e-3,
            ..StepCost::default()
        },
        ..EngineConfig::default()
    }))
    .start()
    .unwrap();
    let flags = format!(
        "--rate 10 --sessions fixed:3 --input-tokens fixed:32 --output-tokens fixed:4 --arrivals constant {SECOND} {BUSY} --json -"
    );
    let output = load(&server, &flags);
    let told = report(&output);
    assert_balances(&told);
    // Of three turns the later ones begin with what was said before.
    let lengths: std::collections::BTreeSet<_> = server
        .log()
        .iter()
        .map(|stream| stream.prompt_tokens)
        .collect();
    assert!(lengths.is_superset(&[32, 68, 104].into()), "{lengths:?}");
    assert!(server.log().iter().any(|stream| stream.cached_tokens >= 32));

    let trace = Scratch::new();
    let lines: String = (0..10)
        .map(|at| format!("{{\"timestamp\": {}, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [1, {at}]}}\n", 50 * at))
        .collect();
    std::fs::write(trace.path(), lines).unwrap();
    let flags = format!("--arrivals trace:{} {BUSY} --json -", trace.path());
    let told = report(&load(&server, &flags));
    assert_eq!(told["arrivals"]["ok"], 10);
    assert_eq!(told["counts"]["input_tokens"], 6000);
    assert_eq!(told["counts"]["output_tokens"], 30);
    assert!(told["counts"]["cached_tokens"].as_u64().unwrap() >= 9 * 512);
}

#[test]
fn what_makes_no_request_is_refused_before_anything_is_sent() {
    for (flags, named) in [
        ("--field model=x", "model"),
        ("--field n=2", "several"),
        ("--api ids:5..5", "ids"),
        ("--api speech", "chat"),
        ("--prefixes 3:4", "COUNT"),
        ("--goodput itl<=1ms", "itl"),
        ("--goodput ttft<=1ms --no-stream", "first token"),
        ("--metric-names llmperf", "llmperf"),
        ("--input-tokens lognormal:mean=5e9,cv=1", "max"),
        ("--api-key-file /no/such", "/no/such"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
            .args([
                "inference",
                "http://127.0.0.1:1",
                "--model",
                "m",
                "--rate",
                "1",
            ])
            .args(flags.split_whitespace())
            .output()
            .unwrap();
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
    }
}

/// The template of the library can be rehearsed as it stands.
#[test]
fn a_problem_is_rehearsed_without_a_server() {
    let problem = Scratch::new();
    let template = run("problem --template llm");
    let text = stdout(&template).replace("steady = \"10m\"", "steady = \"60s\"");
    std::fs::write(problem.path(), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args([
            "inference",
            "http://127.0.0.1:1",
            "--model",
            "m",
            "--rehearse",
        ])
        .args(["--json", "-", "--problem", problem.path()])
        .output()
        .unwrap();
    let said = stderr(&output);
    assert!(
        said.contains("ttft.p99 <= 200 ms is not rehearsed"),
        "{said}"
    );
    let report = report(&output);
    assert!(report["rehearsal"].is_string());
    assert!(report["arrivals"]["ok"].as_u64().unwrap() > 100);
}

#[test]
fn the_same_seed_asks_the_same_whatever_the_number_of_threads() {
    let asked = |flags: &str| {
        let server = scripted();
        let flags = format!(
            "--rate 50 --arrivals constant --input-tokens lognormal:mean=50,cv=1,max=500 --output-tokens uniform:lo=1,hi=9 \
             {SECOND} {BUSY} --quiet {flags}"
        );
        assert_status(&load(&server, &flags), 0);
        let mut asked: Vec<_> = server
            .log()
            .iter()
            .map(|stream| (stream.prompt_tokens, stream.tokens.len()))
            .collect();
        asked.sort_unstable();
        asked
    };
    let one = asked("--seed 5");
    assert_eq!(one.len(), 50);
    assert_eq!(one, asked("--seed 5 --threads 2"));
    assert_ne!(one, asked("--seed 6"));
}

/// The script for a machine with a GPU says that there is none, by the status that stands for a test that was not run.
#[cfg(unix)]
#[test]
fn without_a_gpu_the_script_for_one_says_so() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/gpu/knee.sh");
    // Without a path there is no nvidia-smi either.
    let output = Command::new("/bin/bash")
        .arg(script)
        .env("PATH", "")
        .output();
    let output = output.unwrap();
    assert_status(&output, 77);
    assert!(
        stdout(&output).contains("no NVIDIA GPU"),
        "{}",
        stdout(&output)
    );
}
