//! Services that exist only as arithmetic, for experiments whose truth is known.

#![allow(dead_code, reason = "not every test uses all of it")]

use openloop_experiment::drive::DriveError;
use openloop_experiment::simulate::{Simulated, Station, simulate};
use openloop_experiment::sweep::{Curve, Sweep};
use openloop_experiment::{Floor, Lifecycle, Plan, PlanBuilder, Run};
use openloop_sched::Rate;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Whether there is time for all of it: `cargo testbed --full`.
pub(crate) fn full() -> bool {
    std::env::var_os("OPENLOOP_FULL").is_some()
}

pub(crate) fn per_second(rate: f64) -> Rate {
    Rate::per_second(rate).unwrap()
}

/// A plan that measures for so many seconds.
pub(crate) fn base(steady: u64) -> PlanBuilder {
    Plan::open(per_second(1.0)).lifecycle(Lifecycle {
        warm_up: Duration::from_secs(steady.div_ceil(20)),
        ..Lifecycle::steady_only(Duration::from_secs(steady))
    })
}

pub(crate) fn station(servers: u32, law: &str) -> Station {
    Station::new(servers, law.parse().unwrap()).unwrap()
}

/// A simulation is ready at once.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a simulation does not wait"),
    }
}

pub(crate) fn sweep<S: Simulated + Clone>(sweep: &Sweep, base: &PlanBuilder, service: &S) -> Curve {
    ready(sweep.run(base, async |plan| simulate(plan, service.clone()))).unwrap()
}

pub(crate) fn floor<S: Simulated + Clone>(base: &PlanBuilder, service: &S) -> Floor {
    let trial = async |plan: &Plan| -> Result<Run, DriveError> { simulate(plan, service.clone()) };
    ready(Floor::measure(base.clone(), trial)).unwrap()
}
