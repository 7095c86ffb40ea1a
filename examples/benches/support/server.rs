//! The scripted server in a process of its own: this program, started again.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use openloop_measurer::Quantile;
use openloop_testbed::{HttpServer, LlmServer, Script, Service, Stream, Workers};

use super::Result;
use super::statistics::quantile;

/// The first argument of the process that is to be the server; the second is its script.
pub(super) const SERVE: &str = "--serve";

/// Until the first token of a stream, and between two.
const STREAM: Script = Script {
    ttft: Duration::from_millis(50),
    gap: Duration::from_millis(10),
};

/// What the server does with a request: `instant`, `exp:SEED` for one worker with exponential service of mean 1 ms, or
/// `stream` for a language model whose tokens come at fixed times.
pub(super) fn serve(script: &str) -> Result<()> {
    if script == "stream" {
        return serve_streams();
    }
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

fn serve_streams() -> Result<()> {
    let server = LlmServer::scripted(STREAM).start()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    writeln!(out, "{}", Streamed::of(&server.log())?.line())?;
    Ok(())
}

/// What a server of streams wrote, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streamed {
    pub(crate) streams: u64,
    /// The most that were under way at once.
    pub(crate) at_once: u64,
    /// From a request's reading to its first token, p50 and p99.
    pub(crate) ttft: [u64; 2],
    /// Between tokens, p50 and p99.
    pub(crate) itl: [u64; 2],
    /// CPU time of the server, start and end included.
    pub(crate) cpu: Duration,
}

impl Streamed {
    fn of(log: &[Stream]) -> Result<Self> {
        let (mut ttft, mut itl, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        for stream in log {
            let (Some(first), Some(last)) = (stream.tokens.first(), stream.tokens.last()) else {
                continue;
            };
            edges.extend([(stream.arrival, 1), (*last, -1)]);
            ttft.push((*first - stream.arrival).as_nanos() as u64);
            let gaps = stream.tokens.windows(2).map(|pair| pair[1] - pair[0]);
            itl.extend(gaps.map(|gap| gap.as_nanos() as u64));
        }
        edges.sort_unstable();
        let under_way = edges.iter().scan(0_i64, |now, (_, step)| {
            *now += step;
            Some(*now)
        });
        let at_once = under_way.max().unwrap_or(0).unsigned_abs();
        let both = |mut values: Vec<u64>| {
            values.sort_unstable();
            [Quantile::P50, Quantile::P99].map(|q| quantile(&values, q))
        };
        Ok(Streamed {
            streams: log.len() as u64,
            at_once,
            ttft: both(ttft),
            itl: both(itl),
            cpu: super::program::own_cpu()?,
        })
    }

    fn line(&self) -> String {
        let [a, b] = self.ttft;
        let [c, d] = self.itl;
        let cpu = self.cpu.as_nanos();
        format!("{},{},{a},{b},{c},{d},{cpu}", self.streams, self.at_once)
    }

    fn parse(line: &str) -> Result<Self> {
        let numbers = line.trim().split(',').map(str::parse);
        let numbers = numbers.collect::<std::result::Result<Vec<u64>, _>>();
        let Ok([streams, at_once, a, b, c, d, cpu]) = numbers.as_deref() else {
            return Err(format!("{line:?} is not what a server of streams says").into());
        };
        Ok(Streamed {
            streams: *streams,
            at_once: *at_once,
            ttft: [*a, *b],
            itl: [*c, *d],
            cpu: Duration::from_nanos(*cpu),
        })
    }
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

    /// Ends one of streams, for what it has written.
    pub(crate) fn into_streamed(mut self) -> Result<Streamed> {
        drop(self.input.take());
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Streamed::parse(&line)
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
