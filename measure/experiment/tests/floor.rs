//! The floor of simulated services, whose truth is known.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_experiment::simulate::{Served, Simulated, Station, simulate};
use openloop_experiment::{
    Floor, FloorTrials, Metric, Plan, PlanBuilder, ProtocolError, Ratio, Rtt, RttSource, Target,
};
use openloop_measurer::{Kind, Outcome, Quantile};
use openloop_sched::{Offset, Rate, Ticket};
use simulated::ready;
use std::time::Duration;

fn base() -> PlanBuilder {
    Plan::open(Rate::per_second(75.0).unwrap()).target(Target::SameHost)
}

fn station(service: &str) -> Station {
    Station::new(1, service.parse().unwrap()).unwrap()
}

fn measure(trials: FloorTrials, service: &Station) -> Result<Floor, ProtocolError> {
    ready(trials.measure(base(), async |plan| simulate(plan, service.clone())))
}

#[test]
fn the_floor_of_an_exponential_service_is_its_law_and_calls_for_inflation() {
    let floor = measure(
        FloorTrials::default().requests(4000).longest(Duration::MAX),
        &station("exponential:0.01"),
    )
    .unwrap();
    let level = floor.level(None, &Metric::ResponseSlo).unwrap();
    assert_eq!(floor.trials(), 5);
    // 5 trials of 4000 requests or so: think times are fixed and services are not.
    assert!((19_000..21_000).contains(&level.count), "{}", level.count);
    // Independent samples: 3 k/√n of 1, 1.44 and 2.16.
    for (ns, law, k) in [
        (level.mean_ns, 1.0, 1.0),
        (level.p50_ns, 2_f64.ln(), 1.44),
        (level.p99_ns, 100_f64.ln(), 2.16),
    ] {
        let tolerance = 3.0 * k / (level.count as f64).sqrt();
        assert!((ns / 1e7 / law - 1.0).abs() < tolerance, "{ns} for {law}");
    }
    let used = floor.utilisation().unwrap();
    assert!((0.03..0.05).contains(&used), "{used}");
    assert_eq!(floor.ratio(None, &Metric::Response), Some(Ratio::Inflation));
    assert!(
        floor.faults().is_empty() && floor.warnings().is_empty(),
        "{floor}"
    );
    let spread = level.spread.unwrap();
    assert!(spread.cv < 0.05, "{spread:?}");
}

#[test]
fn the_floor_of_a_steady_service_calls_for_the_literal_ratio() {
    let floor = measure(FloorTrials::default(), &station("fixed:0.0002")).unwrap();
    assert_eq!(floor.s_ns(None, &Metric::Response), Some(200_000.0));
    assert_eq!(
        floor.level(None, &Metric::Service).unwrap().min_ns,
        200_000.0
    );
    assert_eq!(floor.ratio(None, &Metric::ResponseOk), Some(Ratio::Literal));
    assert_eq!(floor.rtt().source(), RttSource::SameHost);
    assert!(floor.level(None, &Metric::Lag).is_none());
}

/// 5 ms, but the first request of all takes 2 s; every other request is a write, which takes 10 ms.
struct Cold<'a>(&'a mut bool);

impl Simulated for Cold<'_> {
    fn begin(&mut self, _seed: u64) {}

    fn serve(&mut self, ticket: Ticket, at: Offset) -> Served {
        let is_write = ticket.seq % 2 == 1;
        let ms = match (std::mem::replace(self.0, false), is_write) {
            (true, _) => 2000,
            (_, true) => 10,
            (_, false) => 5,
        };
        Served {
            kind: Some(Kind::new(usize::from(is_write))),
            ..Served::at(at.saturating_add(Duration::from_millis(ms)))
        }
    }
}

#[test]
fn the_cold_first_request_stands_apart_and_kinds_have_their_own_floors() {
    let mut is_cold = true;
    let base = base().kinds(["read", "write"]);
    let floor = ready(Floor::measure(base, async |plan| {
        simulate(plan, Cold(&mut is_cold))
    }))
    .unwrap();
    assert_eq!(floor.cold(), Some(Duration::from_secs(2)));
    assert_eq!(floor.s_ns(Some("read"), &Metric::Response), Some(5e6));
    assert_eq!(floor.s_ns(Some("write"), &Metric::Response), Some(1e7));
    let all = floor.level(None, &Metric::Response).unwrap();
    assert!((all.mean_ns / 7.5e6 - 1.0).abs() < 0.01, "{}", all.mean_ns);
    assert_eq!(all.min_ns, 5e6);
    let text = floor.to_string();
    println!("{text}");
    for part in [
        "5 trials",
        "first request 2 s",
        "mean = S",
        "response[write]",
        "10 ms",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_round_trip_is_taken_off_once() {
    let rtt = Rtt::stated(Duration::from_micros(500));
    let floor = measure(FloorTrials::default().rtt(rtt), &station("fixed:0.0007")).unwrap();
    assert_eq!(floor.s_ns(None, &Metric::Response), Some(200_000.0));
    assert_eq!(
        floor.level(None, &Metric::Response).unwrap().mean_ns,
        700_000.0
    );
    let p99 = floor
        .quantile_ns(None, &Metric::Response, Quantile::P99)
        .unwrap();
    assert!((p99 / 200_000.0 - 1.0).abs() < 0.005, "{p99}");
    assert_eq!(floor.rtt_ns(&Metric::Named("tpot".to_owned())), 0.0);
    assert_eq!(floor.rtt_ns(&Metric::Named("ttft".to_owned())), 500_000.0);

    // One that is longer than the whole response is not believed.
    let rtt = Rtt::stated(Duration::from_millis(1));
    let floor = measure(FloorTrials::default().rtt(rtt), &station("fixed:0.0007")).unwrap();
    assert_eq!(floor.s_ns(None, &Metric::Response), Some(700_000.0));
    assert!(
        floor
            .warnings()
            .iter()
            .any(|text| text.contains("not used")),
        "{floor}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_round_trip_is_the_quickest_of_twenty_no_ops() {
    let mut sent = 0;
    let rtt = Rtt::probe(20, async || {
        sent += 1;
        tokio::time::sleep(Duration::from_millis(if sent == 7 { 3 } else { 5 })).await;
        Ok::<(), std::io::Error>(())
    });
    let rtt = rtt.await.unwrap();
    assert_eq!(
        (rtt.estimate(), rtt.source()),
        (Duration::from_millis(3), RttSource::Probed(20))
    );
    let too_few = Rtt::probe(19, async || Ok::<(), std::io::Error>(())).await;
    assert!(too_few.unwrap_err().to_string().contains("at least 20"));
    let fails = Rtt::probe(20, async || Err::<(), _>("connection refused")).await;
    assert!(
        fails
            .unwrap_err()
            .to_string()
            .contains("connection refused")
    );
}

/// Refuses everything.
struct Down;

impl Simulated for Down {
    fn begin(&mut self, _seed: u64) {}

    fn serve(&mut self, _ticket: Ticket, at: Offset) -> Served {
        Served {
            outcome: Outcome::Failed("refused"),
            ..Served::at(at)
        }
    }
}

#[test]
fn what_serves_nothing_has_no_floor_and_too_few_trials_are_none() {
    let down = ready(Floor::measure(base(), async |plan| simulate(plan, Down)));
    assert!(down.unwrap_err().to_string().contains("failed (refused)"));
    let few = measure(FloorTrials::default().trials(2), &station("fixed:0.001"));
    assert!(few.unwrap_err().to_string().contains("at least 3"));
}

/// Slow in the trials and quick before them: used more than it should be.
#[test]
fn a_service_that_was_used_too_much_is_named() {
    let mut runs = 0;
    let floor = Floor::measure(base(), async |plan| {
        runs += 1;
        simulate(
            plan,
            station(if runs > 2 {
                "fixed:0.004"
            } else {
                "fixed:0.001"
            }),
        )
    });
    let floor = ready(floor).unwrap();
    assert!((floor.utilisation().unwrap() - 4.0 / 28.0).abs() < 0.01);
    assert!(floor.warnings()[0].contains("more than 5 %"), "{floor}");
}

#[tokio::test]
async fn it_is_measured_on_the_real_clock_too() {
    let work = |_ticket: Ticket| async { tokio::time::sleep(Duration::from_millis(2)).await };
    let floor = FloorTrials::default()
        .trials(3)
        .requests(10)
        .measure(base().target(Target::SameProcess), async |plan| {
            openloop_experiment::drive::shared(plan, work).await
        })
        .await
        .unwrap();
    let level = floor.level(None, &Metric::Response).unwrap();
    assert!(level.min_ns >= 2e6, "{floor}");
    assert!(floor.level(None, &Metric::Service).is_some());
    assert!(
        floor
            .warnings()
            .iter()
            .any(|text| text.contains("rests on")),
        "{floor}"
    );
}
