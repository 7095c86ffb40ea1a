//! The machine that the generator ran on, and how the run was set up on it.

use super::{Check, Severity, Unit, check};
use crate::Target;
use crate::plan::Load;
use crate::run::Run;
use openloop_measurer::Outcome;

/// A generator that is busier than this cannot be told from the service it measures.
const BUSY_LIMIT: f64 = 0.6;
/// Time taken by the hypervisor that shows in a tail.
const STEAL_LIMIT: f64 = 0.01;
/// Clock sources whose every reading is a slow access to a device.
const SLOW_CLOCKS: [&str; 3] = ["hpet", "acpi_pm", "jiffies"];

/// What the machine did to the run: nothing, where time was simulated.
pub(super) fn all(run: &Run) -> [Option<Check>; 6] {
    if run.generator().simulated {
        return [const { None }; 6];
    }
    [
        busy(run),
        precision(run),
        steal(run),
        throttled(run),
        clock_source(run),
        descriptors(run),
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

fn steal(run: &Run) -> Option<Check> {
    let steal = run.environment().steal?;
    let why = format!(
        "the hypervisor took {:.2} % of the machine's time: above {:.0} %, use a quieter one",
        steal * 100.0,
        STEAL_LIMIT * 100.0
    );
    Some(
        check("steal", Severity::Fault, steal <= STEAL_LIMIT, why).figures(
            steal,
            STEAL_LIMIT,
            Unit::Share,
        ),
    )
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

fn descriptors(run: &Run) -> Option<Check> {
    let (_, open) = run.environment().descriptors?;
    let limit = run.environment().descriptor_limit?;
    let exhausted: u64 = run
        .snapshot()
        .steady()
        .classes()
        .filter(|(outcome, _)| *outcome == Outcome::Failed("descriptors"))
        .map(|(_, class)| class.response.count())
        .sum();
    let why = format!(
        "{open} of {limit} file descriptors were open at the end, and {exhausted} requests found none left: if any did, raise the limit (ulimit -n)"
    );
    Some(
        check(
            "descriptors",
            Severity::Fault,
            exhausted == 0 && open < limit,
            why,
        )
        .figures(open as f64, limit as f64, Unit::Count),
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

pub(super) fn closed_loop(run: &Run) -> Option<Check> {
    match run.plan().load() {
        Load::Open { .. } => None,
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
