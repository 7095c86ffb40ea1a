//! Plans for a peak, from sweeps of services whose truth is known.

#![allow(clippy::unwrap_used)]

mod simulated;

use openloop_capacity::plan::{Figures, KvFigures, Quantity};
use openloop_capacity::sizing::KvShape;
use openloop_experiment::sweep::{Capacity, Sweep};
use openloop_experiment::{
    Floor, FloorTrials, Level, Lifecycle, Metric, Plan, Rtt, Target, drive, simulate::simulate,
};
use openloop_measurer::{Describe, Details, Quantile};
use openloop_sched::{Arrivals, Ticket};
use simulated::{base, floor, per_second, ready, station, sweep};
use std::time::Duration;

/// Four workers of 10 ms: λ_max is 400/s, and P99 is three times that of the idle service at 365/s.
#[test]
fn a_sweep_and_a_peak_are_nodes_by_both_rules_pools_and_timeouts() {
    let service = station(4, "exponential:0.010");
    let base = base(120);
    let rates = [50.0, 150.0, 250.0, 300.0, 330.0, 500.0].map(per_second);
    let trials = FloorTrials::default().requests(1000);
    let idle = trials.measure(base.clone(), async |plan: &Plan| {
        simulate(plan, service.clone())
    });
    let list = Sweep::rates(rates).floor(ready(idle).unwrap());
    let curve = sweep(&list, &base, &service);
    let Capacity::Found { rate: knee, .. } = curve.knee() else {
        panic!("{curve}");
    };
    let max = curve.max().rate().unwrap();
    assert!(
        (knee - 315.0).abs() < 20.0 && (max - 400.0).abs() < 15.0,
        "{curve}"
    );

    let plan = curve.plan(per_second(4000.0)).unwrap();
    let value = |quantity| plan.value(quantity).unwrap();
    let (by_knee, by_max) = ((4000.0 / knee).ceil(), (4000.0 / (0.75 * max)).ceil());
    assert_eq!(value(Quantity::NodesByKnee), by_knee);
    assert_eq!(value(Quantity::NodesByHighestRate), by_max);
    assert_eq!(value(Quantity::Nodes), by_knee.max(by_max));
    // What the rate of the knee shows, and no other.
    let points = curve.points().iter();
    let at_knee = points.clone().find(|point| point.per_second() == knee);
    let series = at_knee.unwrap().series(&Metric::Exchange);
    let p99 = series.quantile(Quantile::P99).unwrap().ns() as f64 / 1e9;
    assert_eq!(value(Quantity::Pool), (4000.0 * p99).ceil());
    let served = at_knee.unwrap().series(&Metric::ResponseOk);
    let mean = served.whole().mean_ns().unwrap() / 1e9;
    assert!((value(Quantity::UnderWay) / (4000.0 * mean) - 1.0).abs() < 1e-12);
    assert!(plan.missing.is_empty(), "{plan}");

    // What a curve does not show.
    let kv = KvFigures {
        shape: KvShape {
            layers: 32,
            kv_heads: 8,
            head_dimension: 128,
            bits: 16,
        },
        block_tokens: 16,
        sequence_tokens: 4300,
        bytes_per_node: None,
    };
    let figures = Figures {
        retention: Some(0.020),
        kv: Some(kv),
        ..curve.figures(per_second(4000.0))
    };
    let plan = curve.plan_for(&figures).unwrap();
    assert_eq!(plan.value(Quantity::Timeout), Some(0.020));
    let room = plan.value(Quantity::Room).unwrap();
    assert_eq!(plan.value(Quantity::KvBlocks), Some(room * 269.0));
}

#[test]
fn what_was_not_found_goes_in_as_the_least_that_it_is_and_says_so() {
    let service = station(4, "exponential:0.010");
    let base = base(60);
    let list = Sweep::rates([50.0, 100.0].map(per_second)).floor(floor(&base, &service));
    let curve = sweep(&list, &base, &service);
    let plan = curve.plan(per_second(1000.0)).unwrap();
    assert_eq!(plan.value(Quantity::NodesByKnee), Some(10.0), "{plan}");
    let said = plan.to_string();
    for symbol in ["λ_knee", "λ_max"] {
        assert!(
            said.contains(&format!("{symbol} was not found, it is at least that")),
            "{said}"
        );
    }
}

/// An answer for which a connection was waited for.
struct Waited;

impl Describe for Waited {
    fn verdict(&self) -> openloop_measurer::Verdict {
        openloop_measurer::Verdict::Ok
    }

    fn details(&self, into: &mut Details<'_>) {
        into.acquire(Duration::from_millis(40));
    }
}

/// 50 ms in the future, of which a connection is held for 10, and 4 of these are the network's.
#[tokio::test(start_paused = true)]
async fn a_pool_is_not_sized_by_its_own_queue_nor_a_service_by_its_distance() {
    let base = Plan::open(per_second(1.0))
        .lifecycle(Lifecycle::steady_only(Duration::from_secs(20)))
        .arrivals(Arrivals::Constant)
        .target(Target::Elsewhere);
    let ms = Duration::from_millis;
    let idle = Level::stated(ms(10));
    let idle = Floor::stated(Rtt::stated(ms(4))).with(None, Metric::Response, idle);
    let list = Sweep::rates([10.0, 20.0].map(per_second)).floor(idle);
    let curve = list
        .run(&base, async |plan| {
            let work = |_: Ticket| async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Waited
            };
            drive::shared(plan, work).await
        })
        .await
        .unwrap();
    let figures = curve.figures(per_second(1000.0));
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!(
            (found / expected - 1.0).abs() < 2e-3,
            "{found}, not {expected}"
        );
    };
    near(figures.service_p99, 0.010);
    near(figures.service_p90, 0.050);
    near(figures.round_trip, 0.004);
    near(figures.floor, 0.006);
    let plan = curve.plan_for(&figures).unwrap();
    near(plan.value(Quantity::Pool), 10.0);
    // S = 6 ms of 46 ms.
    near(plan.value(Quantity::UtilisationByStretch), 1.0 - 6.0 / 46.0);
}
