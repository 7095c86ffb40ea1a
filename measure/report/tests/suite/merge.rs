use crate::fixture::{calm, mixed, overloaded, polymorphic, stopped};
use openloop_experiment::Series;
use openloop_measurer::{Population, Quantile};
use openloop_report::schema::Summary;
use openloop_report::{MergeError, Report, TextStyle};
use proptest::prelude::*;

/// The report of part `index` of a run, as it was written.
fn shard(report: &Report, index: u64, count: u64) -> Report {
    let mut report = report.clone();
    let shard = serde_json::json!({ "index": index, "count": count });
    report.shard = serde_json::from_value(shard).unwrap();
    report
}

fn shards(report: &Report, count: u64) -> Vec<Report> {
    (0..count)
        .map(|index| shard(report, index, count))
        .collect()
}

/// What a merged report says of how far apart its shards began: whether it may be believed, the check's figure and words.
fn clocks(shards: &[Report]) -> (bool, Option<f64>, String) {
    let merged = Report::merge_shards(shards).unwrap();
    let checks = &merged.validity.checks;
    let check = checks.iter().find(|check| check.name == "shard_clocks");
    let check = check.unwrap();
    (merged.validity.valid, check.value, check.why.clone())
}

/// The text of a report, in one line.
fn said(report: &Report) -> String {
    let mut text = Vec::new();
    report.write_text(&mut text, &TextStyle::default()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[tokio::test(start_paused = true)]
async fn how_far_apart_shards_began_is_what_their_clocks_may_be_off_together() {
    let report = Report::new(&calm().await);
    let asked = |within_ns: [u64; 3], reference: [&str; 3]| -> Vec<Report> {
        let mut shards = shards(&report, 3);
        for (index, shard) in shards.iter_mut().enumerate() {
            let clock = serde_json::json!({
                "reference": reference[index], "offset_ns": -5, "within_ns": within_ns[index],
            });
            shard.shard.as_mut().unwrap().clock = serde_json::from_value(clock).unwrap();
        }
        shards
    };
    assert!(report.validity.valid);
    let (valid, apart, why) = clocks(&asked([2_000_000, 300_000, 1_000_000], ["ntp"; 3]));
    assert_eq!((valid, apart), (true, Some(3e6)));
    assert!(why.contains("within 3.00 ms of each other"), "{why}");
    let merged = Report::merge_shards(&asked([2_000_000, 300_000, 1_000_000], ["ntp"; 3]));
    let text = said(&merged.unwrap());
    assert!(
        text.contains("shards began within 3.00 ms of each other"),
        "{text}"
    );
    // Beyond a tenth of an interval of the timeline it was not one load.
    let (valid, apart, _) = clocks(&asked([60_000_000, 50_000_000, 0], ["ntp"; 3]));
    assert_eq!((valid, apart), (false, Some(1.1e8)));
    // Different clocks, or none, tell nothing of each other.
    for unknown in [asked([1; 3], ["ntp", "ntp", "other"]), shards(&report, 3)] {
        let (valid, apart, why) = clocks(&unknown);
        assert_eq!((valid, apart), (true, None));
        assert!(
            why.contains("unknown") && why.contains("--clock-reference"),
            "{why}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn merged_reports_have_the_quantiles_of_the_merged_histograms() {
    let reports = [mixed().await, overloaded().await, calm().await].map(|run| Report::new(&run));
    let merged = Report::merge(&reports).unwrap();
    let mut all = Population::new();
    for report in &reports {
        all.merge(
            &report
                .latency
                .response
                .as_ref()
                .unwrap()
                .population()
                .unwrap(),
        );
    }
    let response = merged.latency.response.as_ref().unwrap();
    assert_eq!(response.count, all.count());
    assert_eq!(response.p99_ns, all.quantile(Quantile::P99).unwrap().ns());
    assert_eq!(response.p50_ns, all.quantile(Quantile::P50).unwrap().ns());
    assert_eq!(response.mean_ns, all.mean_ns().unwrap());
    // The ten windows of each are merged, so there are intervals.
    assert!(response.interval.contains_key("p50_ns"));
    assert!(merged.arrivals.balances());
    assert_eq!(
        merged.arrivals.ok,
        reports.iter().map(|report| report.arrivals.ok).sum::<u64>()
    );
    assert_eq!(merged.steady_ns, 60_000_000_000);
    // 20, 12 and 20 per second for 20 s each.
    assert_eq!(merged.offered_rate, Some(52.0 / 3.0));
    assert_eq!((merged.asked_rate, merged.timeline.len()), (None, 0));
    assert_eq!(merged.merged.as_ref().unwrap().reports, 3);
}

#[tokio::test(start_paused = true)]
async fn reports_are_merged_in_any_order() {
    let reports =
        [mixed().await, overloaded().await, polymorphic().await].map(|run| Report::new(&run));
    let merged = Report::merge(&reports).unwrap();
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let other = order.map(|index| reports[index].clone());
        assert_eq!(Report::merge(&other).unwrap(), merged);
    }
    let twice = Report::merge(&[merged.clone(), merged]).unwrap();
    assert_eq!(twice.merged.unwrap().reports, 6);
}

#[tokio::test(start_paused = true)]
async fn one_report_merged_keeps_its_latencies() {
    let report = Report::new(&polymorphic().await);
    let merged = Report::merge(std::slice::from_ref(&report)).unwrap();
    for ((name, merged), (_, before)) in merged
        .latency
        .by_name()
        .into_iter()
        .zip(report.latency.by_name())
    {
        let (Some(merged), Some(before)) = (merged, before) else {
            continue;
        };
        let mut before = before.clone();
        if before.windows.is_empty() {
            // Without windows there are no intervals.
            before.interval.clear();
        }
        assert_eq!(merged, &before, "{name}");
    }
    assert_eq!(merged.kinds["read"].arrivals, report.kinds["read"].arrivals);
    assert_eq!(merged.kinds["read"].share, report.kinds["read"].share);
    assert_eq!(merged.worst_window, report.worst_window);
}

#[tokio::test(start_paused = true)]
async fn shards_add_up() {
    let mut report = Report::new(&mixed().await);
    report.limits.as_mut().unwrap().max_in_flight = Some(5);
    let merged = Report::merge_shards(&shards(&report, 3)).unwrap();
    assert_eq!(merged.limits.as_ref().unwrap().max_in_flight, Some(15));
    assert_eq!(merged.offered_rate, Some(60.0));
    assert_eq!(merged.asked_rate, Some(20.0));
    assert_eq!(merged.steady_ns, report.steady_ns);
    assert_eq!(merged.arrivals.scheduled, 3 * report.arrivals.scheduled);
    assert_eq!(merged.timeline.len(), report.timeline.len());
    for (merged, one) in merged.timeline.iter().zip(&report.timeline) {
        assert_eq!(merged.ended.ok, 3 * one.ended.ok);
        assert_eq!((merged.max_ns, merged.p99_ns), (one.max_ns, None));
        assert!(merged.ended.balances());
    }
    // Three times the same has the quantiles of one, but of the largest ranks.
    let (response, one) = (
        merged.latency.response.unwrap(),
        report.latency.response.unwrap(),
    );
    assert_eq!(
        (response.count, response.p50_ns),
        (3 * one.count, one.p50_ns)
    );
    let (worst, one) = (merged.worst_window.unwrap(), report.worst_window.unwrap());
    assert_eq!((worst.from_ns, worst.count), (one.from_ns, 3 * one.count));
}

#[tokio::test(start_paused = true)]
async fn shards_are_merged_only_if_all_are_there_once_and_of_one_run() {
    let report = Report::new(&calm().await);
    let all = shards(&report, 4);
    let refused = |shards: &[Report]| Report::merge_shards(shards).unwrap_err();
    let error = refused(&[all[0].clone(), all[2].clone()]);
    assert!(error.to_string().contains("all but number 1, 3"), "{error}");
    assert!(matches!(
        refused(&[all[0].clone(), all[0].clone()]),
        MergeError::Twice(0)
    ));
    assert!(matches!(
        refused(std::slice::from_ref(&report)),
        MergeError::NotAShard
    ));
    assert!(matches!(refused(&[]), MergeError::None));
    // Taken for repetitions they would be a run of a part of the load.
    assert!(matches!(Report::merge(&all), Err(MergeError::IsAShard(0))));
    let mut other = all.clone();
    other[3].seed += 1;
    assert_eq!(
        refused(&other).to_string(),
        "shard 3 is of another run than shard 0: the seed differs"
    );
    let mut other = all.clone();
    other[1].target = Some("http://other.test/".to_owned());
    assert_eq!(
        refused(&other).to_string(),
        "shard 1 is of another run than shard 0: the target differs"
    );
    // By the same fingerprint of what they ask for, or all without.
    let asking = |each: [u64; 4]| {
        let all = all.iter().zip(each);
        let all: Vec<_> = all
            .map(|(shard, fingerprint)| shard.clone().with_requests(fingerprint))
            .collect();
        all
    };
    assert!(Report::merge_shards(&asking([7; 4])).is_ok());
    let error = refused(&asking([7, 7, 8, 7]));
    assert!(error.to_string().contains("what is asked for"), "{error}");
    let endless = shard(&report, 0, u64::MAX);
    assert!(matches!(refused(&[endless]), MergeError::Missing { .. }));
    let closed = Report::new(&stopped().await);
    assert!(matches!(
        Report::merge(&[report, closed]),
        Err(MergeError::Loops(..))
    ));
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_failed_a_check_or_was_interrupted_is_named() {
    let report = Report::new(&calm().await);
    let why = |shards: &[Report], name: &str| {
        let merged = Report::merge_shards(shards).unwrap();
        let mut checks = merged.validity.checks.iter();
        let check = checks.find(|check| check.name == name);
        check.map(|check| (merged.validity.valid, check.why.clone()))
    };
    let fail = |report: &mut Report| {
        let mut checks = report.validity.checks.iter_mut();
        let check = checks.find(|check| check.name == "all_sent").unwrap();
        (check.pass, check.value) = (false, Some(3.0));
        check.why = "3 were never sent".to_owned();
        report.validity.valid = false;
    };
    let mut all = shards(&report, 3);
    assert_eq!(why(&all, "shards_whole"), None);
    fail(&mut all[2]);
    assert_eq!(
        why(&all, "all_sent"),
        Some((false, "in shard 2: 3 were never sent".to_owned()))
    );
    fail(&mut all[0]);
    let (_, several) = why(&all, "all_sent").unwrap();
    assert_eq!(several, "in shards 0, 2; the worst: 3 were never sent");
    // What is true of all of them needs no names.
    fail(&mut all[1]);
    let (_, every) = why(&all, "all_sent").unwrap();
    assert_eq!(every, "3 were never sent");

    let mut all = shards(&report, 3);
    (all[1].interrupted, all[1].interrupted_at_ns) = (true, Some(2_000_000_000));
    let (valid, stopped) = why(&all, "shards_whole").unwrap();
    assert!(
        valid && stopped.starts_with("shard 1 was interrupted at 2"),
        "{stopped}"
    );
    let text = said(&Report::merge_shards(&all).unwrap());
    assert!(text.contains("shard 1 was interrupted"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_contradicts_itself_is_not_merged() {
    let report = Report::new(&calm().await);
    let damaged = |change: fn(&mut Summary)| {
        let mut damaged = report.clone();
        change(damaged.latency.response.as_mut().unwrap());
        Report::merge(&[damaged]).unwrap_err().to_string()
    };
    let error = damaged(|summary| summary.windows[0].as_mut().unwrap().histogram.truncate(12));
    assert!(error.starts_with("response: "), "{error}");
    let error = damaged(|summary| {
        let parts = &mut summary.windows[0].as_mut().unwrap().parts;
        parts.measured.as_mut().unwrap().count += 1;
    });
    assert!(error.contains("contradict"), "{error}");
    let error = damaged(|summary| {
        let window = summary.windows[0].clone();
        summary.windows.resize(11, window);
    });
    assert!(error.contains("11 windows"), "{error}");
    let error = damaged(|summary| {
        summary.windows.clear();
        summary.parts = None;
    });
    assert!(error.contains("parts"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_run_has_the_quantiles_of_exactly_what_was_intended_in_it() {
    // Every response is 100 ms but those intended from 10 s to 12 s of the run: its fourth window.
    let report = Report::new(&crate::fixture::slow_between(10, 12).await);
    let part = |from: u64, to: u64| report.excerpt(from * 1_000_000_000..to * 1_000_000_000);
    let slow = part(10, 12).unwrap();
    let response = &slow.latencies["response"];
    assert_eq!(
        (response.count, response.min_ns, response.max_ns),
        (40, 300_000_000, 339_000_000)
    );
    let before = part(0, 11).unwrap();
    assert_eq!(
        (before.from_ns, before.to_ns),
        (4_000_000_000, 10_000_000_000)
    );
    assert_eq!(before.latencies["response_slo"].max_ns, 100_000_000);
    assert_eq!(part(0, 99).unwrap().latencies["response"].count, 400);
    let error = part(5, 7).unwrap_err().to_string();
    assert!(error.contains("2 s long, from 4 s to 24 s"), "{error}");
}

fn populations() -> impl Strategy<Value = Vec<Population>> {
    let value = (any::<u64>(), 0_u32..64).prop_map(|(ns, shift)| ns >> shift);
    let values = prop::collection::vec((value, any::<bool>()), 0..40);
    let population = values.prop_map(|values| {
        let mut population = Population::new();
        for (ns, is_bound) in values {
            match is_bound {
                true => population.at_least.record(ns),
                false => population.exact.record(ns),
            }
        }
        population
    });
    prop::collection::vec(population, 10)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_summary_that_is_written_and_read_has_lost_nothing(windows in populations()) {
        let series = Series::of_windows(windows);
        if let Some(summary) = Summary::of(&series) {
            let json = serde_json::to_string(&summary).unwrap();
            let read: Summary = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read, &summary);
            let again = read.series().unwrap();
            for (before, after) in series.windows().iter().zip(again.windows()) {
                prop_assert_eq!(before.exact.exact(), after.exact.exact());
                prop_assert_eq!(before.at_least.exact(), after.at_least.exact());
                prop_assert_eq!(before.exact.to_v2_bytes(), after.exact.to_v2_bytes());
            }
            prop_assert_eq!(Summary::of(&again).unwrap(), summary);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_slowest_of_all_are_kept_and_the_worst_stretch_of_any() {
    let reports = [mixed().await, overloaded().await, calm().await].map(|run| Report::new(&run));
    let merged = Report::merge(&reports).unwrap();
    let mut all: Vec<u64> = reports
        .iter()
        .flat_map(|report| report.slowest.iter().map(|slow| slow.response_ns))
        .collect();
    assert!(all.len() > 20);
    all.sort_unstable();
    let kept: Vec<u64> = merged.slowest.iter().map(|slow| slow.response_ns).collect();
    assert_eq!(kept, all.into_iter().rev().take(20).collect::<Vec<_>>());
    let worst = |report: &Report| report.worst_stretch.as_ref().map(|worst| worst.p99_ns);
    assert_eq!(worst(&merged), reports.iter().filter_map(worst).max());
    // The percentiles of shards cannot be merged.
    let shards = Report::merge_shards(&shards(&reports[0], 2)).unwrap();
    assert_eq!((shards.worst_stretch, shards.slowest.len()), (None, 20));
}
