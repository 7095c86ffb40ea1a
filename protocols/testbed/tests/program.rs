//! The server in a process of its own, as another process sees it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use openloop_testbed::Clock;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed-http"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// Starts it and reads the line that says where it listens.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut child = program(arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    (child, line.trim().to_owned())
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn get(url: &str, seq: u64) -> String {
    let addr = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(addr).unwrap();
    let request = format!("GET / HTTP/1.1\r\nopenloop-seq: {seq}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_log_of_a_terminated_server_is_on_the_clock_of_this_process() {
    let log = file("terminated.csv");
    let arguments = [
        "--service",
        "fixed:5ms",
        "--workers",
        "1",
        "--for",
        "60s",
        "--log",
        log.to_str().unwrap(),
    ];
    let (mut child, url) = start(&arguments);
    let before = Clock::new().now_ns();
    assert!(get(&url, 4).starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(&url, 8).ends_with("ok"));
    let after = Clock::new().now_ns();
    let kill = Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(kill.success() && child.wait().unwrap().success());

    let text = std::fs::read_to_string(&log).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("seq,conn,arrival_ns,start_ns,departure_ns,status")
    );
    let rows: Vec<Vec<u64>> = lines
        .map(|line| {
            line.split(',')
                .map(|field| field.parse().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(
        rows.iter()
            .map(|row| (row[0], row[1], row[5]))
            .collect::<Vec<_>>(),
        [(4, 0, 200), (8, 1, 200)]
    );
    for row in &rows {
        let (arrival, start, departure) = (row[2], row[3], row[4]);
        assert!(
            before < arrival
                && arrival == start
                && departure >= start + 5_000_000
                && departure < after
        );
    }
}

#[test]
fn a_server_with_an_end_ends_by_itself() {
    let output = run(&["--for", "10ms"]);
    assert!(output.status.success());
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("http://127.0.0.1:")
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "served 0 requests on 0 connections\n"
    );
}

#[test]
fn a_share_of_requests_can_be_made_to_fail() {
    let (mut child, url) = start(&["--act", "1:/status/500", "--for", "60s"]);
    assert!(get(&url, 0).starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_authority_of_a_tls_server_is_written_to_a_file() {
    let ca = file("ca.pem");
    let output = run(&["--tls", ca.to_str().unwrap(), "--http2", "--for", "10ms"]);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("https://localhost:")
    );
    assert!(
        std::fs::read_to_string(&ca)
            .unwrap()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
}

#[test]
fn bad_arguments_are_named_and_nothing_is_started() {
    let cases: &[(&[&str], &str)] = &[
        (&["--servce", "instant"], "unknown option --servce"),
        (&["--service", "fixed"], "\"fixed\" is no service"),
        (&["--service", "fixed:5"], "\"5\" is no duration"),
        (&["--workers", "many"], "\"many\" is no number of workers"),
        (&["--workers", "4:x"], "\"4:x\" is no number of workers"),
        (
            &["--stall-for", "1s"],
            "--stall-for needs a --stall-at before it",
        ),
        (
            &["--stall-at", "1s"],
            "--stall-at needs a --stall-for after it",
        ),
        (&["--act", "0.5:/nothing"], "\"0.5:/nothing\" is no act"),
        (&["--port"], "--port needs a value"),
    ];
    for (arguments, message) in cases {
        let output = run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.starts_with(&format!("testbed-http: {message}")),
            "{text}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_cache_says_at_the_end_what_hit_and_what_missed() {
    let (mut child, url) = start(&["--cache", "1:1us:1us", "--for", "60s"]);
    for seq in 0..3 {
        get(&url, seq);
    }
    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.unwrap().success());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(said.contains("hit 2 times and missed 1 times"), "{said}");
    for bad in ["100", "1:2", "x:1us:1us", "1:1us:soon"] {
        assert_eq!(run(&["--cache", bad]).status.code(), Some(2), "{bad}");
    }
}
