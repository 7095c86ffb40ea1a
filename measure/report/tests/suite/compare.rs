use crate::fixture::{calm, in_windows, mixed, on_any_machine};
use crate::golden::assert_golden;
use openloop_experiment::Series;
use openloop_report::schema::Summary;
use openloop_report::{ChangeVerdict, Comparison, Report, TextStyle};

fn text(comparison: &Comparison) -> String {
    let mut text = Vec::new();
    comparison
        .write_text(
            &mut text,
            &TextStyle {
                colour: false,
                width: 100,
            },
        )
        .unwrap();
    String::from_utf8(text).unwrap()
}

fn verdict<'a>(comparison: &'a Comparison, name: &str) -> &'a ChangeVerdict {
    &comparison
        .changes
        .iter()
        .find(|change| change.name == name)
        .unwrap()
        .verdict
}

/// A report whose responses are `factor` times as long as those of another one with the same seed.
async fn slower(factor: f64, seed: u64) -> Report {
    let mut report = on_any_machine(Report::new(&calm().await)).with_title("build");
    let summary = Summary::of(&Series::of_windows(in_windows(factor, seed)));
    report.latency.response = summary.clone();
    report.latency.response_slo = summary;
    report
}

#[tokio::test(start_paused = true)]
async fn what_is_a_third_slower_is_worse_and_the_other_way_round_better() {
    let (before, after) = (slower(1.0, 1).await, slower(1.3, 2).await);
    let worse = Comparison::new(&before, &after).unwrap();
    for name in ["response p50", "response p90", "response p99"] {
        assert_eq!(verdict(&worse, name), &ChangeVerdict::Worse, "{name}");
    }
    assert_eq!(worse.is_worse(), Some(true));
    let change = worse
        .changes
        .iter()
        .find(|change| change.name == "response p50")
        .unwrap();
    let (ratio, [low, high]) = change.difference.unwrap();
    assert!(
        (1.2..1.4).contains(&ratio) && low > 1.1 && high < 1.5,
        "{ratio} {low} {high}"
    );
    let better = Comparison::new(&after, &before).unwrap();
    assert_eq!(verdict(&better, "response p50"), &ChangeVerdict::Better);
    assert_eq!(better.is_worse(), Some(false));
    assert_golden("compare-worse.txt", &text(&worse));
    // Another figure decides where it is named.
    let by_p99 = worse.by("response p99").unwrap();
    assert!(
        text(&by_p99).starts_with("WORSE: response p99"),
        "{}",
        text(&by_p99)
    );
    let error = by_p99.by("p42").unwrap_err().to_string();
    assert!(
        error.contains("\"p42\"") && error.contains("response p99.9"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn of_equals_few_are_called_different() {
    // 60 comparisons of the median at 2 %: more than 5 happen in 1 of 300.
    let mut alarms = 0;
    let base = slower(1.0, 1000).await;
    for seed in 0..60 {
        let mut other = base.clone();
        let summary = Summary::of(&Series::of_windows(in_windows(1.0, seed)));
        other.latency.response = summary;
        let comparison = Comparison::new(&base, &other).unwrap();
        alarms += u32::from(*verdict(&comparison, "response p50") != ChangeVerdict::NoDifference);
    }
    assert!(alarms <= 5, "{alarms}");
}

#[tokio::test(start_paused = true)]
async fn a_run_is_no_different_from_itself_and_that_is_said_in_words() {
    let report = slower(1.0, 1).await;
    let comparison = Comparison::new(&report, &report).unwrap();
    let text = text(&comparison);
    assert!(
        text.starts_with("NO DIFFERENCE that these data can show"),
        "{text}"
    );
    assert_eq!(comparison.is_worse(), Some(false));
    let mut markdown = Vec::new();
    comparison.write_markdown(&mut markdown).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(
        markdown.contains("no difference that these data can show"),
        "{markdown}"
    );
    let mut html = Vec::new();
    comparison.write_html(&mut html).unwrap();
    assert!(
        String::from_utf8(html)
            .unwrap()
            .contains("NO DIFFERENCE that these data can show")
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_judged_is_unknown_and_says_why() {
    let report = Report::new(&mixed().await);
    let comparison = Comparison::new(&report, &report).unwrap();
    let why = |name: &str| match verdict(&comparison, name) {
        ChangeVerdict::Unknown(why) => why.clone(),
        other => panic!("{other:?}"),
    };
    // 400 arrivals: four lie above p99; in response_slo, it falls on one that was not served.
    assert!(
        why("response p99").contains("fewer than ten"),
        "{}",
        why("response p99")
    );
    let mut invalid = report.clone();
    invalid.validity.valid = false;
    let comparison = Comparison::new(&report, &invalid).unwrap();
    assert_eq!(comparison.is_worse(), None);
    assert!(
        text(&comparison).starts_with("INVALID"),
        "{}",
        text(&comparison)
    );
}

#[tokio::test(start_paused = true)]
async fn what_makes_two_runs_hard_to_compare_is_said() {
    let (a, mut b) = (slower(1.0, 1).await, slower(1.0, 1).await);
    b.asked_rate = Some(40.0);
    b.seed = 8;
    b.loop_kind = "closed".to_owned();
    let comparison = Comparison::new(&a, &b).unwrap();
    let all = comparison.doubts.join("; ");
    for part in [
        "A was asked for 20/s, B for 40/s",
        "seeds differ",
        "closed loop",
    ] {
        assert!(all.contains(part), "{all}");
    }
}
