//! What is asked for.

use super::*;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[test]
fn conversations_and_traces_are_sent_as_they_are() {
    let server = simulated(8192, 1e-3);
    let flags = format!(
        "--rate 10 --sessions fixed:3 --input-tokens fixed:32 --output-tokens fixed:4 --arrivals constant {SECOND} {BUSY} --json -"
    );
    let output = load(&server, &flags);
    let told = report(&output);
    assert_balances(&told);
    // Of three turns the later ones begin with what was said before.
    let lengths: BTreeSet<_> = server
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

/// What the model said stands in the next turn, where that was asked for.
#[test]
fn conversations_go_on_from_scripted_or_real_answers() {
    let server = script(5).stops_after(2).start().unwrap();
    for (answers, longest) in [("scripted", 32 + 32 + 8), ("real", 32 + 32 + 2)] {
        let before = server.log().len();
        let flags = format!(
            "--rate 10 --sessions fixed:2 --input-tokens fixed:32 --output-tokens fixed:8 --arrivals constant \
             {SECOND} {BUSY} --quiet --answers {answers}"
        );
        load(&server, &flags);
        let log = &server.log()[before..];
        let lengths: BTreeSet<_> = log.iter().map(|stream| stream.prompt_tokens).collect();
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

#[test]
fn a_model_that_the_server_does_not_list_is_told_with_those_that_it_has() {
    let server = scripted();
    let ask = |model: &str, flags: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
            .args(["inference", &server.url(), "--model", model])
            .args(format!("--rate 5 {SHORT} {SECOND} {BUSY} {flags}").split_whitespace())
            .output()
            .unwrap();
        assert_status(&output, 0);
        stderr(&output)
    };
    // Many servers answer nonetheless, and so it is told and no more.
    let said = ask("llama-8b", "");
    let told = "the server does not list the model \"llama-8b\"; it has: testbed";
    assert_eq!(said.matches(told).count(), 1, "{said}");
    // Once, however many threads and runs there are.
    let said = ask("llama-8b", "--threads 2 --sweep 5,10 --floor-time 0s");
    assert_eq!(said.matches(told).count(), 1, "{said}");
    for (model, flags) in [("testbed", ""), ("llama-8b", "--quiet")] {
        let said = ask(model, flags);
        assert!(!said.contains("does not list"), "{said}");
    }
    assert_eq!(server.log().len(), 5 + (5 + 10) + 5 + 5);
}

/// llama-server shows its metrics to nobody without the key.
#[test]
fn the_key_goes_wherever_the_server_is_asked_and_to_no_other() {
    let key = Scratch::new();
    std::fs::write(key.path(), "secret\n").unwrap();
    let (server, other) = (Guarded::start(), Guarded::start());
    let ask = |more: &str| {
        let flags = format!("--rate 5 {SHORT} {SECOND} {BUSY} --no-stream --json - {more}");
        let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
            .args([
                "inference",
                &server.url,
                "--model",
                "m",
                "--api-key-file",
                key.path(),
            ])
            .args(flags.split_whitespace())
            .output()
            .unwrap();
        report(&output)
    };
    let told = ask("");
    assert_eq!(told["arrivals"]["ok"], 5);
    assert_eq!(told["observations"]["running_mean"], 3.0);
    let told = ask(&format!("--metrics-url {}/metrics", other.url));
    assert_eq!(told["arrivals"]["ok"], 5);
    assert!(told["observations"]["running_mean"].is_null());
    let seen = server.seen();
    assert!(seen.iter().all(|(_, has_key)| *has_key), "{seen:?}");
    assert!(seen.iter().any(|(path, _)| path == "/metrics"), "{seen:?}");
    let seen = other.seen();
    assert!(
        !seen.is_empty() && seen.iter().all(|(_, has_key)| !has_key),
        "{seen:?}"
    );
}

/// A server that answers those who have the key, and notes who asked.
struct Guarded {
    url: String,
    seen: Arc<Mutex<Vec<(String, bool)>>>,
}

impl Guarded {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::default();
        let notes = Arc::clone(&seen);
        // It ends with this process.
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let notes = Arc::clone(&notes);
                std::thread::spawn(move || serve(socket, &notes));
            }
        });
        Guarded { url, seen }
    }

    fn seen(&self) -> Vec<(String, bool)> {
        self.seen.lock().unwrap().clone()
    }
}

/// One request, if one comes.
fn serve(socket: TcpStream, notes: &Mutex<Vec<(String, bool)>>) -> Option<()> {
    let mut reader = BufReader::new(&socket);
    let (mut path, mut has_key, mut length) = (None, false, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        path = path.or_else(|| line.split(' ').nth(1).map(str::to_owned));
        has_key |= line == "authorization: bearer secret";
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
    }
    let path = path?;
    reader.read_exact(&mut vec![0; length]).ok()?;
    let (status, body) = match (has_key, path.as_str()) {
        (false, _) => ("401 Unauthorized", "{}"),
        (true, "/metrics") => ("200 OK", "llamacpp:requests_processing 3\n"),
        (true, "/v1/models") => ("200 OK", r#"{"data":[{"id":"m"}]}"#),
        (true, _) => (
            "200 OK",
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"length"}],"usage":{"completion_tokens":5}}"#,
        ),
    };
    notes.lock().unwrap().push((path, has_key));
    let length = body.len();
    write!(
        &socket,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .ok()
}
