use openloop_measurer::{Histogram, Quantile};
use openloop_report::hlog::{LogReader, LogSummary};
use std::path::Path;

/// What stands in the log of second `s` of each library: see `tests/data/README.md`.
fn values(s: u64) -> impl Iterator<Item = u64> {
    (0..1000).map(move |i: u64| (s + 1) * 1_000_000 + i * i * 37)
}

fn log(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_logs_of_all_libraries_give_what_was_recorded() {
    for (name, tagged) in [
        ("c.hlog", false),
        ("java.hlog", true),
        ("js.hlog", true),
        ("py.hlog", false),
    ] {
        let mut summary = LogSummary::new();
        for interval in LogReader::new(log(name).as_bytes()) {
            summary.add(&interval.unwrap()).unwrap();
        }
        let seconds: &[u64] = if tagged { &[0, 2] } else { &[0, 1, 2] };
        let mut recorded = Histogram::new();
        seconds
            .iter()
            .flat_map(|s| values(*s))
            .for_each(|ns| recorded.record(ns));
        let read = summary.summary("").unwrap();
        assert_eq!(read.count, recorded.count(), "{name}");
        for (ns, q) in [
            (read.p50_ns, Quantile::P50),
            (read.p99_ns, Quantile::P99),
            (read.p99_9_ns, Quantile::P99_9),
        ] {
            assert_eq!(Some(ns), recorded.quantile(q), "{name} {q}");
        }
        // The highest value of the bucket of the largest, as those libraries have it.
        let highest = recorded.buckets().last().map(|(highest, _)| highest);
        assert_eq!(Some(read.max_ns), highest, "{name}");
        assert_eq!(
            summary.summary("A").map(|a| a.count),
            tagged.then_some(1000),
            "{name}"
        );
    }
}

#[test]
fn the_intervals_of_all_libraries_lie_where_they_were() {
    for name in ["c.hlog", "java.hlog", "js.hlog", "py.hlog"] {
        let spans: Vec<_> = LogReader::new(log(name).as_bytes())
            .map(|interval| {
                interval
                    .map(|interval| (interval.from_ns, interval.to_ns))
                    .unwrap()
            })
            .collect();
        let second = 1_000_000_000;
        assert_eq!(
            spans,
            [(0, second), (second, 2 * second), (2 * second, 3 * second)],
            "{name}"
        );
    }
}
