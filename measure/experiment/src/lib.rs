//! An honest experiment: open and closed drivers, four phases, validity and verdicts.
#![forbid(unsafe_code)]

pub mod drive;
mod environment;
mod generator;
mod health;
mod lifecycle;
mod limits;
mod plan;
mod run;
mod series;
mod slo;
mod stats;
mod target;
mod validity;
mod work;

pub use environment::Environment;
pub use generator::Generator;
pub use health::HealthReport;
pub use lifecycle::Lifecycle;
pub use limits::{InFlight, Timeout, TimeoutFrom};
pub use plan::{Limits, Load, Plan, PlanBuilder, PlanError};
pub use run::{Backlog, LoopKind, Run};
pub use series::{Metric, Series};
pub use slo::{Bound, Finding, Judgement, Slo, SloError, Statistic, Verdict};
pub use target::Target;
pub use validity::{Check, Severity, Unit, UnknownCheck, Validity};
pub use work::{Call, Classified, Work, any_requests, classified, requests};
