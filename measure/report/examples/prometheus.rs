//! A run that Prometheus watches: `curl http://127.0.0.1:9464/metrics` while it lasts.
//!
//! `cargo run -p openloop-report --example prometheus -- [seconds] [port]`; with `--quick` it lasts two seconds, takes a
//! port that is free, and asks for itself.
#![allow(clippy::print_stdout, reason = "an example prints")]

use openloop_experiment::drive::{self, Monitor};
use openloop_experiment::{Lifecycle, Plan, Target};
use openloop_report::{Report, TextStyle, write_prometheus};
use openloop_sched::Rate;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (quick, arguments): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|text| text == "--quick");
    let is_quick = !quick.is_empty();
    let (seconds, port) = if is_quick { (2, 0) } else { (10, 9464) };
    let mut arguments = arguments.iter();
    let seconds = arguments.next().map_or(Ok(seconds), |text| text.parse())?;
    let port = arguments.next().map_or(Ok(port), |text| text.parse())?;

    let plan = Plan::open(Rate::per_second(200.0)?)
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(seconds)))
        .target(Target::SameProcess)
        .build()?;
    let drive = drive::shared(&plan, |_ticket| {
        tokio::time::sleep(Duration::from_millis(5))
    });
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    println!("http://{address}/metrics for {seconds} s");
    let server = tokio::spawn(serve(listener, drive.monitor()));
    let scrape = tokio::spawn(async move {
        // In the middle of the run there is something to see.
        tokio::time::sleep(Duration::from_secs(seconds) / 2).await;
        match is_quick {
            true => scrape(address).await,
            false => Ok(String::new()),
        }
    });
    let run = drive.await?;
    print!("{}", scrape.await??);
    server.abort();
    Report::new(&run).write_text(io::stdout(), &TextStyle::default())?;
    Ok(())
}

/// Answers every request for the state of the run.
async fn serve(listener: TcpListener, monitor: Monitor) {
    while let Ok((stream, _)) = listener.accept().await {
        let monitor = monitor.clone();
        // Whoever hangs up has seen enough.
        tokio::spawn(async move {
            let _ = answer(stream, &monitor).await;
        });
    }
}

async fn answer(mut stream: TcpStream, monitor: &Monitor) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") && request.len() < 16_384 {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let mut text = Vec::new();
    let status = match request.starts_with(b"GET /metrics") {
        true => {
            write_prometheus(monitor, &mut text)?;
            "200 OK"
        }
        false => {
            text.extend_from_slice(b"the state of the run is at /metrics\n");
            "404 Not Found"
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&text).await?;
    stream.shutdown().await
}

/// What Prometheus would read, as `curl` shows it.
async fn scrape(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, text) = answer
        .split_once("\r\n\r\n")
        .filter(|(head, _)| head.starts_with("HTTP/1.1 200"))
        .ok_or_else(|| io::Error::other(format!("it answered: {answer}")))?;
    Ok(text.to_owned())
}
