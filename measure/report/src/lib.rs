//! One report of a run: JSON, HTML, text, Markdown, interval logs, live progress; merged and compared.
//!
//! A [`Report`] is a plain value, made from a run and complete in itself: it can be written as JSON, read again, and
//! rendered elsewhere. Renderers take the report and a writer.
//!
//! | you want | you write |
//! | --- | --- |
//! | what people read after a run | [`report.write_text(stdout, &TextStyle::default())`](Report::write_text) |
//! | what is mailed around: one page with charts, and the whole report inside | [`report.write_html(file)`](Report::write_html), [`Report::read_html`] |
//! | a comment on a pull request | [`report.write_markdown(file)`](Report::write_markdown) |
//! | what programs read | [`report.write_json(file)`](Report::write_json), [`Report::read_json`]; `schema/report-1.json` describes it |
//! | the timeline in a spreadsheet | [`report.write_csv(file)`](Report::write_csv) |
//! | what HdrHistogram's tools plot, and what they wrote | [`hlog::write_log`], [`hlog::LogReader`] |
//! | what Prometheus scrapes during a run, or after it | [`write_prometheus`], [`Report::write_prometheus`] |
//! | several runs, or the shards of one, as one | [`Report::merge`], [`Report::merge_shards`] |
//! | part of a run | [`Report::excerpt`] |
//! | whether a build is slower than the one before | [`Comparison::new`] |
//! | what people watch during a run | [`Progress::start`] |
//!
//! # Example
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use openloop_experiment::{Lifecycle, Plan, Slo, drive};
//! use openloop_report::{Report, TextStyle};
//! use openloop_sched::Rate;
//! use std::time::Duration;
//!
//! let plan = Plan::open(Rate::per_second(500.0)?)
//!     .lifecycle(Lifecycle::steady_only(Duration::from_millis(200)))
//!     .build()?;
//! let run = drive::shared(&plan, |_ticket| async { /* a request */ }).await?;
//! let slo: Slo = "p99<=100ms".parse()?;
//!
//! let report = Report::new(&run).with_target("nothing").with_judgement(&slo.judge(&run));
//! let mut text = Vec::new();
//! report.write_text(&mut text, &TextStyle::default())?;
//! let mut json = Vec::new();
//! report.write_json(&mut json)?;
//! assert_eq!(Report::read_json(&*json)?, report);
//! # Ok(())
//! # }
//! ```
//!
//! # What a number may be
//! A duration is an integer of nanoseconds with the suffix `_ns`. What does not exist is `null`, never 0, and never
//! NaN: a quantile of nothing, a rate of a phase that was not reached, a check that the platform does not allow. A
//! quantile which is only known to be at least something has its number, and its name stands in `at_least`; text
//! prints it as "≥ x".
#![forbid(unsafe_code)]

mod compare;
mod csv;
mod excerpt;
mod hdr;
pub mod hlog;
mod html;
mod json;
mod markdown;
mod merge;
mod progress;
mod prometheus;
mod report;
pub mod schema;
mod text;
mod words;

pub use compare::{Change, ChangeUnit, ChangeVerdict, Comparison, UnknownFigure};
pub use excerpt::{Excerpt, ExcerptError};
pub use hdr::DecodeError;
pub use json::ReadError;
pub use markdown::write_summaries_markdown;
pub use merge::MergeError;
pub use progress::{Progress, ProgressTarget};
pub use prometheus::write_prometheus;
pub use report::Report;
pub use text::{TextStyle, write_summaries};
