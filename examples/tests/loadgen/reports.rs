//! What is written beside the JSON, and what `loadgen report` makes of it.

use crate::*;

/// A run of 4 s at 100/s whose files have these names; with `flags` besides.
struct Written {
    json: Scratch,
    html: Scratch,
    hlog: Scratch,
    markdown: Scratch,
}

impl Written {
    fn by(flags: &str) -> Self {
        let server = server().start().unwrap();
        let [json, html, hlog, markdown] = std::array::from_fn(|_| Scratch::new());
        let (j, h, l, m) = (json.path(), html.path(), hlog.path(), markdown.path());
        let flags = format!(
            "--rate 100 --arrivals constant --ramp-up 0s --warm-up 1s --steady 4s --cooldown 0s {BUSY} --quiet \
             --json {j} --html {h} --hlog {l} --markdown {m} {flags}"
        );
        assert_status(&loadgen(&server.url("/"), &flags), 0);
        Written {
            json,
            html,
            hlog,
            markdown,
        }
    }

    fn report(&self) -> Value {
        serde_json::from_str(&self.json.read()).unwrap()
    }
}

fn json_of(flags: &str) -> Value {
    let output = run(flags);
    assert_status(&output, 0);
    report(&output)
}

const FIGURES: [&str; 8] = [
    "count",
    "min_ns",
    "mean_ns",
    "p50_ns",
    "p99_ns",
    "p99_9_ns",
    "max_ns",
    "stddev_ns",
];

#[track_caller]
fn assert_same_figures(a: &Value, b: &Value) {
    for figure in FIGURES {
        assert_eq!(a[figure], b[figure], "{figure}");
    }
}

#[test]
fn every_file_holds_the_same_run() {
    let written = Written::by("");
    let report = written.report();
    assert!(report["started_at"].as_str().unwrap().ends_with('Z'));
    // The page holds the report, to the last byte.
    let again = Scratch::new();
    let (html, json) = (written.html.path(), again.path());
    assert_status(&run(&format!("report {html} --json {json}")), 0);
    assert_eq!(again.read(), written.json.read());
    // The log gives the figures of the report, exact extremes and all.
    let log = json_of(&format!("report {} --json -", written.hlog.path()));
    let (response, tags) = (&report["latency"]["response"], &log["tags"]);
    assert_same_figures(&tags[""], response);
    assert_same_figures(&tags["response/ok"], &report["latency"]["response_ok"]);
    assert_same_figures(&tags["connect"], &report["metrics"]["connect"]);
    let one = json_of(&format!(
        "report {} --tag service/ok --json -",
        written.hlog.path()
    ));
    assert_eq!(one["tags"].as_object().unwrap().len(), 1);
    assert!(written.markdown.read().starts_with("### "));
    // As text, it is what the run would have printed.
    let text = stdout(&run(&format!("report {html}")));
    assert!(text.contains("400") || text.contains("response"), "{text}");
}

#[test]
fn a_window_is_the_same_from_the_report_and_from_the_log() {
    let written = Written::by("");
    let (json, hlog) = (written.json.path(), written.hlog.path());
    // Windows of the report are 400 ms long, intervals of the log 1 s: 1 s to 3 s are five of the one and two of the other.
    let part = json_of(&format!("report {json} --window 1s..3s --json -"));
    let log = json_of(&format!("report {hlog} --window 1s..3s --json -"));
    assert_eq!(part["latency"]["response"]["count"], 200);
    assert_same_figures(&part["latency"]["response"], &log["tags"][""]);
    let output = run(&format!("report {json} --window 1s..1100ms"));
    assert_status(&output, 2);
    assert!(
        stderr(&output).contains("0.4 s long, from 1 s to 5 s"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn runs_are_merged_and_compared() {
    let (a, b) = (Written::by(""), Written::by("--seed 2"));
    let (one, two) = (a.json.path(), b.html.path());
    let merged = json_of(&format!("report {one} {two} --json -"));
    assert_eq!(merged["arrivals"]["ok"], 1000);
    assert_eq!(merged["latency"]["response"]["count"], 800);
    let logs = json_of(&format!(
        "report {} {} --json -",
        a.hlog.path(),
        b.hlog.path()
    ));
    assert_same_figures(&logs["tags"][""], &merged["latency"]["response"]);
    // Shards are something else, and say so of themselves.
    let output = run(&format!("report --merge {one} {two}"));
    assert_status(&output, 2);
    assert!(stderr(&output).contains("shard"), "{}", stderr(&output));
    // A run compared with itself shows no difference.
    let output = run(&format!("report --compare {one} {}", a.html.path()));
    assert_status(&output, 0);
    assert!(
        stdout(&output).starts_with("NO DIFFERENCE"),
        "{}",
        stdout(&output)
    );
    let page = Scratch::new();
    let output = run(&format!(
        "report --compare {one} {two} --html {} --markdown -",
        page.path()
    ));
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).starts_with("### ") && page.read().starts_with("<!DOCTYPE html>"));
}

#[test]
fn the_shards_of_a_run_must_all_be_there() {
    let written = Written::by("");
    let shard = |index: u64, count: u64| {
        let mut report = written.report();
        report["shard"] = serde_json::json!({ "index": index, "count": count });
        let file = Scratch::new();
        std::fs::write(file.path(), report.to_string()).unwrap();
        file
    };
    let all: Vec<_> = (0..3).map(|index| shard(index, 3)).collect();
    let names: Vec<_> = all.iter().map(Scratch::path).collect();
    let merged = json_of(&format!("report --merge {} --json -", names.join(" ")));
    assert_eq!(merged["arrivals"]["ok"], 1500);
    assert_eq!(merged["asked_rate"], 100.0);
    let output = run(&format!("report --merge {} {}", names[0], names[2]));
    assert_status(&output, 2);
    assert!(
        stderr(&output).contains("all but number 1"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn broken_lines_of_a_log_are_told_by_number_and_the_others_count() {
    let written = Written::by("");
    let log = written.hlog.read();
    let mut lines: Vec<_> = log.lines().map(str::to_owned).collect();
    let untagged = lines
        .iter()
        .position(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap();
    let length = lines[untagged].len();
    lines[untagged].truncate(length - 10);
    let broken = Scratch::new();
    std::fs::write(broken.path(), lines.join("\n")).unwrap();
    let output = run(&format!("report {} --json -", broken.path()));
    assert_status(&output, 3);
    let told = format!("line {}: ", untagged + 1);
    assert!(stderr(&output).contains(&told), "{}", stderr(&output));
    assert_eq!(report(&output)["tags"][""]["count"], 300);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let written = Written::by("");
    let (json, hlog) = (
        written.json.path().to_owned(),
        written.hlog.path().to_owned(),
    );
    let missing = Scratch::new();
    let missing = missing.path();
    for (flags, named) in [
        (format!("report {json} --html {json}"), "written over"),
        (format!("report {json} {hlog}"), "one kind"),
        (format!("report {missing}"), missing),
        (format!("report {json} {json}"), "twice"),
        (format!("report {json} --tag A"), "--tag"),
        (format!("report {hlog} --html {missing}"), "--html"),
        (format!("report {hlog} --tag nothing"), "response/ok"),
        (format!("report {hlog} --window 100s..200s"), "no interval"),
        (format!("report --compare {json} {hlog}"), "interval log"),
        (
            format!("report {json} --json - --markdown -"),
            "standard output",
        ),
        (format!("report {json} --window 2s"), "FROM..TO"),
        ("report".to_owned(), "FILE"),
    ] {
        let output = run(&flags);
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(named),
            "{flags}: {}",
            stderr(&output)
        );
        assert!(!std::path::Path::new(missing).exists(), "{flags}");
    }
    assert_eq!(
        serde_json::from_str::<Value>(&written.json.read()).unwrap()["loop"],
        "open"
    );
}

/// What people give it by mistake, and what it says then.
#[test]
fn a_file_that_is_no_report_is_refused_by_what_is_wrong_with_it() {
    let written = Written::by("");
    let whole = written.json.read();
    let other = |from: &str, to: &str| whole.replace(from, to).into_bytes();
    let utf16: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (text, status, named) in [
        (Vec::new(), 2, "it is empty"),
        (whole.as_bytes()[..whole.len() / 2].to_vec(), 2, "cut short"),
        (other("report/1.0", "report/2.0"), 2, "openloop.report/1.x"),
        (other("openloop.report", "other.thing"), 2, "no report"),
        // A newer minor version is read, and what it has more is told.
        (
            other("report/1.0", "report/1.7"),
            0,
            "newer than this release",
        ),
        (
            other("\"p99_ns\": ", "\"p99_ns\": -"),
            2,
            "this is not a report",
        ),
        (
            b"hello world\n".to_vec(),
            2,
            "neither a report nor an interval log",
        ),
        (b"<html></html>".to_vec(), 2, "no report inside"),
        (b"{\"name\": \"package\"}".to_vec(), 2, "schema"),
        (b"\x1f\x8b\x08 compressed".to_vec(), 2, "unpack it"),
        (utf16, 2, "no text in UTF-8"),
        // A mark of the encoding is none of its text.
        (["\u{feff}".as_bytes(), whole.as_bytes()].concat(), 0, ""),
    ] {
        let file = Scratch::new();
        std::fs::write(file.path(), text).unwrap();
        let output = run(&format!("report {}", file.path()));
        assert_status(&output, status);
        assert!(
            stderr(&output).contains(named),
            "{named}: {}",
            stderr(&output)
        );
        let is_told = named.is_empty() || stderr(&output).contains(file.path());
        assert!(is_told, "{}", stderr(&output));
    }
    // Of several, the damaged one is named.
    let damaged = Scratch::new();
    std::fs::write(damaged.path(), other("HISTFAAA", "HISTFAAB")).unwrap();
    let json = written.json.path();
    for flags in [
        format!("report {json} {}", damaged.path()),
        format!("report --compare {json} {}", damaged.path()),
    ] {
        let output = run(&flags);
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains(damaged.path()),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn the_verdict_on_runs_is_that_of_all_together() {
    let written = Written::by("--slo p50<=1s,errors<=10%");
    let report = json_of(&format!("report {} --json -", written.json.path()));
    // 400 arrivals are too few for errors below a percent, and enough for these.
    assert_eq!(report["slo"]["verdict"], written.report()["slo"]["verdict"]);
    let copy = Scratch::new();
    std::fs::write(copy.path(), written.json.read()).unwrap();
    let merged = json_of(&format!(
        "report {} {} --json -",
        written.json.path(),
        copy.path()
    ));
    assert_eq!(merged["slo"]["verdict"], report["slo"]["verdict"]);
    let why = merged["slo"]["findings"][0]["why"].as_str().unwrap();
    assert!(why.contains("merged over 2 runs"), "{why}");
}

#[test]
fn files_that_cannot_be_written_are_found_before_the_load() {
    let server = server().start().unwrap();
    for flag in ["--html", "--hlog", "--markdown"] {
        let flags = format!("--rate 100 {SECOND} {flag} /no/such/folder/file");
        let output = loadgen(&server.url("/"), &flags);
        assert_status(&output, 2);
        assert!(
            stderr(&output).contains("/no/such/folder/file"),
            "{}",
            stderr(&output)
        );
    }
    let output = loadgen(
        &server.url("/"),
        &format!("--rate 100 {SECOND} --json - --html -"),
    );
    assert_status(&output, 2);
    assert_eq!(server.served(), 0);
}
