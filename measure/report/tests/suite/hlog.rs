use crate::fixture::{mixed, overloaded, polymorphic};
use openloop_experiment::Run;
use openloop_report::Report;
use openloop_report::hlog::{
    LogInterval, LogReader, LogSummary, LogUnit, MergeLogError, Wrong, write_log,
};
use openloop_report::schema::Summary;
use std::time::{Duration, UNIX_EPOCH};

fn log_of(run: &Run) -> String {
    let mut log = Vec::new();
    write_log(
        run,
        Some(UNIX_EPOCH + Duration::from_millis(1_796_026_445_120)),
        &mut log,
    )
    .unwrap();
    String::from_utf8(log).unwrap()
}

fn intervals(log: &str) -> Vec<LogInterval> {
    LogReader::new(log.as_bytes())
        .collect::<Result<_, _>>()
        .unwrap()
}

fn summary_of(logs: &[&str]) -> LogSummary {
    let mut summary = LogSummary::new();
    for log in logs {
        for interval in intervals(log) {
            summary.add(&interval).unwrap();
        }
    }
    summary
}

/// What a log cannot know: intervals and windows come from the windows of the run.
fn without_windows(summary: &Summary) -> Summary {
    let mut summary = summary.clone();
    summary.windows.clear();
    summary.interval.clear();
    summary
}

#[tokio::test(start_paused = true)]
async fn a_log_gives_the_figures_of_the_report_lower_bounds_among_them() {
    for run in [mixed().await, overloaded().await, polymorphic().await] {
        let report = Report::new(&run);
        let summary = summary_of(&[&log_of(&run)]);
        let response = report.latency.response.as_ref().unwrap();
        assert_eq!(summary.summary("").unwrap(), without_windows(response));
        let ok = report.latency.response_ok.as_ref().unwrap();
        assert_eq!(summary.summary("response/ok").unwrap(), without_windows(ok));
        for (name, metric) in &report.metrics {
            let logged = summary.summary(name).unwrap();
            assert_eq!(logged, without_windows(metric.as_ref().unwrap()), "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_outcome_has_its_tag() {
    let run = mixed().await;
    let summary = summary_of(&[&log_of(&run)]);
    let tags: Vec<_> = summary.tags().collect();
    for tag in [
        "",
        "at_least",
        "response/ok",
        "service/failed/connect_refused",
        "lag/rejected/http_503",
        "response/abandoned",
        "connect",
    ] {
        assert!(tags.contains(&tag), "{tag}: {tags:?}");
    }
    let count = |tag: &str| summary.summary(tag).unwrap().count;
    let by_outcome: u64 = tags
        .iter()
        .filter(|tag| tag.starts_with("response/"))
        .map(|tag| count(tag))
        .sum();
    assert_eq!(count(""), by_outcome);
}

#[tokio::test(start_paused = true)]
async fn lines_are_in_order_of_time_and_counted_from_the_start_of_the_run() {
    let log = log_of(&mixed().await);
    assert!(
        log.contains("#[StartTime: 1796026445.120 (seconds since epoch)]"),
        "{log}"
    );
    let all = intervals(&log);
    assert!(
        all.windows(2)
            .all(|pair| pair[0].from_ns <= pair[1].from_ns)
    );
    // Ramp-up and warm-up take 4 s, and are not in it.
    assert_eq!(all.first().unwrap().from_ns, 4_000_000_000);
    assert_eq!(all.last().unwrap().to_ns, 24_000_000_000);
    let untagged: Vec<_> = all
        .iter()
        .filter(|interval| interval.tag.is_empty())
        .collect();
    assert_eq!(untagged.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_window_has_the_quantiles_of_exactly_what_was_intended_in_it() {
    // Every response is 100 ms but those intended from 10 s to 12 s of the run.
    let run = crate::fixture::slow_between(10, 12).await;
    let log = log_of(&run);
    let within = |from: u64, to: u64| {
        let mut summary = LogSummary::new().window(from * 1_000_000_000..to * 1_000_000_000);
        for interval in intervals(&log) {
            summary.add(&interval).unwrap();
        }
        summary
    };
    let slow = within(10, 12).summary("").unwrap();
    // 20/s for 2 s, each of which takes 300 ms and one more for each request before it.
    assert_eq!(
        (slow.count, slow.min_ns, slow.max_ns),
        (40, 300_000_000, 339_000_000)
    );
    let raw: Vec<u64> = (0..40).map(|k| (300 + k) * 1_000_000).collect();
    // Ranks 20 and 40 of 40, to three digits.
    for (q, rank) in [(slow.p50_ns, 20), (slow.p99_ns, 40)] {
        let exact = raw[rank - 1];
        assert!(q >= exact && q - exact <= exact / 1000, "{q} {exact}");
    }
    let before = within(4, 10).summary("").unwrap();
    assert_eq!((before.count, before.max_ns), (120, 100_000_000));
    let across = within(9, 13).summary("").unwrap();
    assert_eq!(across.count, 80);
    // Tenths of the phase are 2 s long: the first begins at 4 s.
    let odd = within(5, 7);
    assert!(odd.cut() > 0);
    assert_eq!(odd.summary("").unwrap().count, 40);
    assert!(odd.summary("response/ok").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_broken_line_is_an_error_with_its_number_and_the_others_still_count() {
    let log = log_of(&mixed().await);
    let whole = intervals(&log).len();
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    let index = lines
        .iter()
        .rposition(|line| !line.starts_with('#'))
        .unwrap();
    let middle = lines[index].len() - 20;
    lines[index].truncate(middle);
    lines.insert(6, "what is this".to_owned());
    let broken = lines.join("\r\n");
    let read: Vec<_> = LogReader::new(broken.as_bytes()).collect();
    let errors: Vec<_> = read.iter().filter_map(|item| item.as_ref().err()).collect();
    assert_eq!(
        errors.iter().map(|error| error.number).collect::<Vec<_>>(),
        [7, index as u64 + 2]
    );
    assert!(matches!(errors[0].why, Wrong::NotAnInterval));
    assert!(
        errors[0].to_string().starts_with("line 7: "),
        "{}",
        errors[0]
    );
    assert_eq!(read.len() - errors.len(), whole - 1);
}

#[tokio::test(start_paused = true)]
async fn logs_are_merged_in_any_order() {
    let (a, b, c) = (mixed().await, overloaded().await, polymorphic().await);
    let [a, b, c] = [a, b, c].map(|run| log_of(&run));
    let merged = summary_of(&[&a, &b, &c]).summaries();
    assert_eq!(merged, summary_of(&[&c, &a, &b]).summaries());
    let counts: u64 = [&a, &b, &c]
        .map(|log| summary_of(&[log]).summary("").unwrap().count)
        .iter()
        .sum();
    assert_eq!(merged[""].count, counts);
}

/// Lines of the Java library's own test log, in which each stands twice, the second time with the tag A.
const JAVA: &str = r#"#[Logged with jHiccup version 2.0.7-SNAPSHOT, manually edited to duplicate contents with Tag=A]
#[Histogram log format version 1.2]
#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=
Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=
1.134,0.999,0.442,HISTFAAAAEJ42pNpmSzMwMAgxwABTBDKT4GBgdnNYMcCBvsPEBEWLj45FTExAT4pBSEBKa6UkAgBi1uM7xjfMMlwMDABAC0CCjM=
"#;

#[test]
fn a_log_of_the_java_library_is_read() {
    let summary = summary_of(&[JAVA]);
    assert_eq!(summary.tags().collect::<Vec<_>>(), ["", "A"]);
    let (all, tagged) = (summary.summary("").unwrap(), summary.summary("A").unwrap());
    assert!(all.count > tagged.count);
    // Its maximum is in milliseconds.
    assert_eq!(tagged.max_ns / 1000, 2768);
    assert!(all.p50_ns <= all.p99_ns && all.p99_ns <= all.max_ns);
}

#[test]
fn stamps_are_counted_from_the_start_whatever_the_header_says() {
    let line = JAVA.lines().nth(4).unwrap().split_once(',').unwrap().1;
    let starts = |header: &str, stamps: [&str; 2]| {
        let log = format!("{header}\n{},{line}\n{},{line}\n", stamps[0], stamps[1]);
        let all = intervals(&log);
        [all[0].from_ns, all[1].from_ns].map(|ns| ns / 1_000_000)
    };
    let start = "#[StartTime: 1441812279.474 (seconds since epoch)]";
    let base = "#[BaseTime: 1441812279.474 (seconds since epoch)]";
    // Neither: from the first. A start: from it, whether stamps are absolute or not. A base: stamps are after it.
    assert_eq!(starts("", ["100.000", "101.500"]), [0, 1500]);
    assert_eq!(starts(start, ["0.127", "1.134"]), [127, 1134]);
    assert_eq!(
        starts(start, ["1441812280.474", "1441812281.474"]),
        [1000, 2000]
    );
    assert_eq!(starts(base, ["2.000", "3.000"]), [2000, 3000]);
    let earlier = "#[StartTime: 1441812269.474 (seconds since epoch)]";
    assert_eq!(
        starts(&format!("{earlier}\n{base}"), ["2.000", "3.000"]),
        [12_000, 13_000]
    );
    // Out of order, nothing is left out.
    assert_eq!(starts(start, ["5.000", "1.000"]), [5000, 1000]);
}

#[test]
fn units_and_precisions_that_differ_are_not_mixed() {
    let mut summary = LogSummary::new().unit(LogUnit::Microseconds);
    for interval in intervals(JAVA) {
        summary.add(&interval).unwrap();
    }
    let ns = summary_of(&[JAVA]).summary("").unwrap();
    assert_eq!(summary.summary("").unwrap().p99_ns, 1000 * ns.p99_ns);
    let mut two = LogSummary::new();
    let all = intervals(JAVA);
    two.add(&all[0]).unwrap();
    let in_ms = intervals(&format!("#[Unit: ms]\n{JAVA}"));
    let error = two.add(&in_ms[0]).unwrap_err();
    assert!(matches!(error, MergeLogError::Units { .. }));
    assert!(
        error
            .to_string()
            .contains("some values are in ns, and others in ms")
    );
}

#[test]
fn a_file_of_the_java_library_and_one_of_version_1_are_read_where_they_are() {
    let folder = std::env::var_os("OPENLOOP_TEST_DATA").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        Into::into,
    );
    for (name, least) in [("java_tagged_v2.hlog", 10), ("java_ycsb_v1_head.hlog", 50)] {
        let path = folder.join("hlog").join(name);
        let Ok(file) = std::fs::File::open(&path) else {
            println!("{} is not there: not tested", path.display());
            continue;
        };
        let read: Vec<_> = LogReader::new(std::io::BufReader::new(file)).collect();
        let (good, bad): (Vec<_>, Vec<_>) = read.into_iter().partition(Result::is_ok);
        assert!(bad.is_empty(), "{name}: {bad:?}");
        assert!(good.len() >= least, "{name}: {}", good.len());
    }
}
