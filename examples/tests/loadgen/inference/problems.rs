//! Problem files.

use super::*;

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
    // What prompts share are whole blocks: 16 of 34 tokens is nearest.
    assert!(
        said.contains("40 % of the prompts were said before, and of these it is 47 %"),
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
