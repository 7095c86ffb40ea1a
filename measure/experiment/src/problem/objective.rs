//! The first dimension: why, where, and what is expected to fail first.

use super::{Bandwidth, Written};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the experiment is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ObjectiveStatement {
    /// Which of the three purposes it has.
    pub purpose: Option<Purpose>,
    /// The question, in a sentence.
    pub question: Option<String>,
    /// What is expected to run out or to stall first; each is matched with the evidence after the run.
    pub failure_modes: Vec<FailureMode>,
}

/// What an experiment can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// How much load the service carries before its latency leaves the floor.
    Capacity,
    /// Whether a release keeps its objective at a given load.
    SloGate,
    /// What happens past saturation, and whether the service comes back.
    Resilience,
}

/// What a service can fail by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureMode {
    /// The cores of the service are all busy.
    CpuSaturation,
    /// A pool of connections or workers is used up.
    PoolExhaustion,
    /// The generator's machine runs out of ports (TIME_WAIT) or descriptors.
    PortExhaustion,
    /// The queue of connections that wait to be accepted overflows.
    AcceptQueue,
    /// The service stops from time to time, whatever its load: garbage collection, checkpoints, lock flushes.
    Pauses,
    /// Short requests wait behind long ones.
    HeadOfLine,
    /// No block of the KV cache is free: sequences wait or are preempted.
    KvCache,
    /// Decoding is slowed down by the bandwidth of the accelerator's memory.
    MemoryBandwidth,
    /// The service turns requests away: 429, 503.
    Shedding,
    /// The service ends, or tears connections down: out of memory.
    Crash,
    /// Requests outlast their timeout, and the work on them is lost.
    Timeouts,
}

impl Purpose {
    /// Name in problem files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Capacity => "capacity",
            Purpose::SloGate => "slo_gate",
            Purpose::Resilience => "resilience",
        }
    }
}

impl FailureMode {
    /// All of them.
    pub const ALL: [FailureMode; 11] = [
        FailureMode::CpuSaturation,
        FailureMode::PoolExhaustion,
        FailureMode::PortExhaustion,
        FailureMode::AcceptQueue,
        FailureMode::Pauses,
        FailureMode::HeadOfLine,
        FailureMode::KvCache,
        FailureMode::MemoryBandwidth,
        FailureMode::Shedding,
        FailureMode::Crash,
        FailureMode::Timeouts,
    ];

    /// Name in problem files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailureMode::CpuSaturation => "cpu_saturation",
            FailureMode::PoolExhaustion => "pool_exhaustion",
            FailureMode::PortExhaustion => "port_exhaustion",
            FailureMode::AcceptQueue => "accept_queue",
            FailureMode::Pauses => "pauses",
            FailureMode::HeadOfLine => "head_of_line",
            FailureMode::KvCache => "kv_cache",
            FailureMode::MemoryBandwidth => "memory_bandwidth",
            FailureMode::Shedding => "shedding",
            FailureMode::Crash => "crash",
            FailureMode::Timeouts => "timeouts",
        }
    }
}

/// Where the experiment takes place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EnvironmentStatement {
    /// The service under test: its release, cores, memory, pools.
    pub service: Option<String>,
    /// Whether the generator has a host of its own, apart from the service.
    pub isolated: Option<bool>,
    /// Whose the machines are.
    pub tenancy: Option<Tenancy>,
    /// The bandwidth between generator and service: `"10 Gbit/s"`.
    pub network: Option<Written<Bandwidth>>,
    /// The most that the experiment is expected to need of it.
    pub expected_bandwidth: Option<Written<Bandwidth>>,
    /// How many accelerators the service has.
    pub gpus: Option<u32>,
    /// What connects them, where there are several.
    pub interconnect: Option<Interconnect>,
    /// What the service does from time to time by itself; an empty list says that it does nothing of the kind.
    pub periodic: Option<Vec<Periodic>>,
}

/// Whose the machines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tenancy {
    /// Nobody else's: replicas are to agree within 3 %.
    Dedicated,
    /// Shared virtual machines: replicas are to agree within 10 %.
    Shared,
}

/// What connects the accelerators of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Interconnect {
    /// NVLink.
    Nvlink,
    /// NVSwitch.
    Nvswitch,
    /// Another dedicated fabric.
    Other,
    /// PCIe bridges, which congest under tensor parallelism.
    Pcie,
}

/// Something that the service does from time to time by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Periodic {
    /// What: `"full GC"`, `"checkpoint"`, `"WAL flush"`.
    pub event: String,
    /// From one to the next.
    pub every: Written<Duration>,
}
