//! The machine of the generator, and what the generator cost.

use super::{finite, nanos};
use openloop_experiment::Run;
use serde::{Deserialize, Serialize};

/// The machine that the generator ran on, and what it did to the run. What a platform does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Environment {
    /// Operating system.
    pub os: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Cores that the process could use.
    pub cores: u64,
    /// What the kernel told the time by.
    pub clock_source: Option<String>,
    /// How the frequency of the first core was governed.
    pub governor: Option<String>,
    /// Share of the machine's time that its hypervisor took away.
    pub steal: Option<f64>,
    /// How often the process was stopped because its share of CPU time was used up.
    pub throttled: Option<u64>,
    /// Open file descriptors before the run.
    pub descriptors_before: Option<u64>,
    /// Open file descriptors after it.
    pub descriptors_after: Option<u64>,
    /// How many there could be.
    pub descriptor_limit: Option<u64>,
    /// Runnable tasks on the machine, averaged over a minute, at the end of the run.
    pub load_average: Option<f64>,
    /// By how much more the wall clock went on during the run than the monotonic clock, of which all instants of a run
    /// are, in nanoseconds: it was set forward, or back where it is negative.
    #[serde(default)]
    pub wall_clock_moved_ns: Option<i64>,
    /// Where the service ran: `same_process`, `same_host` or `elsewhere`; `None` where nobody said.
    pub target: Option<String>,
}

impl Environment {
    pub(crate) fn of(run: &Run) -> Self {
        let environment = run.environment();
        Environment {
            os: environment.os.to_owned(),
            kernel: environment.kernel.clone(),
            cores: environment.cores as u64,
            clock_source: environment.clock_source.clone(),
            governor: environment.governor.clone(),
            steal: environment.steal.and_then(finite),
            throttled: environment.throttled,
            descriptors_before: environment.descriptors.map(|(before, _)| before),
            descriptors_after: environment.descriptors.map(|(_, after)| after),
            descriptor_limit: environment.descriptor_limit,
            load_average: environment.load_average.and_then(finite),
            wall_clock_moved_ns: Some(environment.wall_clock_moved_ns),
            target: run.plan().target().name().map(str::to_owned),
        }
    }
}

/// What the generator itself cost, and how it kept its schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Generator {
    /// Whether it had threads of its own. On a shared runtime its cost is that of the whole process.
    pub own_threads: bool,
    /// How many cores it could use.
    pub cores: u64,
    /// How the pacer waited: `coarse`, `timer` or `spin`; `None` in a closed loop.
    pub precision: Option<String>,
    /// Why it did not wait as asked, if it did not.
    pub fallback: Option<String>,
    /// The largest lag of any release, of the whole run.
    pub max_lag_ns: u64,
    /// CPU time while it sent, in seconds.
    pub cpu_seconds: Option<f64>,
    /// How long its threads could have run while it sent, and had no core, in seconds.
    #[serde(default)]
    pub waited_for_cpu_seconds: Option<f64>,
    /// The part of the CPU time that went into waiting for the next instant, in seconds.
    pub spun_seconds: f64,
    /// For how long it sent.
    pub sending_ns: u64,
    /// The share of its cores that it kept busy while it sent, waiting left out.
    pub busy: Option<f64>,
}

impl Generator {
    pub(crate) fn of(run: &Run) -> Self {
        let generator = run.generator();
        Generator {
            own_threads: generator.own_threads,
            cores: generator.cores as u64,
            precision: generator.precision.map(|precision| precision.to_string()),
            fallback: generator.fallback.clone(),
            max_lag_ns: nanos(generator.max_lag),
            cpu_seconds: generator.cpu.map(|cpu| cpu.as_secs_f64()),
            waited_for_cpu_seconds: generator.waited_for_cpu.map(|wait| wait.as_secs_f64()),
            spun_seconds: generator.spun.as_secs_f64(),
            sending_ns: nanos(generator.sending),
            busy: generator.busy().and_then(finite),
        }
    }
}
