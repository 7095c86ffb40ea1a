//! Results by kind of request, on the paused clock.
//!
//! tokio's paused clock ticks in whole milliseconds and rounds up, so a service of 1 s stands for one of 1 ms.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use openloop_experiment::{
    InFlight, Lifecycle, Metric, Plan, PlanBuilder, PlanError, Run, Series, Slo, TimeoutFrom,
    Verdict, Work, drive, labelled,
};
use openloop_measurer::{Counts, Kind, KindsError, Quantile};
use openloop_sched::{Arrivals, Rate, Ticket};
use openloop_workload::{Mix, mix};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{advance, sleep};

const SECOND: f64 = 1e9;

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn steady(rate_per_second: f64, length: Duration) -> PlanBuilder {
    Plan::open(Rate::per_second(rate_per_second).unwrap())
        .lifecycle(Lifecycle::steady_only(length))
        .arrivals(Arrivals::Constant)
        .kinds(["even", "odd"])
}

/// Every second arrival is odd.
fn by_parity<W: Work>(
    work: W,
) -> impl Work<Output = W::Output, Future = W::Future, Classify = W::Classify> + use<W> {
    labelled(work, parity)
}

fn parity(ticket: Ticket) -> Kind {
    Kind::new(usize::from(!ticket.seq.is_multiple_of(2)))
}

/// Of the kind called so, whole run.
fn counts(run: &Run, kind: &str) -> Counts {
    let kind = run.plan().kinds().get(kind).unwrap();
    run.snapshot().of_kind(kind).counts()
}

fn series(run: &Run, kind: &str, metric: &Metric) -> Series {
    run.series_of(run.plan().kinds().get(kind).unwrap(), metric)
}

fn judge(run: &Run, slo: &str) -> (Verdict, String) {
    let judgement = slo.parse::<Slo>().unwrap().judge(run);
    (judgement.verdict, judgement.findings[0].why.clone())
}

/// One worker, first come first served, and two kinds of request: nine in ten take 0.5 s, one in ten takes 5 s.
///
/// By Pollaczek and Khinchine W_q = ρ/(1 − ρ) · m · (1 + C_v²)/2, whichever the kind: it is Poisson arrivals who wait.
/// What differs between kinds is their own service.
#[tokio::test(start_paused = true)]
async fn kinds_wait_for_each_other_as_pollaczek_and_khinchine_say_and_each_has_its_own_service() {
    let mix = Mix::new([
        mix::Kind::new("get", 9.0, ()).with_demand("fixed:0.5".parse().unwrap()),
        mix::Kind::new("report", 1.0, ()).with_demand("fixed:5".parse().unwrap()),
    ])
    .unwrap();
    let demand = mix.demand().unwrap();
    let rho: f64 = 0.5;
    let wait = rho / (1.0 - rho) * demand.mean * demand.pollaczek_khinchine();
    // m = 0.95 s and E[S²] = 0.9·0.25 + 0.1·25 = 2.725 s², so W_q = λ E[S²] / (2 (1 − ρ)): three times what it would
    // be if every request took 0.95 s.
    assert!((wait - rho / 0.95 * 2.725 / (2.0 * (1.0 - rho))).abs() < 1e-9);
    assert!(wait > 3.0 * 0.95 * rho / (1.0 - rho) / 2.0);

    let plan = Plan::open(Rate::per_second(rho / demand.mean).unwrap())
        .lifecycle(Lifecycle::steady_only(secs(200_000)))
        .arrivals(Arrivals::Poisson)
        .kinds(mix.kinds().iter().map(mix::Kind::name))
        // One at a time: the wait is the schedule delay, and the service is the service.
        .in_flight(InFlight::Queue(1))
        .drain(secs(10_000))
        .seed(20_261_130)
        .build()
        .unwrap();
    let (seed, mix) = (plan.seed(), Arc::new(mix));
    let of = mix.clone();
    let work = labelled(
        move |ticket: Ticket| sleep(Duration::from_secs_f64(of.work(seed, ticket.seq).unwrap())),
        move |ticket: Ticket| Kind::new(mix.pick(seed, ticket.seq).index),
    );
    let run = drive::shared(&plan, work).await.unwrap();

    let all = run.snapshot().counts();
    assert_eq!(all.ok, all.scheduled);
    let reports = counts(&run, "report").scheduled;
    // Five standard deviations of a binomial share.
    let n = all.scheduled as f64;
    assert!((reports as f64 - 0.1 * n).abs() < 5.0 * (n * 0.09).sqrt());

    // Each mean against theory, within three of its own standard errors: the 95 % interval has 2.262 of them, by t
    // with nine degrees of freedom. The millisecond of the clock is a part of the response of each.
    let assert_mean = |name: &str, series: &Series, theory: f64| {
        let mean = series.whole().mean_ns().unwrap() / SECOND;
        let (low, high) = series.mean_interval().unwrap();
        let error = (high - low) / SECOND / 2.0 / 2.262;
        println!("{name}: {mean:.4} s, theory {theory:.4} s, standard error {error:.4} s");
        assert!((mean - theory).abs() <= 3.0 * error + 0.002, "{name}");
    };
    assert_mean("wait", &run.series(&Metric::ScheduleDelay), wait);
    assert_mean("response", &run.series(&Metric::Response), wait + 0.95);
    for (kind, service) in [("get", 0.5), ("report", 5.0)] {
        assert_mean(kind, &series(&run, kind, &Metric::ScheduleDelay), wait);
        assert_mean(kind, &series(&run, kind, &Metric::Response), wait + service);
    }
    // A fixed service has no error at all but the clock's.
    for (kind, ns) in [("get", 500_000_000), ("report", 5_000_000_000)] {
        let service = series(&run, kind, &Metric::Service);
        let (min, max) = (
            service.whole().exact.min_ns(),
            service.whole().exact.max_ns(),
        );
        assert!(
            min >= Some(ns) && max <= Some(ns + 1_000_000),
            "{min:?} to {max:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_shed_has_the_kind_that_was_not_sent() {
    let plan = steady(10.0, secs(10)).in_flight(InFlight::Shed(1)).build();
    // Even ones take 150 ms, so that the odd one behind each is shed.
    let work = by_parity(|ticket: Ticket| {
        let even = ticket.seq.is_multiple_of(2);
        sleep(Duration::from_millis(if even { 150 } else { 10 }))
    });
    let run = drive::shared(&plan.unwrap(), work).await.unwrap();
    let (even, odd) = (counts(&run, "even"), counts(&run, "odd"));
    assert_eq!((even.scheduled, even.ok, even.shed), (50, 50, 0));
    assert_eq!((odd.scheduled, odd.ok, odd.shed), (50, 0, 50));
    let slo = |kind| series(&run, kind, &Metric::ResponseSlo).quantile(Quantile::P50);
    assert!(!slo("even").unwrap().is_lower_bound());
    assert!(slo("odd").unwrap().is_lower_bound());
    assert_eq!(judge(&run, "errors[even]<=10%").0, Verdict::Pass);
    assert_eq!(judge(&run, "errors[odd]<=10%").0, Verdict::Fail);
}

#[tokio::test(start_paused = true)]
async fn what_times_out_waits_or_never_ends_is_of_its_kind() {
    let plan = steady(10.0, secs(1))
        .in_flight(InFlight::Queue(1))
        .timeout(Duration::from_millis(250))
        .timeout_from(TimeoutFrom::Intended);
    let work = by_parity(|_: Ticket| std::future::pending::<()>());
    let run = drive::shared(&plan.build().unwrap(), work).await.unwrap();
    assert_eq!(counts(&run, "even").timed_out, 5);
    assert_eq!(counts(&run, "odd").timed_out, 5);

    let work = by_parity(|ticket: Ticket| async move {
        if !ticket.seq.is_multiple_of(2) {
            std::future::pending::<()>().await;
        }
    });
    let plan = steady(10.0, secs(1)).drain(secs(1)).build().unwrap();
    let run = drive::shared(&plan, work).await.unwrap();
    assert_eq!(counts(&run, "even").ok, 5);
    assert_eq!(counts(&run, "odd").abandoned, 5);
}

#[tokio::test(start_paused = true)]
async fn what_is_never_released_is_of_its_kind() {
    let plan = steady(10.0, secs(2)).build().unwrap();
    let work = by_parity(|ticket: Ticket| async move {
        if ticket.seq == 5 {
            // The generator is frozen until long after the end of the plan.
            advance(secs(10)).await;
        }
    });
    let run = drive::shared(&plan, work).await.unwrap();
    let (even, odd) = (counts(&run, "even"), counts(&run, "odd"));
    assert_eq!((even.ok, even.unsent), (3, 7));
    assert_eq!((odd.ok, odd.unsent), (3, 7));
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_tells_kinds_apart_as_well() {
    let plan = Plan::closed(1)
        .think(Duration::from_millis(900))
        .lifecycle(Lifecycle::steady_only(secs(10)))
        .kinds(["even", "odd"])
        .build()
        .unwrap();
    let work = by_parity(|_: Ticket| sleep(Duration::from_millis(100)));
    let run = drive::shared(&plan, work).await.unwrap();
    assert_eq!((counts(&run, "even").ok, counts(&run, "odd").ok), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn a_label_that_no_plan_names_is_a_fault_of_the_run_and_never_a_panic() {
    let plan = steady(10.0, secs(10)).build().unwrap();
    let kind = |ticket: Ticket| match ticket.seq {
        3 => Some(Kind::new(2)),
        4 => Some(Kind::new(usize::MAX)),
        5 => panic!("of no kind"),
        6 => None,
        _ => Some(parity(ticket)),
    };
    let run = drive::shared(&plan, labelled(|_: Ticket| async {}, kind));
    let mut run = run.await.unwrap();
    assert_eq!(run.snapshot().counts().ok, 100);
    assert_eq!(run.snapshot().unknown_kinds(), 3);
    assert_eq!(run.snapshot().of_kind(None).counts().ok, 4);
    assert_eq!(counts(&run, "even").ok + counts(&run, "odd").ok, 96);
    let faults: Vec<_> = run.validity().faults().map(|check| check.name).collect();
    assert_eq!(faults, ["kinds_named"]);
    run.waive("kinds_named").unwrap();
    assert!(run.validity().is_valid());

    // Labels without any names in the plan are as wrong; names without labels are not.
    let plan = steady(10.0, secs(10)).kinds(Vec::<String>::new());
    let run = drive::shared(&plan.build().unwrap(), by_parity(|_: Ticket| async {}));
    assert_eq!(run.await.unwrap().snapshot().unknown_kinds(), 100);
    let plan = steady(10.0, secs(10)).build().unwrap();
    let run = drive::shared(&plan, |_: Ticket| async {}).await.unwrap();
    assert!(run.validity().is_valid(), "{:?}", run.validity());
    assert_eq!(run.snapshot().of_kind(None).counts().ok, 100);
}

#[test]
fn kinds_that_cannot_be_told_apart_are_refused_with_the_plan() {
    let plan = steady(10.0, secs(10)).kinds(["read", "read"]).build();
    let duplicate = KindsError::Duplicate("read".to_owned());
    assert_eq!(plan.unwrap_err(), PlanError::Kinds(duplicate));
}

#[tokio::test(start_paused = true)]
async fn a_bound_on_one_kind_sees_what_the_whole_hides() {
    // One in a hundred and fifty takes 2 s, the others 100 ms, give or take: the 99th percentile of all is blind to it.
    let plan = steady(10.0, secs(600))
        .kinds(["get", "report, monthly"])
        .build()
        .unwrap();
    let is_report = |ticket: Ticket| ticket.seq % 150 == 7;
    let work = labelled(
        move |ticket: Ticket| {
            let ms = if is_report(ticket) {
                2000
            } else {
                100 + ticket.seq % 7
            };
            sleep(Duration::from_millis(ms))
        },
        move |ticket: Ticket| Kind::new(usize::from(is_report(ticket))),
    );
    let run = drive::shared(&plan, work).await.unwrap();
    assert_eq!(counts(&run, "report, monthly").ok, 40);
    assert_eq!(judge(&run, "p99<=500ms").0, Verdict::Pass);
    assert_eq!(judge(&run, "p50[get]<=500ms").0, Verdict::Pass);
    assert_eq!(judge(&run, "p50[report, monthly]<=500ms").0, Verdict::Fail);
    // Forty are too few to know a percentile in a hundred of them.
    assert_eq!(
        judge(&run, "p99[report, monthly]<=5s").0,
        Verdict::Inconclusive
    );
    assert_eq!(
        judge(&run, "errors[report, monthly]<=1%").0,
        Verdict::Inconclusive
    );
    assert_eq!(judge(&run, "errors<=1%").0, Verdict::Pass);

    let (verdict, why) = judge(&run, "p99[put]<=500ms");
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(why.contains("get, report, monthly"), "{why}");
}
