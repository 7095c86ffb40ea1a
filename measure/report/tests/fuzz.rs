//! Readers under damaged input: no panic, no hang, nothing lost in silence. `OPENLOOP_FUZZ_SECONDS` says for how long each
//! is tried; without it, for a moment. `OPENLOOP_FUZZ_FILE` is one input to try instead.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says what it did"
)]

#[path = "suite/simulated.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod simulated;

use openloop_report::hlog::{LogReader, LogSummary};
use openloop_report::{Comparison, Report, TextStyle};
use openloop_workload::traces::{Format, Trace};
use openloop_workload::values::Empirical;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Deterministic chance (xorshift64*).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// What stands where numbers or texts are in most formats.
const TOKENS: [&str; 22] = [
    "0",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "1e308",
    "1e-400",
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    ",",
    "\n",
    "\r\n",
    "Tag=",
    "#[StartTime: ",
    "#[BaseTime: ",
    "#[Exact: ",
    "HISTFAAAA",
    "\"p99_ns\":",
    "\u{0}",
];

/// A damaged copy.
fn damaged(seed: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len());
        match chance.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
            1 if !bytes.is_empty() => bytes[at] = chance.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + chance.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let token = TOKENS[chance.below(TOKENS.len())].bytes();
                bytes.splice(at..at, token);
            }
            5 => {
                // A number becomes another one.
                let end = bytes[at..]
                    .iter()
                    .position(|byte| !byte.is_ascii_digit())
                    .map_or(bytes.len(), |n| at + n);
                let token = TOKENS[chance.below(9)].bytes();
                bytes.splice(at..end, token);
            }
            6 => {
                let end = (at + chance.below(512)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let from = chance.below(other.len());
                let end = (from + chance.below(512)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
        }
    }
    bytes
}

/// How long this thread has worked: what other programs do meanwhile is not in it. Where the system does not tell, how
/// much time has passed.
fn worked() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|told| told.split(' ').next()?.parse().ok());
    ns.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Keeps an input, to be looked at.
fn keep(why: &str, name: &str, bytes: &[u8]) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{why}-{name}"));
    std::fs::write(&path, bytes).unwrap();
    println!("{name}: {why}: {}", path.display());
}

/// Damages `seeds` and gives them to `read`, for as long as is asked for.
fn fuzz(name: &str, seeds: &[Vec<u8>], mut read: impl FnMut(&[u8])) {
    let seconds = std::env::var("OPENLOOP_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = Instant::now() + seconds.map_or(Duration::from_millis(300), Duration::from_secs);
    if let Some(file) = std::env::var_os("OPENLOOP_FUZZ_FILE") {
        // One that was slow, to be looked at again.
        let begun = worked();
        read(&std::fs::read(file).unwrap());
        println!("{name}: {:?}", worked().saturating_sub(begun));
        return;
    }
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut tried, mut slowest) = (0_u64, Duration::ZERO);
    while Instant::now() < end {
        let seed = &seeds[chance.below(seeds.len())];
        let other = &seeds[chance.below(seeds.len())];
        let bytes = damaged(seed, other, &mut chance);
        let begun = worked();
        let result = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        let took = worked().saturating_sub(begun);
        if let Err(panic) = result {
            keep("failed", name, &bytes);
            resume_unwind(panic);
        }
        if took > slowest && took > Duration::from_millis(500) {
            keep("slow", name, &bytes);
        }
        slowest = slowest.max(took);
        tried += 1;
    }
    println!("{name}: {tried} inputs, the slowest took {slowest:?}");
}

fn data(name: &str) -> Vec<u8> {
    std::fs::read(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(name),
    )
    .unwrap()
}

#[test]
fn logs() {
    let mut ours = data("data/java.hlog");
    ours.extend(b"#[Exact: count=1 min=5 max=5 sum=5 sum_of_squares=25 over_range=0]\n");
    let seeds = [
        ours,
        data("data/c.hlog"),
        data("data/js.hlog"),
        data("data/py.hlog"),
    ];
    fuzz("logs", &seeds, |bytes| {
        let mut summary = LogSummary::new();
        let mut seen = 0;
        for item in LogReader::new(bytes) {
            seen += 1;
            if let Ok(interval) = item {
                // Histograms that do not fit are refused by name.
                let _ = summary.add(&interval);
            }
        }
        let is_data = |line: &&[u8]| match std::str::from_utf8(line) {
            Ok(line) => !line.trim().is_empty() && !line.trim().starts_with(['#', '"']),
            // What is no text is an error unless it is a comment.
            Err(_) => !matches!(line.trim_ascii().first(), Some(b'#' | b'"')),
        };
        // Every line with data is an interval or an error; a comment that is damaged may be one as well.
        let lines = bytes.split(|byte| *byte == b'\n').filter(is_data).count();
        assert!(seen >= lines, "{seen} of {lines}");
        for (_, summary) in summary.summaries() {
            assert!(
                summary.min_ns <= summary.p50_ns
                    && summary.p50_ns <= summary.p99_ns
                    && summary.p99_ns <= summary.max_ns
            );
        }
    });
}

/// Everything that can be done with a report that was read.
fn use_up(report: &Report) {
    let _ = report.write_text(io::sink(), &TextStyle::default());
    let _ = report.write_html(io::sink());
    let _ = report.write_markdown(io::sink());
    let _ = report.write_csv(io::sink());
    let _ = report.write_prometheus(io::sink());
    let _ = report.excerpt(0..u64::MAX);
    let twice = [report.clone(), report.clone()];
    let _ = Report::merge(&twice);
    let _ = Report::merge_shards(&twice);
    let _ = Comparison::new(report, report).map(|comparison| {
        let _ = comparison.write_text(io::sink(), &TextStyle::default());
        let _ = comparison.write_html(io::sink());
    });
    // What was read can be written, and read again as the same.
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    assert_eq!(&Report::read_json(json.as_slice()).unwrap(), report);
}

/// A report that has all that is more than one run.
fn experiment() -> Vec<u8> {
    let clock = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let mut report = clock.unwrap().block_on(async {
        let mut report = simulated::swept().await;
        report.replicas = simulated::replicated().await.replicas;
        report.resilience = simulated::overloaded().await.resilience;
        report
    });
    // What is fuzzed elsewhere leaves more room for the rest.
    report.timeline.truncate(5);
    report.latency.service = None;
    report.latency.exchange = None;
    report.latency.response_ok = None;
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    json
}

#[test]
fn json_reports() {
    let seeds = [
        data("golden/mixed.json"),
        data("golden/windows.json"),
        experiment(),
    ];
    fuzz("json", &seeds, |bytes| {
        if let Ok(report) = Report::read_json(bytes) {
            use_up(&report);
        }
    });
}

/// Files of values and of traces, which `loadgen` reads.
#[test]
fn csv() {
    let traces = ["azure", "bailian", "burstgpt", "mooncake", "plain"];
    let mut seeds: Vec<Vec<u8>> = traces.iter().flat_map(|name| trace(name)).collect();
    assert!(seeds.len() >= 4);
    seeds.push(b"value,count\n# a comment\n 2 , 3 \n1\n1e1,2\n200\n".to_vec());
    fuzz("csv", &seeds, |bytes| {
        if let Ok(values) = Empirical::from_csv(bytes) {
            assert!(values.total() > 0);
        }
        if let Ok(trace) = Trace::read(bytes) {
            // Every line is a request, but for the names of columns and what stands between.
            let is_plain = trace.format() == Format::Plain;
            let is_request = |line: &&[u8]| {
                let line = line.trim_ascii();
                let is_comment = is_plain && line.starts_with(b"#");
                !(line.is_empty() || is_comment)
            };
            let lines = bytes.split(|byte| *byte == b'\n').filter(is_request);
            let (lines, requests) = (lines.count(), trace.requests().len());
            assert!(
                (lines - 1..=lines).contains(&requests),
                "{requests} of {lines}"
            );
        }
    });
}

/// A trace of the workload crate, whichever ending it has.
fn trace(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workload/tests/data");
    let read = |ending: &str| std::fs::read(folder.join(format!("{name}.{ending}"))).ok();
    read("csv").or_else(|| read("jsonl"))
}

#[test]
fn pages() {
    let report = Report::read_json(data("golden/mixed.json").as_slice()).unwrap();
    let mut page = Vec::new();
    report.write_html(&mut page).unwrap();
    fuzz("pages", &[page], |bytes| {
        if let Ok(report) = Report::read_html(bytes) {
            use_up(&report);
        }
    });
}
