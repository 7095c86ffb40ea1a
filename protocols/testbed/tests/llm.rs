//! The servers of language models, over plain sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]
#![cfg(feature = "servers")]

use openloop_testbed::batching::{ClusterConfig, EngineConfig, StepCost};
use openloop_testbed::{LlmServer, RoleChunk, Script, StreamEnd, UsageIn};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn script() -> Script {
    Script {
        ttft: ms(30),
        gap: ms(10),
    }
}

/// The whole answer to a request, until the server closes.
fn ask(server: &LlmServer, path: &str, body: &str) -> String {
    let mut client = TcpStream::connect(server.addr()).unwrap();
    let length = body.len();
    write!(
        client,
        "POST {path} HTTP/1.1\r\nopenloop-seq: 7\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}

const CHAT: &str = r#"{"messages":[{"role":"user","content":"say it now"}],"max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}"#;

#[test]
fn a_stream_is_what_servers_send() {
    let server = LlmServer::scripted(script()).start().unwrap();
    let answer = ask(&server, "/v1/chat/completions", CHAT);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(answer.matches(r#""content":" tok""#).count(), 4);
    let parts = [
        "assistant",
        " tok",
        r#""finish_reason":"length""#,
        r#""completion_tokens":4"#,
        "[DONE]",
    ];
    let places = parts.map(|part| answer.find(part).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    assert!(answer.contains(r#""prompt_tokens":3"#));
    assert!(answer.ends_with("0\r\n\r\n"));
    let log = &server.log()[0];
    assert_eq!(
        (log.seq, log.end, log.tokens.len()),
        (Some(7), StreamEnd::Complete, 4)
    );
}

/// Never early; how late it is depends on the machine.
#[test]
fn no_token_comes_before_its_instant() {
    let server = LlmServer::scripted(script())
        .role(RoleChunk::AtOnce)
        .start()
        .unwrap();
    ask(&server, "/v1/chat/completions", CHAT);
    let log = &server.log()[0];
    for (at, number) in log.tokens.iter().zip(0..) {
        assert!(*at - log.arrival >= ms(30) + number * ms(10));
    }
}

#[test]
fn in_a_stall_nothing_comes_and_behind_it_everything_goes_on() {
    let server = LlmServer::scripted(script())
        .stall(ms(45), ms(200))
        .start()
        .unwrap();
    ask(&server, "/v1/chat/completions", CHAT);
    let log = &server.log()[0];
    let since: Vec<_> = log.tokens.iter().map(|at| *at - log.arrival).collect();
    // Those at 30 and 40 ms came before it; those at 50 and 60 come 200 ms later.
    assert!(since[1] < ms(45) || since[1] >= ms(240), "{since:?}");
    assert!(since[2] >= ms(250) && since[3] >= ms(260), "{since:?}");
    let begun = Instant::now();
    server.stall_for(ms(100));
    ask(&server, "/v1/chat/completions", CHAT);
    assert!(begun.elapsed() >= ms(100 + 60));
}

#[test]
fn an_engine_queues_batches_and_remembers() {
    let cost = StepCost {
        base: 1e-3,
        per_prompt_token: 100e-6,
        ..StepCost::default()
    };
    let engine = EngineConfig {
        cost,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(engine))
        .start()
        .unwrap();
    let words = "word ".repeat(100);
    let body = format!(r#"{{"prompt":"{words}","max_tokens":2,"stream":true}}"#);
    ask(&server, "/v1/completions", &body);
    ask(&server, "/v1/completions", &body);
    let log = server.log();
    let first = |place: usize| log[place].tokens[0] - log[place].arrival;
    // 1 ms and 100 tokens of 0.1 ms; the second time six blocks of 16 are known.
    assert!(first(0) >= ms(11));
    assert!(first(1) >= Duration::from_micros(1400));
    assert_eq!((log[0].cached_tokens, log[1].cached_tokens), (0, 96));
    let metrics = server.metrics();
    for line in [
        "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"testbed\"} 200\n",
        "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"testbed\"} 96\n",
        "vllm:generation_tokens_total{engine=\"0\",model_name=\"testbed\"} 4\n",
        "vllm:num_requests_running{engine=\"0\",model_name=\"testbed\"} 0\n",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[test]
fn what_is_asked_wrongly_is_refused_in_words() {
    let small = EngineConfig {
        blocks: 2,
        ..EngineConfig::default()
    };
    let server = LlmServer::simulated(ClusterConfig::single(small))
        .usage(UsageIn::Nowhere)
        .start()
        .unwrap();
    for (path, body, named) in [
        ("/v1/chat/completions", "{", "invalid JSON"),
        ("/v1/chat/completions", "{}", "messages"),
        (
            "/v1/completions",
            r#"{"prompt":"a","max_tokens":"abc"}"#,
            "max_tokens",
        ),
        (
            "/v1/completions",
            r#"{"prompt":"a","max_tokens":900}"#,
            "blocks",
        ),
        ("/v1/other", "{}", "404"),
    ] {
        let answer = ask(&server, path, body);
        assert!(
            answer.starts_with("HTTP/1.1 4") && answer.contains(named),
            "{answer}"
        );
    }
    let whole = ask(
        &server,
        "/v1/completions",
        r#"{"prompt":"a","max_tokens":3}"#,
    );
    assert!(whole.contains(r#""text":" tok tok tok""#), "{whole}");
    let impossible = EngineConfig {
        blocks: 0,
        ..EngineConfig::default()
    };
    assert!(
        LlmServer::simulated(ClusterConfig::single(impossible))
            .start()
            .is_err()
    );
}

/// The same in a process of its own.
#[test]
fn the_program_prints_where_it_listens_and_streams() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_testbed-llm"))
        .args(["--script", "2ms:1ms", "--for", "60s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let mut client = TcpStream::connect(url.trim().trim_start_matches("http://")).unwrap();
    write!(
        client,
        "GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer.contains("testbed"), "{answer}");
    let refused = Command::new(env!("CARGO_BIN_EXE_testbed-llm"))
        .args(["--script", "2ms"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
