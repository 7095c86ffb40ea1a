//! `loadgen inference` against real servers of a small model: dasllama always, llama.cpp's with `OPENLOOP_FULL=1`.

use super::*;
use openloop_testbed::LanguageModel;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::mpsc;

const SHORT: &str = "--input-tokens fixed:20 --output-tokens fixed:8 --field temperature=0";

/// As many requests at a time as the tests send.
fn servers() -> Vec<LanguageModel> {
    let mut servers = vec![LanguageModel::dasllama(8).unwrap()];
    if std::env::var_os("OPENLOOP_FULL").is_some() {
        servers.push(LanguageModel::llama_server(8).unwrap());
    }
    servers
}

fn command(server: &LanguageModel, flags: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.args(["inference", &server.url(), "--model", server.model()]);
    command.args(flags.split_whitespace());
    command
}

fn count(report: &Value, name: &str) -> u64 {
    report["counts"][name].as_u64().unwrap_or(0)
}

/// How fast they answer depends on the machine; that every answer is a whole one with tokens, and none fails where a
/// server closes its connections, does not.
#[test]
fn what_real_servers_answer_is_measured_and_nothing_fails() {
    for server in servers() {
        for flags in [
            "--api chat",
            "--api text",
            "--api chat --connections 2",
            "--api text --no-stream",
        ] {
            let all = format!(
                "{flags} {SHORT} --rate 4 --arrivals constant --ramp-up 0s --warm-up 0s --steady 2s --cooldown 0s {BUSY} --json - --drain 60s"
            );
            let output = command(&server, &all).output().unwrap();
            let report = report(&output);
            assert_balances(&report);
            assert_eq!(report["arrivals"]["ok"], 8, "{flags}: {}", stderr(&output));
            assert_eq!(count(&report, "tokens_from_usage"), 8);
            let ended = count(&report, "finish_length") + count(&report, "finish_stop");
            assert_eq!(ended, 8);
            let metric = |name: &str| report["metrics"][name]["count"].as_u64().unwrap_or(0);
            assert_eq!(metric("e2e"), 8);
            if flags.contains("no-stream") {
                assert_eq!(metric("ttft"), 0);
                continue;
            }
            assert_eq!((metric("ttft"), metric("ttft_sent")), (8, 8));
            // A gap for each token but the first; the one that ends an answer is counted, and may not be sent.
            let (tokens, stops) = (
                count(&report, "output_tokens"),
                count(&report, "finish_stop"),
            );
            assert!(
                (tokens - 8 - stops..=tokens - 8).contains(&metric("itl")),
                "{flags}"
            );
            let (seen, own) = (
                &report["metrics"]["ttft_sent"],
                &report["metrics"]["server_prefill"],
            );
            if let Some(own) = own["min_ns"].as_u64() {
                assert!(seen["min_ns"].as_u64().unwrap() >= own, "{seen} {own}");
            }
        }
    }
}

/// A limit on the time gives the stream up, and the server is told by its socket.
#[test]
fn answers_that_are_given_up_are_not_generated_any_further() {
    let server = LanguageModel::dasllama(2).unwrap();
    let flags = format!(
        "--input-tokens fixed:20 --output-tokens fixed:1500 --rate 2 --arrivals constant {SECOND} {BUSY} \
         --timeout 700ms --json -"
    );
    let output = command(&server, &flags).output().unwrap();
    let report = report(&output);
    assert_balances(&report);
    assert_eq!(report["arrivals"]["timed_out"], 2, "{}", stderr(&output));
    // The place of both is free again.
    let again =
        format!("{SHORT} --rate 2 --arrivals constant {SECOND} {BUSY} --json - --drain 60s");
    let again = crate::report(&command(&server, &again).output().unwrap());
    assert_eq!(again["arrivals"]["ok"], 2);
    let log = server.log().unwrap();
    assert!(log.contains("client disconnected"), "{log}");
}

/// dasllama ends at a request whose `max_tokens` is a text. Where the machine is slow that is late, and so the run lasts
/// until it has been so.
#[test]
fn a_server_that_dies_in_the_middle_loses_no_arrival() {
    let server = LanguageModel::dasllama(8).unwrap();
    let flags = format!(
        "--input-tokens fixed:20 --output-tokens fixed:400 --rate 5 --arrivals constant --ramp-up 0s --warm-up 0s \
         --steady 600s --cooldown 0s {BUSY} --json -"
    );
    let mut run = command(&server, &flags)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(run.stderr.take().unwrap()).lines();
    // It tells of its phases as they begin, and then how far they are: noted as it comes.
    let (note, notes) = mpsc::channel();
    std::thread::spawn(move || {
        let mut steady = lines
            .map_while(Result::ok)
            .filter(|line| line.starts_with("steady"));
        steady.try_for_each(|line| note.send(line))
    });
    let tells = || notes.recv().unwrap();
    tells();
    // While fifteen tokens are generated for this one, some come for those as well.
    assert!(ask(&server, "15").contains("200 OK"));
    // It closes without an answer.
    assert_eq!(ask(&server, "\"abc\""), "");
    // From one line to the next there are arrivals; the first may be on its way already.
    let _before: Vec<_> = notes.try_iter().collect();
    let after = [tells(), tells(), tells()];
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let mut text = String::new();
    run.stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    let status = run.wait().unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_balances(&report);
    let failed = &report["outcomes"]["failed"];
    // Those that were under way, and those that came when it was gone.
    assert!(
        failed["cut_off"].as_u64().unwrap_or(0) >= 1,
        "{failed} {after:?}"
    );
    assert!(
        failed["connect_refused"].as_u64().unwrap_or(0) >= 1,
        "{failed}"
    );
    assert!(count(&report, "cut_off_tokens") >= 1);
    assert_eq!(status.code(), Some(130), "{after:?}");
}

/// The answer to one more request, until the connection closes.
fn ask(server: &LanguageModel, max_tokens: &str) -> String {
    let model = server.model();
    let body = format!(
        r#"{{"model":"{model}","messages":[{{"role":"user","content":"Tell me of the sea."}}],"max_tokens":{max_tokens}}}"#
    );
    let length = body.len();
    let mut socket = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    write!(
        socket,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    // A reset is an end as well.
    let _ = socket.read_to_string(&mut answer);
    answer
}
