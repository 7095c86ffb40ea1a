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
    assert_eq!(report["formulas"]["good"], "ttft<=10s, tpot<=10s");
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

/// The template of the library can be rehearsed as it stands, on engines that have first tokens; and on a queue, which has
/// none.
#[test]
fn a_problem_is_rehearsed_without_a_server() {
    let problem = Scratch::new();
    let template = run("problem --template llm");
    let text = stdout(&template).replace("steady = \"10m\"", "steady = \"60s\"");
    std::fs::write(problem.path(), text).unwrap();
    let rehearse = |flags: &str| {
        Command::new(env!("CARGO_BIN_EXE_loadgen"))
            .args([
                "inference",
                "http://127.0.0.1:1",
                "--model",
                "m",
                "--rehearse",
            ])
            .args(["--json", "-", "--problem", problem.path()])
            .args(flags.split_whitespace())
            .output()
            .unwrap()
    };
    let output = rehearse("");
    let said = stderr(&output);
    assert!(!said.contains("is not rehearsed"), "{said}");
    let told = report(&output);
    assert!(
        told["rehearsal"].as_str().unwrap().contains("batches"),
        "{}",
        told["rehearsal"]
    );
    let answers = &told["metrics"]["ttft"]["count"];
    assert!(answers.as_u64().unwrap() > 100);
    assert_eq!(*answers, told["latency"]["response"]["count"]);
    assert_eq!(told["slo"]["findings"][0]["bound"], "ttft.p99 <= 200 ms");
    assert!(told["slo"]["findings"][0]["value"].as_f64().unwrap() > 1e6);

    let output = rehearse("--service exponential:1 --servers 64");
    let said = stderr(&output);
    assert!(
        said.contains("ttft.p99 <= 200 ms is not rehearsed"),
        "{said}"
    );
    let told = report(&output);
    assert!(told["rehearsal"].is_string() && told["metrics"]["ttft"].is_null());
    assert!(told["arrivals"]["ok"].as_u64().unwrap() > 100);
}

/// The whole of what an inference sweep is for, in virtual time: the highest rate of tokens within bounds on TTFT and TPOT,
/// which of them ends it, and the knee of each.
#[test]
fn a_search_for_the_highest_rate_within_ttft_and_tpot_names_what_ends_it() {
    let search = |flags: &str| {
        let flags = format!(
            "inference http://127.0.0.1:1 --model m --rehearse --rates-in output-tokens --sweep find \
             --ramp-up 0s --warm-up 20s --steady 120s --cooldown 0s --resolution 0.1 {flags}"
        );
        run(&flags)
    };
    // Long prompts keep a step busy for a quarter of a second: TTFT goes first. Where prompts are short it is TPOT.
    for (lengths, bounds, first) in [
        (
            "--input-tokens lognormal:mean=500,cv=1,max=4096 --output-tokens fixed:64 --rate 320",
            "--slo ttft.p99<=300ms,tpot.p99<=100ms",
            "ttft.p99",
        ),
        (
            "--input-tokens fixed:1 --output-tokens fixed:64 --rate 1280",
            "--slo ttft.p99<=400ms,tpot.p99<=20ms",
            "tpot.p99",
        ),
    ] {
        let output = search(&format!("{lengths} {bounds} --json -"));
        let told = report(&output);
        let found = &told["sweep"]["found"];
        assert_eq!(found["known"], "found", "{found}");
        let text = found["text"].as_str().unwrap();
        assert!(text.contains(&format!("{first} <= ")), "{text}");
        let knees = told["sweep"]["knees"].as_array().unwrap();
        let named: Vec<_> = knees
            .iter()
            .map(|knee| knee["metric"].as_str().unwrap())
            .collect();
        assert_eq!(named, ["ttft", "tpot"]);
        assert_eq!(told["sweep"]["counted"]["name"], "output_tokens");
    }
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

/// vllm#54101: the wait for a place in flight is left out of what users wait.
#[test]
fn a_wait_for_a_place_in_flight_is_in_ttft() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(50),
        gap: Duration::from_millis(1),
    })
    .start()
    .unwrap();
    let flags = format!("--rate 40 {SHORT} {SECOND} {BUSY} --max-in-flight 1 --json -");
    let report = report(&load(&server, &flags));
    let of = |metric: &str, field: &str| report["metrics"][metric][field].as_u64().unwrap();
    // The last of 40 waits for 39 that take 54 ms at least, and was due after 975 ms.
    assert!(of("ttft", "max_ns") >= 39 * 54_000_000 + 50_000_000 - 975_000_000);
    assert!(2 * of("ttft_sent", "p50_ns") < of("ttft", "p50_ns"));
}

#[test]
fn goodput_decides_the_verdict() {
    let server = scripted();
    let flags = |slo: &str| format!("--rate 100 {SHORT} {SECOND} {BUSY} --slo {slo}");
    let kept = load(&server, &flags("goodput(ttft<=10s,tpot<=10s)>=95%"));
    assert_status(&kept, 0);
    let text = stdout(&kept);
    assert!(
        text.contains("goodput(ttft<=10s,tpot<=10s) >= 95 %"),
        "{text}"
    );
    assert!(text.contains("good = ttft<=10s, tpot<=10s"), "{text}");
    // No first token comes within 1 ms.
    let flags_of = |slo: &str| flags(slo) + " --goodput ttft<=1ms";
    for slo in ["goodput>=50%", "goodput>=10/s"] {
        let missed = load(&server, &flags_of(slo));
        assert_status(&missed, 1);
        assert!(stdout(&missed).contains("0 %") || stdout(&missed).contains("0/s"));
    }
    let page = Scratch::new();
    let output = load(
        &server,
        &format!("{} --html {}", flags_of("goodput>=50%"), page.path()),
    );
    assert_status(&output, 1);
    let html = std::fs::read_to_string(page.path()).unwrap();
    assert!(
        html.contains("of the arrivals kept ttft&lt;=1ms"),
        "no tile"
    );
    for (flags, named) in [
        ("--slo goodput>=99%", "--goodput"),
        ("--slo goodput(itl<=1ms)>=99%", "itl"),
        ("--slo goodput(ttft<=1ms)>=99% --goodput ttft<=2ms", "two"),
        ("--slo goodput(ttft<=1ms)>=99% --no-stream", "first token"),
    ] {
        let refused = load(&server, &format!("--rate 1 {flags}"));
        assert_status(&refused, 2);
        assert!(
            stderr(&refused).contains(named),
            "{flags}: {}",
            stderr(&refused)
        );
    }
}

/// In tokens per second: 100 and 200 of 5 each are 20 and 40 requests per second.
#[test]
fn a_sweep_may_be_by_tokens_and_shows_what_the_objective_bounds() {
    let server = scripted();
    let flags = format!(
        "--rates-in output-tokens --sweep 100,200 {SHORT} {SECOND} {BUSY} --floor-time 0s --json - \
         --slo ttft.p50<=10s,tpot.p50<=10s"
    );
    let told = report(&load(&server, &flags));
    let sweep = &told["sweep"];
    assert_eq!(sweep["counted"]["name"], "output_tokens");
    assert_eq!(sweep["counted"]["per_request"], 5.0);
    let points = sweep["points"].as_array().unwrap();
    for (point, rate) in points.iter().zip([20.0, 40.0]) {
        assert_eq!(point["asked_rate"], rate);
        assert_eq!(point["counted_rate"], 5.0 * rate);
        assert_eq!(point["bounds"][0]["bound"], "ttft.p50 <= 10 s");
        // No first token is seen before it is sent. Between tokens a client may see less than the server left, where it
        // comes late to the first.
        assert!(point["bounds"][0]["value"].as_f64().unwrap() >= 5e6);
        assert!(point["bounds"][1]["value"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(points.len(), 2);
    assert!(told["floor"].is_null());
    let text = stdout(&load(&server, &flags.replace("--json -", "")));
    for shown in [
        "ttft.p50",
        "tpot.p50",
        "output tokens/s",
        "200 output tokens/s",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    for (flags, named) in [
        ("--closed 1", "--rate"),
        ("--profile 10/1s", "--rate"),
        ("--rate 0.0000000001", "rate"),
    ] {
        let refused = load(&server, &format!("--rates-in output-tokens {flags}"));
        assert_status(&refused, 2);
        assert!(
            stderr(&refused).contains(named),
            "{flags}: {}",
            stderr(&refused)
        );
    }
}

/// guidellm#460: the second step of a sweep found what the first had left in the cache.
#[test]
fn steps_of_a_sweep_find_nothing_of_each_other() {
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
        "--sweep 20,40 --prefixes 2:160:0 {SHORT} {SECOND} {BUSY} --floor-time 0s --quiet --metrics-url none"
    );
    load(&server, &flags);
    let log = server.log();
    assert_eq!(log.len(), 60);
    let cold = |streams: &[openloop_testbed::Stream]| {
        streams
            .iter()
            .filter(|stream| stream.cached_tokens == 0)
            .count()
    };
    // Each of both prefixes is new to each step, and most of the others find theirs.
    assert!(cold(&log[..20]) >= 2 && cold(&log[20..]) >= 2);
    assert!(cold(&log) < 30, "{}", cold(&log));
}

#[test]
fn the_prefix_hits_that_are_promised_are_those_that_metrics_show() {
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
        "--rate 100 --arrivals constant --prefixes 4:160:1 --input-tokens fixed:40 --output-tokens fixed:2 \
         --ramp-up 0s --warm-up 1s --steady 3s --cooldown 0s {BUSY} --json -"
    );
    let output = load(&server, &flags);
    let said = stderr(&output);
    let promised = said.split("would know ").nth(1).unwrap();
    let promised: f64 = promised.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(promised, 80.0);
    let shown = report(&output)["observations"]["prefix_hit_rate"]
        .as_f64()
        .unwrap();
    assert!(
        (100.0 * shown - promised).abs() < 1.0,
        "{shown} for {promised} %"
    );
}

/// vllm#28227: the model stopped when it liked, and nobody said so.
#[test]
fn answers_that_end_early_are_told() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(5),
        gap: Duration::from_millis(1),
    })
    .stops_after(2)
    .start()
    .unwrap();
    let flags = format!("--rate 50 {SHORT} {SECOND} {BUSY}");
    let text = stdout(&load(&server, &flags));
    assert!(
        text.contains("100 tokens of 250 that were asked for, 40 %; ended by: stop 50"),
        "{text}"
    );
    let text = stdout(&load(&server, &format!("{flags} --ignore-eos")));
    assert!(
        text.contains("250 tokens of 250 that were asked for, 100 %; ended by: length 50"),
        "{text}"
    );
}

/// What the model said stands in the next turn, where that was asked for.
#[test]
fn conversations_go_on_from_scripted_or_real_answers() {
    let server = LlmServer::scripted(Script {
        ttft: Duration::from_millis(5),
        gap: Duration::from_millis(1),
    })
    .stops_after(2)
    .start()
    .unwrap();
    for (answers, longest) in [("scripted", 32 + 32 + 8), ("real", 32 + 32 + 2)] {
        let before = server.log().len();
        let flags = format!(
            "--rate 10 --sessions fixed:2 --input-tokens fixed:32 --output-tokens fixed:8 --arrivals constant \
             {SECOND} {BUSY} --quiet --answers {answers}"
        );
        load(&server, &flags);
        let log = &server.log()[before..];
        let lengths: std::collections::BTreeSet<_> =
            log.iter().map(|stream| stream.prompt_tokens).collect();
        assert_eq!(lengths, [32, longest].into(), "{answers}");
    }
    for (flags, named) in [
        ("--answers real", "--sessions"),
        ("--answers real --sessions fixed:2 --api ids:1..100", "ids"),
    ] {
        let refused = load(&server, &format!("--rate 1 {flags}"));
        assert_status(&refused, 2);
        assert!(stderr(&refused).contains(named), "{}", stderr(&refused));
    }
}

/// The template as it stands, but for its lengths of time: floor, replicas, the objective on TTFT and TPOT, and what of
/// the problem is not so.
#[test]
fn a_problem_is_carried_out_on_a_server() {
    let problem = Scratch::new();
    let mut text = stdout(&run("problem --template llm"));
    for (from, to) in [
        ("ramp_up = \"30s\"", "ramp_up = \"0s\""),
        ("warm_up = \"2m\"", "warm_up = \"0s\""),
        ("steady = \"10m\"", "steady = \"1s\""),
        ("cooldown = \"30s\"", "cooldown = \"0s\""),
        ("rate = 5\n", "rate = 60\n"),
        ("lognormal:p50=600,p99=4000,min=1,max=8192", "fixed:30"),
        ("lognormal:p50=150,p99=700,min=1,max=2048", "fixed:4"),
        (
            "bounds = [\"ttft.p99<=200ms\", \"tpot.p99<=25ms\", ",
            "bounds = [\"goodput(ttft<=10s, tpot<=10s)>=90%\", ",
        ),
        ("errors<=0.1%", "errors<=10%"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    std::fs::write(problem.path(), text).unwrap();
    let server = scripted();
    let flags = format!(
        "--problem {} --floor-time 1s {BUSY} --json -",
        problem.path()
    );
    let output = load(&server, &flags);
    let said = stderr(&output);
    assert!(said.contains("floor, run 5 of 5"), "{said}");
    assert!(
        said.contains("40 % of the prompts were said before, and of these it is 0 %"),
        "{said}"
    );
    let report = report(&output);
    assert_eq!(report["title"], "8B model on two accelerators, SLO gate");
    assert_eq!(report["replicas"]["runs"].as_array().unwrap().len(), 3);
    assert_eq!(
        report["counts"]["good"],
        report["latency"]["response_ok"]["count"]
    );
    let findings = report["slo"]["findings"].as_array().unwrap();
    assert_eq!(
        findings[0]["bound"],
        "goodput(ttft<=10s, tpot<=10s) >= 90 %"
    );
    let levels = report["floor"]["levels"].as_array().unwrap();
    for metric in ["ttft", "tpot"] {
        assert!(
            levels.iter().any(|level| level["metric"] == metric),
            "{metric}"
        );
    }
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
