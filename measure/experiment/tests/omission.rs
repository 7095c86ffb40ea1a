//! What a closed loop leaves out, in the numbers of a stall of ten seconds, on the paused clock.

#![allow(clippy::unwrap_used)]

use openloop_experiment::{Lifecycle, Metric, Plan, PlanBuilder, Run, drive, labelled};
use openloop_measurer::{Kind, Quantile, Value};
use openloop_sched::{Arrivals, Rate, Ticket};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Nothing is served in these, from the start of the run on; then all who wait are, side by side.
const STALL: (Duration, Duration) = (ms(100), ms(10_100));

/// 1 ms, but for the stall.
async fn serve(start: Instant) {
    let now = Instant::now();
    let is_stalled = (start + STALL.0..start + STALL.1).contains(&now);
    let begin = if is_stalled { start + STALL.1 } else { now };
    sleep_until(begin + ms(1)).await;
}

async fn run(plan: PlanBuilder) -> Run {
    let plan = plan
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(20)))
        .kinds(["held", "free"])
        .build()
        .unwrap();
    // The run begins 5 ms after the call.
    let start = Instant::now() + ms(5);
    // The second arrival, which meets the stall, to the last that comes before its end.
    let kind = |ticket: Ticket| Kind::new(usize::from(!(1..=100).contains(&ticket.seq)));
    let work = labelled(move |_: Ticket| serve(start), kind);
    drive::shared(&plan, work).await.unwrap()
}

fn p50(run: &Run, kind: Option<&str>) -> u64 {
    let series = match kind {
        Some(name) => run.series_of(run.plan().kinds().get(name).unwrap(), &Metric::Response),
        None => run.series(&Metric::Response),
    };
    series.quantile(Quantile::P50).unwrap().exact().unwrap()
}

/// 10/s: arrivals 2 to 101 come in the stall, and take 10.0 s, 9.9 s, … 0.1 s and the service of 1 ms.
#[tokio::test(start_paused = true)]
async fn the_median_of_the_hundred_who_were_held_back_is_five_seconds() {
    let rate = Rate::per_second(10.0).unwrap();
    let open = run(Plan::open(rate).arrivals(Arrivals::Constant)).await;
    assert_eq!(open.snapshot().counts().ok, 200);
    let held = open.plan().kinds().get("held").unwrap();
    let held = open.series_of(held, &Metric::Response);
    assert_eq!(held.whole().count(), 100);
    let median = p50(&open, Some("held"));
    assert!(
        (4_950_000_000..=5_050_000_000).contains(&median),
        "{median}"
    );
    assert_eq!(held.whole().max(), Some(Value::Exact(10_001_000_000)));
    // 98 of 100 waited for more than a quarter of a second.
    assert_eq!(held.whole().exact.count_above(250_000_000), 98);
    let free = p50(&open, Some("free"));
    assert!((1_000_000..1_002_000).contains(&free), "{free}");
}

/// One user who waits for each answer, and would send every 100 ms: the stall is one bad value among a hundred good ones.
#[tokio::test(start_paused = true)]
async fn a_tool_that_waits_reports_a_median_of_one_millisecond() {
    let closed = run(Plan::closed(1).think(ms(99))).await;
    let response = closed.series(&Metric::Response);
    let median = p50(&closed, None);
    assert!((1_000_000..1_002_000).contains(&median), "{median}");
    assert_eq!(response.whole().exact.count_above(10_000_000), 1);
    assert_eq!(response.whole().max(), Some(Value::Exact(10_001_000_000)));
    // A hundred that would have come were never sent.
    assert_eq!(closed.snapshot().counts().scheduled, 100);
}
