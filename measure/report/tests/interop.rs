//! What other libraries make of what is written here: installed and run, so only in the long tests.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says what it did not do"
)]

use openloop_experiment::{Lifecycle, Plan, Run, drive};
use openloop_measurer::{Histogram, Quantile};
use openloop_report::Report;
use openloop_report::hlog::{LogReader, write_log};
use openloop_sched::{Rate, Ticket};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// Whether the long tests are asked for.
fn is_full() -> bool {
    let full = std::env::var_os("OPENLOOP_FULL").is_some_and(|value| value == "1");
    if !full {
        println!("not run: OPENLOOP_FULL=1 installs the libraries and runs it");
    }
    full
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interop");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The Python of an environment of its own, with this package.
fn python(package: &str) -> PathBuf {
    let environment = folder().join(format!("python-{package}"));
    let python = environment.join("bin/python");
    if !python.exists() {
        // Debian: apt-get install python3-venv
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment));
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", package]));
    python
}

/// A run whose responses are between 20 ms and 7 s, a few of which fail or never end.
async fn measured() -> Run {
    let plan = Plan::open(Rate::per_second(100.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(37)))
        .build()
        .unwrap();
    let work = |ticket: Ticket| async move {
        if ticket.seq == 1000 {
            std::future::pending::<()>().await;
        }
        let ms = 20 + (ticket.seq * 7919) % 997 + if ticket.seq % 250 == 3 { 6000 } else { 0 };
        tokio::time::sleep(Duration::from_millis(ms)).await;
    };
    drive::shared(&plan, work).await.unwrap()
}

/// Count, p50, p99, p99.9 and maximum by tag, as a script prints them.
fn figures(json: &str) -> BTreeMap<String, [u64; 5]> {
    serde_json::from_str(json).unwrap()
}

/// The histogram of each tag.
fn histograms(log: &[u8]) -> BTreeMap<String, Histogram> {
    let mut all: BTreeMap<String, Histogram> = BTreeMap::new();
    for interval in LogReader::new(log) {
        let interval = interval.unwrap();
        all.entry(interval.tag.clone())
            .or_default()
            .merge(&interval.histogram().unwrap());
    }
    all
}

/// The highest value of the bucket of rank `rank`: other libraries know no exact extremes.
fn at_rank(histogram: &Histogram, rank: u64) -> u64 {
    let mut seen = 0;
    let found = histogram.buckets().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    found.unwrap().0
}

fn written(run: &Run) -> (PathBuf, Vec<u8>) {
    let mut log = Vec::new();
    write_log(
        run,
        Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
        &mut log,
    )
    .unwrap();
    let path = folder().join(format!("{:?}.hlog", std::thread::current().id()));
    std::fs::write(&path, &log).unwrap();
    (path, log)
}

/// The rank at which a library looks for a quantile among so many values.
fn compare(log: &[u8], figures: &BTreeMap<String, [u64; 5]>, rank: impl Fn(Quantile, u64) -> u64) {
    let histograms = histograms(log);
    assert!(
        histograms.len() > 5 && histograms.keys().eq(figures.keys()),
        "{figures:?}"
    );
    for (tag, histogram) in histograms {
        let n = histogram.count();
        let at = |q| at_rank(&histogram, rank(q, n));
        let largest = at_rank(&histogram, n);
        let expected = [
            n,
            at(Quantile::P50),
            at(Quantile::P99),
            at(Quantile::P99_9),
            largest,
        ];
        assert_eq!(figures[&tag], expected, "{tag:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_javascript_library_reads_the_same_figures() {
    if !is_full() {
        return;
    }
    let (path, log) = written(&measured().await);
    let folder = folder();
    run(Command::new("npm").current_dir(&folder).args([
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "hdr-histogram-js@3.0.1",
    ]));
    let script = r#"
        const hdr = require("hdr-histogram-js");
        const reader = new hdr.HistogramLogReader(require("fs").readFileSync(process.argv[1], "utf8"));
        const all = {};
        for (let h = reader.nextIntervalHistogram(); h != null; h = reader.nextIntervalHistogram()) {
            const tag = h.tag === "NO TAG" ? "" : h.tag || "";
            all[tag] ??= hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 3600000000000, numberOfSignificantValueDigits: 3 });
            all[tag].add(h);
        }
        const figures = (h) => [h.totalCount, h.getValueAtPercentile(50), h.getValueAtPercentile(99), h.getValueAtPercentile(99.9), h.maxValue];
        console.log(JSON.stringify(Object.fromEntries(Object.entries(all).map(([tag, h]) => [tag, figures(h)]))));"#;
    let json = run(Command::new("node")
        .current_dir(&folder)
        .args(["-e", script])
        .arg(&path));
    // It takes 99.9/100 · n in floating point and rounds up, which names the next rank where that is a whole number.
    let rank = |q: Quantile, n: u64| match q {
        Quantile::P99_9 => ((99.9 / 100.0) * n as f64).ceil() as u64,
        q => q.rank(n),
    };
    compare(&log, &figures(&json), rank);
}

#[tokio::test(start_paused = true)]
async fn the_python_library_reads_the_same_figures_but_for_its_ranks() {
    if !is_full() {
        return;
    }
    let (path, log) = written(&measured().await);
    let script = r#"
import json, sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
reader, tags = HistogramLogReader(sys.argv[1], HdrHistogram(1, 3600000000000, 3)), {}
while (h := reader.get_next_interval_histogram()) is not None:
    tags.setdefault(h.get_tag() or "", HdrHistogram(1, 3600000000000, 3)).add(h)
figures = lambda h: [h.get_total_count()] + [h.get_value_at_percentile(p) for p in (50, 99, 99.9)] + [h.get_max_value()]
print(json.dumps({tag: figures(h) for tag, h in tags.items()}))
"#;
    let json = run(Command::new(python("hdrhistogram"))
        .args(["-c", script])
        .arg(&path));
    // The known difference: it rounds q·n to the nearest rank, halves upwards, instead of up.
    let rank = |q: Quantile, n: u64| ((q.as_f64() * n as f64 + 0.5).floor() as u64).max(1);
    compare(&log, &figures(&json), rank);
}

#[tokio::test(start_paused = true)]
async fn reports_are_what_the_published_schema_says() {
    if !is_full() {
        return;
    }
    let report = Report::new(&measured().await).with_started_at(UNIX_EPOCH);
    let merged = Report::merge(&[report.clone(), report.clone()]).unwrap();
    let folder = folder();
    let mut paths = Vec::new();
    for (name, report) in [("one", &report), ("merged", &merged)] {
        let path = folder.join(format!("{name}.json"));
        report
            .write_json(std::fs::File::create(&path).unwrap())
            .unwrap();
        paths.push(path);
    }
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/report-1.json");
    let script = "
import json, sys
from jsonschema import Draft202012Validator as Validator
schema, *reports = [json.load(open(path)) for path in sys.argv[1:]]
Validator.check_schema(schema)
for report in reports:
    Validator(schema).validate(report)
    report['latency']['response']['p99_ns'] = 'fast'
    assert not Validator(schema).is_valid(report)
";
    run(Command::new(python("jsonschema"))
        .args(["-c", script])
        .arg(schema)
        .args(&paths));
}
