//! Goodput as an objective: of arrivals that an adapter says were served well enough.

#![allow(clippy::unwrap_used)]

use openloop_experiment::{GOOD, Judgement, Lifecycle, Plan, Run, Slo, Verdict, drive};
use openloop_measurer::{Describe, Details};
use openloop_sched::{Arrivals, Rate, Ticket};
use std::time::Duration;

/// What is told of an answer.
#[derive(Clone, Copy)]
enum Told {
    Good,
    Bad,
    /// The adapter tells nothing of the kind.
    Nothing,
    Failed,
}

impl Describe for Told {
    fn verdict(&self) -> openloop_measurer::Verdict {
        match self {
            Told::Failed => openloop_measurer::Verdict::Failed("broken"),
            _ => openloop_measurer::Verdict::Ok,
        }
    }

    fn details(&self, into: &mut Details<'_>) {
        match self {
            Told::Good => {
                into.count(GOOD, 1);
                into.of_answer("ttft", Duration::from_millis(50));
            }
            Told::Bad => into.count(GOOD, 0),
            // It broke off behind its first token.
            Told::Failed => into.of_answer("ttft", Duration::from_millis(50)),
            Told::Nothing => {}
        }
    }
}

/// A hundred a second for so long, on the paused clock.
async fn run(seconds: u64, told: impl Fn(u64) -> Told + Clone + Send + Sync + 'static) -> Run {
    let plan = Plan::open(Rate::per_second(100.0).unwrap())
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(seconds)))
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap();
    let work = move |ticket: Ticket| {
        let told = told(ticket.seq);
        async move { told }
    };
    drive::shared(&plan, work).await.unwrap()
}

fn judged(slo: &str, run: &Run) -> Judgement {
    slo.parse::<Slo>().unwrap().judge(run)
}

#[track_caller]
fn assert_judged(run: &Run, slo: &str, verdict: Verdict, why: &str) {
    let judgement = judged(slo, run);
    let finding = &judgement.findings[0];
    assert_eq!(finding.verdict, verdict, "{slo}: {judgement}");
    assert!(finding.why.contains(why), "{slo}: {judgement}");
}

/// Five in a thousand are not good, in each window alike: the share is known exactly.
#[tokio::test(start_paused = true)]
async fn it_is_the_share_or_the_rate_of_what_is_good() {
    let run = run(100, |seq| match seq % 200 {
        0 => Told::Bad,
        _ => Told::Good,
    })
    .await;
    assert_judged(&run, "goodput>=99%", Verdict::Pass, "99.5 %");
    assert_judged(&run, "goodput>=99.9%", Verdict::Fail, "99.5 %");
    assert_judged(&run, "goodput>=99/s", Verdict::Pass, "99.5/s");
    assert_judged(&run, "goodput>=99.9/s", Verdict::Fail, "99.5/s");
    // All were served: an objective that looks no closer sees nothing.
    assert_judged(&run, "achieved>=99/s", Verdict::Pass, "100/s");
    let shown = judged("goodput(ttft<=200ms, tpot<=25ms)>=99%", &run).to_string();
    assert!(
        shown.contains("goodput(ttft<=200ms, tpot<=25ms) >= 99 %") && shown.contains("99.5 %"),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_not_good_and_what_is_not_told_of_is_good_when_it_was_served() {
    let one_in_ten = |told: Told| {
        move |seq| match seq % 10 {
            0 => Told::Failed,
            _ => told,
        }
    };
    let counted = run(100, one_in_ten(Told::Good)).await;
    assert_judged(&counted, "goodput>=90%", Verdict::Pass, "90 %");
    assert_judged(&counted, "goodput>=95%", Verdict::Fail, "90 %");
    let untold = run(100, one_in_ten(Told::Nothing)).await;
    assert_judged(&untold, "goodput>=95%", Verdict::Fail, "90 %");
    // An adapter that was not told what is good has not looked.
    let text = "goodput(ttft<=200ms)>=50%";
    assert_judged(&untold, text, Verdict::Inconclusive, "ttft<=200ms");
    let all = run(100, |_| Told::Failed).await;
    assert_judged(&all, text, Verdict::Fail, "0 %");
    let bad = run(100, |_| Told::Bad).await;
    assert_judged(&bad, text, Verdict::Fail, "0 %");
}

/// A hundred of ten thousand are not good: spread out, that is surely more than 98.5 %. All of them in one tenth of the
/// run, the next tenth may be another: as of independent answers the interval would be 0.2 % to either side.
#[tokio::test(start_paused = true)]
async fn what_is_bad_together_makes_the_interval_wide() {
    let spread = run(100, |seq| match seq % 100 {
        0 => Told::Bad,
        _ => Told::Good,
    })
    .await;
    assert_judged(&spread, "goodput>=98.5%", Verdict::Pass, "99 %");
    let together = run(100, |seq| match seq {
        3000..3100 => Told::Bad,
        _ => Told::Good,
    })
    .await;
    assert_judged(
        &together,
        "goodput>=98.5%",
        Verdict::Inconclusive,
        "straddles the bound",
    );
    let (low, high) = judged("goodput>=98.5%", &together).findings[0]
        .interval
        .unwrap();
    // The sections are 90 % once and 100 % nine times: s = 3.16 %, and 2.26·s/√10 = 2.26 %.
    assert!((low - (0.99 - 0.0226)).abs() < 1e-3, "{low}");
    assert_eq!(high, 1.0);
}

#[tokio::test(start_paused = true)]
async fn of_few_that_are_all_good_nothing_follows() {
    let few = run(2, |_| Told::Good).await;
    assert_judged(
        &few,
        "goodput>=99%",
        Verdict::Inconclusive,
        "300 are needed",
    );
    assert_judged(&few, "goodput>=98%", Verdict::Pass, "100 %");
    let more = run(4, |_| Told::Good).await;
    assert_judged(&more, "goodput>=99%", Verdict::Pass, "100 %");
}

/// aiperf#688: percentiles over those that survived look the better the more fail.
#[tokio::test(start_paused = true)]
async fn what_failed_is_later_than_any_first_token_that_came() {
    let failing = |one_in: u64| {
        move |seq: u64| match seq.is_multiple_of(one_in) {
            true => Told::Failed,
            false => Told::Good,
        }
    };
    let few = run(100, failing(200)).await;
    assert_judged(&few, "ttft.p99<=60ms", Verdict::Pass, "50");
    let many = run(100, failing(50)).await;
    assert_judged(&many, "ttft.p50<=60ms", Verdict::Pass, "50");
    assert_judged(&many, "ttft.p99<=60ms", Verdict::Fail, "not served");
    let metric = openloop_experiment::Metric::Named("ttft".to_owned());
    let whole = many.series(&metric).whole().clone();
    assert_eq!((whole.count(), whole.at_least.count()), (10_000, 200));
}
