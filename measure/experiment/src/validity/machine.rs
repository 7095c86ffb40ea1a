//! The machine that the generator ran on, and how the run was set up on it.

use super::{Check, Severity, Unit, check};
use crate::Target;
use crate::plan::Load;
use crate::run::Run;
use crate::series::Metric;
use crate::units::Ns;
use openloop_workload::sessions::Sessions;
use std::time::Duration;

/// A generator that is busier than this cannot be told from the service it measures.
const BUSY_LIMIT: f64 = 0.6;
/// A generator that waits longer than this for a core does something else than it seems to do.
const WAIT_LIMIT: f64 = 0.05;
/// Time taken by the hypervisor that shows in a tail …
const STEAL_NOTED: f64 = 0.01;
/// … and that leaves nothing to be believed.
const STEAL_LIMIT: f64 = 0.1;
/// A wall clock that moves by more than this, and by more than it may be slewed, was set.
const SET: Duration = Duration::from_millis(10);
/// How fast Linux slews a clock at most.
const SLEW: f64 = 500e-6;
/// Clock sources whose every reading is a slow access to a device.
const SLOW_CLOCKS: [&str; 3] = ["hpet", "acpi_pm", "jiffies"];

/// What the machine did to the run: nothing, where time was simulated.
pub(super) fn all(run: &Run) -> [Option<Check>; 8] {
    if run.generator().simulated {
        return [const { None }; 8];
    }
    [
        busy(run),
        cpu_wait(run),
        precision(run),
        steal(run),
        throttled(run),
        clock_source(run),
        wall_clock(run),
        resources(run),
    ]
}

fn busy(run: &Run) -> Option<Check> {
    let generator = run.generator();
    let busy = generator.busy()?;
    // On a shared runtime the time of the process is that of the service as well.
    let severity = if generator.own_threads && !run.plan().target().shares_host() {
        Severity::Fault
    } else {
        Severity::Warning
    };
    let whose = if generator.own_threads {
        "the generator's threads were"
    } else {
        "the process, whatever else it holds, was"
    };
    let why = format!(
        "{whose} busy for {:.0} % of {} core(s) while sending, waiting left out: above {:.0} %, add threads or machines",
        busy * 100.0,
        generator.cores,
        BUSY_LIMIT * 100.0
    );
    Some(
        check("generator_busy", severity, busy <= BUSY_LIMIT, why).figures(
            busy,
            BUSY_LIMIT,
            Unit::Share,
        ),
    )
}

fn precision(run: &Run) -> Option<Check> {
    let fallback = run.generator().fallback.as_ref()?;
    Some(check(
        "precision",
        Severity::Warning,
        false,
        fallback.clone(),
    ))
}

/// The busy share is a false witness where other processes hold the cores.
fn cpu_wait(run: &Run) -> Option<Check> {
    let waited = run.generator().kept_waiting()?;
    let why = format!(
        "the generator's threads could have run for another {:.1} % of the time and had no core: above {:.0} %, give them cores of their own",
        waited * 100.0,
        WAIT_LIMIT * 100.0
    );
    Some(
        check("cpu_wait", Severity::Fault, waited <= WAIT_LIMIT, why).figures(
            waited,
            WAIT_LIMIT,
            Unit::Share,
        ),
    )
}

/// What it did to the generator shows in the other checks; what it did to the service, nowhere.
fn steal(run: &Run) -> Option<Check> {
    let steal = run.environment().steal?;
    let severity = if steal > STEAL_LIMIT {
        Severity::Fault
    } else {
        Severity::Warning
    };
    let why = format!(
        "the hypervisor took {:.2} % of the machine's time: above {:.0} % it shows in the tail and above {:.0} % everywhere, so use a quieter machine",
        steal * 100.0,
        STEAL_NOTED * 100.0,
        STEAL_LIMIT * 100.0
    );
    Some(check("steal", severity, steal <= STEAL_NOTED, why).figures(
        steal,
        STEAL_NOTED,
        Unit::Share,
    ))
}

fn throttled(run: &Run) -> Option<Check> {
    let throttled = run.environment().throttled?;
    let why = format!(
        "the process was stopped {throttled} times because its share of CPU time was used up: if ever, raise the limit"
    );
    Some(
        check("throttled", Severity::Fault, throttled == 0, why).figures(
            throttled as f64,
            0.0,
            Unit::Count,
        ),
    )
}

fn clock_source(run: &Run) -> Option<Check> {
    let clock = run.environment().clock_source.as_deref()?;
    let slow = SLOW_CLOCKS.contains(&clock);
    let why = format!(
        "the kernel tells the time by {clock}: a slow one ({}) costs microseconds a reading, so use tsc or the hypervisor's own",
        SLOW_CLOCKS.join(", ")
    );
    Some(check("clock_source", Severity::Warning, !slow, why))
}

/// That the wall clock was set. An NTP daemon that keeps it slews it as well, by up to 500 µs a second.
fn wall_clock(run: &Run) -> Option<Check> {
    let moved = run.environment().wall_clock_moved_ns;
    let slewed = SET + run.environment().watched.mul_f64(SLEW);
    let slewed = slewed.as_nanos() as f64;
    let by = moved.unsigned_abs() as f64;
    let way = if moved < 0 { "back" } else { "forward" };
    let why = format!(
        "the wall clock of this machine was set {way} by {} during the run: latencies are of the monotonic clock and have none of it, but times of day are those of the clock before, and shards on other machines may have begun that much apart; let NTP settle first",
        Ns(by)
    );
    let check = check("wall_clock", Severity::Warning, false, why);
    (by > slewed).then(|| check.figures(by, slewed, Unit::Nanoseconds))
}

/// Descriptors and ports: what the machine ran out of, in the whole run.
fn resources(run: &Run) -> Option<Check> {
    let exhausted: u64 = run
        .snapshot()
        .outcomes()
        .filter(|(outcome, _)| outcome.is_generators_fault())
        .map(|(_, count)| count)
        .sum();
    let environment = run.environment();
    let open = environment.descriptors.zip(environment.descriptor_limit);
    let open = open.map_or_else(String::new, |((_, open), limit)| {
        format!(", and {open} of {limit} file descriptors were open at the end")
    });
    let why = format!(
        "{exhausted} requests failed because this machine had no file descriptor or port left{open}: if any did, raise the limit (ulimit -n), keep connections, or lower the rate"
    );
    Some(
        check("resources", Severity::Fault, exhausted == 0, why).figures(
            exhausted as f64,
            0.0,
            Unit::Count,
        ),
    )
}

pub(super) fn target(run: &Run) -> Option<Check> {
    let shares = match run.plan().target() {
        Target::Unknown => return None,
        target => target.shares_host(),
    };
    let why = if shares {
        "the service runs on the generator's own host, and they take cores and caches from each other: run it elsewhere"
    } else {
        "the service runs on another host"
    };
    Some(check("target_elsewhere", Severity::Warning, !shares, why))
}

/// Whether what is due depends on the service.
pub(super) fn open_loop(run: &Run) -> Option<Check> {
    match run.plan().load() {
        Load::Open { .. } => None,
        Load::PartlyOpen { sessions, .. } => partly_open(run, sessions),
        Load::Closed { users, .. } => Some(check(
            "open_loop",
            Severity::Warning,
            false,
            format!(
                "a closed loop of {users} users: when the service slows down, so does the load, and the requests that would have come are missing"
            ),
        )),
    }
}

/// Sessions of one request each are an open loop.
fn partly_open(run: &Run, sessions: &Sessions) -> Option<Check> {
    let requests = sessions.mean_requests_per_session();
    if requests <= 1.0 {
        return None;
    }
    let mut why = format!(
        "sessions of {requests:.1} requests in the mean: only their beginnings are set by the plan, and a service that slows down delays what follows, so the rate of requests is not the plan's alone"
    );
    let response = run.series(&Metric::Response).whole().exact.mean_ns();
    let session = sessions.mean_session(Duration::from_secs_f64(response.unwrap_or(0.0) / 1e9));
    let lead = run.plan().layout().steady().from.as_duration();
    if lead < session {
        why.push_str(&format!(
            "; a session took {:.1} s in the mean and the steady phase began after {:.1} s, when sessions were still accumulating: make ramp-up and warm-up longer",
            session.as_secs_f64(),
            lead.as_secs_f64()
        ));
    }
    let check = check("open_loop", Severity::Warning, false, why);
    Some(check.figures(requests, 1.0, Unit::Count))
}
