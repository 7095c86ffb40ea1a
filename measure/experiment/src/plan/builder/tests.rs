//! What a plan refuses, and what it becomes.

use super::*;
use openloop_measurer::LayoutError;

fn rate(rate: f64) -> Rate {
    Rate::per_second(rate).unwrap()
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn phases_follow_each_other_and_their_arrivals_add_up() {
    let lifecycle = Lifecycle {
        ramp_up: secs(10),
        warm_up: secs(5),
        steady: secs(20),
        cooldown: secs(10),
    };
    let plan = Plan::open(rate(100.0))
        .lifecycle(lifecycle)
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap();
    let preview = plan.preview().unwrap();
    assert_eq!(preview.total, 3500);
    assert_eq!(
        preview.phases,
        [
            ("ramp_up", 500),
            ("warm_up", 500),
            ("steady", 2000),
            ("cooldown", 500)
        ]
    );
}

#[test]
fn a_slow_rate_sends_what_it_should() {
    let plan = Plan::open(rate(0.1))
        .lifecycle(Lifecycle::steady_only(secs(30)))
        .arrivals(Arrivals::Constant)
        .build()
        .unwrap();
    assert_eq!(plan.preview().unwrap().total, 3);
}

#[test]
fn what_cannot_be_run_is_refused_with_a_reason() {
    let quick = |builder: PlanBuilder| builder.lifecycle(Lifecycle::quick()).build().unwrap_err();
    assert_eq!(quick(Plan::open(Rate::ZERO)), PlanError::NoRate);
    assert_eq!(quick(Plan::closed(0)), PlanError::NoUsers);
    assert_eq!(
        quick(Plan::open(rate(1.0)).think(secs(1))),
        PlanError::ThinkTimeOfOpenLoop
    );
    assert_eq!(
        quick(Plan::closed(1).arrivals(Arrivals::Constant)),
        PlanError::ScheduleOfClosedLoop
    );
    assert_eq!(
        quick(Plan::open(rate(1.0)).in_flight(InFlight::Shed(0))),
        PlanError::NothingInFlight
    );
    assert_eq!(
        quick(Plan::open(rate(1.0)).timeout(Duration::ZERO)),
        PlanError::NoTime
    );
    assert_eq!(
        quick(Plan::profile("5/10s".parse().unwrap())),
        PlanError::LifecycleOfProfile
    );
    let sessions = Sessions::new("fixed:2".parse().unwrap(), "fixed:1".parse().unwrap()).unwrap();
    assert_eq!(
        quick(Plan::closed(1).sessions(sessions.clone())),
        PlanError::SessionsOfClosedLoop
    );
    assert_eq!(
        quick(Plan::open(rate(1.0)).on_failure(OnFailure::Continue)),
        PlanError::FailureWithoutSessions
    );
    assert_eq!(
        quick(
            Plan::open(rate(1.0))
                .sessions(sessions.clone())
                .think(secs(1))
        ),
        PlanError::ThinkTimeOfOpenLoop
    );
    let endless = Plan::open(rate(1e6))
        .sessions(sessions)
        .lifecycle(Lifecycle::steady_only(secs(1_000_000)))
        .build();
    assert_eq!(endless.unwrap_err(), PlanError::TooManySessions(1e12));
    let empty = Plan::open(rate(1.0))
        .lifecycle(Lifecycle::steady_only(Duration::ZERO))
        .build();
    assert_eq!(empty.unwrap_err(), PlanError::Layout(LayoutError::NoSteady));
    assert_eq!(
        quick(Plan::closed(1).in_flight(InFlight::Shed(1))),
        PlanError::ShedOfClosedLoop
    );
    let never = Plan::open(rate(0.001))
        .lifecycle(Lifecycle {
            warm_up: secs(1),
            ..Lifecycle::steady_only(secs(30))
        })
        .arrivals(Arrivals::Constant)
        .build();
    assert_eq!(never.unwrap_err(), PlanError::NothingToMeasure(secs(30)));
}

#[test]
fn the_drain_is_never_shorter_than_the_timeout() {
    let plan = Plan::open(rate(1.0)).timeout(secs(30)).build().unwrap();
    assert_eq!(plan.limits().drain, secs(30));
}

#[test]
fn a_shard_has_its_share_and_a_closed_loop_has_none() {
    let shard = openloop_sched::Shard::new(1, 4).unwrap();
    let plan = Plan::open(rate(100.0))
        .lifecycle(Lifecycle::steady_only(secs(10)))
        .arrivals(Arrivals::Constant)
        .shard(shard)
        .build()
        .unwrap();
    assert_eq!(plan.preview().unwrap().total, 250);
    assert_eq!(plan.schedule().unwrap().clone().next().unwrap().seq, 1);
    // Shards of one run have a number in common, and other loads have another.
    let plan = |rate_per_second, seed, index| {
        let plan = Plan::open(rate(rate_per_second)).seed(seed);
        let shard = openloop_sched::Shard::new(index, 4).unwrap();
        plan.lifecycle(Lifecycle::steady_only(secs(10)))
            .shard(shard)
    };
    let number = |plan: PlanBuilder| plan.build().unwrap().fingerprint();
    let of = number(plan(100.0, 1, 0));
    assert_eq!(of, number(plan(100.0, 1, 3)));
    for other in [
        plan(101.0, 1, 0),
        plan(100.0, 2, 0),
        plan(100.0, 1, 0).arrivals(Arrivals::Constant),
        plan(100.0, 1, 0).lifecycle(Lifecycle::steady_only(secs(11))),
        plan(100.0, 1, 0).timeout(secs(1)),
        plan(100.0, 1, 0).in_flight(InFlight::Queue(5)),
    ] {
        assert_ne!(of, number(other));
    }
    let users = Plan::closed(8).lifecycle(Lifecycle::quick()).shard(shard);
    assert_eq!(users.build().unwrap_err(), PlanError::ShardOfClosedLoop);
}
