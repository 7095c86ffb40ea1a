//! Memory of a connection: n requests in flight at once against a server that holds them all.
//!
//! `cargo run --release -p openloop-http --example hold [connections]`
//!
//! The server runs in a process of its own (this program again), so that the peak is the client's alone.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_http::{Connections, Http};
use openloop_measurer::Operation;
use openloop_net::Limits;
use openloop_testbed::HttpServer;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tokio::task::JoinSet;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("serve") => serve(),
        count => measure(count.map_or(10_000, |text| text.parse().unwrap())),
    }
}

fn serve() {
    Limits::raise_soft_descriptors_to_hard().unwrap();
    let server = HttpServer::builder().backlog(4096).start().unwrap();
    println!("{}", server.url("/delay/5s"));
    // Until the other end of the pipe is gone.
    let _ = std::io::stdin().lines().count();
    assert!(server.in_flight_peak() > 0);
    eprintln!(
        "in flight at once, as the server saw it: {}",
        server.in_flight_peak()
    );
}

fn measure(count: usize) {
    Limits::raise_soft_descriptors_to_hard().unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let http = Http::builder(url.trim())
            .connections(Connections::pool(count))
            .build()
            .unwrap();
        let idle = peak();
        http.prepare().await.unwrap();
        let open = peak();
        let mut calls = JoinSet::new();
        for _ in 0..count {
            let http = http.clone();
            calls.spawn(async move { http.call(http.request()).await.unwrap().status() });
        }
        while let Some(done) = calls.join_next().await {
            assert_eq!(done.unwrap(), 200);
        }
        let held = peak();
        println!(
            "{count} requests held on {} connections",
            http.sockets().opened()
        );
        println!(
            "VmHWM {:.1} MB: {:.1} MB before, {:.1} MB with all open",
            mb(held),
            mb(idle),
            mb(open)
        );
        println!(
            "{:.2} KB for each request",
            (held - idle) as f64 / count as f64
        );
    });
    drop(server.stdin.take());
    server.wait().unwrap();
}

fn mb(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

/// The peak of this process's resident memory, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
