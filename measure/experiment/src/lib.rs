//! An honest experiment: open and closed drivers, four phases, validity and verdicts.
//!
//! ```text
//!   Plan ─────► drive::shared ──┐                       ┌─► run.series(metric)   latencies and their intervals
//!   (checked,   drive::sharded ─┴─► Drive ──.await──► Run ─► run.validity()      may it be believed?
//!    a value)                       │                   └─► slo.judge(&run)      does it keep its objective?
//!                                   └─► stop_handle(), monitor()
//! ```
//!
//! | you want to | you write |
//! | --- | --- |
//! | send at a rate, whatever the service does | [`Plan::open`] |
//! | follow a day's traffic, or a trace | [`Plan::profile`], [`Plan::recorded`] |
//! | model users who ask, read, and ask again | [`Plan::open`] and [`PlanBuilder::sessions`] |
//! | model batch workers | [`Plan::closed`] |
//! | measure from your own test suite | [`drive::shared`] |
//! | load a service as hard as the machine can | [`drive::sharded`] |
//! | tell several kinds of request apart | [`PlanBuilder::kinds`], [`labelled`], [`Run::series_of`] |
//! | limit what is in flight, or for how long | [`InFlight`], [`Timeout`] |
//! | fail a test when latency is too high | [`Slo`], [`Judgement::assert`] |
//! | know what an idle service takes, and bound multiples of it | [`Floor`], [`Slo::on`] |
//! | repeat a run, and know whether the repetitions agree | [`Replication`], [`Replicas`] |
//! | fail a test when a build is slower than the last | [`Gate`], [`Comparison::assert`] |
//! | know how long a run has to be before it is made | [`Preflight`] |
//! | end early and keep the report | [`drive::Stop`] |
//! | find how much a service carries | [`sweep::Sweep`], and [`Floor`] first |
//! | know what kind of queue it is | [`sweep::Curve::diagnose`] |
//! | see it break, and recover | [`resilience::Overload`] |
//! | try an experiment before it costs hours | [`simulate::simulate`] |
//!
//! # Example
//! A test that fails unless 99 % of requests are served within 50 ms of when they should have started:
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # async fn checkout(_order: u64) -> Result<(), std::io::Error> { Ok(()) }
//! use openloop_experiment::{Lifecycle, Plan, Slo, classified, drive};
//! use openloop_measurer::ok_err;
//! use openloop_sched::Rate;
//!
//! let plan = Plan::open(Rate::per_second(200.0)?).lifecycle(Lifecycle::quick()).build()?;
//! let work = classified(|ticket| checkout(ticket.seq), ok_err);
//! let run = drive::shared(&plan, work).await?;
//! "p99<=50ms, errors<=0.1%".parse::<Slo>()?.judge(&run).assert();
//! # Ok(())
//! # }
//! ```
//!
//! # What the numbers rest on
//! * Latency runs from the *intended* instant, which the plan fixes before anything is sent.
//! * Intervals are by [sectioning](Series::interval): successive responses resemble each other, and intervals
//!   that take them for independent are up to eight times too narrow.
//! * Quantiles are never averaged: several runs are [one histogram](Replicas::series).
//! * A quantile counts as known when ten separate [excursions](openloop_measurer::Course::excursions_above) lie
//!   above it.
//! * [`Validity`] is about the generator and its machine, never about the service: an overloaded service is a
//!   finding.
//!
//! # What panics, what returns
//! Constructors that check return a `Result`, and a panic of the work is counted as a failure of that arrival.
//! [`Judgement::assert`] panics by design.
#![forbid(unsafe_code)]

mod clock;
pub mod diagnosis;
pub mod drive;
mod environment;
mod file_error;
mod floor;
mod generator;
mod health;
mod lifecycle;
mod limits;
mod plan;
mod plan_error;
mod preflight;
pub mod problem;
mod protocol_error;
mod regression;
mod replicas;
pub mod resilience;
mod run;
mod series;
mod session;
pub mod simulate;
mod slo;
mod stats;
mod step;
pub mod sweep;
mod target;
mod units;
mod validity;
mod work;

pub use clock::ClockOffset;
pub use environment::Environment;
pub use floor::{Floor, FloorTrials, Level, Ratio, Rtt, RttSource};
pub use generator::Generator;
pub use health::HealthReport;
pub use lifecycle::Lifecycle;
pub use limits::{InFlight, Timeout, TimeoutFrom};
pub use plan::{Limits, Load, Plan, PlanBuilder};
pub use plan_error::PlanError;
pub use preflight::{Hint, Preflight, Resolution, ResolutionBasis};
pub use protocol_error::ProtocolError;
pub use regression::{Abba, Change, Comparison, Figure, FigureError, Gate, Method};
pub use replicas::{QuantileVariation, Replicas, Replication, Set, Stability, Steadiness};
pub use run::{Backlog, LoopKind, Run};
pub use series::{Metric, Sections, Series};
pub use session::{OnFailure, SessionCounts};
pub use slo::{
    Basis, Bound, Concern, Evidence, Finding, GOOD, Judgement, Limit, Lint, Objective, Ratios, Slo,
    SloError, Statistic, Verdict,
};
pub use stats::{Variation, section};
pub use step::{Step, in_sessions};
pub use target::Target;
pub use validity::{Check, Severity, Unit, UnknownCheck, Validity};
pub use work::{Call, Classified, Labelled, Work, any_requests, classified, labelled, requests};
