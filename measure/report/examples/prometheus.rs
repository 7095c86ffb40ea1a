//! A run that Prometheus watches: `curl http://127.0.0.1:9464/metrics` while it lasts.
//!
//! `cargo run -p openloop-report --example prometheus -- [seconds] [port]`
#![allow(clippy::print_stdout, reason = "an example prints")]

use openloop_experiment::drive::{self, Monitor};
use openloop_experiment::{Lifecycle, Plan};
use openloop_report::{Report, TextStyle, write_prometheus};
use openloop_sched::Rate;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let port = arguments.next().map_or(Ok(9464), |text| text.parse())?;
    let plan = Plan::open(Rate::per_second(200.0)?)
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(seconds)))
        .build()?;
    let drive = drive::shared(&plan, |_ticket| {
        tokio::time::sleep(Duration::from_millis(5))
    });

    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/metrics for {seconds} s", listener.local_addr()?);
    let server = tokio::spawn(serve(listener, drive.monitor()));
    let run = drive.await?;
    server.abort();
    Report::new(&run).write_text(std::io::stdout(), &TextStyle::default())?;
    Ok(())
}

/// Answers every request with the state of the run: Prometheus asks for nothing else.
async fn serve(listener: TcpListener, monitor: Monitor) {
    while let Ok((stream, _)) = listener.accept().await {
        let monitor = monitor.clone();
        // Whoever hangs up has seen enough.
        tokio::spawn(async move {
            let _ = answer(stream, &monitor).await;
        });
    }
}

async fn answer(mut stream: TcpStream, monitor: &Monitor) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).await?;
    let mut text = Vec::new();
    write_prometheus(monitor, &mut text)?;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&text).await?;
    stream.shutdown().await
}
