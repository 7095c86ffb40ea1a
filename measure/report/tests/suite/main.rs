//! Reports of runs on the paused clock, byte by byte and field by field.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

mod compare;
mod experiment;
mod fixture;
mod foreign;
mod formats;
mod golden;
mod hlog;
mod html;
mod json;
mod merge;
mod progress;
mod simulated;
mod text;
mod verdicts;
