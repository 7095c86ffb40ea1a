//! Reports of runs on the paused clock, byte by byte and field by field.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by a panic"
)]

mod fixture;
mod golden;
mod hlog;
mod json;
mod progress;
mod text;
