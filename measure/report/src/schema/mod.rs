//! The parts of a report, as they stand in `report.json`.
//!
//! Field names are a contract. Within the major version 1 fields may be added, and none is removed, renamed or given
//! another meaning; readers ignore what they do not know. The file `schema/report-1.json` of the crate describes them as
//! a JSON schema.

mod aftermath;
mod arrivals;
mod bounds;
mod diagnosis;
mod floor;
mod kind;
mod latency;
mod machine;
mod objective;
mod plan;
mod problem;
mod replicas;
mod resilience;
mod setup;
mod slowest;
mod stored;
mod summary;
mod sweep;
mod timeline;
mod turns;
mod validity;

pub use aftermath::{Backlog, Health, WorstWindow};
pub use arrivals::{Arrivals, PhaseArrivals};
pub use bounds::LowerBounds;
pub use diagnosis::{Class, Diagnosis, Fits, MmcFit, UslFit, Utilisation};
pub use floor::{Floor, Level};
pub use kind::{Kind, UNLABELLED};
pub use latency::Latency;
pub use machine::{Environment, Generator};
pub use objective::{Finding, Lint, Objective};
pub use plan::{Plan, PlanInput, PlanItem, PlanMissing};
pub use problem::{Evidence, Problem, Remark};
pub use replicas::{Agreement, QuantileSpread, Replica, Replicas, Variation};
pub use resilience::{Claim, Resilience, Stage};
pub use setup::{Closed, Limits, Merged, Sessions, Shard, ShardClock};
pub use slowest::{Slow, WorstStretch};
pub use stored::{Digits, Part, Parts, StoredError, Window};
pub use summary::Summary;
pub use sweep::{Capacity, Counted, Estimate, Knee, Step, Sweep};
pub use timeline::{Event, Interval};
pub use turns::ByTurns;
pub use validity::{Check, Validity};

#[cfg(test)]
mod published;

pub(crate) use kind::{by_class, metrics, named};
use std::time::Duration;

/// The name of the schema.
pub const NAME: &str = "openloop.report";
/// The version that is written.
pub const VERSION: &str = "1.0";

/// What `schema` says in a report of this version.
pub(crate) fn tag() -> String {
    format!("{NAME}/{VERSION}")
}

/// JSON has no NaN and no infinity.
pub(crate) fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
