//! What several runs, or the shards of one, say of an objective.

use crate::simulated::{base, trial};
use openloop_experiment::Slo;
use openloop_report::Report;
use openloop_sched::Shard;

/// A run at a rate, held against an objective: of four servers, 400/s are the most.
fn judged(per_second: f64, seed: u64, slo: &str) -> Report {
    let run = trial(&base(per_second).seed(seed).build().unwrap()).unwrap();
    let slo: Slo = slo.parse().unwrap();
    Report::new(&run).with_judgement(&slo.judge(&run))
}

fn three(slo: &str) -> Vec<Report> {
    (1..=3).map(|seed| judged(200.0, seed, slo)).collect()
}

#[test]
fn what_every_run_keeps_or_breaks_all_keep_or_break() {
    let slo = "p50<=20ms, p99<=1s, mean<=20ms, errors<=1%, achieved>=100/s, service.p50<=20ms";
    let merged = Report::merge(&three(slo)).unwrap();
    let objective = merged.slo.as_ref().unwrap();
    assert_eq!(objective.verdict, "pass", "{objective:?}");
    let response = merged.latency.response_slo.as_ref().unwrap();
    let finding = &objective.findings[0];
    assert_eq!(finding.value, Some(response.p50_ns as f64));
    let [low, high] = response.interval["p50_ns"];
    let [lower, upper] = finding.interval.unwrap();
    assert!((low as f64 - lower).abs() <= 1.0 && (high as f64 - upper).abs() <= 1.0);
    assert!(
        finding.why.contains("merged over 3 runs"),
        "{}",
        finding.why
    );

    let merged = Report::merge(&three("p50<=20ms, p99<=1ms")).unwrap();
    let objective = merged.slo.unwrap();
    let verdicts: Vec<_> = objective.findings.iter().map(|f| &*f.verdict).collect();
    assert_eq!(
        (&*objective.verdict, verdicts),
        ("fail", vec!["pass", "fail"])
    );
}

#[test]
fn where_runs_differ_their_merged_histograms_decide() {
    let slo = "p50<=10ms";
    let runs = [judged(40.0, 1, slo), judged(320.0, 2, slo)];
    let verdicts = runs
        .each_ref()
        .map(|report| report.slo.as_ref().unwrap().verdict.clone());
    assert_eq!(verdicts, ["pass", "fail"]);
    // Eight times as many arrivals are of the second.
    let objective = Report::merge(&runs).unwrap().slo.unwrap();
    assert_eq!(objective.findings[0].verdict, "fail");
    // They are no repetitions of each other, and that is said as well.
    assert!(objective.why[0].contains("disagree"), "{:?}", objective.why);
    // Between the two, the data cannot tell.
    let slo = "p50<=12ms";
    let merged = Report::merge(&[judged(40.0, 1, slo), judged(320.0, 2, slo)]).unwrap();
    let finding = &merged.slo.unwrap().findings[0];
    assert_eq!(finding.verdict, "inconclusive");
    assert!(finding.why.contains("straddles"), "{}", finding.why);
}

#[test]
fn a_rate_of_shards_is_their_sum_and_no_shard_alone_can_keep_or_break_it() {
    let of = |index: u64, slo: &str| {
        let shard = Shard::new(index, 3).unwrap();
        let run = trial(&base(600.0).shard(shard).build().unwrap()).unwrap();
        let slo: Slo = slo.parse().unwrap();
        Report::new(&run).with_judgement(&slo.judge(&run))
    };
    for (slo, verdict) in [
        ("achieved>=560/s, p50<=20ms", "pass"),
        ("achieved>=640/s, p50<=20ms", "fail"),
        ("achieved>=600/s, p50<=20ms", "inconclusive"),
    ] {
        let shards: Vec<_> = (0..3).map(|index| of(index, slo)).collect();
        for shard in &shards {
            let objective = shard.slo.as_ref().unwrap();
            assert_eq!(objective.verdict, "inconclusive");
            let why = &objective.findings[0].why;
            assert!(why.contains("all shards"), "{why}");
        }
        let merged = Report::merge_shards(&shards).unwrap();
        let achieved = merged.achieved_rate.unwrap();
        let objective = merged.slo.unwrap();
        assert_eq!(objective.verdict, verdict, "{slo}: {objective:?}");
        assert_eq!(objective.findings[0].value, Some(achieved));
        assert_eq!(objective.findings[1].verdict, "pass");
        // 600/s for 60 s vary by 3/s, and so do the sections that say so.
        let [low, high] = objective.findings[0].interval.unwrap();
        assert!(
            low < achieved && achieved < high && high - low < 30.0,
            "{low} to {high}"
        );
    }
}

#[test]
fn what_was_held_against_different_objectives_has_no_common_verdict() {
    let reports = [judged(200.0, 1, "p50<=20ms"), judged(200.0, 2, "p50<=30ms")];
    assert_eq!(Report::merge(&reports).unwrap().slo, None);
    let mut without = judged(200.0, 3, "p50<=20ms");
    without.slo = None;
    let reports = [judged(200.0, 1, "p50<=20ms"), without];
    assert_eq!(Report::merge(&reports).unwrap().slo, None);
}

#[test]
fn an_invalid_run_makes_all_invalid() {
    let mut reports = three("p50<=20ms");
    let check = reports[1].validity.checks.first_mut().unwrap();
    (check.pass, check.why) = (false, "the generator was late".to_owned());
    reports[1].validity.valid = false;
    let merged = Report::merge(&reports).unwrap();
    let objective = merged.slo.unwrap();
    assert_eq!(objective.verdict, "invalid");
    assert!(objective.why.contains(&"the generator was late".to_owned()));
}

#[test]
fn in_which_order_they_stand_makes_no_difference() {
    let slo = "p50<=9ms, p99<=60ms, errors<=1%";
    let reports = [40.0, 200.0, 320.0].map(|rate| judged(rate, rate as u64, slo));
    let merged = Report::merge(&reports).unwrap();
    assert!(merged.slo.is_some());
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let other = order.map(|index| reports[index].clone());
        assert_eq!(Report::merge(&other).unwrap(), merged);
    }
}
