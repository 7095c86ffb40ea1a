//! Whether this machine can make the run at all.

use crate::exit::Failure;
use crate::protocol::Connecting;
use openloop_experiment::{InFlight, Load, Plan};
use openloop_net::{Limits, Needs, Shortage};
use openloop_sched::Schedule;
use std::time::Duration;

/// Raises the soft limit on descriptors if that is needed, and refuses a run for which there are too few descriptors
/// or ports. On a platform that does not tell its limits, every run is tried.
pub(crate) fn check(plan: &Plan, connecting: Connecting, loopback: bool) -> Result<(), Failure> {
    let Ok(mut limits) = Limits::read() else {
        return Ok(());
    };
    let needs = needs(plan, connecting, loopback);
    if limits.check(&needs).iter().any(is_soft) {
        limits = raise(limits);
    }
    compare(&limits, &needs)
}

fn compare(limits: &Limits, needs: &Needs) -> Result<(), Failure> {
    let shortages = limits.check(needs);
    if shortages.is_empty() {
        return Ok(());
    }
    let shortages: Vec<_> = shortages.iter().map(Shortage::to_string).collect();
    Err(Failure::Machine(format!(
        "this machine cannot make the run: {}",
        shortages.join("; ")
    )))
}

fn is_soft(shortage: &Shortage) -> bool {
    matches!(shortage, Shortage::SoftDescriptors { .. })
}

fn raise(limits: Limits) -> Limits {
    // Where the kernel refuses, the shortage stays and says what to do.
    Limits::raise_soft_descriptors_to_hard().unwrap_or(limits)
}

fn needs(plan: &Plan, connecting: Connecting, loopback: bool) -> Needs {
    // How many are in flight at once is known only where it is limited.
    let in_flight = match (plan.load(), plan.limits().in_flight) {
        (Load::Closed { users, .. }, _) => *users as u64,
        (_, InFlight::Queue(limit) | InFlight::Shed(limit)) => limit as u64,
        _ => 0,
    };
    let (connections, per_second) = match (connecting, plan.schedule()) {
        (Connecting::Pool(size), _) => (size as u64, 0),
        (Connecting::PerInFlight, _) => (in_flight, 0),
        // Those of the busiest second stay open for up to a second: in the need for descriptors they stand already.
        // Of sessions, as if all their requests were due at once, which is the worst.
        (Connecting::PerRequest, Some(schedule)) => (
            0,
            busiest_second(schedule, |session| requests(plan, session)),
        ),
        // How fast a closed loop opens them depends on the service: a port for each user is the least it needs.
        (Connecting::PerRequest, None) => (in_flight, 0),
    };
    Needs {
        connections,
        new_connections_per_second: per_second as f64,
        duration: plan.layout().end().as_duration(),
        loopback,
    }
}

/// How many requests the arrival number `seq` brings.
fn requests(plan: &Plan, seq: u64) -> u64 {
    plan.sessions()
        .map_or(1, |sessions| u64::from(sessions.steps(plan.seed(), seq)))
}

/// The most requests that arrive in one second of the schedule, second by second.
fn busiest_second(schedule: &Schedule, requests: impl Fn(u64) -> u64) -> u64 {
    let (mut second, mut count, mut most) = (0, 0, 0);
    for ticket in schedule.clone() {
        let now = ticket.intended.as_nanos() / Duration::from_secs(1).as_nanos() as u64;
        if now != second {
            (second, count) = (now, 0);
        }
        count += requests(ticket.seq);
        most = most.max(count);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use openloop_experiment::Lifecycle;
    use openloop_sched::{Arrivals, Rate};
    use openloop_workload::sessions::Sessions;

    fn plan(in_flight: InFlight) -> Plan {
        let lifecycle = Lifecycle {
            ramp_up: Duration::from_secs(2),
            ..Lifecycle::steady_only(Duration::from_secs(3))
        };
        Plan::open(Rate::per_second(100.0).unwrap())
            .lifecycle(lifecycle)
            .arrivals(Arrivals::Constant)
            .in_flight(in_flight)
            .build()
            .unwrap()
    }

    #[test]
    fn a_pool_needs_its_size_and_the_rest_what_the_plan_says() {
        let of = |connecting, in_flight| {
            let needs = needs(&plan(in_flight), connecting, true);
            (needs.connections, needs.new_connections_per_second)
        };
        assert_eq!(of(Connecting::Pool(50), InFlight::Unlimited), (50, 0.0));
        assert_eq!(of(Connecting::PerInFlight, InFlight::Shed(7)), (7, 0.0));
        assert_eq!(of(Connecting::PerInFlight, InFlight::Unlimited), (0, 0.0));
        assert_eq!(of(Connecting::PerRequest, InFlight::Unlimited), (0, 100.0));
        let sessions = Sessions::new("fixed:3".parse().unwrap(), "fixed:0".parse().unwrap());
        let plan = Plan::open(Rate::per_second(100.0).unwrap())
            .lifecycle(Lifecycle::steady_only(Duration::from_secs(3)))
            .arrivals(Arrivals::Constant)
            .sessions(sessions.unwrap())
            .build()
            .unwrap();
        let needs_of_sessions = needs(&plan, Connecting::PerRequest, true);
        assert_eq!(needs_of_sessions.new_connections_per_second, 300.0);
        let closed = Plan::closed(30).build().unwrap();
        assert_eq!(needs(&closed, Connecting::PerRequest, true).connections, 30);
    }

    #[cfg(unix)]
    #[test]
    fn too_few_ports_are_a_shortage_with_its_numbers() {
        let mut limits = Limits::read().unwrap();
        limits.descriptors_soft = u64::MAX;
        limits.port_range = Some((40_000, 40_019));
        limits.tw_reuse = Some(0);
        let refused = |plan: &Plan| {
            let needs = needs(plan, Connecting::PerRequest, true);
            compare(&limits, &needs).unwrap_err().to_string()
        };
        // 100 per second, every second of 5 s but those of the ramp; each port stands in TIME_WAIT for a minute.
        let open = refused(&plan(InFlight::Unlimited));
        assert!(open.contains("500 local ports are needed"), "{open}");
        assert!(open.contains("the range has 20"), "{open}");
        let closed = refused(&Plan::closed(21).build().unwrap());
        assert!(closed.contains("21 local ports are needed"), "{closed}");
        let fits = Plan::closed(20).build().unwrap();
        let needs = needs(&fits, Connecting::PerRequest, true);
        assert!(compare(&limits, &needs).is_ok());
    }

    #[test]
    fn a_shortage_names_what_is_needed_before_anything_is_sent() {
        let failure = check(
            &plan(InFlight::Unlimited),
            Connecting::Pool(2_000_000_000),
            true,
        );
        let message = failure.unwrap_err().to_string();
        assert!(message.contains("2000000032"), "{message}");
    }
}
