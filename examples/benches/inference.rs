//! Is a stream seen as it was written? `cargo bench -p openloop-examples --bench inference`
//!
//! The scripted stream, a first token after 50 ms and 63 more every 10 ms, at rates that keep so many streams in flight:
//! `loadgen inference` and the client of `vllm bench serve`, in turn, each beside what its server wrote. One core for the
//! generator and one for the server.
//!
//! The server counts from its reading of a request: what it was late to read is in the TTFT of its clients alone. Waits
//! that spin, for precision, are in the share of a core: a server of hundreds of streams spins all the time between.
//!
//! What must hold is that ours is within 1 ms or 2 % of the truth until a core is full, and that its report blames the
//! generator, not the server, where it is not. The other client runs in Python and is looked for where `cargo testbed
//! --full` puts it.
//!
//! `-- --steady 15s --streams 1,50,500,1000,2000 --peer-up-to 500`

#![allow(clippy::print_stdout)]

mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::Result;
use support::program::{self, Finished};
use support::server::{Server, Streamed};

const TOKENS: u32 = 64;
/// How long a stream lasts.
const STREAM: Duration = Duration::from_millis(50 + 63 * 10);
/// The checks of a report that blame the generator.
const GENERATOR: [&str; 5] = [
    "generator_busy",
    "cpu_wait",
    "inbound_error",
    "outbound_error",
    "all_sent",
];
/// A core that works for so much of the time is full: nothing says when it works.
const FULL: f64 = 0.9;

fn main() -> Result<()> {
    let flags = [
        ("--steady", "15s"),
        ("--streams", "1,50,500,1000,2000"),
        ("--peer-up-to", "500"),
    ];
    let Some(flags) = support::begin("A first token after 50 ms, 63 more every 10 ms", &flags)?
    else {
        return Ok(());
    };
    let steady = flags.duration("--steady")?;
    let peer_up_to: f64 = flags.number("--peer-up-to")?;
    let peer = openloop_testbed::vllm_client();
    if let Err(why) = &peer {
        println!("without a peer: {why}\n");
    }
    println!(
        "{:>7}  {:<7} {:>8} | {:>7} {:>7} | {:>7} {:>7} | {:>5}",
        "streams", "in ms", "at once", "TTFT", "p99", "ITL", "p99", "core%"
    );
    let (mut broken, mut within, mut is_true) = (Vec::new(), 0.0, true);
    for streams in flags.numbers("--streams")? {
        let (run, blame) = measure(streams, steady, |url, rate| loadgen(url, rate, steady))?;
        run.print(streams, "loadgen");
        if let (Ok(peer), true) = (&peer, streams <= peer_up_to) {
            let client = |url: &str, rate| by_vllm(peer, url, rate, steady);
            let (run, failed) = measure(streams, steady, client)?;
            run.print(streams, "vllm");
            println!("{:>7}  {failed}", "");
        }
        println!("{:>7}  loadgen says: {blame}", "");
        is_true &= run.is_true();
        if is_true {
            within = streams;
        } else if run.busiest() < FULL {
            broken.push(format!(
                "{streams} streams are not as they were, and no core was full"
            ));
        } else if !GENERATOR.iter().any(|check| blame.contains(check)) {
            broken.push(format!(
                "{streams} streams are not as they were, and the report does not blame the generator"
            ));
        }
    }
    println!("\nwithin 1 ms or 2 % of the truth up to {within} streams");
    support::end(&broken)
}

/// What a client saw of its streams, p50 and p99, in nanoseconds.
struct Seen {
    ttft: [u64; 2],
    itl: [u64; 2],
    cpu: Duration,
}

/// One run: the server and its client.
struct Run {
    truth: Streamed,
    seen: Seen,
    took: Duration,
}

/// Runs a client against a server of its own, at the rate that keeps so many streams in flight.
fn measure<T>(
    streams: f64,
    steady: Duration,
    client: impl FnOnce(&str, f64) -> Result<(Seen, T)>,
) -> Result<(Run, T)> {
    // At least ten requests, however few are in flight.
    let rate = (streams / STREAM.as_secs_f64()).max(10.0 / steady.as_secs_f64());
    let server = Server::start("stream")?;
    let begun = Instant::now();
    let (seen, said) = client(server.url(), rate)?;
    let took = begun.elapsed();
    let truth = server.into_streamed()?;
    if truth.at_once == 0 {
        return Err(
            "the server wrote nothing: its client asked for nothing, or asked wrongly".into(),
        );
    }
    Ok((Run { truth, seen, took }, said))
}

impl Run {
    /// Within 1 ms or 2 %, whichever is more.
    fn is_true(&self) -> bool {
        let truth = self.truth.ttft.into_iter().chain(self.truth.itl);
        let mut pairs = truth.zip(self.seen.ttft.into_iter().chain(self.seen.itl));
        pairs.all(|(truth, seen)| truth.abs_diff(seen) <= (truth / 50).max(1_000_000))
    }

    /// The share of its time that the core of the generator worked, and that of the server.
    fn busy(&self) -> (f64, f64) {
        let share = |cpu: Duration| cpu.as_secs_f64() / self.took.as_secs_f64();
        (share(self.seen.cpu), share(self.truth.cpu))
    }

    fn busiest(&self) -> f64 {
        let (generator, server) = self.busy();
        generator.max(server)
    }

    /// The server's figures, and below them the client's.
    fn print(&self, streams: f64, client: &str) {
        let Streamed {
            at_once,
            streams: served,
            ..
        } = self.truth;
        let (generator, server) = self.busy();
        let ms = |ns: u64| ns as f64 / 1e6;
        let line = |who: &str,
                    at_once: String,
                    ttft: [u64; 2],
                    itl: [u64; 2],
                    busy: f64,
                    rest: String| {
            println!(
                "{streams:>7}  {who:<7} {at_once:>8} | {:>7.2} {:>7.2} | {:>7.2} {:>7.2} | {:>5.1} {rest}",
                ms(ttft[0]),
                ms(ttft[1]),
                ms(itl[0]),
                ms(itl[1]),
                100.0 * busy,
            );
        };
        line(
            "server",
            at_once.to_string(),
            self.truth.ttft,
            self.truth.itl,
            server,
            format!("{served} answers"),
        );
        let verdict = if self.is_true() { "as written" } else { "OFF" };
        let rest = format!("{verdict}, load {}", support::load_average());
        line(
            client,
            String::new(),
            self.seen.ttft,
            self.seen.itl,
            generator,
            rest,
        );
    }
}

fn loadgen(url: &str, rate: f64, steady: Duration) -> Result<(Seen, String)> {
    let (rate, tokens) = (rate.to_string(), format!("fixed:{TOKENS}"));
    let flags = [
        "--model",
        "testbed",
        "--input-tokens",
        "fixed:8",
        "--output-tokens",
        &tokens,
    ];
    let load = [
        "--rate",
        &rate,
        "--arrivals",
        "constant",
        "--metrics-url",
        "none",
    ];
    let flags: Vec<&str> = flags.into_iter().chain(load).collect();
    let (Finished { cpu, .. }, report) = program::loadgen_of("inference", url, steady, &flags)?;
    let both = |metric: &str| {
        ["p50_ns", "p99_ns"].map(|figure| report["metrics"][metric][figure].as_u64().unwrap_or(0))
    };
    let seen = Seen {
        ttft: both("ttft_sent"),
        itl: both("itl_chunk"),
        cpu,
    };
    Ok((seen, verdict(&report)))
}

/// Whether the report believes itself, by which checks it does not, and how many failed.
fn verdict(report: &Value) -> String {
    let checks = report["validity"]["checks"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let failed = checks.iter().filter(|check| check["pass"] == false);
    let names: Vec<_> = failed.filter_map(|check| check["name"].as_str()).collect();
    let word = match report["validity"]["valid"].as_bool() {
        Some(true) => "valid",
        _ => "invalid",
    };
    let arrivals = &report["arrivals"];
    let own: Vec<_> = ["outbound_error", "inbound_error"]
        .into_iter()
        .filter_map(|name| checks.iter().find(|check| check["name"] == name))
        .map(|check| {
            let ms = |figure: &str| check[figure].as_f64().unwrap_or(f64::NAN) / 1e6;
            format!("{:.2} of {:.2} ms", ms("value"), ms("limit"))
        })
        .collect();
    format!(
        "{word} {names:?}, its own part {} (out and back); {} of {} ok, coalesced chunks {}",
        own.join(" and "),
        arrivals["ok"],
        arrivals["scheduled"],
        report["counts"]["chunks_coalesced"]
    )
}

fn by_vllm(
    folder: &std::path::Path,
    url: &str,
    rate: f64,
    steady: Duration,
) -> Result<(Seen, String)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/inference_vllm.py");
    let count = (rate * steady.as_secs_f64()).round();
    let mut command = Command::new("python3");
    command.arg(script).arg(folder).arg(url);
    command.args([rate.to_string(), count.to_string(), TOKENS.to_string()]);
    let Finished { output, cpu } = program::run(&mut command)?;
    let told: Value = serde_json::from_str(&output)
        .map_err(|error| format!("vLLM's client gave no figures ({error}): {output}"))?;
    let both = |metric: &str| [0, 1].map(|place| told[metric][place].as_u64().unwrap_or(0));
    let seen = Seen {
        ttft: both("ttft"),
        itl: both("itl"),
        cpu,
    };
    Ok((seen, format!("vllm: {} of {count} failed", told["failed"])))
}
