//! The gRPC server in a process of its own.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use openloop_testbed::{GrpcServer, GrpcServerBuilder, Service, Workers, parse_duration};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
usage: testbed-grpc [OPTIONS]

  --port N       port of 127.0.0.1 (a free one)
  --service T    each call takes so long in a worker, such as 1ms; with exp: before it, exponentially so (0s)
  --workers C    so many calls at once in the hands of workers (unlimited)
  --streams N    so many calls at once on each connection (hyper's own limit)
  --for T        ends by itself after T; otherwise by SIGTERM or Ctrl-C

When it listens, it prints its URL as one line. It serves openloop.testbed.Echo, inference.GRPCInferenceService (the
model is called echo), health, and reflection; what a call of Echo does its messages say.";

fn main() -> ExitCode {
    let (builder, run_for) = match parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            let _ = writeln!(io::stdout(), "{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-grpc: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(builder, run_for) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-grpc: {error}");
            ExitCode::FAILURE
        }
    }
}

type Options = (GrpcServerBuilder, Option<Duration>);

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut builder = GrpcServer::builder();
    let mut run_for = None;
    while let Some(flag) = words.next() {
        if flag == "--help" || flag == "-h" {
            return Ok(None);
        }
        let value = words
            .next()
            .ok_or_else(|| format!("{flag} needs a value"))?;
        let wrong = |why: String| format!("{flag} {value}: {why}");
        let time = |text: &str| parse_duration(text).map_err(|error| wrong(error.to_string()));
        let number = || value.parse().map_err(|_| wrong("not a number".to_owned()));
        match flag.as_str() {
            "--port" => {
                let port = value.parse().map_err(|_| wrong("not a port".to_owned()))?;
                builder = builder.port(port);
            }
            "--service" => {
                let service = match value.strip_prefix("exp:") {
                    Some(mean) => Service::exponential(time(mean)?, 1),
                    None => Service::fixed(time(&value)?),
                };
                builder = builder.service(service);
            }
            "--workers" => {
                let count = usize::try_from(number()?).map_err(|_| wrong("too many".to_owned()))?;
                builder = builder.workers(Workers::servers(count));
            }
            "--streams" => builder = builder.max_concurrent_streams(number()?),
            "--for" => run_for = Some(time(&value)?),
            _ => return Err(format!("there is no {flag}")),
        }
    }
    Ok(Some((builder, run_for)))
}

fn run(builder: GrpcServerBuilder, run_for: Option<Duration>) -> Result<(), Box<dyn Error>> {
    let mut server = builder.start()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut out = io::stdout();
        writeln!(out, "{}", server.url())?;
        out.flush()?;
        let end = async {
            match run_for {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = end => {}
        }
        Ok::<(), io::Error>(())
    })?;
    server.shutdown();
    Ok(())
}
