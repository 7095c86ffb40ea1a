//! The scripted HTTP server in a process of its own.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use openloop_testbed::{
    Act, Cache, Certificate, HttpServer, HttpServerBuilder, On, Service, Workers, parse_duration,
};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
usage: testbed-http [OPTIONS]

  --port N              port of 127.0.0.1 (a free one)
  --service S           instant | fixed:1ms | exp:1ms[:SEED] | bimodal:1ms:20ms:0.1[:SEED]   (instant)
  --cache N:HIT:MISS    instead of --service: an LRU cache of N paths before the work, such as 1000:200us:2ms; how
                        many hit and missed is printed at the end
  --workers W           unlimited | C | C:K, K being the places to wait in               (unlimited)
  --stall-at T          nothing starts from T after the first request ...
  --stall-for T         ... for so long; the pair can be given several times
  --act SHARE:PATH      does what PATH asks for (such as /status/503) to that share of requests
  --backlog N           argument of listen(2)                                                (1024)
  --http2               HTTP/2: by prior knowledge, or by ALPN under --tls
  --tls CA.pem          TLS; the authority to be trusted is written to this file
  --log FILE            at the end, writes seq,conn,arrival_ns,start_ns,departure_ns,status as CSV;
                        instants are nanoseconds of CLOCK_MONOTONIC
  --for T               ends by itself after T; otherwise by SIGTERM or Ctrl-C

When it listens, it prints its URL as one line. What paths can ask for: /status/CODE /bytes/N
/chunked/N /echo /delay/T /never /reset /reset-mid-body /close /close-after /connection-close /http10
/bad-status-line /bad-chunk /slow/T; anything else is a 200 with the body \"ok\".";

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            let _ = writeln!(io::stdout(), "{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-http: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "testbed-http: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<(), Box<dyn Error>> {
    // Opened before the run, so that a bad path does not cost one.
    let log = options.log.as_ref().map(File::create).transpose()?;
    let mut server = options.server.start()?;
    if let (Some(path), Some(pem)) = (&options.ca_file, server.ca_pem()) {
        std::fs::write(path, pem)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut out = io::stdout();
        writeln!(out, "{}", server.url("/"))?;
        out.flush()?;
        let end = async {
            match options.run_for {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = end => {}
        }
        io::Result::Ok(())
    })?;
    server.shutdown();
    if let Some(log) = log {
        server.write_log_csv(log)?;
    }
    let (served, accepted) = (server.served(), server.accepted());
    writeln!(
        io::stderr(),
        "served {served} requests on {accepted} connections"
    )?;
    if options.has_cache {
        let (hits, misses) = (server.cache_hits(), server.cache_misses());
        writeln!(
            io::stderr(),
            "the cache hit {hits} times and missed {misses} times"
        )?;
    }
    Ok(())
}

struct Options {
    server: HttpServerBuilder,
    log: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    run_for: Option<Duration>,
    has_cache: bool,
}

impl Options {
    /// `None` stands for a wish for help.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, Box<dyn Error>> {
        let mut server = HttpServer::builder();
        let (mut log, mut ca_file, mut run_for, mut stall_at) = (None, None, None, None);
        let mut has_cache = false;
        while let Some(flag) = args.next() {
            if flag == "--help" || flag == "-h" {
                return Ok(None);
            }
            if flag == "--http2" {
                server = server.http2();
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{flag} needs a value"))?;
            server = match flag.as_str() {
                "--port" => server.port(value.parse()?),
                "--service" => server.service(service(&value)?),
                "--cache" => {
                    has_cache = true;
                    server.cache(cache(&value)?)
                }
                "--workers" => server.workers(workers(&value)?),
                "--stall-at" => {
                    stall_at = Some(parse_duration(&value)?);
                    server
                }
                "--stall-for" => {
                    let at = stall_at
                        .take()
                        .ok_or("--stall-for needs a --stall-at before it")?;
                    server.stall(at, parse_duration(&value)?)
                }
                "--act" => {
                    let (on, act) = act(&value)?;
                    server.on(on, act)
                }
                "--backlog" => server.backlog(value.parse()?),
                "--tls" => {
                    ca_file = Some(PathBuf::from(value));
                    server.tls(Certificate::Trusted)
                }
                "--log" => {
                    log = Some(PathBuf::from(value));
                    server
                }
                "--for" => {
                    run_for = Some(parse_duration(&value)?);
                    server
                }
                _ => return Err(format!("unknown option {flag}").into()),
            };
        }
        if stall_at.is_some() {
            return Err("--stall-at needs a --stall-for after it".into());
        }
        Ok(Some(Self {
            server,
            log,
            ca_file,
            run_for,
            has_cache,
        }))
    }
}

fn service(text: &str) -> Result<Service, Box<dyn Error>> {
    let parts: Vec<_> = text.split(':').collect();
    let seed = |text: Option<&&str>| text.map_or(Ok(1), |text| text.parse::<u64>());
    match parts.as_slice() {
        ["instant"] => Ok(Service::instant()),
        ["fixed", time] => Ok(Service::fixed(parse_duration(time)?)),
        ["exp", mean, rest @ ..] if rest.len() < 2 => Ok(Service::exponential(
            parse_duration(mean)?,
            seed(rest.first())?,
        )),
        ["bimodal", fast, slow, share, rest @ ..] if rest.len() < 2 => Ok(Service::bimodal(
            parse_duration(fast)?,
            parse_duration(slow)?,
            share.parse()?,
            seed(rest.first())?,
        )),
        _ => Err(format!(
            "{text:?} is no service: write instant, fixed:1ms, exp:1ms:7 or bimodal:1ms:20ms:0.1:7"
        )
        .into()),
    }
}

fn cache(text: &str) -> Result<Cache, Box<dyn Error>> {
    let parts: Vec<_> = text.split(':').collect();
    let [capacity, hit, miss] = parts.as_slice() else {
        let why = format!(
            "{text:?} is no cache: write entries, and the times of a hit and a miss, 1000:200us:2ms"
        );
        return Err(why.into());
    };
    let (hit, miss) = (parse_duration(hit)?, parse_duration(miss)?);
    Ok(Cache::lru(capacity.parse()?, hit, miss))
}

fn workers(text: &str) -> Result<Workers, Box<dyn Error>> {
    if text == "unlimited" {
        return Ok(Workers::unlimited());
    }
    let (servers, waiting) = text
        .split_once(':')
        .map_or((text, None), |(servers, waiting)| (servers, Some(waiting)));
    let error = |_| {
        format!(
            "{text:?} is no number of workers: write unlimited, 4, or 4:16 for 16 places to wait"
        )
    };
    let workers = Workers::servers(servers.parse().map_err(error)?);
    Ok(match waiting {
        Some(waiting) => workers.waiting(waiting.parse().map_err(error)?),
        None => workers,
    })
}

fn act(text: &str) -> Result<(On, Act), Box<dyn Error>> {
    let error = || format!("{text:?} is no act: write a share and a path, such as 0.01:/reset");
    let (share, path) = text.split_once(':').ok_or_else(error)?;
    let act = Act::from_path(path).ok_or_else(error)?;
    Ok((
        On::Share {
            share: share.parse().map_err(|_| error())?,
            seed: 1,
        },
        act,
    ))
}
