//! Sweeps of simulated services whose truth is known.

#![allow(clippy::unwrap_used)]

use openloop_experiment::simulate::{Station, simulate};
use openloop_experiment::sweep::{Capacity, Curve, Sweep};
use openloop_experiment::{Floor, Lifecycle, Plan, PlanBuilder, ProtocolError};
use openloop_sched::Rate;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn per_second(rate: f64) -> Rate {
    Rate::per_second(rate).unwrap()
}

fn base(steady: u64) -> PlanBuilder {
    Plan::open(per_second(1.0)).lifecycle(Lifecycle {
        warm_up: Duration::from_secs(2),
        ..Lifecycle::steady_only(Duration::from_secs(steady))
    })
}

fn station(servers: u32, law: &str) -> Station {
    Station::new(servers, law.parse().unwrap()).unwrap()
}

/// A simulation is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a simulation does not wait"),
    }
}

fn sweep(sweep: &Sweep, base: &PlanBuilder, service: &Station) -> Curve {
    ready(sweep.run(base, async |plan| simulate(plan, service.clone()))).unwrap()
}

fn floor(service: &Station) -> Floor {
    ready(Floor::measure(base(60), async |plan| {
        simulate(plan, service.clone())
    }))
    .unwrap()
}

/// P99 = ln(100)/(μ − λ) of M/M/1 with μ = 1000/s is 20 ms at this rate.
const TRUTH: f64 = 769.741;

fn find_20_ms(seed: u64, resolution: f64, steady: u64) -> Curve {
    let find = Sweep::find("p99<=20ms".parse().unwrap(), per_second(100.0))
        .growth(2.0)
        .resolution(resolution);
    sweep(
        &find,
        &base(steady).seed(seed),
        &station(1, "exponential:0.001"),
    )
}

#[test]
fn the_capacity_of_one_exponential_server_is_found_from_below() {
    for seed in 1..=3 {
        let curve = find_20_ms(seed, 0.1, 30);
        let found = curve.found();
        println!("{curve}");
        assert!(found.is_found(), "{curve}");
        let rate = found.rate().unwrap();
        assert!(rate < TRUTH && rate > 0.9 * TRUTH, "{curve}");
    }
}
