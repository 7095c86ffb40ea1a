//! The scripted server in a process of its own: this program, started again.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use openloop_testbed::{HttpServer, Service, Workers};

use super::Result;

/// The first argument of the process that is to be the server; the second is its script.
pub(super) const SERVE: &str = "--serve";

/// What the server does with a request: `instant`, or `exp:SEED` for one worker with exponential service of mean 1 ms.
pub(super) fn serve(script: &str) -> Result<()> {
    let builder = HttpServer::builder().backlog(4096);
    let builder = match script.split_once(':') {
        Some(("exp", seed)) => builder
            .service(Service::exponential(
                Duration::from_millis(1),
                seed.parse()?,
            ))
            .workers(Workers::one()),
        _ => builder,
    };
    let mut server = builder.start()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", server.url("/"))?;
    out.flush()?;
    // Until the benchmark closes its end, or is gone.
    io::stdin().read_to_end(&mut Vec::new())?;
    server.shutdown();
    server.write_log_csv(out)?;
    Ok(())
}

/// A server in a process and on a core of its own; it ends with the value.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    url: String,
}

/// One request as the server saw it, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    /// The sequence header, if there was one.
    pub(crate) seq: Option<u64>,
    pub(crate) arrival_ns: u64,
    /// `None` if it was never answered.
    pub(crate) departure_ns: Option<u64>,
}

impl Server {
    pub(crate) fn start(script: &str) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([SERVE, script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut server = Server {
            process,
            input,
            output: BufReader::new(output),
            url: String::new(),
        };
        server.output.read_line(&mut server.url)?;
        server.url.truncate(server.url.trim_end().len());
        if server.url.is_empty() {
            return Err("the server did not start".into());
        }
        Ok(server)
    }

    /// The URL of its root.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends it, for what it has served.
    pub(crate) fn into_log(mut self) -> Result<Vec<Served>> {
        drop(self.input.take());
        let mut log = Vec::new();
        for line in self.output.by_ref().lines().skip(1) {
            let line = line?;
            let columns: Vec<&str> = line.split(',').collect();
            let [seq, _, arrival, _, departure, _] = columns[..] else {
                return Err(format!("{line:?} is no line of a server's log").into());
            };
            log.push(Served {
                seq: seq.parse().ok(),
                arrival_ns: arrival.parse()?,
                departure_ns: departure.parse().ok(),
            });
        }
        Ok(log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only for one that has ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
